package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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

// Badger ends the process on some kinds of damage to its files, silently omits a file on others,
// and deletes tables that a damaged manifest does not name. So everything that Badger will rely on
// is read before it opens the directory: the manifest, the tables without the records that are read
// on demand, and the log of the last writes. The inventory says whether they are the files that
// were written.

const (
	discardFile  = "DISCARD" // Badger's statistics of the value logs
	discardBytes = 1 << 20   // size of that file
	logSuffix    = ".mem"    // suffix of Badger's logs of the last writes
	valueSuffix  = ".vlog"   // suffix of the value logs, which stay empty
	tableSuffix  = ".sst"
	asideSuffix  = ".sst.aside" // suffix of a table that the manifest does not name; see setAside
)

// storeFiles describes the files of a store before Badger opens them.
type storeFiles struct {
	opts      badger.Options
	names     []string   // names of the directory entries
	manifest  *manifest  // nil if it cannot be read
	inventory *inventory // expected files
	newest    *newest    // expected commits
	tablesEnd uint64     // newest timestamp in the tables
	found     uint64     // newest commit or timestamp in the tables and logs
	damaged   []string   // logs that lack commits
	stray     []string   // logs of another database
	faults    []error    // each ErrCorrupt
}

// examineFiles reads the files of a store that no process has open, all of them or without the
// records that are read on demand. It returns ErrMismatch for the store of a different program, and
// system errors.
func examineFiles(o badger.Options, all bool) (*storeFiles, error) {
	f := &storeFiles{opts: o, inventory: readInventory(o.Dir), newest: readNewest(o.Dir)}
	var err error
	if f.names, err = fileNames(o.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("db: %w", err)
	}
	if !slices.ContainsFunc(f.names, isSign) {
		return f, nil // there is no store yet
	}
	for _, step := range []func() error{f.checkTypes, f.readManifest, func() error { return f.checkTables(all) }, f.checkLogs} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// complete reports whether the manifest is known to name all tables that are needed.
func (f *storeFiles) complete() bool {
	return f.manifest != nil && f.inventory.vouches(f.manifest) && (!f.newest.binds() || f.found >= f.newest.Commit)
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

// isSign reports whether name is the name of a file that is in every directory of a store.
func isSign(name string) bool {
	return name == badger.ManifestFilename || name == inventoryFile || name == newestFile
}

// isStoreFile reports whether name is the name of a file of a store.
func isStoreFile(name string) bool {
	switch filepath.Ext(name) {
	case tableSuffix, logSuffix, valueSuffix:
		return true
	}
	return slices.Contains([]string{badger.ManifestFilename, badger.KeyRegistryFileName, discardFile, lockFile, inventoryFile, newestFile}, name)
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
	content []byte
	end     int64 // end of its last complete record
}

// sum returns the checksum of the first n bytes.
func (m *manifest) sum(n int64) uint32 {
	return index.Checksum(m.content[:min(n, int64(len(m.content)))])
}

// readManifest reads the manifest of a store. It returns ErrCorrupt, or ErrMismatch for a store
// that another program made.
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
	if m.content, err = io.ReadAll(f); err != nil {
		return nil, fmt.Errorf("%w: %s cannot be read: %v", ErrCorrupt, badger.ManifestFilename, err)
	}
	if err := checkManifestHeader(o.Dir, m.content); err != nil {
		return nil, err
	}
	if _, err = f.Seek(0, io.SeekStart); err == nil {
		m.Manifest, m.end, err = badger.ReplayManifestFile(f, magic, o)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s contradicts itself or its checksums", ErrCorrupt, badger.ManifestFilename)
	}
	return m, nil
}

// checkManifestHeader checks what Badger would refuse with its own words: the name of the format,
// the program that uses it, and the version. Only a directory without any other sign of kith
// belongs to another program.
func checkManifestHeader(dir string, b []byte) error {
	const name, header = badger.ManifestFilename, 8
	if len(b) < header || string(b[:4]) != manifestName {
		return fmt.Errorf("%w: %s does not begin as a manifest does", ErrCorrupt, name)
	}
	program, version := binary.BigEndian.Uint16(b[4:]), binary.BigEndian.Uint16(b[6:])
	switch {
	case program != magic && readInventory(dir).ID == "" && readNewest(dir).ID == "":
		return fmt.Errorf("%w: %s is the database of another program: the number %#04x in its %s is not kith's, %#04x", ErrMismatch, dir, program, name, magic)
	case program != magic:
		return fmt.Errorf("%w: %s has the number %#04x of another program, want %#04x", ErrCorrupt, name, program, magic)
	case version != manifestVersion:
		return fmt.Errorf("%w: %s has version %d, want %d", ErrCorrupt, name, version, manifestVersion)
	}
	return nil
}

func (f *storeFiles) readManifest() error {
	m, err := readManifest(f.opts)
	if err == nil {
		err = f.checkEnd(m)
	}
	if errors.Is(err, ErrCorrupt) {
		f.report("%w", err)
		return nil
	}
	f.manifest = m
	return err
}

// checkEnd checks the bytes after the last complete record of the manifest. An interrupted write
// may leave a partial record, but then there is a log too, and no record follows.
func (f *storeFiles) checkEnd(m *manifest) error {
	rest := m.content[min(m.end, int64(len(m.content))):]
	if len(rest) == 0 || len(f.with(logSuffix)) > 0 && !holdsRecord(rest[1:]) {
		return nil
	}
	return fmt.Errorf("%w: %s is damaged at byte %d", ErrCorrupt, badger.ManifestFilename, m.end)
}

// holdsRecord reports whether b contains a manifest record, preceded by its length and crc32c, at
// any offset.
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
		mark, end, err := checkFile(f.path(name), t.Compression, all)
		f.tablesEnd = max(f.tablesEnd, end)
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
	faults := f.inventory.faults(f.manifest, marks, f.names)
	if f.inventory.ID != "" && f.newest.ID != "" && f.inventory.ID != f.newest.ID {
		faults = []error{f.dropForeign(len(faults) == 0)}
	}
	f.faults = append(f.faults, faults...)
	return nil
}

