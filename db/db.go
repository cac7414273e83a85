package db

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"kith/db/internal/ctxio"
	"kith/db/internal/record"
	"kith/db/internal/store"
	"kith/index"
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	opts     Options
	nothing  *snapshot // what a transaction sees that has ended
	store    *store.Store
	states   *index.States
	versions versions // the versions that are not deployed
	priors   sync.Map // scorers of the built-in model by contentKind
	ruled    ruled    // the built-in model with the rules of the graph

	heuristics sync.Map                   // their models by heuristicKey
	rewards    atomic.Pointer[rewardSums] // of the latest question for them

	// now is what readers see: the latest durable version.
	now    atomic.Pointer[snapshot]
	groups groups // of commits that are not durable yet

	published     signal       // a version was published
	changeReaders atomic.Int64 // number of calls of Changes

	writer   token                      // the writer lock: it allows only one writer at a time
	learners map[string]*record.Learner // guarded by the writer lock
	earliest int64                      // lower bound of when a decision expires, in Unix ns; guarded by the writer lock

	trainings   sync.Map // learners that are being trained; begun while holding the writer lock
	counters    counters
	openReaders *openReaders
	generation  atomic.Uint32 // number of the last generation of blocks handed out; none is written twice
	jobs        jobs
	untilLoad   atomic.Int64              // bytes to read on demand until the rows are loaded into memory in the background
	refreshed   map[string]record.Version // the last training in the background of each model. Guarded by the writer lock.

	stopRefreshing context.CancelFunc // ends the last training in the background; may be nil. Guarded by the writer lock.
}

// snapshot is one version of everything: the graph, and the models with all they had learned by
// then.
type snapshot struct {
	*index.Snapshot
	models map[string]*modelView // replaced, never changed
	ts     uint64                // the store's timestamp of this version
}

// Err returns the first error of reading the graph or the models on demand. Answers since then may
// lack what could not be read.
func (s *snapshot) Err() error {
	if err := s.Snapshot.Err(); err != nil {
		return err
	}
	for name, m := range s.models {
		if err := m.scorer.Err(); err != nil {
			return fmt.Errorf("%w: model %q: %w", ErrCorrupt, name, err)
		}
	}
	return nil
}

// Open opens the database in the directory path and creates it if it does not exist. A relative
// path counts from the working directory at that time, even if that changes later. Nil options are
// the defaults. Open returns ErrInput for a bad option, before it touches anything; ErrLocked if
// another process has the database open; ErrReadOnly if the database is not writable and ReadOnly
// is not set; ErrMismatch if the directory holds something else, another format, or a database made
// with other options; and ErrCorrupt if the database is damaged.
func Open(path string, o *Options) (*DB, error) {
	opts, err := o.resolve(path)
	if err != nil {
		return nil, err
	}
	return open(context.Background(), path, opts)
}

