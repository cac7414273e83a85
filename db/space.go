package db

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Badger writes its files through memory mappings, and a page for which the disk has no space ends the process. So
// there must be space for everything that Badger may write before the next check: the logs, the tables that are made
// from them, and the output of a compaction of these.

// reserve is the space that must be free for a write, as a multiple of the size of Badger's memtable.
const reserve = 8

// room returns ErrFull if the disk has too little space for a write.
func (s *store) room() error {
	if s.dir() == "" {
		return nil
	}
	return room(s.dir(), reserve*s.badger.Opts().MemTableSize)
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
	return fmt.Errorf("%w: %s: %d MB are free, to write takes %d: %w", ErrFull, path, free>>20, want>>20, syscall.ENOSPC)
}

// openable returns an error if the process lacks the permission or the space to open the database at path for writing.
// Space is needed because the logs of a killed process become tables.
func openable(path string) error {
	if held(path) {
		return nil // opening will report that it is locked
	}
	if err := Writable(path); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("db: open for writing: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("db: %w", err)
	}
	logs, err := filepath.Glob(filepath.Join(path, "*"+logSuffix))
	if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	want := int64(1 << 20) // for new files
	for _, name := range logs {
		want += usedBytes(name)
	}
	return room(path, want)
}

// bytes returns the space that the files of the store take.
func (s *store) bytes() (n int64) {
	if s.dir() == "" {
		return 0
	}
	names, err := fileNames(s.dir())
	if err != nil {
		return 0
	}
	for _, name := range names {
		n += usedBytes(filepath.Join(s.dir(), name))
	}
	return n
}
