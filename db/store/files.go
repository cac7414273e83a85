package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"

	"kith/index"
)

// Badger ends the process on some kinds of damage to its files, silently omits a file on others, and deletes tables
// that a damaged manifest does not name. So everything that Badger will rely on is read before it opens the directory:
// the manifest, the tables without the records that are read on demand, and the log of the last writes. The inventory
// says whether they are the files that were written.

const (
	discardFile = "DISCARD" // Badger's statistics of the value logs
	logSuffix   = ".mem"    // suffix of Badger's logs of the last writes
	valueSuffix = ".vlog"   // suffix of the value logs, which stay empty
	tableSuffix = ".sst"
	asideSuffix = ".sst.aside" // suffix of a table that the manifest does not name; see setAside
)

// storeFiles describes the files of a store before Badger opens them.
type storeFiles struct {
	opts       badger.Options
	names      []string  // names of the directory entries
	manifest   *manifest // nil if it cannot be read
	damagedLog string
	inventory  *inventory // expected files
	faults     []error    // each ErrCorrupt
}

// examineFiles reads the files of a store that no process has open, all of them or without the records that are read on
// demand. It returns ErrMismatch for the store of a different program, and system errors.
func examineFiles(o badger.Options, all bool) (*storeFiles, error) {
	f := &storeFiles{opts: o, inventory: readInventory(o.Dir)}
	var err error
	if f.names, err = fileNames(o.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("db: %w", err)
	}
	if !slices.Contains(f.names, badger.ManifestFilename) && !slices.Contains(f.names, inventoryFile) {
		return f, nil // there is no store yet
	}
	for _, step := range []func() error{f.checkTypes, f.readManifest, func() error { return f.checkTables(all) }, f.checkLogs} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *storeFiles) path(name string) string { return filepath.Join(f.opts.Dir, name) }

func (f *storeFiles) report(format string, args ...any) {
	f.faults = append(f.faults, fmt.Errorf(format, args...))
}

// read returns the content of a file, or nil if there is no regular file with that name.
func (f *storeFiles) read(name string) ([]byte, error) {
	info, err := os.Stat(f.path(name))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(f.path(name))
}

// with returns the names that end with suffix.
func (f *storeFiles) with(suffix string) []string { return withSuffix(f.names, suffix) }

func withSuffix(names []string, suffix string) (with []string) {
	for _, name := range names {
		if strings.HasSuffix(name, suffix) {
			with = append(with, name)
		}
	}
	return with
}

// isStoreFile reports whether name is the name of a file of a store.
func isStoreFile(name string) bool {
	switch filepath.Ext(name) {
	case tableSuffix, logSuffix, valueSuffix:
		return true
	}
	return slices.Contains([]string{badger.ManifestFilename, badger.KeyRegistryFileName, discardFile, lockFile, inventoryFile}, name)
}

// checkTypes reports directories and dangling symbolic links in place of files.
func (f *storeFiles) checkTypes() error {
	for _, name := range f.names {
		if !isStoreFile(name) {
			continue
		}
		switch info, err := os.Stat(f.path(name)); {
		case errors.Is(err, fs.ErrNotExist):
			if to, err := os.Readlink(f.path(name)); err == nil {
				f.report("%w: %s is a symbolic link to %s, which does not exist", ErrCorrupt, name, to)
			}
		case err != nil:
			return fmt.Errorf("db: %w", err)
		case info.IsDir():
			f.report("%w: %s is a directory", ErrCorrupt, name)
		}
	}
	return nil
}

// manifest is Badger's list of its tables.
type manifest struct {
	badger.Manifest
	begin uint32 // checksum of its first bytes, which change when it is written from scratch
	end   int64  // end of its last complete record
}

// manifestHead is the number of bytes that begin is the checksum of: Badger's header, and the length and the checksum
// of the first change.
const manifestHead = 16

// readManifest reads the manifest of a store. It returns ErrCorrupt, or ErrMismatch for the store of
// another program.
func readManifest(o badger.Options) (*manifest, error) {
	f, err := os.Open(filepath.Join(o.Dir, badger.ManifestFilename))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing", ErrCorrupt, badger.ManifestFilename)
	}
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	defer f.Close()
	m := &manifest{}
	if m.Manifest, m.end, err = badger.ReplayManifestFile(f, magic, o); err != nil {
		if strings.Contains(err.Error(), "external magic number") {
			return nil, fmt.Errorf("%w: it is a Badger directory of something else: %v", ErrMismatch, err)
		}
		return nil, fmt.Errorf("%w: %s: %v", ErrCorrupt, badger.ManifestFilename, err)
	}
	head := make([]byte, manifestHead)
	n, _ := f.ReadAt(head, 0)
	m.begin = index.Checksum(head[:n])
	return m, nil
}

func (f *storeFiles) readManifest() error {
	m, err := readManifest(f.opts)
	if err == nil {
		err = f.checkEnd(m.end)
	}
	if errors.Is(err, ErrCorrupt) {
		f.report("%w", err)
		return nil
	}
	f.manifest = m
	return err
}

// checkEnd checks the bytes after the last complete record of the manifest. An interrupted write may leave a partial
// record, but then there is a log too, and no record follows.
func (f *storeFiles) checkEnd(end int64) error {
	all, err := os.ReadFile(f.path(badger.ManifestFilename))
	if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	rest := all[min(end, int64(len(all))):]
	if len(rest) == 0 || len(f.with(logSuffix)) > 0 && !holdsRecord(rest[1:]) {
		return nil
	}
	return fmt.Errorf("%w: %s is damaged at byte %d", ErrCorrupt, badger.ManifestFilename, end)
}

