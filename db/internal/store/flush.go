package store

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/skl"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/ristretto/v2"
	"github.com/dgraph-io/ristretto/v2/z"
)

// flusher makes tables of the logs that are full, in place of a goroutine of Badger, which would
// write them through memory mappings. Each log has a memtable with the same records. While the disk
// is full they wait. If the store is closed then, the logs stay, as the log of the last commits
// does; see settle.
type flusher struct {
	maker
	store   *Store
	added   func() // called when level 0 has another table
	closing chan struct{}
	ended   chan struct{}
	left    []reflect.Value // memtables of the logs that stay

	// Fields of Badger's DB:
	lock       *sync.RWMutex
	full       reflect.Value // the memtables that have no table yet
	drop       *sync.Cond    // for those who wait until there are fewer
	controller unsafe.Pointer
}

// maker makes the tables of a Badger.
type maker struct {
	opts   badger.Options
	table  table.Options
	number *atomic.Uint64 // of the next table
}

func newMaker(b *badger.DB) maker {
	of := reflect.ValueOf(b)
	m := maker{opts: b.Opts(), table: tableOptions(b.Opts())}
	m.table.BlockCache = hidden(of, "blockCache").Interface().(*ristretto.Cache[[]byte, *table.Block])
	m.number = hidden(hidden(of, "lc"), "nextFileID").Addr().Interface().(*atomic.Uint64)
	return m
}

// add writes a table durably, with its name, and opens it.
func (m *maker) add(content []byte) (*table.Table, error) {
	name := table.NewFilename(m.number.Add(1)-1, m.opts.Dir)
	if _, err := os.Lstat(name); err == nil {
		return nil, fmt.Errorf("%s exists", name)
	}
	t, err := m.open(name, content)
	if err != nil {
		return nil, errors.Join(err, os.Remove(name))
	}
	return t, nil
}

func (m *maker) open(name string, content []byte) (*table.Table, error) {
	if err := errors.Join(writeSynced(name, content), syncDir(m.opts.Dir)); err != nil {
		return nil, err
	}
	file, err := z.OpenMmapFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return table.OpenTable(file, m.table)
}

// addLevel0Table adds a table to level 0 and to the manifest. While there are too many tables it
// waits for a merge.
//
//go:linkname addLevel0Table github.com/dgraph-io/badger/v4.(*levelsController).addLevel0Table
func addLevel0Table(controller unsafe.Pointer, t *table.Table) error

// newFlusher takes the full memtables of Badger, to which nothing was written yet.
func (s *Store) newFlusher(b *badger.DB, added func()) *flusher {
	of := reflect.ValueOf(b)
	f := &flusher{
		maker: newMaker(b), store: s, added: added,
		closing: make(chan struct{}), ended: make(chan struct{}),
		lock: hidden(of, "lock").Addr().Interface().(*sync.RWMutex),
		full: hidden(of, "imm"), drop: hidden(of, "flushCond").Interface().(*sync.Cond),
		controller: hidden(of, "lc").UnsafePointer(),
	}
	queue := hidden(of, "flushChan")
	theirs, ours := reflect.ValueOf(queue.Interface()), reflect.MakeChan(queue.Type(), queue.Cap())
	for range theirs.Cap() + 1 {
		// When the last one is sent, Badger's goroutine has received one, so it keeps its queue.
		theirs.Send(reflect.Zero(queue.Type().Elem()))
	}
	queue.Set(ours)
	go func() {
		for {
			memtable, ok := ours.Recv()
			if !ok {
				break
			}
			f.flush(memtable)
		}
		close(f.ended)
		theirs.Close()
	}()
	return f
}

// flush makes a table of a memtable, and drops the memtable and its log.
func (f *flusher) flush(memtable reflect.Value) {
	if len(f.left) > 0 || f.store.Failure() != nil {
		f.left = append(f.left, memtable)
		return
	}
	err := f.makeTable(memtable)
	if err != nil && f.store.Failure() == nil {
		f.store.log.Warn("the last commits stay in a log until a table can be written", "err", fullError(err))
		f.store.retry(f.closing, func() bool {
			err = f.makeTable(memtable)
			return err == nil || f.store.Failure() != nil
		})
	}
	if err != nil {
		f.left = append(f.left, memtable)
		return
	}
	f.lock.Lock()
	f.full.Set(f.full.Slice(1, f.full.Len()))
	records(memtable).DecrRef()
	f.lock.Unlock()
	f.drop.Broadcast()
	f.store.tables.Add(1)
}

func records(memtable reflect.Value) *skl.Skiplist {
	return hidden(memtable, "sl").Interface().(*skl.Skiplist)
}

// makeTable makes a table in level 0.
func (f *flusher) makeTable(memtable reflect.Value) error {
	b := table.NewTableBuilder(f.table)
	defer b.Close()
	it := records(memtable).NewUniIterator(false)
	for it.Rewind(); it.Valid(); it.Next() {
		b.Add(it.Key(), it.Value(), 0)
	}
	content := b.Finish()
	if err := it.Close(); err != nil || len(content) == 0 {
		return err
	}
	return f.addTable(content)
}

// addTable writes a table and adds it to level 0. If it returns an error that the store has not
// kept, nothing has changed.
func (f *flusher) addTable(content []byte) error {
	if err := reserveManifest(f.opts.Dir); err != nil {
		return err
	}
	t, err := f.add(content)
	if err != nil {
		return err
	}
	if err := addLevel0Table(f.controller, t); err != nil {
		// The manifest may name the table or not. The table stays, and the log of its records, if
		// there is one.
		f.store.Fail(manifestError(err))
		return err
	}
	f.added()
	return t.DecrRef() // the level has a reference of its own
}

// manifestError says that it is unknown which tables the manifest names. Nothing more may be
// written to it.
func manifestError(err error) error {
	return fmt.Errorf("db: %s cannot be written: %w", badger.ManifestFilename, err)
}

// close makes the flusher end with the next full memtable for which the disk has no space. It must
// be called before Badger is closed.
func (f *flusher) close() { close(f.closing) }

// closeLogs closes the logs that stay, when Badger is closed.
func (f *flusher) closeLogs() (err error) {
	<-f.ended
	for _, memtable := range f.left {
		err = errors.Join(err, logCloser(memtable)())
	}
	return err
}