// dropForeign is called if the inventory is from another directory than the newest commit. It
// ignores whichever does not fit all other files. fits says whether the inventory does.
func (f *storeFiles) dropForeign(fits bool) error {
	known := false // whether the newest commit is known to come from this directory
	for name, mark := range f.newest.Logs {
		begin, err := logBegin(f.path(name))
		known = known || err == nil && begin == mark.Begin
	}
	name := newestFile
	if fits && !known {
		f.newest = &newest{}
	} else {
		f.inventory, name = &inventory{}, inventoryFile
	}
	return fmt.Errorf("%w: %s is from another database", ErrCorrupt, name)
}

// Examine reads the files of the store at path, which no process may have open, and returns their
// faults, each an ErrCorrupt. The error is ErrMismatch for a different program's store, or a system
// error.
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

// checkLogs looks for damage in the logs, and for commits that are missing.
func (f *storeFiles) checkLogs() error {
	if f.newest.NoSync && !f.newest.binds() {
		return nil // a power cut may have left anything
	}
	c := logCheck{newest: &newest{}, found: f.tablesEnd}
	if f.newest.binds() {
		c.newest = f.newest
	}
	for _, name := range f.with(logSuffix) {
		b, err := f.read(name)
		if err != nil {
			return fmt.Errorf("db: %w", err)
		}
		c.add(name, b)
	}
	f.found, f.stray, f.damaged = c.found, c.stray, c.damaged
	f.faults = append(f.faults, c.faults()...)
	if len(f.faults) == 0 && c.found < c.newest.Commit {
		f.faults = []error{missingError(c.found, c.newest.Commit)}
	}
	return nil
}

// prepare readies the files for Badger, and hides from it the tables that it would delete. It
// returns the first fault.
func (f *storeFiles) prepare() error {
	if len(f.faults) > 0 {
		return f.faults[0]
	}
	o := f.opts
	if f.manifest == nil || o.ReadOnly {
		return nil
	}
	return errors.Join(f.setAside(), f.dropLeftovers(), os.RemoveAll(f.path(repairDraft)))
}

// dropLeftovers deletes empty log files, which a crash can leave and Badger cannot open, and the
// tables of a bulk that was interrupted.
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

// setAside renames tables that the manifest does not name, because Badger would delete them. Either
// they are left over from a crash, or a damaged manifest has lost them: that is known only after
// the records have been read.
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

// Complete reports whether no table was set aside. Otherwise all records must be read before
// Accept.
func (s *Store) Complete() bool { return s.Dir() == "" || len(s.aside()) == 0 }

// aside returns the names of the tables that were set aside.
func (s *Store) aside() []string {
	names, _ := filepath.Glob(filepath.Join(s.Dir(), "*"+asideSuffix)) // the pattern is valid
	return names
}

// Accept is called when all records have been read and none is missing. It deletes the tables that
// were set aside, and takes an inventory. It returns ErrCorrupt for a table that is newer than all
// others, because a crash does not leave such a table.
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
