package store

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"

	"kith/index"
)

// inventoryFile lists the files of a store. Badger's manifest names the tables without identifying
// their content, and a manifest that has lost its end looks like an older one.
const inventoryFile = "INVENTORY"

// inventory is the list of the files of a store at some time. The manifest decides which tables
// exist; the inventory is compared with it. An old inventory detects fewer faults, and a lost or
// damaged one detects none.
//
// INVARIANT: a crash leaves files that agree with the inventory. Everything that it lists was
// durable when it was written. Badger appends to the manifest, and before a manifest is written
// from scratch, forget removes it from the inventory. Its log is the newest one: a log becomes a
// table and is deleted only after a newer log was started, so the table is not yet in the manifest
// from which the inventory was made. Badger may reuse the number of a deleted table when it opens
// the store, so tables that the manifest does not name are removed from the inventory before that.
type inventory struct {
	// ID is the identity of the directory; see newest.
	ID string `json:"id"`
	// ManifestSum is the crc32c of the first ManifestBytes bytes of the manifest.
	ManifestSum   uint32               `json:"manifest_sum"`
	ManifestBytes int64                `json:"manifest_bytes"`
	Tables        map[uint64]tableMark `json:"tables"`
	Log           string               `json:"log"` // the newest; empty means unknown
}

// tableMark identifies a table by its length, its first bytes, and its last bytes, which are the
// length and the checksum of its index. The index alone does not identify a small table: it has
// keys, and databases with the same keys have other values.
type tableMark struct {
	Bytes int64  `json:"bytes"`
	Begin uint32 `json:"begin"` // crc32c of the first markedBegin bytes
	End   string `json:"end"`   // hexadecimal
}

// markedBegin is the number of bytes at the beginning of a table that its mark covers. A small
// table has no more.
const markedBegin = 4 << 10

// markedEnd is the number of bytes in tableMark.End.
const markedEnd = 14

// markOf returns the mark of a table of size bytes, reading only the beginning and the end.
func markOf(r io.ReaderAt, size int64) (tableMark, error) {
	begin, end := make([]byte, min(size, markedBegin)), make([]byte, min(size, markedEnd))
	_, err := r.ReadAt(begin, 0)
	if err == nil || errors.Is(err, io.EOF) {
		_, err = r.ReadAt(end, size-int64(len(end)))
	}
	return tableMark{size, index.Checksum(begin), hex.EncodeToString(end)}, err
}

// markFile returns the mark of a table file.
func markFile(name string) (m tableMark, err error) {
	f, err := os.Open(name)
	if err != nil {
		return m, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return m, err
	}
	return markOf(f, info.Size())
}

// listFiles makes the inventory of a store, without its log. It takes the identity, and the marks
// of tables that earlier lists, from there.
func listFiles(o badger.Options, earlier *inventory) (*inventory, error) {
	m, err := readManifest(o)
	if err != nil {
		return nil, err
	}
	inv := &inventory{ID: earlier.ID, ManifestSum: m.sum(m.end), ManifestBytes: m.end, Tables: map[uint64]tableMark{}}
	for id := range m.Tables {
		if mark, ok := earlier.Tables[id]; ok {
			inv.Tables[id] = mark
			continue
		}
		switch mark, err := markFile(table.NewFilename(id, o.Dir)); {
		case err == nil:
			inv.Tables[id] = mark
		case !errors.Is(err, fs.ErrNotExist): // else a compaction has deleted it meanwhile
			return nil, err
		}
	}
	return inv, nil
}

// readInventory returns the inventory of a store, or an empty one if it is missing or damaged.
func readInventory(dir string) *inventory {
	inv := &inventory{}
	if !readSealed(filepath.Join(dir, inventoryFile), inv) {
		return &inventory{}
	}
	return inv
}

// sealBytes is the length of the first line of a sealed document: the checksum of the rest in
// hexadecimal.
const sealBytes = 9

// seal returns a line with the checksum of a JSON document, and the document, filled with blanks to
// the given size of both.
func seal(doc []byte, size int) []byte {
	b := append(make([]byte, sealBytes, max(size, sealBytes+len(doc))), doc...)
	for len(b) < size {
		b = append(b, ' ')
	}
	copy(b, fmt.Appendf(nil, "%08x\n", index.Checksum(b[sealBytes:])))
	return b
}

// readSealed decodes the document of a sealed file into v, and reports whether the file is
// undamaged.
func readSealed(name string, v any) bool {
	b, err := os.ReadFile(name)
	if err != nil || len(b) < sealBytes {
		return false
	}
	doc := b[sealBytes:]
	return bytes.Equal(b, seal(doc, 0)) && json.Unmarshal(doc, v) == nil
}

