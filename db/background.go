package db

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"kith/db/internal/ctxio"
	"kith/db/internal/record"
	"kith/db/internal/store"
	"kith/index"
)

// Cached states.
//
// Cached PageRank states only save time. States that took at least 20,000 edge operations are
// stored when a database that was written to is closed and, in the background, at checkpoints:
// after a checkpoint of a model, and when 2^24 edge operations, about half a second, would be lost
// by a kill. A checkpoint stores up to 4 MB, starting with the states that the cache would evict
// last. Together the stored states take at most about what cached states may take in memory. After
// a kill they are loaded when they are needed, and brought up to date with the graph.

// jobs is the work that a database does besides what its callers ask for. At most one job of each
// kind runs at a time, and Close waits for all of them.
type jobs struct {
	ctx     context.Context    // ends when the database begins to close
	stop    context.CancelFunc // ends ctx
	all     sync.WaitGroup
	compact token // makes a new base of the graph
	refresh token // trains a model again
	save    token // stores cached states
	load    token // reads rows into memory
}

func (j *jobs) open() {
	j.ctx, j.stop = context.WithCancel(context.Background())
	j.compact, j.refresh, j.save, j.load = newToken(), newToken(), newToken(), newToken()
}

// start calls f in a goroutine that Close waits for and that holds the token of its kind. It does
// nothing and returns false if a job of the kind is running.
func (j *jobs) start(kind token, f func()) bool {
	select {
	case <-kind:
	default:
		return false
	}
	j.all.Go(func() {
		defer kind.release()
		f()
	})
	return true
}

// token is a lock for which a select can wait. Its channel is empty while the lock is held.
type token chan struct{}

func newToken() token {
	t := make(token, 1)
	t.release()
	return t
}

func (t token) release() { t <- struct{}{} }

// signal wakes any number of goroutines.
type signal struct {
	mu   sync.Mutex    // protects following fields
	sent chan struct{} // closed by send; nil if no goroutine waits
}

// next returns a channel that is closed by the next call of send.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent == nil {
		s.sent = make(chan struct{})
	}
	return s.sent
}

func (s *signal) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent != nil {
		close(s.sent)
		s.sent = nil
	}
}

// Cached states are stored while the database is open after a checkpoint of a model, and when a
// kill would lose states that took unsavedOps edge operations, about half a second. At most
// statesBytes are stored at a time.
const (
	unsavedOps  = 1 << 24
	statesBytes = 4 << 20
)

// saveStatesIfDue stores states in the background if at least the given number of edge operations
// would be lost. A transaction is open, so Close has not begun to wait for the background work.
func (db *DB) saveStatesIfDue(unsaved int) {
	if db.opts.ReadOnly || db.opts.InMemory || db.states.Unsaved() < unsaved {
		return
	}
	db.jobs.start(db.jobs.save, func() {
		db.tidy(db.now.Load().ts, func(r index.Reader, w index.Writer) error {
			if err := db.states.TrimIfDue(r, w); err != nil {
				return err
			}
			return db.states.Write(w, statesBytes)
		})
	})
}

// loadCost is about what loading the rows of a graph into memory takes, in bytes read on demand for
// each edge.
const loadCost = 2

// loadRowsLater calls loadRows when about as much has been read on demand as the load costs. A
// process that asks little never pays for the load, and one that asks more pays at most twice what
// the better of both ways costs (Karlin, Manasse, Rudolph and Sleator, Competitive snoopy caching,
// 1988).
func (db *DB) loadRowsLater(s *index.Snapshot) {
	db.untilLoad.Store(loadCost*s.Graph.NumEdges() + s.Meta.FeatureBytes)
}

// Preload begins to read the graph into memory, in the background, if it fits. Without it, that
// begins when answers have read about as much from the disk. It is for programs that run long,
// whose first answers are then as fast as later ones.
func (db *DB) Preload() { db.loadRows(0) }

