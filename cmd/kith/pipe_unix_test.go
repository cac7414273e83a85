//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The tool waits for a named pipe wherever it reads or writes a file, but only until it is
// interrupted.
func TestPipesEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, backup, pairs := filepath.Join(dir, "g.kith"), filepath.Join(dir, "g.kbk"), filepath.Join(dir, "pairs.txt")
	if err := os.WriteFile(pairs, []byte("1 2\n2 3\n3 4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"load", db, pairs}, {"shell", db, "-c", "CREATE MODEL m"}, {"backup", db, backup}} {
		if err := inProcess(t.Context(), args...); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
	}
	for _, c := range []struct {
		args   string // PIPE is the pipe, DB a copy of the database, NEW a name of no file; commas separate arguments
		writes bool
	}{
		{"load,DB,PIPE", false},
		{"load,DB,--labels,PIPE", false},
		{"load,DB,--features,PIPE," + pairs, false},
		{"load,DB,--errors,PIPE," + pairs, true},
		{"shell,DB,-f,PIPE", false},
		{"shell,DB,-c,.read PIPE", false},
		{"shell,DB,-c,.once PIPE", true},
		{"shell,DB,-c,LOAD EDGES FROM 'PIPE'", false},
		{"shell,DB,-c,LOAD NODES FROM 'PIPE'", false},
		{"shell,DB,-c,LOAD FEATURES FROM 'PIPE'", false},
		{"shell,DB,-c,EXPORT EDGES TO 'PIPE.csv'", true},
		{"shell,DB,-c,EXPORT MODEL m TO 'PIPE'", true},
		{"shell,DB,-c,IMPORT MODEL n FROM 'PIPE'", false},
		{"shell,DB,-c,EVALUATE PREDICT LINKS FOR ALL USING ppr ON SPLIT 'PIPE'", false},
		{"backup,DB,PIPE", true},
		{"backup,DB,--since,PIPE,NEW", false},
		{"restore,PIPE,NEW", false},
		{"restore," + backup + ",PIPE,NEW", false},
		{"score,DB,--using,ppr,--sources,PIPE,--out,NEW.csv", false},
		{"score,DB,--using,ppr,--pairs,PIPE,--out,NEW.csv", false},
	} {
		t.Run(strings.NewReplacer("/", "_", dir, "").Replace(c.args), func(t *testing.T) {
			t.Parallel()
			ends(t, db, c.args, false)
			if !c.writes {
				ends(t, db, c.args, true) // with a writer that is silent
			}
		})
	}
}

// ends checks that a command that waits for a pipe ends with its context.
func ends(t *testing.T, db, args string, silent bool) {
	t.Helper()
	dir := t.TempDir()
	prefix, own := filepath.Join(dir, "pipe"), filepath.Join(dir, "own.kith")
	pipe := prefix
	if _, extension, ok := strings.Cut(args, "PIPE."); ok {
		pipe += "." + extension[:3]
	}
	if err := errors.Join(unix.Mkfifo(pipe, 0o600), os.CopyFS(own, os.DirFS(db))); err != nil {
		t.Fatal(err)
	}
	other := func() *os.File { // opens the other end, which ends all waiting
		f, err := os.OpenFile(pipe, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if silent {
		defer other().Close()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		names := strings.NewReplacer("PIPE", prefix, "DB", own, "NEW", filepath.Join(dir, "new"))
		all := strings.Split(args, ",")
		for i, a := range all {
			all[i] = names.Replace(a)
		}
		ended <- inProcess(ctx, all...)
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, context.DeadlineExceeded) && (err == nil || !strings.Contains(err.Error(), context.DeadlineExceeded.Error())) {
			t.Errorf("%s, silent writer %v: %v", args, silent, err)
		}
	case <-time.After(20 * time.Second):
		t.Errorf("%s, silent writer %v: waits for ever", args, silent)
	}
	defer other().Close() // so that no goroutine waits on
}

// inProcess runs the tool within the test. Its error has what the tool printed to standard error.
func inProcess(ctx context.Context, args ...string) error {
	root := newRoot()
	var out, stderr bytes.Buffer
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs(args)
	root.SetIn(strings.NewReader(""))
	root.SetOut(&out)
	root.SetErr(&stderr)
	err := root.ExecuteContext(ctx)
	if err != nil && stderr.Len() > 0 {
		err = errors.Join(err, errors.New(stderr.String()))
	}
	return err
}
