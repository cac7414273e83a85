package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"

	"kith/index"
)

// rebuild replaces damaged files with files that Badger can open. The readable entries of a damaged table or of a log
// become a new table, and a new manifest names the tables. No old file is changed or deleted before the new manifest is
// in place.
type rebuild struct {
	*storeFiles
	tables   []namedTable // tables that the new manifest names
	replaced []string     // files that the new manifest makes obsolete
	foreign  []string     // tables that are left out
	next     uint64       // number of the next new table
	done     []string     // descriptions of what was done
}

// namedTable is a table in a manifest.
type namedTable struct {
	id    uint64
	level uint8
	made  bool // made by the rebuild
}

func newRebuild(f *storeFiles) *rebuild {
	m := &rebuild{storeFiles: f, next: 1}
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

// Rebuild replaces damaged files of the closed store at path with files that hold everything that can be read of them.
// Unless always is set, it does nothing if no file is damaged and no table was set aside. It returns the faults that it
// found, each an ErrCorrupt, and descriptions of what it did.
func Rebuild(path string, o Options, always bool) (faults []error, done []string, err error) {
	lock, err := lockDir(path, false)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	f, err := examineFiles(badgerOptions(path, o), true)
	if err != nil {
		return nil, nil, err
	}
	if !always && len(f.faults) == 0 && len(f.with(asideSuffix)) == 0 {
		return nil, nil, nil
	}
	m := newRebuild(f)
	if err := errors.Join(m.keepTables(), m.keepLogs()); err != nil {
		return f.faults, nil, errors.Join(fmt.Errorf("db: %w", err), m.undo())
	}
	if err := m.finish(); err != nil {
		return f.faults, nil, err
	}
	m.did("the files of the store were put in order: %d tables", len(m.tables))
	return f.faults, m.done, nil
}

// finish writes the manifest and the inventory, and deletes obsolete files.
func (m *rebuild) finish() error {
	if err := m.writeManifest(); err != nil {
		return fmt.Errorf("db: %w", fullError(err))
	}
	inv, err := listFiles(m.opts, new(inventory))
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

// keepTables collects the intact tables, and makes new tables from the damaged ones and from those that were set aside.
// An intact table that is not the written file has records from a different time or database; it is left out and
// renamed.
func (m *rebuild) keepTables() error {
	for _, name := range append(m.with(tableSuffix), m.with(asideSuffix)...) {
		id, ok := tableNumber(name)
		if !ok {
			continue
		}
		mark, _, err := checkFile(m.path(name), m.opts.Compression, true)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil && !errors.Is(err, ErrCorrupt) {
			return err
		}
		was, listed := m.inventory.Tables[id]
		switch whole := err == nil; {
		case whole && listed && was != mark:
			m.foreign = append(m.foreign, name)
		case whole && strings.HasSuffix(name, tableSuffix):
			m.tables = append(m.tables, namedTable{id: id})
		default:
			b, err := m.read(name)
			if err != nil {
				return err
			}
			entries, gaps := readTable(b)
			if len(gaps) > 0 {
				m.did("%s: %d records were kept, %v cannot be read", name, len(entries), gaps)
			}
			m.replaced = append(m.replaced, name)
			if err := m.addTable(entries, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepLogs makes tables from the logs.
func (m *rebuild) keepLogs() error {
	followed := false
	logs := m.with(logSuffix)
	slices.Reverse(logs)
	for _, name := range logs {
		b, err := m.read(name)
		if err != nil {
			return err
		}
		entries := logEntries(b, followed)
		followed = followed || len(entries) > 0
		if name == m.damagedLog {
			m.did("%s: %d records were kept", name, len(entries))
		}
		m.replaced = append(m.replaced, name)
		if err := m.addTable(entries, 0); err != nil {
			return err
		}
	}
	return nil
}

func (m *rebuild) addTable(entries []entry, level uint8) error {
	if len(entries) == 0 {
		return nil
	}
	t := namedTable{m.next, level, true}
	m.next++
	m.tables = append(m.tables, t)
	return fullError(writeSynced(m.path(table.IDToFilename(t.id)), buildTable(entries, tableOptions(m.opts))))
}

// undo deletes the tables that the rebuild made.
func (m *rebuild) undo() (err error) {
	for _, t := range m.tables {
		if t.made {
			err = errors.Join(err, os.Remove(m.path(table.IDToFilename(t.id))))
		}
	}
	return err
}

// writeManifest writes a manifest that names the tables in one change: Badger's header, then the length and crc32c of
// the change, then the change, which is a protocol buffer.
func (m *rebuild) writeManifest() error {
	var changes []byte
	for _, t := range m.tables {
		c := binary.AppendUvarint([]byte{1 << 3}, t.id)
		c = append(c, 3<<3, t.level, 6<<3, byte(m.opts.Compression))
		changes = append(append(changes, 1<<3|2, byte(len(c))), c...)
	}
	b := binary.BigEndian.AppendUint16([]byte("Bdgr"), magic)
	b = binary.BigEndian.AppendUint16(b, manifestVersion)
	b = binary.BigEndian.AppendUint32(b, uint32(len(changes)))
	b = binary.BigEndian.AppendUint32(b, index.Checksum(changes))
	if err := writeSynced(m.path(manifestDraft), append(b, changes...)); err != nil {
		return err
	}
	if err := os.Rename(m.path(manifestDraft), m.path(badger.ManifestFilename)); err != nil {
		return err
	}
	return syncDir(m.opts.Dir)
}

// manifestVersion is the version of the manifest format that Badger reads.
const manifestVersion = 8

// tidy deletes the files that the new manifest makes obsolete. It also deletes files without records, because they may
// be damaged; Badger re-creates them.
func (m *rebuild) tidy() error {
	for _, name := range m.foreign {
		if err := os.Rename(m.path(name), m.path(name+".left-out")); err != nil {
			return err
		}
		m.did("%s is another file than the one that was written: it was left out, and renamed to %s.left-out", name, name)
	}
	for _, name := range append(m.replaced, append(m.with(valueSuffix), badger.KeyRegistryFileName, discardFile)...) {
		if err := os.Remove(m.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return syncDir(m.opts.Dir)
}