// loadDelay is how long the load waits for the question that it is due to. A process that asks this
// question only, and ends, does not pay for the load, and the answer does not share the processors
// with it.
const loadDelay = 200 * time.Millisecond

// loadRows loads the rows and the keys of the present version into memory, in the background and
// after a delay, if they fit. Until then, and otherwise, they are read from the store when they are
// asked for.
func (db *DB) loadRows(delay time.Duration) {
	now, err := db.pin() // a base stays readable while one of its versions is pinned
	if err != nil {
		return
	}
	if now.Loaded() || !db.fitsRows(now.Snapshot) {
		db.unpin(now)
		return
	}
	db.jobs.all.Go(func() {
		defer db.unpin(now)
		select {
		case <-time.After(delay):
		case <-db.jobs.ctx.Done():
			return
		}
		select {
		case <-db.jobs.load:
		case <-db.jobs.ctx.Done():
			return
		}
		defer db.jobs.load.release()
		if db.now.Load().Meta.Generation != now.Meta.Generation {
			return // the rows of a later base are loaded
		}
		if err := now.Load(db.jobs.ctx); err != nil && db.jobs.ctx.Err() == nil {
			db.opts.Logger.Error("loading the graph into memory", "err", err)
		}
	})
}

// stored returns where the blocks of a base are read from at a version.
func (db *DB) stored(ts uint64) *index.Stored {
	return &index.Stored{Source: meteredSource{db.store.At(ts), db}, Cache: db.opts.memory(graphPart) / rowsFraction}
}

// meteredSource counts the bytes of a source that are read.
type meteredSource struct {
	index.Source
	db *DB
}

func (s meteredSource) Read(key []byte) (value []byte, ok bool, err error) {
	value, ok, err = s.Source.Read(key)
	n := int64(len(value))
	if left := s.db.untilLoad.Add(-n); left <= 0 && left+n > 0 {
		s.db.loadRows(loadDelay)
	}
	return value, ok, err
}

// loadAtOnce is the number of edges up to which the rows of a graph are loaded into memory at once,
// in milliseconds.
const loadAtOnce = 1 << 16

// loadsAtOnce reports whether the rows of a version are loaded into memory before its first reader
// begins.
func (db *DB) loadsAtOnce(s *index.Snapshot) bool {
	return s.Graph.NumEdges() <= loadAtOnce && db.fitsRows(s)
}

// fitsRows reports whether memory suffices for all rows and keys of a version.
func (db *DB) fitsRows(s *index.Snapshot) bool {
	return !db.opts.paged && s.Graph.Loadable() && s.LoadedBytes() <= db.opts.memory(graphPart)
}

// openRows prepares the rows of a version that has been opened: it loads a small graph into memory.
// If the store has set tables aside, it reads all of it, because nothing may be missing.
func (db *DB) openRows(ctx context.Context, s *index.Snapshot) error {
	switch whole := db.store.Complete(); {
	case db.loadsAtOnce(s), !whole && db.fitsRows(s):
		return s.Load(ctx)
	case !whole:
		return s.CheckStored(ctx)
	}
	return nil
}

const (
	minChanges = 1 << 16
	maxChanges = 1 << 17
)

// compactionDue reports whether s should get a new base, and whether writers must wait for it. A
// base is needed when the changes of edges and of values of properties since the last one reach a
// tenth of the edges, but at least minChanges and at most maxChanges, which an open reads in a
// fraction of a second, or when they take a quarter of the memory of the graph. Writers wait when
// they take half of it.
func (db *DB) compactionDue(s *snapshot) (due, urgent bool) {
	changes := s.NumChangesSince(s.Meta.Base) + s.NumValuesSinceBase()
	many := int64(changes) >= max(minChanges, min(s.Meta.Edges/10, maxChanges))
	bytes, memory := s.ChangedBytes(), db.opts.memory(graphPart)
	return many || bytes >= memory/4, bytes >= memory/2
}

