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
	"github.com/dgraph-io/badger/v4/table"

	"kith/index"
)

// rebuild writes a manifest for tables that it takes over or makes: the readable entries of a
// damaged table or of a log become a new table. No old file is changed or deleted before the new
// manifest is in place.
type rebuild struct {
	*storeFiles
	into     string       // directory of the new files
	tables   []namedTable // tables that the new manifest names
	replaced []string     // files that the new manifest makes obsolete
	next     uint64       // number of the next new table
	done     []string     // descriptions of the steps taken
}

// namedTable is a table in a manifest.
type namedTable struct {
	id    uint64
	level uint8
	made  bool // made by the rebuild
}

// newRebuild returns a rebuild that writes to the directory into.
func newRebuild(f *storeFiles, into string) *rebuild {
	m := &rebuild{storeFiles: f, into: into, next: 1}
	above := func(id uint64) { m.next = max(m.next, id+1) }
	for _, name := range append(f.with(tableSuffix), f.with(asideSuffix)...) {
		if id, ok := tableNumber(name); ok {
			above(id)
		}
	}
	for id := range f.inventory.Tables {
		above(id)
	}
	if f.manifest != nil {
		for id := range f.manifest.Tables {
			above(id)
		}
	}
	return m
}

// Rebuilt is a store in a directory of its own that holds all that can be read of a damaged one.
type Rebuilt struct {
	Faults []error  // faults of the files of the damaged store, each an ErrCorrupt
	Done   []string // descriptions of the steps taken
	Commit uint64   // timestamp of the newest commit that was durable, or 0 if it is unknown
	path   string   // the damaged store
	lock   io.Closer
}

// Rebuild makes a store of everything that can be read of the closed store at path. It changes no
// file of that store. The caller must close the result.
func Rebuild(path string, o Options) (b *Rebuilt, err error) {
	lock, err := lockDir(path, false)
	if err != nil {
		return nil, err
	}
	b = &Rebuilt{path: path, lock: lock}
	if err := b.rebuild(o); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Rebuilt) rebuild(o Options) error {
	if err := install(b.path, nil); err != nil {
		return fmt.Errorf("db: %w", err)
	}
	if err := os.RemoveAll(b.Dir()); err != nil {
		return fmt.Errorf("db: %w", err)
	}
	f, err := examineFiles(badgerOptions(b.path, o), true)
	if err != nil {
		return err
	}
	if err := os.Mkdir(b.Dir(), 0o700); err != nil {
		return fmt.Errorf("db: %w", err)
	}
	m := newRebuild(f, b.Dir())
	if err := errors.Join(m.keepTables(), m.keepLogs()); err != nil {
		return fmt.Errorf("db: %w", fullError(err))
	}
	if err := m.writeManifest(); err != nil {
		return fmt.Errorf("db: %w", fullError(err))
	}
	if len(f.faults) > 0 || len(m.done) > 0 {
		m.did("the files of the store were put in order: %d tables", len(m.tables))
	}
	b.Faults, b.Done = f.faults, m.done
	if f.newest.binds() {
		b.Commit = f.newest.Commit
	}
	return nil
}

// Dir returns the directory of the rebuilt store.
func (b *Rebuilt) Dir() string { return filepath.Join(b.path, repairDraft) }

// Install puts the rebuilt store, which must be closed, in the place of the damaged one.
func (b *Rebuilt) Install() error {
	if err := prepareInstall(b.path); err != nil {
		return fmt.Errorf("db: %w", fullError(err))
	}
	if err := install(b.path, nil); err != nil {
		return fmt.Errorf("db: %w", err)
	}
	return nil
}

// Close deletes the rebuilt store, unless it was installed. The damaged one is then as it was.
func (b *Rebuilt) Close() error { return errors.Join(os.RemoveAll(b.Dir()), b.lock.Close()) }

// finish writes the manifest and the inventory, and deletes obsolete files.
func (m *rebuild) finish() error {
	if err := m.writeManifest(); err != nil {
		return fmt.Errorf("db: %w", fullError(err))
	}
	inv, err := listFiles(m.opts, &inventory{ID: m.inventory.ID})
	if err == nil {
		err = inv.write(m.opts.Dir)
	}
	if err == nil {
		err = m.tidy()
	}
	if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	return nil
}

func (m *rebuild) did(format string, args ...any) {
	m.done = append(m.done, fmt.Sprintf(format, args...))
}

// tableNumber parses the name of a table, which may be set aside.
func tableNumber(name string) (uint64, bool) {
	number, _, _ := strings.Cut(name, ".")
	return table.ParseFileID(number + tableSuffix)
}

// keepTables copies the intact tables, and makes new tables from the damaged ones. It leaves out a
// table that is not the written file, which has records from a different time or database, and a
// table that a complete manifest does not name.
func (m *rebuild) keepTables() error {
	for _, name := range append(m.with(tableSuffix), m.with(asideSuffix)...) {
		id, ok := tableNumber(name)
		if !ok {
			continue
		}
		if err := m.keepTable(name, id); err != nil {
			return err
		}
	}
	if m.manifest == nil {
		return nil
	}
	for id := range m.manifest.Tables {
		if name := table.IDToFilename(id); !slices.Contains(m.names, name) {
			m.did("%s is missing: its records are lost", name)
		}
	}
	return nil
}

