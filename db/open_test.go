package db_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
)

func TestOptions(t *testing.T) {
	t.Parallel()
	path := place(t)
	nan := math.NaN()
	for name, c := range map[string]struct {
		path string
		o    db.Options
	}{
		"no path":                 {"", db.Options{}},
		"a path for memory":       {path, db.Options{InMemory: true, Memory: 64 << 20}},
		"memory to read":          {"", db.Options{InMemory: true, ReadOnly: true}},
		"little memory":           {path, db.Options{Memory: 1 << 20}},
		"negative memory":         {path, db.Options{Memory: -1}},
		"negative timeout":        {path, db.Options{LockTimeout: -time.Second}},
		"a direction that is not": {path, db.Options{Direction: 7}},
		"alpha 1":                 {path, db.Options{Alpha: 1}},
		"alpha -1":                {path, db.Options{Alpha: -1}},
		"alpha NaN":               {path, db.Options{Alpha: nan}},
		"epsilon 2":               {path, db.Options{Epsilon: 2}},
		"epsilon NaN":             {path, db.Options{Epsilon: nan}},
	} {
		_, err := db.Open(c.path, &c.o)
		wantError(t, name, err, db.ErrInput)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused option left files behind")
	}
}

// Options of the stored graph must equal the stored ones if they are given.
func TestOptionsMismatch(t *testing.T) {
	t.Parallel()
	path := place(t)
	made := db.Options{Direction: db.Directed, Alpha: 0.5, Epsilon: 1e-4, Seed: 7}
	must(t, open(t, path, &made).Close())
	for _, o := range []db.Options{{}, made, {Alpha: 0.5}, {ReadOnly: true}} {
		g := open(t, path, &o)
		view(t, g, func(tx *db.Tx) error {
			if s := tx.Stats(); !s.Directed || s.Alpha != 0.5 || s.Epsilon != 1e-4 {
				t.Errorf("%+v", s)
			}
			return nil
		})
		must(t, g.Close())
	}
	for what, o := range map[string]db.Options{
		"Directed is false": {Direction: db.Undirected},
		"Alpha is 0.6":      {Alpha: 0.6},
		"Epsilon is 0.001":  {Epsilon: 1e-3},
		"Seed is 8":         {Seed: 8},
	} {
		_, err := db.Open(path, &o)
		wantError(t, what, err, db.ErrMismatch)
		if err != nil && !strings.Contains(err.Error(), what) {
			t.Errorf("%v does not say %q", err, what)
		}
	}
}

// A path that is not a database is rejected and not changed.
func TestOpenOfSomethingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, []byte("hello"), 0o600))
	_, err := db.Open(file, nil)
	wantError(t, "a plain file", err, db.ErrMismatch)
	_, err = db.Open(filepath.Join(file, "below"), nil)
	if err == nil {
		t.Error("a path below a file was opened")
	}
	_, err = db.Open(dir, nil)
	wantError(t, "a directory of other files", err, db.ErrMismatch)
	if err != nil && !strings.Contains(err.Error(), "file") {
		t.Errorf("%v does not name what is there", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the directory holds %v now", entries)
	}
	_, err = db.Open(filepath.Join(dir, "none"), &db.Options{ReadOnly: true})
	wantError(t, "nothing, to read", err, db.ErrNotFound)
	empty := t.TempDir()
	_, err = db.Open(empty, &db.Options{ReadOnly: true})
	wantError(t, "an empty directory, to read", err, db.ErrNotFound)
	must(t, open(t, empty, nil).Close())
}

// A process that is killed while it makes a database leaves files that do not hinder the next one.
func TestOpenOfBegunDatabase(t *testing.T) {
	t.Parallel()
	for _, left := range [][]string{{"LOCK"}, {"LOCK", "DISCARD"}, {"LOCK", "DISCARD", "MANIFEST-REWRITE"}} {
		path := t.TempDir()
		for _, name := range left {
			must(t, os.WriteFile(filepath.Join(path, name), nil, 0o600))
		}
		g := open(t, path, nil)
		update(t, g, func(tx *db.Tx) error { return tx.PutEdge(1, 2) })
		must(t, g.Check(t.Context()), g.Close())
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	path, ctx := place(t), context.Background()
	g := open(t, path, nil)
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(1, 2) })
	must(t, g.Close())
	g = dbtest.Reopen(t, path, &db.Options{ReadOnly: true})
	wantError(t, "an update", g.Update(ctx, func(*db.Tx) error { return nil }), db.ErrReadOnly)
	_, err := g.Load(ctx, strings.NewReader("1 3\n"), db.LoadOptions{})
	wantError(t, "a load", err, db.ErrReadOnly)
	if got := edges(t, g); len(got) != 1 {
		t.Errorf("edges %v", got)
	}
	second := open(t, path, &db.Options{ReadOnly: true})
	must(t, second.Close())
}

