package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// writable returns ErrReadOnly, with the cause, if the database at path cannot be written to
// because its file system is read-only or the process lacks the permission. Such a database can be
// opened with Options.ReadOnly if it was closed. It changes nothing, and returns nil for a path
// without a database. The socket of a server, which only one user can open, does not count.
func writable(path string) error {
	if isLocked(path) {
		return nil // the process that has it open writes to it
	}
	names, err := filepath.Glob(filepath.Join(path, "*"))
	if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	for _, name := range append(names, path) {
		if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSocket != 0 {
			continue
		}
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

// openingRoom is the space that any write needs: for the first pages of new files, and for lists of
// files.
const openingRoom = 1 << 20

// Room returns ErrFull if the disk has too little space for a write.
func (s *Store) Room() error {
	if s.Dir() == "" {
		return nil
	}
	if err := s.inPlace(); err != nil {
		return err
	}
	return room(s.Dir(), openingRoom, "a write")
}

// maintenance is the most space that making and merging tables may take at once, as a multiple of
// the size of Badger's memtable.
const maintenance = 8

// RoomToGrow returns ErrFull if the disk has too little space for a write that is not small: the
// space must be left in which Badger, if it is open for writing, makes a table of its log and
// merges tables.
func (s *Store) RoomToGrow() error {
	if s.Dir() == "" || !s.Writing() {
		return s.Room()
	}
	if room(s.Dir(), maintenance*s.opts.MemTableSize+openingRoom, "") == nil {
		// This check is quick, because it does not look at each file.
		return nil
	}
	return room(s.Dir(), s.growth(), "merging it with earlier writes (less with a smaller Memory, which is --memory of the tool)")
}

// growth returns the space that RoomToGrow wants.
func (s *Store) growth() int64 {
	return min(maintenance*s.opts.MemTableSize, 2*s.Bytes()) + openingRoom
}

// spaceInterval is the time between two looks for space.
const spaceInterval = 200 * time.Millisecond

// retry calls again at intervals until it returns true, or until closing is closed. Meanwhile a
// table waits for space.
func (s *Store) retry(closing <-chan struct{}, again func() bool) {
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	for {
		select {
		case <-closing:
			return
		case <-time.After(spaceInterval):
		}
		if again() {
			return
		}
	}
}

// waitToGrow is RoomToGrow, and waits a while for tables that could not be made earlier. Badger
// blocks a write for as long as there are too many of them.
func (s *Store) waitToGrow() error {
	for range 10 {
		if err := s.RoomToGrow(); err != nil || s.waiting.Load() == 0 {
			return err
		}
		time.Sleep(spaceInterval)
	}
	return fmt.Errorf("%w: %s: earlier writes wait until they can be merged: %w", ErrFull, s.Dir(), syscall.ENOSPC)
}

// lastingRoom returns ErrFull if the free space would fall below want within 200 ms, at the rate at
// which other programs take it now. It returns at once if there is much space.
func (s *Store) lastingRoom(want int64) error {
	const look, lasts = 10 * time.Millisecond, 20
	before, err := freeBytes(s.Dir())
	if err != nil || before > 64*want {
		return err
	}
	time.Sleep(look)
	after, err := freeBytes(s.Dir())
	if err != nil || after-lasts*max(before-after, 0) >= want {
		return err
	}
	return fmt.Errorf("%w: %s: another program fills the disk: %w", ErrFull, s.Dir(), syscall.ENOSPC)
}

// manifestRoom is more than Badger writes to the manifest at once.
const manifestRoom = 64 << 10

// reserveManifest reserves blocks for the next changes of the manifest.
func reserveManifest(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, badger.ManifestFilename), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = allocate(f, info.Size()+manifestRoom)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// room returns ErrFull unless the disk under path has the bytes free that something needs.
func room(path string, want int64, what string) error {
	free, err := freeBytes(path)
	if err != nil {
		return fmt.Errorf("db: %s: %w", path, err)
	}
	if free >= want {
		return nil
	}
	return fmt.Errorf("%w: %s: %.1f MB are free, %s needs %.1f MB: %w",
		ErrFull, path, float64(free)/(1<<20), what, float64(want)/(1<<20), syscall.ENOSPC)
}

// checkOpenable returns an error if the process lacks the permission to open the database at path
// for writing, or the space to make a new one.
func checkOpenable(path string) error {
	if isLocked(path) {
		return nil // opening will report that it is locked
	}
	if err := writable(path); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(path, badger.ManifestFilename)); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return room(path, openingRoom, "a new database")
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
