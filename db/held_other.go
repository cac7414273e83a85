//go:build !unix

package db

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// held reports whether a process has the database at path open for writing: nobody else can then open
// its lock file, which goes with the process.
func held(path string) bool {
	f, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	f.Close()
	return false
}

// lockDir keeps other processes from opening the database at path until what it returns is closed.
func lockDir(path string) (io.Closer, error) {
	f, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrLocked, path, err)
	}
	return f, nil
}