// hold opens a database and keeps it open until standard input ends.
func hold(path string) error {
	g, err := db.Open(path, dbtest.Small(nil))
	if err != nil {
		return err
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return g.Close()
}

// child starts a part of a test in a separate process.
func child(t testing.TB, part, path string) *exec.Cmd {
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, path)
	cmd.Env = append(os.Environ(), childEnv+"="+part)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestLocked(t *testing.T) {
	t.Parallel()
	path := place(t)
	g := open(t, path, nil)
	_, err := db.Open(path, dbtest.Small(nil))
	wantError(t, "in the same process", err, db.ErrLocked)
	if err != nil && !strings.Contains(err.Error(), "this process has it open") {
		t.Errorf("%v does not say that it is this process", err)
	}
	must(t, g.Close())

	other := child(t, "hold", path)
	in, err := other.StdinPipe()
	must(t, err)
	out, err := other.StdoutPipe()
	must(t, err)
	must(t, other.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	_, err = db.Open(path, dbtest.Small(nil))
	wantError(t, "in another process", err, db.ErrLocked)
	if want := fmt.Sprintf("process %d (%s) has it open", other.Process.Pid, filepath.Base(other.Path)); err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not say %q", err, want)
	}
	if err != nil && !strings.Contains(err.Error(), "--attach") {
		t.Errorf("%v does not say how to look inside", err)
	}
	waited := make(chan error)
	go func() {
		g, err := db.Open(path, &db.Options{LockTimeout: time.Minute})
		if err == nil {
			err = g.Close()
		}
		waited <- err
	}()
	must(t, in.Close(), other.Wait(), <-waited)
}

func TestLogger(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	g := open(t, place(t), &db.Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	must(t, g.Close())
	if !strings.Contains(log.String(), "badger: ") {
		t.Errorf("logged %q", log.String())
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := open(t, place(t), nil)
	var last *db.Tx
	update(t, g, func(tx *db.Tx) error { last = tx; return tx.PutEdge(1, 2) })
	wantError(t, "a transaction after its function", last.PutEdge(1, 3), db.ErrClosed)
	must(t, g.Close(), g.Close())
	_, load := g.Load(ctx, strings.NewReader(""), db.LoadOptions{})
	_, train := g.Model("m").Train(ctx, db.TrainOptions{})
	_, predict := g.Predict(ctx, db.PredictOptions{For: 1})
	for what, err := range map[string]error{
		"view":    g.View(ctx, func(*db.Tx) error { return nil }),
		"update":  g.Update(ctx, func(*db.Tx) error { return nil }),
		"load":    load,
		"train":   train,
		"predict": predict,
		"check":   g.Check(ctx),
		"drop":    g.Model("m").Drop(ctx),
		"observe": g.Observe(ctx, db.ObserveOptions{Source: 1, Target: 2}),
	} {
		wantError(t, what+" of a closed database", err, db.ErrClosed)
	}
}

// Close waits for open transactions and refuses new ones meanwhile.
func TestCloseWaits(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := open(t, "", &db.Options{InMemory: true, Memory: 64 << 20})
	began, finish := make(chan bool), make(chan bool)
	viewed, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		viewed <- g.View(ctx, func(tx *db.Tx) error {
			close(began)
			<-finish
			if n := tx.Stats().Nodes; n != 0 {
				return fmt.Errorf("%d nodes", n)
			}
			return nil
		})
	}()
	<-began
	go func() { closed <- g.Close() }()
	for {
		err := g.View(ctx, func(*db.Tx) error { return nil })
		if errors.Is(err, db.ErrClosed) {
			break
		}
		must(t, err)
	}
	select {
	case err := <-closed:
		t.Fatalf("closed beside an open transaction: %v", err)
	default:
	}
	close(finish)
	must(t, <-viewed, <-closed)
}

// A database that was not closed must be opened for writing once.
func TestReadOnlyUnclosed(t *testing.T) {
	t.Parallel()
	path, left := place(t), place(t)
	g := open(t, path, nil)
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(1, 2) })
	must(t, os.CopyFS(left, os.DirFS(path)), os.Remove(filepath.Join(left, "LOCK")), g.Close())
	_, err := db.Open(left, &db.Options{ReadOnly: true})
	wantError(t, "read only, not closed", err, db.ErrReadOnly)
	must(t, open(t, left, nil).Close())
	g = open(t, left, &db.Options{ReadOnly: true})
	view(t, g, func(tx *db.Tx) error {
		_, err := tx.Edge(1, 2)
		return err
	})
	must(t, g.Close())
}

// A database that was not closed does not count as open, even if the id of the killed process is
// now the id of a different process.
func TestReadOnlyAfterAKill(t *testing.T) {
	t.Parallel()
	notShort(t)
	path := place(t)
	g := open(t, path, nil)
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(1, 2) })
	whole, _ := backup(t, g, nil)
	files := readFiles(t, path)
	must(t, g.Close())
	files["LOCK"] = fmt.Append(nil, os.Getpid())
	path = place(t)
	writeFiles(t, path, files)
	writeFiles(t, path+"2.partial", files)
	_, err := db.Open(path, &db.Options{ReadOnly: true})
	wantError(t, "to read", err, db.ErrReadOnly)
	must(t, restore(path+"2", whole))
}

// A writer learns that a reader has the database open, even if a killed writer has left its id.
func TestLockedByReader(t *testing.T) {
	t.Parallel()
	path := place(t)
	must(t, open(t, path, nil).Close(), os.WriteFile(filepath.Join(path, "LOCK"), []byte("1"), 0o600))
	g := open(t, path, &db.Options{ReadOnly: true})
	_, err := db.Open(path, dbtest.Small(nil))
	wantError(t, "to write beside a reader", err, db.ErrLocked)
	reader := "other processes read it"
	if _, err := os.Stat("/proc/locks"); err == nil {
		reader = "this process reads it"
	}
	if err != nil && !strings.Contains(err.Error(), path+": "+reader+", and none may write meanwhile") {
		t.Error(err)
	}
	must(t, g.Close())
}
