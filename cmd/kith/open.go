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

	"kith/cmd/internal/cli"
	"kith/db"
)

// open opens a database. The process is held to the memory that the options name.
func open(path string, o *db.Options) (*db.DB, error) {
	if o != nil && o.Memory > 0 {
		debug.SetMemoryLimit(o.Memory)
	}
	return db.Open(path, o)
}

// with opens a database, hands it to f and closes it.
func with(path string, o *db.Options, f func(*db.DB) error) error {
	g, err := open(path, o)
	if err != nil {
		return err
	}
	return use(g, f)
}

// toRead is with for a database that is only read: beside others that read it or, where it was not
// closed, as everything else does.
func toRead(path string, f func(*db.DB) error) error {
	g, err := open(path, &db.Options{ReadOnly: true})
	if errors.Is(err, db.ErrReadOnly) && db.Writable(path) == nil {
		g, err = open(path, nil)
	}
	if err != nil {
		return err
	}
	return use(g, f)
}

// readOnly reports whether a database can only be read, and tells why.
func readOnly(path string, stderr io.Writer) bool {
	err := db.Writable(path)
	if err != nil {
		cli.Complain(stderr, "note", err)
	}
	return err != nil
}

// use hands a database to f and closes it.
func use(g *db.DB, f func(*db.DB) error) (err error) {
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
