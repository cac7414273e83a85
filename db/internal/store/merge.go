package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
)

// merger merges tables as a log-structured merge-tree does (O'Neil et al., Acta Informatica 1996),
// in place of Badger's compactors. They would write through memory mappings, where a full disk ends
// the process, and would lose the records of a table whose file they cannot make. A merge that the
// disk cannot hold changes nothing here, and is tried again.
//
// Level 0 has the tables of the logs, the newest last. On each other level the ranges of the
// tables' keys do not overlap. A record of a level is newer than the records of its key on the
// levels below.
type merger struct {
	maker
	store   *Store
	wake    chan struct{} // see look
	closing chan struct{}
	ended   chan struct{}

	merging sync.Mutex     // protects dropped, and is held during a merge
	dropped []*table.Table // tables that were merged, but may still be read; see sweep

	// Fields of Badger's DB:
	controller unsafe.Pointer
	manifest   unsafe.Pointer
	levels     []level
}

// Functions of Badger that a merger needs.
//
//go:linkname levelTargets github.com/dgraph-io/badger/v4.(*levelsController).levelTargets
func levelTargets(controller unsafe.Pointer) targets

//go:linkname addChanges github.com/dgraph-io/badger/v4.(*manifestFile).addChanges
func addChanges(manifest unsafe.Pointer, changes []*pb.ManifestChange, o badger.Options) error

//go:linkname replaceTables github.com/dgraph-io/badger/v4.(*levelHandler).replaceTables
func replaceTables(level unsafe.Pointer, old, made []*table.Table) error

//go:linkname deleteTables github.com/dgraph-io/badger/v4.(*levelHandler).deleteTables
func deleteTables(level unsafe.Pointer, old []*table.Table) error

// targets is the type of Badger with the same name.
type targets struct {
	base  int     // level into which the tables of level 0 are merged
	size  []int64 // of each level, above which it is merged, in bytes
	table []int64 // size of new tables of each level
}

// level is a pointer to Badger's levelHandler.
type level struct{ reflect.Value }

// tables returns the tables of a level. Only a merger removes tables.
func (l level) tables() []*table.Table {
	lock := hidden(l.Value, "RWMutex").Addr().Interface().(*sync.RWMutex)
	lock.RLock()
	defer lock.RUnlock()
	return slices.Clone(hidden(l.Value, "tables").Interface().([]*table.Table))
}

// newMerger starts to merge the tables of Badger, which must not have compactors.
func (s *Store) newMerger(b *badger.DB) *merger {
	controller := hidden(reflect.ValueOf(b), "lc")
	m := &merger{
		maker: newMaker(b), store: s,
		wake: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{}),
		controller: controller.UnsafePointer(),
		manifest:   hidden(reflect.ValueOf(b), "manifest").UnsafePointer(),
	}
	levels := hidden(controller, "levels")
	for i := range levels.Len() {
		m.levels = append(m.levels, level{levels.Index(i)})
	}
	m.wake <- struct{}{}
	go m.run()
	return m
}

// look makes the merger look for work: for tables in level 0, and for tables to sweep.
func (m *merger) look() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// close ends the merger, and leaves a merge that has begun undone. Nothing may read.
func (m *merger) close() error {
	close(m.closing)
	<-m.ended
	return m.sweep()
}

// run merges tables whenever a level is full.
func (m *merger) run() {
	defer close(m.ended)
	for {
		select {
		case <-m.closing:
			return
		case <-m.wake:
		case <-m.nextSweep():
		}
		for more := true; more; {
			var err error
			if more, err = m.step(m.pick); isFull(err) {
				m.store.log.Warn("merging tables waits for space on the disk", "err", fullError(err))
				m.store.retry(m.closing, func() bool {
					_, err = m.step(m.pick)
					return !isFull(err)
				})
			}
			switch {
			case errors.Is(err, errClosing), isFull(err):
				return
			case err != nil:
				m.store.Fail(fmt.Errorf("db: merging tables: %w", err))
			}
		}
	}
}

// sweepInterval is the time between two looks for tables that were merged and are no longer read.
const sweepInterval = time.Second

// nextSweep returns nil if no table waits to be closed.
func (m *merger) nextSweep() <-chan time.Time {
	m.merging.Lock()
	defer m.merging.Unlock()
	if len(m.dropped) == 0 {
		return nil
	}
	return time.After(sweepInterval)
}

// errClosing ends a merge, because the store is closed or has failed.
var errClosing = errors.New("db: the store is closed")

// step makes the merge that pick returns, and reports whether there was one.
func (m *merger) step(pick func(targets) (merge, bool)) (bool, error) {
	m.merging.Lock()
	defer m.merging.Unlock()
	if err := m.sweep(); err != nil {
		m.store.log.Warn("deleting tables that were merged", "err", err)
	}
	if m.store.Failure() != nil {
		return false, errClosing
	}
	t := levelTargets(m.controller)
	next, ok := pick(t)
	if !ok {
		return false, nil
	}
	next.limit = uint64(t.table[next.to])
	defer m.store.tables.Add(1)
	return true, m.merge(next)
}