// open is Open with resolved options. It returns the error of ctx if ctx ends while it reads.
func open(ctx context.Context, path string, opts Options) (*DB, error) {
	db := &DB{
		opts: opts, nothing: &snapshot{Snapshot: index.New(index.Meta{})}, earliest: math.MinInt64, openReaders: newOpenReaders(), refreshed: map[string]record.Version{},
		writer: newToken(),
	}
	var err error
	if db.store, err = store.Open(path, opts.forStore(db.counters.synced)); err != nil {
		return nil, err
	}
	db.jobs.open()
	db.groups.turn = newToken()
	db.counters.callbacks, db.counters.log, db.counters.now.Opened = opts.Events, opts.Logger, opts.Now()
	err = db.load(ctx)
	if err == nil {
		err = db.store.Accept()
	}
	if err != nil {
		db.jobs.stop()
		if closed := db.store.Close(); closed != nil {
			opts.Logger.Error("closing after a failed open", "err", closed)
		}
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	m := &db.now.Load().Meta
	opts.Logger.Info("opened", "path", path, "nodes", m.Live, "edges", m.Edges)
	return db, nil
}

// load reads the stored database, or creates a new graph.
func (db *DB) load(ctx context.Context) error {
	ts := db.store.Newest()
	r := db.store.Read(ts)
	defer r.Close()
	s, err := index.Open(ctxio.Scans(ctx, r), db.stored(ts))
	if err != nil {
		return err
	}
	if s == nil && ts > 0 {
		return fmt.Errorf("%w: there is no meta record", ErrCorrupt)
	}
	if s == nil {
		if s, err = db.create(ts + 1); err != nil {
			return err
		}
		ts++
	}
	if err := db.checkOptions(&s.Meta); err != nil {
		return err
	}
	if err := db.fitsGraph(s, graphPart, workPart); err != nil { // more than what limits its growth, because a new base may take more
		return err
	}
	db.states = index.NewStates(s.Meta.Epsilon, db.opts.memory(statesPart), db.answerMemory())
	db.versions.limit = int(db.opts.memory(versionsPart))
	if db.learners, err = record.Load(ctx, r, db.store.At(ts), s, ""); err != nil {
		return err
	}
	db.now.Store(&snapshot{Snapshot: s, models: views(db.learners), ts: ts})
	if err := db.openRows(ctx, s); err != nil {
		return err
	}
	db.loadRowsLater(s)
	if db.opts.ReadOnly {
		return nil
	}
	last, err := index.LastGeneration(r, s.Meta.Generation)
	if err != nil {
		return err
	}
	db.generation.Store(last)
	left, err := index.LeftGenerations(r, s.Meta.Generation, last)
	if err != nil {
		return err
	}
	if left {
		db.dropLeftovers(ts, last)
	} else {
		db.dropForgotten(ts)
	}
	return db.setChangeBytes(db.opts.ChangeBytes)
}

// create makes a new graph from the options and stores it.
func (db *DB) create(ts uint64) (*index.Snapshot, error) {
	switch {
	case db.opts.ReadOnly:
		return nil, fmt.Errorf("%w: the store is empty", ErrNotFound)
	case db.opts.Follower:
		return nil, fmt.Errorf("%w: a follower begins as a backup of the database that it follows", ErrNotFound)
	}
	o := &db.opts
	s := index.New(index.Meta{
		ID:       newID(),
		Directed: o.Direction == Directed,
		Alpha:    cmp.Or(o.Alpha, defaultAlpha),
		Epsilon:  cmp.Or(o.Epsilon, defaultEpsilon),
		Seed:     cmp.Or(o.Seed, defaultSeed),

		KeepBytes: max(o.ChangeBytes, 0),
	})
	return s, db.store.Commit(ts, s.WriteBase)
}

// newID returns an identity for a database.
func newID() string { return rand.Text() }

func contents(id string, version, history uint64) string {
	return fmt.Sprintf("%s version %d history %x", id, version, history)
}

// checkOptions compares the options with the stored ones.
func (db *DB) checkOptions(m *index.Meta) error {
	o := &db.opts
	for _, c := range []struct {
		ok           bool
		what         string
		asked, stand any
	}{
		{o.Direction == 0 || (o.Direction == Directed) == m.Directed, "Directed", o.Direction == Directed, m.Directed},
		{o.Alpha == 0 || o.Alpha == m.Alpha, "Alpha", o.Alpha, m.Alpha},
		{o.Epsilon == 0 || o.Epsilon == m.Epsilon, "Epsilon", o.Epsilon, m.Epsilon},
		{o.Seed == 0 || o.Seed == m.Seed, "Seed", o.Seed, m.Seed},
		{!o.ReadOnly || o.ChangeBytes == 0 || max(o.ChangeBytes, 0) == m.KeepBytes, "ChangeBytes", o.ChangeBytes, m.KeepBytes},
	} {
		if !c.ok {
			return fmt.Errorf("%w: option %s is %v, the database was made with %v", ErrMismatch, c.what, c.asked, c.stand)
		}
	}
	return nil
}

// Close cancels trainings, which return ErrClosed, and background work, waits for open
// transactions, stores the parts of the caches that are worth keeping, and closes the database. A
// second Close does nothing. On a full disk, commits stay in the log of the last writes, from which
// the next Open reads them. If the directory was removed, renamed or replaced, Close returns
// ErrNotFound. If the store cannot stop because it cannot write, Close returns the cause after some
// seconds, and the directory stays locked until the process ends.
func (db *DB) Close() error {
	db.jobs.stop()
	if !db.openReaders.close() {
		return nil
	}
	db.jobs.all.Wait()
	<-db.writer // never put back, so no later writer can start
	var err error
	if !db.opts.ReadOnly && !db.opts.InMemory {
		err = db.flush()
	}
	err = errors.Join(err, db.store.Close())
	db.opts.Logger.Info("closed", "err", err)
	return err
}

// flush stores the present models, and the states unless nothing else was written and few of them
// were computed.
func (db *DB) flush() error {
	for _, l := range db.learners {
		if err := db.checkpoint(l); err != nil {
			return err
		}
	}
	if !db.store.Writing() && db.states.Unsaved() < unsavedOps {
		return nil // the first write to a store takes longer than the states took
	}
	ts := db.now.Load().ts
	r := db.store.Read(ts)
	defer r.Close()
	return db.store.Batch(ts, func(w index.Writer) error {
		if err := db.states.Trim(r, w); err != nil {
			return err
		}
		return db.states.Write(w, math.MaxInt64)
	})
}

// View calls f with a transaction that reads the latest durable version. It neither waits for
// writers nor blocks them. The Tx and what it returned are valid until f returns.
func (db *DB) View(ctx context.Context, f func(*Tx) error) error { return db.run(ctx, false, f) }

// Update calls f with a transaction that may also write, and commits it if f returns nil. If f
// returns an error or panics, nothing changes. When Update returns nil, the changes are on the disk
// unless Options.NoSync is set, and every later View sees them.
//
// The records of one Update may take a 200th of Options.Memory: 0.8 MB at the minimum of 64 MB,
// which is about 100,000 edges between integer keys, and 5 MB from 1 GB on. Beyond that Update
// returns ErrTooLarge, and nothing changes. [DB.BulkWriter] splits what a program writes into
// commits that fit, and [DB.Load] reads lists of any size.
//
// Only one such function runs at a time, and waiting for the writer lock ends with ctx. So f must
// not call Update, or another method of the DB that writes, such as Load or Observe: that call
// would wait for f, and f for the call, until the context of the call ends. f uses the methods of
// its Tx instead.
//
// A transaction sees all earlier commits, including commits that are not yet on the disk. Update
// returns only when these commits are durable, even if f failed, so no result depends on data that
// a power cut may lose. If they cannot be made durable, Update returns the reason.
func (db *DB) Update(ctx context.Context, f func(*Tx) error) error { return db.run(ctx, true, f) }

func (db *DB) run(ctx context.Context, writable bool, f func(*Tx) error) error {
	tx, err := db.Begin(ctx, writable)
	if err != nil {
		return err
	}
	return tx.run(f)
}

// result returns the result of f in a transaction of its own, which in, View or Update, makes.
func result[T any](
	ctx context.Context, in func(context.Context, func(*Tx) error) error, f func(*Tx) (T, error),
) (v T, err error) {
	err = in(ctx, func(tx *Tx) (err error) {
		v, err = f(tx)
		return err
	})
	return v, err
}

// lock acquires the writer lock and waits until all earlier commits are durable. It returns
// ErrReadOnly for a follower.
func (db *DB) lock(ctx context.Context) error {
	if db.opts.Follower {
		return errFollower
	}
	return db.lockAnyway(ctx)
}

// lockAnyway is lock, also for a follower.
func (db *DB) lockAnyway(ctx context.Context) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	if err := db.waitDurable(); err != nil {
		db.unlock()
		return err
	}
	return nil
}

