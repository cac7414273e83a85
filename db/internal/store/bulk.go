package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"

	"kith/index"
)

// Bulk is Batch for many records of a new generation, each written once, in the order of their keys
// if they have the same first byte. It writes tables, and Badger opens them when all are complete.
// Written by Badger, every record would first be in a log and in a memtable and then in two or
// three tables, each in memory as a whole and mapped from then on. Records that fit into one table
// are added to Badger as it runs.
//
// If there are more, readers wait while Badger makes a table of the last commits, unless nothing
// was written since Open. Transactions that do not end prevent this; then Badger writes the
// records.
func (s *Store) Bulk(ts uint64, f func(index.Writer) error) error {
	if s.Dir() == "" || runtime.GOOS == "windows" {
		return s.Batch(ts, f)
	}
	if err := s.Failure(); err != nil {
		return err
	}
	w := &tableWriter{store: s, ts: ts, kinds: map[byte]*tableBuffer{}}
	err := f(w)
	if err == nil && len(w.drafts) == 0 {
		switch all := w.joined(); {
		case all.bytes < leastTable:
			return s.Batch(ts, w.copyTo)
		case all.bytes < s.bulkTable:
			return s.addTable(all)
		}
	}
	for _, kind := range w.kinds {
		if err == nil {
			err = w.flush(kind)
		}
	}
	done, dead := false, s.deadTables()
	for end := time.Now().Add(adoptWait); err == nil && !done; time.Sleep(time.Millisecond) {
		if done, err = s.adopt(w.drafts, dead); time.Now().After(end) {
			break
		}
	}
	if err == nil && !done {
		err = s.Batch(ts, w.copyTo)
	}
	return errors.Join(err, w.tidy())
}

// leastTable is the number of bytes of records for which a table costs less than a commit does.
const leastTable = 256 << 10

// adoptWait is how long Bulk waits for a moment without transactions.
const adoptWait = time.Second

// tableWriter is an index.Writer that writes tables under draft names, each with keys of a single
// kind.
type tableWriter struct {
	store  *Store
	ts     uint64
	kinds  map[byte]*tableBuffer // by the first byte of the key
	drafts []draft
}

// tableBuffer holds the records of the next table of a kind.
type tableBuffer struct {
	entries []entry
	bytes   int64
}

// draft is a complete table that the manifest does not name yet, and its first and last key.
type draft struct {
	name        string
	first, last []byte
}

// draftSuffix is the suffix of the names of drafts.
const draftSuffix = ".draft"

// Set implements index.Writer.
func (w *tableWriter) Set(key, value []byte) error {
	b := w.kinds[key[0]]
	if b == nil {
		b = &tableBuffer{}
		w.kinds[key[0]] = b
	}
	b.entries = append(b.entries, entry{y.KeyWithTs(key, w.ts), y.ValueStruct{Value: value}})
	if b.bytes += int64(len(key) + len(value)); b.bytes < w.store.bulkTable {
		return nil
	}
	return w.flush(b)
}

// joined returns the records of all kinds.
func (w *tableWriter) joined() (all tableBuffer) {
	for _, kind := range slices.Sorted(maps.Keys(w.kinds)) {
		all.entries = append(all.entries, w.kinds[kind].entries...)
		all.bytes += w.kinds[kind].bytes
	}
	return all
}

// build returns a table of the records.
func (b *tableBuffer) build(o badger.Options) []byte {
	to := tableOptions(o)
	// Badger takes twice as much at once, and more when that is full.
	to.TableSize = uint64(b.bytes) * 3 / 2
	return buildTable(inTableOrder(b.entries), to)
}

// addTable durably adds a table of records while Badger runs.
func (s *Store) addTable(all tableBuffer) error {
	b, err := s.forWriting()
	if err != nil {
		return err
	}
	if err = s.RoomToGrow(); err == nil {
		err = fullError(b.flush.addTable(all.build(s.opts)))
	}
	s.written.Add(all.bytes)
	s.tables.Add(1)
	s.step()
	return errors.Join(err, b.release())
}

