//go:build unix

package db

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// held reports whether a process has the database at path open for writing: that locks the directory.
func held(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // and with it goes the lock
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
