//go:build unix

package store

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// isLocked reports whether a process has the database at path open for writing, which locks the directory.
func isLocked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // releases the lock
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// lockDir prevents other processes from opening the database at path until the returned Closer is closed.
func lockDir(path string) (io.Closer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(lockedError(path), f.Close())
	}
	return f, nil
}

// access returns an error if a file or directory cannot be written to.
func access(name string) error { return unix.Access(name, unix.W_OK) }
