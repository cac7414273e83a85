package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"kith/db"
)

// with opens a database, hands it to f and closes it. The process is held to the memory that the
// options name.
func with(path string, o *db.Options, f func(*db.DB) error) (err error) {
	if o != nil && o.Memory > 0 {
		debug.SetMemoryLimit(o.Memory)
	}
	g, err := db.Open(path, o)
	if err != nil {
		return err
	}
	defer func() {
		if closed := g.Close(); err == nil {
			err = closed
		}
	}()
	return f(g)
}

// withLoaded makes a database of a list, hands its path to f and deletes it.
func withLoaded(ctx context.Context, file string, f func(path string) error) (err error) {
	dir, err := os.MkdirTemp("", "kith-bench-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "g")
	l := load{stdout: io.Discard, stderr: io.Discard}
	if err := l.run(ctx, path, []string{file}); err != nil {
		return err
	}
	return f(path)
}

// vacant reports whether there is nothing at path: opening it would make a database.
func vacant(path string) bool {
	entries, err := os.ReadDir(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0
}

// mustExist returns an error where opening path would make a database.
func mustExist(path string) error {
	if vacant(path) {
		return fmt.Errorf("%s: there is no database; 'kith load' and 'kith shell --create' make one", path)
	}
	return nil
}