// holdsRecord reports whether b contains a manifest record, preceded by its length and crc32c, at any offset.
func holdsRecord(b []byte) bool {
	for ; len(b) > 8; b = b[1:] {
		n := binary.BigEndian.Uint32(b)
		if n == 0 || uint64(n) > uint64(len(b)-8) {
			continue
		}
		if index.Checksum(b[8:8+n]) == binary.BigEndian.Uint32(b[4:]) {
			return true
		}
	}
	return false
}

// checkTables checks the tables that the manifest names, and compares the files with the inventory.
func (f *storeFiles) checkTables(all bool) error {
	if f.manifest == nil {
		return nil
	}
	marks := map[uint64]tableMark{}
	for id, t := range f.manifest.Tables {
		name := table.IDToFilename(id)
		mark, _, err := checkFile(f.path(name), t.Compression, all)
		switch {
		case errors.Is(err, ErrCorrupt):
			f.report("%s: %w", name, err)
		case errors.Is(err, fs.ErrNotExist):
			if !slices.Contains(f.names, name) { // else checkTypes has reported it
				f.report("%w: %s is missing", ErrCorrupt, name)
			}
		case err != nil:
			return fmt.Errorf("db: %w", err)
		}
		if mark != (tableMark{}) {
			marks[id] = mark
		}
	}
	f.faults = append(f.faults, f.inventory.faults(f.manifest, marks, f.names)...)
	return nil
}

// Examine reads the files of the store at path, which no process may have open, and returns what is wrong with them,
// each fault an ErrCorrupt. The error is ErrMismatch for a different program's store, or a system error.
func Examine(path string, o Options) ([]error, error) {
	f, err := examineFiles(badgerOptions(path, o), true)
	if err != nil {
		return nil, err
	}
	return f.faults, nil
}

// tableOptions returns the options with which Badger reads and writes tables.
func tableOptions(o badger.Options) table.Options {
	return table.Options{
		TableSize: uint64(o.BaseTableSize), BlockSize: o.BlockSize, BloomFalsePositive: o.BloomFalsePositive,
		Compression: o.Compression, ChkMode: options.OnBlockRead,
	}
}

// checkLogs looks for damage in the logs.
func (f *storeFiles) checkLogs() error {
	if f.inventory.NoSync {
		return nil
	}
	var c logCheck
	for _, name := range f.with(logSuffix) {
		b, err := f.read(name)
		if err != nil {
			return fmt.Errorf("db: %w", err)
		}
		if b != nil {
			c.add(name, b)
		}
	}
	if err := c.err(); err != nil {
		f.damagedLog = c.name
		f.report("%w", err)
	}
	return nil
}

// prepare readies the files for Badger, and hides from it the tables that it would delete. It returns the first fault.
func (f *storeFiles) prepare() error {
	if len(f.faults) > 0 {
		return f.faults[0]
	}
	o := f.opts
	if f.manifest == nil || o.ReadOnly {
		return nil
	}
	return errors.Join(f.setAside(), f.dropLeftovers())
}

// dropLeftovers deletes empty log files, which a crash can leave and Badger cannot open, and the tables of a bulk that was
// interrupted.
func (f *storeFiles) dropLeftovers() error {
	for _, name := range slices.Concat(f.with(logSuffix), f.with(valueSuffix), f.with(draftSuffix)) {
		info, err := os.Stat(f.path(name))
		if err == nil && (info.Size() == 0 || strings.HasSuffix(name, draftSuffix)) {
			err = os.Remove(f.path(name))
		}
		if err != nil {
			return fmt.Errorf("db: %w", err)
		}
	}
	return nil
}

// setAside renames tables that the manifest does not name, because Badger would delete them. They are left over from a
// crash, or a damaged manifest has lost them. Which of the two is known only after the records have been read.
func (f *storeFiles) setAside() error {
	for _, name := range f.with(tableSuffix) {
		id, ok := table.ParseFileID(name)
		if _, named := f.manifest.Tables[id]; !ok || named {
			continue
		}
		if err := os.Rename(f.path(name), f.path(strings.TrimSuffix(name, tableSuffix)+asideSuffix)); err != nil {
			return fmt.Errorf("db: %w", err)
		}
	}
	return nil
}

// Complete reports whether no table was set aside. Otherwise all records must be read before Accept.
func (s *Store) Complete() bool { return s.Dir() == "" || len(s.aside()) == 0 }

// aside returns the names of the tables that were set aside.
func (s *Store) aside() []string {
	names, _ := filepath.Glob(filepath.Join(s.Dir(), "*"+asideSuffix)) // the pattern is valid
	return names
}

// Accept is called when all records have been read and none is missing. It deletes the tables that were set aside, and
// takes an inventory. It returns ErrCorrupt for a table that is newer than all others, because a crash does not leave
// such a table.
func (s *Store) Accept() error {
	if s.Dir() == "" || s.opts.ReadOnly || s.accepted {
		s.accepted = true
		return nil
	}
	names := s.aside()
	var err error
	for _, name := range names {
		_, newest, err := checkFile(name, s.opts.Compression, true)
		if err == nil && newest > s.Newest() {
			return fmt.Errorf("%w: %s does not name %s, which is newer than all others", ErrCorrupt, badger.ManifestFilename, filepath.Base(name))
		}
	}
	for _, name := range names {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		s.log.Warn("deleting tables that a crash left", "err", err)
	}
	s.accepted = true
	if len(names) > 0 || s.settled || s.Writing() {
		s.takeInventory()
	}
	return nil
}