// Delete implements index.Writer.
func (w *tableWriter) Delete(key []byte) error {
	return fmt.Errorf("db: store: key %q is deleted in a bulk", key)
}

// flush writes the next table of a kind.
func (w *tableWriter) flush(b *tableBuffer) error {
	if len(b.entries) == 0 {
		return nil
	}
	if err := w.store.RoomToGrow(); err != nil {
		return err
	}
	entries := inTableOrder(b.entries)
	d := draft{filepath.Join(w.store.Dir(), fmt.Sprintf("%06d%s", len(w.drafts), draftSuffix)), entries[0].key, entries[len(entries)-1].key}
	w.drafts = append(w.drafts, d)
	err := fullError(writeSynced(d.name, b.build(w.store.opts)))
	clear(b.entries)
	b.entries, b.bytes = b.entries[:0], 0
	w.store.step()
	return err
}

// copyTo writes all records to another writer.
func (w *tableWriter) copyTo(to index.Writer) error {
	add := func(entries []entry) error {
		for _, e := range entries {
			if err := to.Set(y.ParseKey(e.key), e.value.Value); err != nil {
				return err
			}
		}
		return nil
	}
	for _, d := range w.drafts {
		b, err := os.ReadFile(d.name)
		if err != nil {
			return err
		}
		entries, _ := readTable(b)
		if err := add(entries); err != nil {
			return err
		}
	}
	for _, kind := range w.kinds {
		if err := add(kind.entries); err != nil {
			return err
		}
	}
	return nil
}

