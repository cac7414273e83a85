package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// lockDir locks the directory until the returned Closer is closed, by a file that no other process
// can open and that is deleted when the process ends. It returns ErrLocked if another process has
// locked it.
func lockDir(path string, readOnly bool) (io.Closer, error) {
	if readOnly {
		return nil, fmt.Errorf("%w: %s: opening for reading only is not supported on Windows", ErrReadOnly, path)
	}
	const temporary, deleteOnClose = 0x100, 0x4000000
	name := filepath.Join(path, lockFile)
	p, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	h, err := syscall.CreateFile(p, 0, 0, nil, syscall.OPEN_ALWAYS, temporary|deleteOnClose, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lockedError(path), err)
	}
	return os.NewFile(uintptr(h), name), nil
}

// isLocked reports whether a process has the store at path open.
func isLocked(path string) bool {
	f, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	f.Close()
	return false
}

// isAlive reports whether there is a process with an id. It is not needed, because no process can
// read a lock file while its owner lives.
func isAlive(int) bool { return false }

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
