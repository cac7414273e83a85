package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/dgraph-io/badger/v4"
)

// Writable returns ErrReadOnly, with the cause, if the database at path cannot be written to because its file system is
// read-only or the process lacks the permission. Such a database can be opened with Options.ReadOnly if it was closed.
// Writable changes nothing, and returns nil for a path without a database.
func Writable(path string) error {
	if isLocked(path) {
		return nil // the process that has it open writes to it
	}
	names, err := filepath.Glob(filepath.Join(path, "*"))
	if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	for _, name := range append(names, path) {
		err := access(name)
		if of := (*os.PathError)(nil); errors.As(err, &of) {
			err = of.Err // without the operation and the file
		}
		if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%w: %s cannot be written to: %w", ErrReadOnly, path, err)
		}
	}
	return nil
}

// reserve is the space that must be free for a write, as a multiple of the size of Badger's memtable.
const reserve = 8

// openingRoom is the space that Badger needs to be opened for writing: the first pages of new files.
const openingRoom = 1 << 20

// Room returns ErrFull if the disk has too little space for a write.
func (s *Store) Room() error {
	if s.Dir() == "" {
		return nil
	}
	if err := s.inPlace(); err != nil {
		return err
	}
	return room(s.Dir(), reserve*s.opts.MemTableSize)
}

// room returns ErrFull unless the disk under path has want bytes free.
func room(path string, want int64) error {
	free, err := freeBytes(path)
	if err != nil {
		return fmt.Errorf("db: %s: %w", path, err)
	}
	if free >= want {
		return nil
	}
	return fmt.Errorf("%w: %s: %d MB are free, a write needs %d MB: %w", ErrFull, path, free>>20, want>>20, syscall.ENOSPC)
}

// checkOpenable returns an error if the process lacks the permission to open the database at path for writing, or the space
// to make a new one.
func checkOpenable(path string) error {
	if isLocked(path) {
		return nil // opening will report that it is locked
	}
	if err := Writable(path); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(path, badger.ManifestFilename)); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return room(path, openingRoom)
}

// Bytes returns the space that the files of the store take.
func (s *Store) Bytes() int64 { return s.bytes("") }

// MappedBytes returns the size of the tables, which are mapped into memory.
func (s *Store) MappedBytes() int64 { return s.bytes(tableSuffix) }

// bytes returns the space of the files whose names end in suffix.
func (s *Store) bytes(suffix string) (n int64) {
	if s.Dir() == "" {
		return 0
	}
	names, err := fileNames(s.Dir())
	if err != nil {
		return 0
	}
	for _, name := range withSuffix(names, suffix) {
		n += usedBytes(filepath.Join(s.Dir(), name))
	}
	return n
}