// tidy deletes the drafts that are left.
func (w *tableWriter) tidy() (err error) {
	for _, d := range w.drafts {
		if e := os.Remove(d.name); !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// adopt makes tables of drafts: it writes a manifest that names them, which Badger opens, and
// leaves out dead tables. It reports false if Badger is writing and cannot be interrupted.
func (s *Store) adopt(drafts []draft, dead map[uint64]badger.TableInfo) (bool, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	s.syncing.Lock()
	defer s.syncing.Unlock()
	if err := errors.Join(s.inPlace(), s.verify()); err != nil {
		return false, err
	}
	if ok, err := s.stopWriting(); !ok {
		return false, err
	}
	s.step()
	names, err := fileNames(s.Dir())
	if err != nil {
		return false, fmt.Errorf("db: %w", err)
	}
	f := &storeFiles{opts: s.opts, names: names, inventory: s.inventory}
	if f.manifest, err = readManifest(s.opts); err != nil {
		return false, err
	}
	m := newRebuild(f, s.Dir())
	removed := s.removable(dead)
	for id, t := range f.manifest.Tables {
		if !slices.Contains(removed, id) {
			m.tables = append(m.tables, namedTable{id: id, level: t.Level})
		}
	}
	level := s.freeLevel(drafts)
	for _, d := range drafts {
		if err := os.Rename(d.name, m.path(table.IDToFilename(m.next))); err != nil {
			return false, fmt.Errorf("db: %w", err)
		}
		m.tables = append(m.tables, namedTable{id: m.next, level: level})
		m.next++
		s.step()
	}
	if err := m.inventory.forget(s.Dir()); err != nil {
		return false, fmt.Errorf("db: %w", fullError(err))
	}
	s.step()
	if err := m.writeManifest(); err != nil {
		return false, fmt.Errorf("db: %w", fullError(err))
	}
	s.step()
	for _, id := range removed { // if this fails, the next Open deletes them
		_ = os.Remove(m.path(table.IDToFilename(id)))
	}
	if err := s.start(s.opts.WithReadOnly(true)); err != nil {
		s.Fail(err)
		return false, err
	}
	s.takeInventory()
	s.step()
	return true, nil
}

// deadTables returns the tables with records that are all deleted for every reader, from now on,
// such as the tables of an earlier generation. Badger would merge them only when much is written
// above them, which is not so if generations are written past it: its levels would grow with every
// generation.
func (s *Store) deadTables() map[uint64]badger.TableInfo {
	b := s.acquire()
	defer b.release()
	ts, dead := s.discarded.Load(), map[uint64]badger.TableInfo{}
	if ts == 0 {
		return dead
	}
	txn := b.NewTransactionAt(ts, false)
	defer txn.Discard()
	for _, t := range b.Tables() {
		if t.Level > 0 && t.MaxVersion <= ts && isDead(txn, t) {
			dead[t.ID] = t
		}
	}
	return dead
}

// isDead reports whether txn sees the deletion of every key from the first to the last of a table.
// An iterator that a damaged block ends does not see the last key.
func isDead(txn *badger.Txn, t badger.TableInfo) (dead bool) {
	defer func() { dead = recover() == nil && dead }() // Badger panics over some damage
	o := badger.DefaultIteratorOptions
	o.PrefetchValues, o.AllVersions = false, true
	it := txn.NewIterator(o)
	defer it.Close()
	last, key := y.ParseKey(t.Right), []byte(nil)
	for it.Seek(y.ParseKey(t.Left)); it.Valid() && bytes.Compare(it.Item().Key(), last) <= 0; it.Next() {
		if bytes.Equal(it.Item().Key(), key) {
			continue // an earlier version
		}
		if !it.Item().IsDeletedOrExpired() {
			return false
		}
		key = it.Item().KeyCopy(key)
	}
	return bytes.Equal(key, last)
}

// removable returns the dead tables that can be left out of a manifest: a table may hold the
// deletions of records in higher levels, so it is kept if a table with keys between its own is kept
// there. The caller holds both locks.
func (s *Store) removable(dead map[uint64]badger.TableInfo) (ids []uint64) {
	tables := s.badger.Load().Tables()
	slices.SortFunc(tables, func(a, b badger.TableInfo) int { return b.Level - a.Level })
	var kept []badger.TableInfo
	for _, t := range tables {
		hides := slices.ContainsFunc(kept, func(k badger.TableInfo) bool {
			return k.Level > t.Level && y.CompareKeys(k.Left, t.Right) <= 0 && y.CompareKeys(t.Left, k.Right) <= 0
		})
		if d, ok := dead[t.ID]; ok && sameTable(d, t) && !hides {
			ids = append(ids, t.ID)
			continue
		}
		kept = append(kept, t)
	}
	return ids
}

// sameTable reports whether two tables with the same number are the same: Badger may use the number
// of a deleted table again.
func sameTable(a, b badger.TableInfo) bool {
	return a.MaxVersion == b.MaxVersion && a.KeyCount == b.KeyCount && bytes.Equal(a.Left, b.Left) && bytes.Equal(a.Right, b.Right)
}

// step says that the files have changed.
func (s *Store) step() {
	if s.onStep != nil {
		s.onStep()
	}
}

// freeLevel returns the last level whose tables overlap none of the drafts. In level 0 tables may
// overlap.
func (s *Store) freeLevel(drafts []draft) uint8 {
	slices.SortFunc(drafts, func(a, b draft) int { return y.CompareKeys(a.first, b.first) })
	for i := 1; i < len(drafts); i++ {
		if y.CompareKeys(drafts[i-1].last, drafts[i].first) >= 0 {
			return 0
		}
	}
	taken := [lastLevel + 1]bool{}
	for _, t := range s.badger.Load().Tables() {
		taken[t.Level] = taken[t.Level] || slices.ContainsFunc(drafts, func(d draft) bool {
			return y.CompareKeys(d.first, t.Right) <= 0 && y.CompareKeys(t.Left, d.last) <= 0
		})
	}
	for level := lastLevel; level > 0; level-- {
		if !taken[level] {
			return uint8(level)
		}
	}
	return 0
}
