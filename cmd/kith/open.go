package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