// enter acquires the writer lock.
func (db *DB) enter(ctx context.Context) error {
	if err := db.acquire(ctx, db.writer); err != nil {
		return err
	}
	err := db.store.Failure()
	if err == nil {
		err = db.store.Room()
	}
	if err != nil {
		db.unlock()
	}
	return err
}

// acquire takes a token to change the database.
func (db *DB) acquire(ctx context.Context, t token) error {
	if db.opts.ReadOnly {
		return errReadOnly
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-t:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-db.jobs.ctx.Done():
		return ErrClosed
	}
}

func (db *DB) unlock() { db.writer.release() }

func (db *DB) pin() (*snapshot, error) { return db.openReaders.pin(&db.now) }

func (db *DB) unpin(s *snapshot) {
	db.openReaders.unpin(s, func(at map[uint64]int) {
		if db.store.Pins() {
			db.store.Discard(db.now.Load().ts, at)
		}
	})
}

// discard lets the store discard what no transaction reads.
func (db *DB) discard() {
	db.openReaders.call(func(at map[uint64]int) { db.store.Discard(db.now.Load().ts, at) })
}

// answerMemory returns the bytes that an answer may take: a quarter of Options.Memory.
func (db *DB) answerMemory() int64 { return db.opts.memory(workPart) }

// fitsGraph returns ErrTooLarge for a version that must have more in memory than the given parts of
// Options.Memory: all of it if the store is in memory, too, and otherwise what cannot be read on
// demand.
func (db *DB) fitsGraph(s sized, of ...part) error {
	bytes := s.KeptBytes()
	if db.opts.InMemory {
		bytes = s.LoadedBytes()
	}
	return db.checkMemory("the graph needs", bytes, db.opts.memory(of...))
}

// fitsWork returns ErrTooLarge for an answer that takes more bytes than its part of Options.Memory.
func (db *DB) fitsWork(what string, bytes int64) error {
	return db.checkMemory(what+" takes", bytes, db.opts.memory(workPart))
}

// modelMemory returns the bytes that the view of a model may take on a graph: the bytes of an
// answer, and what the graph leaves of its part. It depends on the numbers of the graph alone, and
// not on what the process has loaded or changed.
func (db *DB) modelMemory(m *index.Meta) int64 {
	graph := edgeBytes*m.Edges + nodeBytes*m.Nodes + m.FeatureBytes
	return db.opts.memory(workPart) + max(db.opts.memory(graphPart)-graph, 0)
}

// checkMemory returns ErrTooLarge unless bytes are at most limit.
func (db *DB) checkMemory(what string, bytes, limit int64) error {
	if bytes <= limit {
		return nil
	}
	return fmt.Errorf("%w: %s about %d MB, of the %d MB of Options.Memory it may have %d",
		ErrTooLarge, what, bytes>>20, db.opts.Memory>>20, limit>>20)
}
