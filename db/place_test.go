package db_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"kith/db"
)

// A database whose directory is removed, renamed or replaced refuses writes, and Close returns an
// error instead of waiting for ever. It writes nothing to a directory that has taken the place.
func TestDirectoryIsGone(t *testing.T) {
	t.Parallel()
	notShort(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a directory with open files")
	}
	rename := func(path string) error { return os.Rename(path, path+".moved") }
	for name, move := range map[string]func(path string) error{
		"removed":  os.RemoveAll,
		"renamed":  rename,
		"replaced": func(path string) error { return errors.Join(rename(path), os.Mkdir(path, 0o700)) },
	} {
		for writes, before := range map[string]func(g *db.DB) error{
			"":                               func(*db.DB) error { return nil },
			" after writes that make tables": func(g *db.DB) error { return ballast(g, 0) },
		} {
			t.Run(name+writes, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "g")
				g, err := db.Open(path, &db.Options{Memory: 64 << 20})
				must(t, err, addDone(g, 0), before(g), move(path))
				wantError(t, "a write", addDone(g, 1), db.ErrNotFound)
				wantError(t, "close", closeSoon(g), db.ErrNotFound)
				if names, err := os.ReadDir(path); len(names) > 0 {
					t.Errorf("the new directory holds %v %v", names, err)
				}
				if name == "removed" {
					return
				}
				if name == "replaced" {
					must(t, os.Remove(path))
				}
				must(t, os.Rename(path+".moved", path))
				g, err = db.Open(path, &db.Options{Memory: 64 << 20})
				must(t, err, edgesOfDone(g, 1), g.Check(t.Context()), g.Close())
			})
		}
	}
}

// closeSoon closes a database, and returns an error if that takes longer than a slow machine needs.
func closeSoon(g *db.DB) error {
	done := make(chan error, 1)
	go func() { done <- g.Close() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		return errors.New("Close does not return")
	}
}

// A relative path counts from the working directory at Open, whatever becomes of it.
func TestRelativePath(t *testing.T) {
	t.Parallel()
	cmd := child(t, "relative", t.TempDir())
	if out, err := cmd.Output(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// openRelative opens a database by a relative path and changes the working directory.
func openRelative(at string) error {
	if err := os.Chdir(at); err != nil {
		return err
	}
	g, err := db.Open("g", &db.Options{Memory: 64 << 20})
	if err != nil {
		return err
	}
	err = errors.Join(addDone(g, 0), os.Mkdir("other", 0o700), os.Chdir("other"), addDone(g, 1), ballast(g, 0), closeSoon(g))
	if err != nil {
		return err
	}
	if names, err := os.ReadDir("."); len(names) > 0 || err != nil {
		return fmt.Errorf("files in the other directory: %v %w", names, err)
	}
	if g, err = db.Open("../g", nil); err != nil {
		return err
	}
	return errors.Join(edgesOfDone(g, 2), g.Close())
}

func addDone(g *db.DB, i int) error {
	return g.Update(context.Background(), func(tx *db.Tx) error { return tx.PutEdge("done", i) })
}

func edgesOfDone(g *db.DB, want int) error {
	return g.View(context.Background(), func(tx *db.Tx) error {
		n, err := tx.Node("done")
		if err == nil && n.Edges != want {
			err = fmt.Errorf("%d commits are there, %d were acknowledged", n.Edges, want)
		}
		return err
	})
}