func (m *rebuild) keepTable(name string, id uint64) error {
	mark, _, err := checkFile(m.path(name), m.opts.Compression, true)
	if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	was, listed := m.inventory.Tables[id]
	named := false
	if m.manifest != nil {
		_, named = m.manifest.Tables[id]
	}
	switch whole := err == nil; {
	case whole && listed && was != mark, !named && m.complete():
		return m.leaveOut(name)
	case whole && strings.HasSuffix(name, tableSuffix):
		m.tables = append(m.tables, namedTable{id: id})
		return m.copy(name, name)
	}
	b, err := m.read(name)
	if err != nil {
		return err
	}
	entries, gaps := readTable(b)
	if len(gaps) > 0 || len(b) == 0 {
		m.did("%s: %d records were kept, %v cannot be read", name, len(entries), gaps)
	}
	return m.addTable(entries, 0)
}

// leaveOut keeps a file under a name that Badger ignores.
func (m *rebuild) leaveOut(name string) error {
	m.did("%s is not a file of this database in this state: it was left out, and renamed to %s", name, name+leftOutSuffix)
	return m.copy(name, name+leftOutSuffix)
}

// leftOutSuffix is the suffix of files that a repair has left out.
const leftOutSuffix = ".left-out"

// copy copies a file durably.
func (m *rebuild) copy(from, to string) error {
	r, err := os.Open(m.path(from))
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(filepath.Join(m.into, to), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Sync(), w.Close())
}

// keepLogs makes tables from the logs.
func (m *rebuild) keepLogs() error {
	followed := false
	logs := m.with(logSuffix)
	slices.Reverse(logs)
	for _, name := range logs {
		if slices.Contains(m.stray, name) {
			if err := m.leaveOut(name); err != nil {
				return err
			}
			continue
		}
		b, err := m.read(name)
		if err != nil {
			return err
		}
		entries := logEntries(b, followed)
		followed = followed || len(entries) > 0
		if slices.Contains(m.damaged, name) {
			m.did("%s: %d records were kept%s", name, len(entries), lostIn(b))
		}
		if err := m.addTable(entries, 0); err != nil {
			return err
		}
	}
	return nil
}

// lostIn describes the first gap in a log.
func lostIn(b []byte) string {
	s := summarize(b)
	if !s.follow {
		return ""
	}
	end := s.found
	for ts := range s.after {
		if end == s.found || ts < end {
			end = ts
		}
	}
	return fmt.Sprintf(", %v cannot be read: changes of the commits from version %d to %d are lost", s.gap, s.found+1, max(end, s.found+1))
}

func (m *rebuild) addTable(entries []entry, level uint8) error {
	if len(entries) == 0 {
		return nil
	}
	t := namedTable{m.next, level, true}
	m.next++
	m.tables = append(m.tables, t)
	return fullError(writeSynced(filepath.Join(m.into, table.IDToFilename(t.id)), buildTable(entries, tableOptions(m.opts))))
}

// undo deletes the tables that the rebuild made.
func (m *rebuild) undo() (err error) {
	for _, t := range m.tables {
		if t.made {
			err = errors.Join(err, os.Remove(filepath.Join(m.into, table.IDToFilename(t.id))))
		}
	}
	return err
}

// writeManifest writes a manifest that names the tables in one change: Badger's header, then the
// length and crc32c of the change, then the change, which is a protocol buffer.
func (m *rebuild) writeManifest() error {
	var changes []byte
	for _, t := range m.tables {
		c := binary.AppendUvarint([]byte{1 << 3}, t.id)
		c = append(c, 3<<3, t.level, 6<<3, byte(m.opts.Compression))
		changes = append(append(changes, 1<<3|2, byte(len(c))), c...)
	}
	b := binary.BigEndian.AppendUint16([]byte(manifestName), magic)
	b = binary.BigEndian.AppendUint16(b, manifestVersion)
	b = binary.BigEndian.AppendUint32(b, uint32(len(changes)))
	b = binary.BigEndian.AppendUint32(b, index.Checksum(changes))
	draft := filepath.Join(m.into, manifestDraft)
	if err := writeSynced(draft, append(b, changes...)); err != nil {
		return err
	}
	if err := os.Rename(draft, filepath.Join(m.into, badger.ManifestFilename)); err != nil {
		return err
	}
	return syncDir(m.into)
}

// manifestName and manifestVersion are the name and the version of the manifest format that Badger
// reads.
const (
	manifestName    = "Bdgr"
	manifestVersion = 8
)

// tidy deletes the files that the new manifest makes obsolete. It also deletes files without
// records, because they may be damaged; Badger re-creates them.
func (m *rebuild) tidy() error {
	for _, name := range append(m.replaced, append(m.with(valueSuffix), badger.KeyRegistryFileName, discardFile)...) {
		if err := os.Remove(m.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return syncDir(m.opts.Dir)
}