// compactIfDue starts a compaction in the background if s needs one. The writer calls it.
func (db *DB) compactIfDue(s *snapshot) {
	if due, _ := db.compactionDue(s); !due {
		return
	}
	db.jobs.start(db.jobs.compact, func() {
		err := db.compact(db.jobs.ctx)
		if err != nil && !errors.Is(err, ErrClosed) && db.jobs.ctx.Err() == nil {
			db.opts.Logger.Error("compaction", "err", err)
		}
	})
}

// waitForCompaction waits while a compaction is urgent. It waits for the running compaction, and
// starts one if none runs.
func (db *DB) waitForCompaction(ctx context.Context) error {
	full := func() bool {
		s, _ := db.head()
		_, urgent := db.compactionDue(s)
		return urgent
	}
	for full() {
		if err := db.acquire(ctx, db.jobs.compact); err != nil {
			return err
		}
		var err error
		if full() {
			err = db.compact(ctx)
		}
		db.jobs.compact.release()
		if err != nil {
			return err
		}
	}
	return nil
}

// Compact reduces the database to as little space as possible: the changes go into a new base of
// the graph, and the store's tables are merged into one level without unreachable records. Readers
// and writers continue meanwhile. Compact does not cover what the store has not yet put into
// tables, which the store does by itself and on Close; [CompactDir] frees that space too. When ctx
// ends, Compact returns its error. A merge of tables that has begun runs to its end, and Close
// waits for it.
//
// After nodes were erased, Compact also removes their keys from all files, unless a transaction is
// open that began before it; on Windows only CompactDir does. See [Tx.Erase]. A transaction that is
// open for long makes it wait a second for that.
//
// Otherwise calling Compact is optional. As changes come, the database makes new bases and merges
// tables by itself.
func (db *DB) Compact(ctx context.Context) error {
	if err := db.acquire(ctx, db.jobs.compact); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		err := db.compactAll(ctx)
		db.jobs.compact.release()
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// compactAll makes a new base if there are changes, and merges the store's tables.
func (db *DB) compactAll(ctx context.Context) error {
	erased := db.now.Load().Meta.Erased
	if err := db.compactLog(ctx); err != nil {
		return err
	}
	if err := db.scrub(ctx); err != nil {
		return err
	}
	s, err := db.pin() // keeps the database open
	if err != nil {
		return err
	}
	defer db.unpin(s)
	flushed := true
	if erased > 0 {
		if flushed, err = db.store.Flush(); err != nil {
			return err
		}
	}
	db.discard()
	rewritten, err := db.store.Merge()
	if err != nil || erased == 0 || !flushed || !rewritten || db.store.Discarded() < s.ts {
		return err
	}
	return db.forgetErased(ctx, erased)
}

// scrubBytes is about the size of a commit that writes records again.
const scrubBytes = 256 << 10

// scrub removes what names erased nodes from the records of earlier versions. Each commit removes a
// part, so that writers need not wait for long, and is complete in itself.
func (db *DB) scrub(ctx context.Context) error {
	versions, err := db.naming(ctx)
	for len(versions) > 0 && err == nil {
		var rest []uint64
		if rest, err = db.scrubSome(ctx, versions, scrubBytes); errors.Is(err, ErrTooLarge) {
			rest, err = db.scrubSome(ctx, versions, 1) // a version that fitted into one commit does so again
		}
		versions = rest
	}
	return err
}

// naming returns the versions whose records name erased nodes.
func (db *DB) naming(ctx context.Context) ([]uint64, error) {
	return result(ctx, db.View, func(tx *Tx) ([]uint64, error) {
		if tx.snap.Meta.Erased == 0 {
			return nil, nil
		}
		return tx.snap.Naming(ctx, tx.reader, record.StripOutcome)
	})
}

// scrubSome scrubs the records of the first of the versions, about size bytes, and returns the
// others.
func (db *DB) scrubSome(ctx context.Context, versions []uint64, size int) (rest []uint64, err error) {
	err = db.changeMeta(ctx, func(s *snapshot, r index.Reader, w index.Writer) (next *index.Snapshot, err error) {
		next, rest, err = s.Scrub(r, w, versions, size, record.StripOutcome)
		return next, err
	})
	return rest, err
}

// forgetErased counts n erased nodes that no file names any more.
func (db *DB) forgetErased(ctx context.Context, n int64) error {
	return db.changeMeta(ctx, func(s *snapshot, _ index.Reader, w index.Writer) (*index.Snapshot, error) {
		next := s.Scrubbed(n)
		return next, next.WriteMeta(w)
	})
}

// changeMeta commits records that f writes, which make no new version, and publishes its result.
func (db *DB) changeMeta(ctx context.Context, f func(*snapshot, index.Reader, index.Writer) (*index.Snapshot, error)) error {
	if err := db.lockAnyway(ctx); err != nil {
		return err
	}
	defer db.unlock()
	s := db.now.Load()
	r := db.store.Read(s.ts)
	defer r.Close()
	var next *index.Snapshot
	err := db.store.Commit(s.ts+1, func(w index.Writer) (err error) {
		next, err = f(s, r, w)
		return err
	})
	if err != nil {
		return err
	}
	db.publish(&snapshot{next, s.models, s.ts + 1})
	return nil
}

// compactLog makes a new base if there is a log, or an erased node whose key may be in the base.
func (db *DB) compactLog(ctx context.Context) error {
	s, err := db.pin()
	if err != nil {
		return err
	}
	logged := s.Meta.Version > s.Meta.LogStart || s.Meta.Erased > 0
	db.unpin(s)
	if !logged {
		return nil
	}
	return db.compact(ctx)
}

// CompactDir is Compact for a database that is not open. It frees all space that can be freed, and
// removes the keys of erased nodes from all files.
func CompactDir(ctx context.Context, path string, o *Options) error {
	g, err := Open(path, o)
	if err != nil {
		return err
	}
	if err = g.compactLog(ctx); err == nil {
		err = g.compactLog(ctx) // a new base keeps the log since the previous one, for the cache
	}
	if err == nil {
		err = g.scrub(ctx)
	}
	erased := g.now.Load().Meta.Erased
	if err := errors.Join(err, g.Close()); err != nil {
		return err
	}
	if err := store.Compact(ctx, g.store.Dir(), g.opts.forStore(nil)); err != nil || erased == 0 {
		return err
	}
	if g, err = Open(g.store.Dir(), o); err != nil {
		return err
	}
	return errors.Join(g.forgetErased(ctx, erased), g.Close())
}

// compact writes the present graph as a new generation of blocks, makes it the base, and deletes
// the old one. Readers and writers are blocked only at the moment of the change.
func (db *DB) compact(ctx context.Context) (err error) {
	start := time.Now()
	defer func() { db.counters.compacted(CompactionEvent{time.Since(start), err}) }()
	if err := db.waitDurable(); err != nil {
		return err
	}
	old, err := db.pin()
	if err != nil {
		return err
	}
	defer db.unpin(old)
	generation := db.generation.Add(1)
	base, err := db.writeBase(ctx, old, generation)
	if err == nil {
		err = db.loadBase(ctx, old.Snapshot, base)
	}
	if err != nil {
		return err
	}
	if err := db.lockAnyway(ctx); err != nil {
		return err
	}
	defer db.unlock()
	now := db.now.Load()
	if now.Meta.Generation != old.Meta.Generation {
		db.dropLeftovers(now.ts, generation) // a load has made a new base meanwhile
		return nil
	}
	next, err := now.Rebase(old.Snapshot, base, generation)
	if err != nil {
		return err
	}
	return db.rebase(ctx, now, next)
}

// loadBase loads a base that is about to replace the base of old into memory, if the base of old
// is in memory and there is room for both: readers of the next version are then as fast as before.
func (db *DB) loadBase(ctx context.Context, old *index.Snapshot, base *index.Base) error {
	if !old.Loaded() || old.Bytes()+base.LoadedBytes() > db.opts.memory(graphPart, workPart) {
		return nil
	}
	return base.Load(ctx)
}

// writeBase writes a version as a new generation and returns that.
func (db *DB) writeBase(ctx context.Context, s *snapshot, generation uint32) (base *index.Base, err error) {
	err = db.writeGeneration(ctx, s.ts, func(w index.Writer, from *index.Stored) (err error) {
		base, err = s.WriteGeneration(w, generation, from)
		return err
	})
	return base, err
}

// writeGeneration calls write to write the blocks of a new generation, at the timestamp ts, and
// with the place from which they can be read then. No reader uses them until a later commit makes
// them the base.
func (db *DB) writeGeneration(ctx context.Context, ts uint64, write func(w index.Writer, from *index.Stored) error) error {
	db.discard() // so that Bulk removes the generation before
	return db.store.Bulk(ts, func(w index.Writer) error {
		w = ctxio.Writer(ctx, w)
		if db.opts.InMemory {
			w = &boundedWriter{w, db.opts.memory(graphPart)}
		}
		return write(w, db.stored(ts))
	})
}

// rebase commits the meta record of next, whose generation is written, publishes next, and deletes
// what next does not need. The rows of next are loaded into memory if the rows of now are, unless
// now is empty: a process that makes a database may end without a question. The writer calls it.
func (db *DB) rebase(ctx context.Context, now *snapshot, next *index.Snapshot) error {
	if err := now.Err(); err != nil { // next may lack what could not be read
		return err
	}
	made := &snapshot{next, now.models, now.ts + 1}
	if db.loadsAtOnce(next) {
		if err := next.Load(ctx); err != nil {
			return err
		}
	}
	if err := db.store.Commit(made.ts, next.WriteBase); err != nil {
		return err
	}
	db.publish(made)
	if now.Loaded() && now.Meta.Nodes > 0 {
		db.loadRows(0)
	} else {
		db.loadRowsLater(next)
	}
	db.dropLeftovers(made.ts, next.Meta.Generation)
	return nil
}

// dropLeftovers deletes unreferenced records: the blocks of the generations up to last except the
// present one, the log before its start, the forgotten observations and changes, and the documents
// that no model refers to. It covers work that is done and work that did not finish. The generation
// that a running compaction writes is higher than last. Correctness does not depend on the
// deletion. The writer calls it.
func (db *DB) dropLeftovers(ts uint64, last uint32) {
	db.tidy(ts, func(r index.Reader, w index.Writer) error {
		return index.DropGenerations(r, w, db.now.Load().Meta.Generation, last)
	})
	db.dropForgotten(ts)
}

// dropForgotten is dropLeftovers without the generations.
func (db *DB) dropForgotten(ts uint64) {
	db.tidy(ts, func(r index.Reader, w index.Writer) error { return db.now.Load().Meta.DropForgotten(r, w, 0) })
	db.dropDocuments(ts)
}

// dropDocuments deletes the documents that no model refers to. The writer calls it.
func (db *DB) dropDocuments(ts uint64) { db.tidy(ts, index.DropDocuments) }

// tidy deletes or writes records that have no reader. If that fails, the error is logged.
func (db *DB) tidy(ts uint64, f func(index.Reader, index.Writer) error) {
	r := db.store.Read(ts)
	defer r.Close()
	if err := db.store.Batch(ts, func(w index.Writer) error { return f(r, w) }); err != nil {
		db.opts.Logger.Error("tidying the store", "err", err)
	}
}

// boundedWriter is an index.Writer to the memory. It returns ErrTooLarge for more bytes than are
// left.
type boundedWriter struct {
	index.Writer
	left int64
}

func (w *boundedWriter) Set(key, value []byte) error {
	if w.left -= int64(len(key) + len(value)); w.left < 0 {
		return fmt.Errorf("%w: the graph, for a database in memory", ErrTooLarge)
	}
	return w.Writer.Set(key, value)
}
