//go:build !unix

package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// isLocked reports whether a process has the database at path open for writing. No other process can then open the lock
// file, which is deleted when the process ends.
func isLocked(path string) bool {
	f, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	f.Close()
	return false
}

// lockDir prevents other processes from opening the database at path until the returned Closer is closed.
func lockDir(path string) (io.Closer, error) {
	f, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrLocked, path, err)
	}
	return f, nil
}

// access returns an error if a file cannot be written to. It does not check directories.
func access(name string) error {
	if info, err := os.Stat(name); err != nil || info.IsDir() {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
