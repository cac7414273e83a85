package db

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Writable returns ErrReadOnly, with the cause, if the database at path cannot be written to because its file system is
// read-only or the process lacks the permission. Such a database can be opened with Options.ReadOnly if it was closed.
// Writable changes nothing, and returns nil for a path without a database.
func Writable(path string) error {
	if held(path) {
		return nil // the process that has it open writes to it
	}
	names, err := filepath.Glob(filepath.Join(path, "*"))
	if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	for _, name := range append(names, path) {
		err := access(name)
		if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%w: %s cannot be written to: %w", ErrReadOnly, path, cause(err))
		}
	}
	return nil
}

// cause returns the error without the operation and the file.
func cause(err error) error {
	if of := (*os.PathError)(nil); errors.As(err, &of) {
		return of.Err
	}
	return err
}