// merge is a merge of tables of a level with the tables of a level below whose keys are in the same
// range.
type merge struct {
	from, to int
	top      []*table.Table // of the level from, the newest last
	bottom   []*table.Table // of the level to
	limit    uint64         // size of new tables, in bytes
}

// pick returns a merge for the level that is the fullest, or false if none is full. From level 0 it
// merges all tables, from another level the table with the oldest records.
func (m *merger) pick(t targets) (next merge, ok bool) {
	fullest, from := 1.0, -1
	if n := float64(len(m.levels[0].tables())) / float64(m.opts.NumLevelZeroTables); n >= fullest {
		fullest, from = n, 0
	}
	for i := t.base; i < len(m.levels)-1; i++ {
		if n := float64(size(m.levels[i].tables())) / float64(t.size[i]); n > fullest {
			fullest, from = n, i
		}
	}
	switch from {
	case -1:
		return next, false
	case 0:
		return m.plan(0, t.base, m.levels[0].tables()), true
	}
	oldest := slices.MinFunc(m.levels[from].tables(), func(a, b *table.Table) int {
		return cmp.Compare(a.MaxVersion(), b.MaxVersion())
	})
	return m.plan(from, from+1, []*table.Table{oldest}), true
}

// pickAll returns a merge of all tables of the first level that has tables into all tables of the
// next one, or false if only one level has tables.
func (m *merger) pickAll(targets) (next merge, ok bool) {
	var used []int
	for i, l := range m.levels {
		if len(l.tables()) > 0 {
			used = append(used, i)
		}
	}
	if len(used) == 0 || len(used) == 1 && used[0] > 0 {
		return next, false
	}
	used = append(used, len(m.levels)-1)
	return merge{from: used[0], to: used[1], top: m.levels[used[0]].tables(), bottom: m.levels[used[1]].tables()}, true
}

// plan returns a merge of tables of the level from into the level to.
func (m *merger) plan(from, to int, top []*table.Table) merge {
	return merge{from: from, to: to, top: top, bottom: overlapping(m.levels[to].tables(), top)}
}

// size returns the bytes of tables.
func size(tables []*table.Table) (n int64) {
	for _, t := range tables {
		n += t.Size()
	}
	return n
}

// overlapping returns the tables that have a key between the smallest and the biggest of others.
func overlapping(tables, others []*table.Table) (all []*table.Table) {
	compare := func(a, b []byte) int { return bytes.Compare(y.ParseKey(a), y.ParseKey(b)) }
	smallest := slices.MinFunc(others, func(a, b *table.Table) int { return compare(a.Smallest(), b.Smallest()) }).Smallest()
	biggest := slices.MaxFunc(others, func(a, b *table.Table) int { return compare(a.Biggest(), b.Biggest()) }).Biggest()
	for _, t := range tables {
		if compare(t.Biggest(), smallest) >= 0 && compare(t.Smallest(), biggest) <= 0 {
			all = append(all, t)
		}
	}
	return all
}

// merge makes new tables, and puts them in the place of the old ones. After an error the old ones
// stay.
func (m *merger) merge(next merge) error {
	made, err := m.write(next)
	if err == nil {
		err = reserveManifest(m.opts.Dir)
	}
	if err != nil {
		return errors.Join(err, release(made))
	}
	if err := addChanges(m.manifest, next.changes(made), m.opts); err != nil {
		// The manifest may name the old tables or the new ones. Both stay.
		m.store.Fail(manifestError(err))
		return errClosing
	}
	for _, t := range slices.Concat(next.top, next.bottom) {
		t.IncrRef()
		m.dropped = append(m.dropped, t)
	}
	err = errors.Join(
		replaceTables(m.levels[next.to].UnsafePointer(), next.bottom, made),
		deleteTables(m.levels[next.from].UnsafePointer(), next.top),
		release(made), // the level has references of its own
	)
	if next.from == 0 {
		hidden(m.levels[0].Value, "l0stall").Interface().(*sync.Cond).Broadcast()
	}
	return err
}

// sweep deletes the tables that were merged, and closes the tables that nothing reads.
//
// Badger would delete a table by cutting its file to nothing. But an instance that only reads may
// have the file mapped, too, and reading there would then end the process. So the merger has a
// reference to each table that it drops, which keeps Badger from that.
func (m *merger) sweep() (err error) {
	m.dropped = slices.DeleteFunc(m.dropped, func(t *table.Table) bool {
		unread := hidden(reflect.ValueOf(t), "ref").Addr().Interface().(*atomic.Int32).Load() == 1
		if unread {
			err = errors.Join(err, t.Close(-1))
		}
		if unread || runtime.GOOS != "windows" {
			if failed := os.Remove(t.Filename()); !errors.Is(failed, fs.ErrNotExist) {
				err = errors.Join(err, failed)
			}
		}
		return unread
	})
	return err
}