// write replaces the inventory of a store.
func (inv *inventory) write(dir string) error {
	doc, err := json.MarshalIndent(inv, "", " ")
	if err != nil {
		return err
	}
	name := filepath.Join(dir, inventoryFile)
	draft := name + "-REWRITE"
	if err := writeSynced(draft, seal(doc, 0)); err != nil {
		return errors.Join(err, os.Remove(draft))
	}
	if err := os.Rename(draft, name); err != nil {
		return err
	}
	return syncDir(dir)
}

// faults returns the differences that show that files have been replaced, each as an ErrCorrupt.
func (inv *inventory) faults(m *manifest, marks map[uint64]tableMark, names []string) (faults []error) {
	report := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...)))
	}
	switch n := inv.ManifestBytes; {
	case m.end < n && n < rewritable:
		report("%s ends at byte %d, it had %d bytes", badger.ManifestFilename, m.end, n)
	case n < rewritable && n > 0 && !inv.vouches(m):
		report("%s is not the file that was written", badger.ManifestFilename)
	}
	made := false // whether a table was made after the inventory
	for id := range m.Tables {
		was, listed := inv.Tables[id]
		made = made || !listed
		if now, ok := marks[id]; ok && listed && now != was {
			report("%s is not the file that was written", table.IDToFilename(id))
		}
	}
	if inv.Log != "" && !made && !slices.Contains(names, inv.Log) {
		// The log is not missing if it has become a table: then it is deleted.
		report("%s is missing", inv.Log)
	}
	return faults
}

// vouches reports whether the manifest is the manifest of the inventory or continues it.
func (inv *inventory) vouches(m *manifest) bool {
	n := inv.ManifestBytes
	return n > 0 && m.end >= n && m.sum(n) == inv.ManifestSum
}

// rewritable is the least number of bytes of a manifest that Badger may have written from scratch:
// it does so after 10,000 deletions of tables, each of 6 bytes.
const rewritable = 60_000

// forget removes the manifest from the stored inventory, before it is written from scratch.
func (inv *inventory) forget(dir string) error {
	inv.ManifestSum, inv.ManifestBytes = 0, 0
	return inv.write(dir)
}

// takeInventory replaces the inventory of the store. A failure is logged and does not fail a
// commit: without an inventory the next open only detects less damage.
func (s *Store) takeInventory() {
	o := s.opts
	if o.InMemory || o.ReadOnly {
		return
	}
	inv, err := listFiles(o, s.inventory)
	if err == nil {
		err = s.finishInventory(inv)
	}
	if err != nil {
		s.log.Warn("listing the files of the store", "err", err)
	}
}

// finishInventory adds the newest log, makes the listed files durable, and writes the inventory.
func (s *Store) finishInventory(inv *inventory) error {
	dir := s.Dir()
	names, err := fileNames(dir)
	if err != nil {
		return err
	}
	inv.ID = s.id
	if s.syncs {
		inv.Log = newestLog(dir, names)
	}
	if err := errors.Join(syncNamed(filepath.Join(dir, badger.ManifestFilename)), syncDir(dir)); err != nil {
		return err
	}
	s.inventory = inv
	return inv.write(dir)
}

// newestLog returns the name of the newest log that Badger has begun, or "" if no log has begun.
func newestLog(dir string, names []string) string {
	for _, name := range slices.Backward(withSuffix(names, logSuffix)) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Size() > 0 {
			return name
		}
	}
	return ""
}

// removeStale removes from the inventory what Badger may change when it opens or closes the store:
// it deletes logs without records, and reuses the numbers of deleted tables.
func (inv *inventory) removeStale(m *manifest, dir string) error {
	before := len(inv.Tables)
	maps.DeleteFunc(inv.Tables, func(id uint64, _ tableMark) bool {
		_, named := m.Tables[id]
		return !named
	})
	if inv.Log == "" && len(inv.Tables) == before {
		return nil
	}
	inv.Log = ""
	return inv.write(dir)
}

// dropStale removes from the stored inventory what Badger may change when it is opened or closed,
// and forgets the logs that do not exist.
func (s *Store) dropStale() error {
	m, err := readManifest(s.opts)
	if err != nil {
		return err
	}
	err = readInventory(s.Dir()).removeStale(m, s.Dir())
	if err == nil {
		err = removeStaleLogs(s.Dir())
	}
	if err != nil {
		return fmt.Errorf("db: %w", fullError(err))
	}
	return nil
}
