package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// Badger syncs tables and the manifest when it makes them, but neither the logs of the last writes
// as they fill nor the directory in which a log or a table was made. So the store syncs these after
// each write.

// sync makes all earlier writes durable, unless syncing is off.
func (s *Store) sync() error {
	if !s.syncs {
		return nil
	}
	s.syncing.Lock()
	defer s.syncing.Unlock()
	start := time.Now()
	if err := s.syncFiles(); err != nil {
		return fmt.Errorf("db: sync: %w", err)
	}
	if s.onSync != nil {
		s.onSync(time.Since(start))
	}
	return nil
}

// synced is what the last look at all files of a store found and made durable.
type synced struct {
	names  []string // names of the directory entries
	log    *os.File // that Badger writes to; nil if it may have begun another one
	tables int64    // Store.tables
}

// syncFiles syncs the log that Badger writes to. If Badger may have begun another one since the
// last look at all files, or if tables have been made or merged, it looks at all files again.
func (s *Store) syncFiles() error {
	now := synced{log: s.badger.Load().space.present(), tables: s.tables.Load()}
	if now.log != nil && now.log == s.synced.log && now.tables == s.synced.tables {
		if err := syncData(now.log); !errors.Is(err, os.ErrClosed) { // Badger has begun another log just now
			return err
		}
		now.log = nil
	}
	return s.syncAllFiles(now)
}

// syncAllFiles syncs the logs, and the directory if it has changed. A log that disappears meanwhile
// has become a table.
func (s *Store) syncAllFiles(now synced) error {
	names, err := fileNames(s.Dir())
	if err != nil {
		return err
	}
	changed, newest := !slices.Equal(names, s.synced.names), newestLog(s.Dir(), names)
	for _, name := range withSuffix(names, logSuffix) {
		if name > newest && newest != "" {
			continue // Badger has not begun it
		}
		switch err := syncNamed(filepath.Join(s.Dir(), name)); {
		case errors.Is(err, fs.ErrNotExist):
			changed = true
		case err != nil:
			return err
		}
	}
	now.names = s.synced.names
	if changed {
		if err := syncDir(s.Dir()); err != nil {
			return err
		}
		now.names = names
		s.takeInventory()
	}
	s.synced = now
	return nil
}

// syncNamed makes the content of the file with this name durable.
func syncNamed(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(syncData(f), f.Close())
}

// fileNames returns the names in a directory, sorted.
func fileNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// makeDir makes the directory and its missing parents durably.
func makeDir(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	above := filepath.Dir(path)
	if err := makeDir(above); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(above)
}

// Move makes the closed store in the directory partial durable, with all its files, and renames the
// directory to path, where there may be an empty directory.
func Move(partial, path string) error {
	if err := syncAll(partial); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(partial, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncAll makes a directory and the files in it durable.
func syncAll(dir string) error {
	names, err := fileNames(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := syncFile(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return syncDir(dir)
}

// Remove deletes the store at path, if there is one. It returns ErrMismatch if path holds something
// else, and ErrLocked if another process has the store open.
func Remove(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := inspect(path, Options{}); err != nil {
		return err
	}
	if isLocked(path) {
		return lockedError(path)
	}
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if e.Name() != badger.ManifestFilename {
			// The manifest goes last: without it, a process that is killed here would leave no
			// store to remove.
			err = errors.Join(err, os.RemoveAll(filepath.Join(path, e.Name())))
		}
	}
	return errors.Join(err, os.RemoveAll(path))
}

// writeSynced writes and syncs a file.
func writeSynced(name string, b []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncFile makes the content of a file durable.
func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncDir makes the names in a directory durable, on systems that support it.
func syncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