// release gives up references to tables. A table without references is deleted.
func release(tables []*table.Table) (err error) {
	for _, t := range tables {
		err = errors.Join(err, t.DecrRef())
	}
	return err
}

// changes returns the changes of the manifest by a merge.
func (next merge) changes(made []*table.Table) (all []*pb.ManifestChange) {
	for _, t := range made {
		all = append(all, &pb.ManifestChange{
			Id: t.ID(), Op: pb.ManifestChange_CREATE, Level: uint32(next.to), Compression: uint32(t.CompressionType()),
		})
	}
	for _, t := range slices.Concat(next.top, next.bottom) {
		all = append(all, &pb.ManifestChange{Id: t.ID(), Op: pb.ManifestChange_DELETE})
	}
	return all
}

// write writes the records that a merge keeps into new tables. After an error it returns the tables
// that it has written.
func (m *merger) write(next merge) (made []*table.Table, err error) {
	keep := m.keeper(next)
	it, whole := next.iterator()
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.Rewind(); it.Valid(); {
		select {
		case <-m.closing:
			return made, errClosing
		default:
		}
		content := m.content(it, keep, next.limit)
		if len(content) == 0 {
			continue
		}
		t, err := m.add(content)
		if err != nil {
			return made, err
		}
		made = append(made, t)
	}
	return made, whole()
}

// content returns a table of the next records of a merge. All records of a key are in one table.
func (m *merger) content(it y.Iterator, keep *keeper, limit uint64) []byte {
	o := m.table
	o.TableSize = limit
	b := table.NewTableBuilder(o)
	defer b.Close()
	for ; it.Valid(); it.Next() {
		if keep.begins(it.Key()) && b.ReachedCapacity() {
			break
		}
		switch v := it.Value(); {
		case !keep.keeps(it.Key(), v):
		case v.Meta&deleteMark != 0:
			b.AddStaleKey(it.Key(), v, 0)
		default:
			b.Add(it.Key(), v, 0)
		}
	}
	return b.Finish()
}

// deleteMark is Badger's flag of a record that deletes a key.
const deleteMark = 1

// keeper decides which records a merge keeps. It gets the records in the order of tables: all
// records of a key together, the newest first.
type keeper struct {
	oldest  uint64 // no reader reads at an earlier timestamp
	deletes bool   // a deletion is kept, because a level below may have the key
	key     []byte // of the last record
	newest  bool   // the newest record that every reader sees was kept or dropped, so older ones are dropped
}

func (m *merger) keeper(next merge) *keeper {
	k := &keeper{oldest: m.store.discarded.Load()}
	tables := slices.Concat(next.top, next.bottom)
	for _, l := range m.levels[next.to+1:] {
		k.deletes = k.deletes || len(overlapping(l.tables(), tables)) > 0
	}
	return k
}

// begins reports whether key is another one than the key of the last record that keeps has seen.
func (k *keeper) begins(key []byte) bool { return !bytes.Equal(y.ParseKey(key), k.key) }

// keeps reports whether a record is kept.
func (k *keeper) keeps(key []byte, v y.ValueStruct) bool {
	if k.begins(key) {
		k.key, k.newest = append(k.key[:0], y.ParseKey(key)...), false
	}
	switch {
	case k.newest:
		return false
	case y.ParseTs(key) > k.oldest:
		return true
	}
	k.newest = true
	return v.Meta&deleteMark == 0 || k.deletes
}

// iterator returns an iterator over the records of all tables of a merge. The second result returns
// ErrCorrupt if the iterator has ended before the last record, as it does at a damaged block.
func (next merge) iterator() (y.Iterator, func() error) {
	want, read := uint64(0), uint64(0)
	for _, t := range slices.Concat(next.top, next.bottom) {
		want += uint64(t.KeyCount())
	}
	var parts []y.Iterator
	for _, t := range slices.Backward(next.top) {
		parts = append(parts, &counted{t.NewIterator(table.NOCACHE), &read})
	}
	parts = append(parts, &counted{table.NewConcatIterator(next.bottom, table.NOCACHE), &read})
	return table.NewMergeIterator(parts, false), func() error {
		if read == want {
			return nil
		}
		return fmt.Errorf("%w: %d of %d records of the tables can be read", ErrCorrupt, read, want)
	}
}

// counted is an iterator that counts its records.
type counted struct {
	y.Iterator
	n *uint64
}

func (c *counted) count() {
	if c.Valid() {
		*c.n++
	}
}

func (c *counted) Rewind() { c.Iterator.Rewind(); c.count() }
func (c *counted) Next()   { c.Iterator.Next(); c.count() }
