package db_test

import (
	"bufio"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// read opens a database for reading and prints the digest of some answers, and again for each line
// of standard input, until that ends.
func read(path string) error {
	g, err := db.Open(path, dbtest.Small(&db.Options{ReadOnly: true}))
	if err != nil {
		return err
	}
	for in := bufio.NewScanner(os.Stdin); ; {
		digest := fnv.New64()
		for source := range 20 {
			r, err := g.Predict(context.Background(), db.PredictOptions{For: source, Model: "prb", Among: db.Neighbors(2), Top: -1})
			if err != nil {
				return err
			}
			for _, l := range r.Links {
				fmt.Fprintln(digest, source, l.Target.Literal(), l.Score)
			}
		}
		fmt.Println("answers", digest.Sum64())
		if !in.Scan() {
			return g.Close()
		}
	}
}

// reader is a process that has a database open for reading.
type reader struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startReader starts a process that reads the database at path. The process has no privilege, even
// if the test runs as root: the permissions of files hold for it.
func startReader(t *testing.T, path string) reader {
	t.Helper()
	r := reader{Cmd: child(t, "read", path)}
	r.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getgid(), Size: 1}},
	}
	var err error
	r.in, err = r.StdinPipe()
	must(t, err)
	out, err := r.StdoutPipe()
	must(t, err)
	r.out = bufio.NewReader(out)
	if err := r.Start(); err != nil {
		t.Skipf("no process without privileges: %v", err)
	}
	t.Cleanup(func() { _ = r.Process.Kill() }) // an error means that it has ended
	return r
}

// answers returns the next line that the process prints.
func (r reader) answers(t *testing.T) string {
	t.Helper()
	line, err := r.out.ReadString('\n')
	must(t, err)
	return line
}

// files describes the files of a folder: their sizes, permissions and times of change.
func files(t *testing.T, dir string) map[string]string {
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			all[path] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime())
		}
		return err
	}))
	return all
}

// A restored backup in a write-protected folder is read by several processes at once. They answer
// alike while others open and close it and one is killed. Nothing in the folder changes, and a
// writer is refused meanwhile.
func TestManyReaders(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true})
	must(t, g.Model("prb").Create(t.Context(), model.Spec{Policy: "prb"}))
	_, err := g.Load(t.Context(), strings.NewReader(wheel(300)), db.LoadOptions{})
	must(t, err)
	saved, _ := backup(t, g, nil)
	path := place(t)
	must(t, restore(path, saved))
	protect(t, path)
	before := files(t, path)

	var readers []reader
	for range 4 {
		readers = append(readers, startReader(t, path))
	}
	want := readers[0].answers(t)
	killed := readers[3]
	must(t, killed.Process.Kill())
	for _, r := range readers[1:3] {
		if got := r.answers(t); got != want {
			t.Errorf("a process printed %q, another %q", got, want)
		}
	}
	if err := killed.Wait(); err == nil {
		t.Error("the killed process ended by itself")
	}
	for range size(2, 5, 20) {
		brief := startReader(t, path)
		must(t, brief.in.Close(), brief.Wait())
		_, err := db.Open(path, dbtest.Small(nil))
		want := db.ErrReadOnly
		if os.Getuid() == 0 { // root may write to everything
			want = db.ErrLocked
		}
		wantError(t, "to write beside readers", err, want)
		if _, unknown := os.Stat("/proc/locks"); unknown == nil && want == db.ErrLocked {
			for _, r := range readers[:3] {
				if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("process %d (", r.Process.Pid)) {
					t.Errorf("%v does not name process %d", err, r.Process.Pid)
				}
			}
			if err != nil && strings.Contains(err.Error(), fmt.Sprint("process ", killed.Process.Pid, " ")) {
				t.Errorf("%v names process %d, which was killed", err, killed.Process.Pid)
			}
		}
	}
	for _, r := range readers[:3] {
		_, err := io.WriteString(r.in, "again\n")
		must(t, err)
		if got := r.answers(t); got != want {
			t.Errorf("a process printed %q, first %q", got, want)
		}
		must(t, r.in.Close(), r.Wait())
	}
	if after := files(t, path); !maps.Equal(before, after) {
		t.Errorf("reading changed the folder:\n%v\nwas\n%v", after, before)
	}
}

// protect takes from everyone the permission to write to a database, until the test ends.
func protect(t *testing.T, path string) {
	for name := range files(t, path) {
		info, err := os.Stat(name)
		must(t, err, os.Chmod(name, info.Mode()&^0o222))
	}
	t.Cleanup(func() { must(t, os.Chmod(path, 0o700)) })
}
