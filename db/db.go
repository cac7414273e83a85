package db

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"kith/index"
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	opts     Options
	store    *store
	states   *index.States
	versions versions // that are not deployed
	priors   priors

	// now is what readers see: the latest durable version.
	now    atomic.Pointer[snapshot]
	groups groups // of commits that are not durable yet

	// writer holds a token while nobody writes: it allows only one writer at a time.
	writer   chan struct{}
	learners map[string]*learner // held by the writer
	earliest int64               // no decision ends before; likewise

	trainings  trainings
	life       life
	pins       pins
	generation atomic.Uint32 // of blocks, the last one given out: none is written twice
	background sync.WaitGroup
	stop       context.CancelFunc // ends what runs in the background
	running    context.Context
	compactor  chan struct{}        // holds a token while nobody compacts
	refresher  chan struct{}        // holds a token while no model is trained in the background
	refreshed  map[string]trainedOn // the last training in the background of each model. Guarded by the writer lock.
}

// snapshot is one version of everything: the graph, and the models as they had learned by then.
type snapshot struct {
	*index.Snapshot
	models map[string]*served // replaced, never changed
	ts     uint64             // the store's timestamp of this version
}

// Open opens the database in the directory path, made if it does not exist; nil options are the
// defaults. It returns ErrInput for a bad option, before anything is touched, ErrLocked where
// another process has the database open, ErrReadOnly where the database cannot be written to and is not
// opened ReadOnly, ErrMismatch where the directory holds something else, a
// format of another version or a database made with other options, and ErrCorrupt where it is
// damaged.
func Open(path string, o *Options) (*DB, error) {
	opts, err := o.resolve(path)
	if err != nil {
		return nil, err
	}
	return open(context.Background(), path, opts)
}

// open is Open with resolved options. It returns the error of ctx when that ends while it reads.
func open(ctx context.Context, path string, opts Options) (*DB, error) {
	st, err := openStore(path, opts)
	if err != nil {
		return nil, err
	}
	db := &DB{opts: opts, store: st, earliest: math.MinInt64, writer: make(chan struct{}, 1), compactor: make(chan struct{}, 1)}
	db.running, db.stop = context.WithCancel(context.Background())
	db.writer <- struct{}{}
	db.compactor <- struct{}{}
	db.refresher, db.refreshed = make(chan struct{}, 1), map[string]trainedOn{}
	db.refresher <- struct{}{}
	db.pins.init()
	db.groups.init()
	db.life.tell, db.life.log, db.life.opened = opts.Events, opts.Logger, opts.Now()
	if st.disk != nil {
		st.disk.onSync = db.life.synced
	}
	err = db.load(ctx)
	if err == nil {
		err = st.opened()
	}
	if err != nil {
		db.stop()
		if closed := st.close(); closed != nil {
			opts.Logger.Error("closing after a failed open", "err", closed)
		}
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	m := &db.now.Load().Meta
	opts.Logger.Info("opened", "path", path, "nodes", m.Live, "edges", m.Edges)
	return db, nil
}

// Aside opens an empty database in memory that has no more of it than this one: for a graph that is
// only to be looked at.
func (db *DB) Aside() (*DB, error) {
	return Open("", &Options{InMemory: true, Memory: db.opts.Memory, Logger: db.opts.Logger, Now: db.opts.Now})
}

// load reads what is stored, or makes a new graph.
func (db *DB) load(ctx context.Context) error {
	ts := db.store.maxVersion()
	r := db.store.read(ts)
	defer r.close()
	meta, err := index.ReadMeta(r)
	if err != nil {
		return mismatch(err)
	}
	if meta != nil {
		if err := db.fits(meta.MinBytes(), openShare); err != nil {
			return err // before any of it is in memory
		}
	}
	s, err := index.Open(cancellableScan{ctx, r})
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
	if err := db.agree(&s.Meta); err != nil {
		return err
	}
	if err := db.fits(s.Bytes(), openShare); err != nil {
		return err
	}
	db.states = index.NewStates(s.Meta.Epsilon, db.opts.Memory/8)
	db.versions.limit = int(db.opts.Memory / 32)
	models, learners, err := loadModels(ctx, r, s)
	if err != nil {
		return err
	}
	db.learners = learners
	db.now.Store(&snapshot{Snapshot: s, models: models, ts: ts})
	if db.opts.ReadOnly {
		return nil
	}
	last, err := index.LastGeneration(r, s.Meta.Generation)
	if err != nil {
		return err
	}
	db.generation.Store(last)
	db.dropLeftovers(ts, last)
	return nil
}

// The graph's share of Options.Memory, in percent: up to which it may grow, and up to which it is
// opened. What was let in can be opened again, though changes take other space than a new base.
const (
	growShare = 50
	openShare = 75
)

// fits returns ErrTooLarge for a graph of more bytes than its share.
func (db *DB) fits(bytes, share int64) error {
	if may := db.opts.Memory / 100 * share; bytes > may {
		return fmt.Errorf("%w: the graph needs about %d MB, of the %d MB of Options.Memory it may have %d",
			ErrTooLarge, bytes>>20, db.opts.Memory>>20, may>>20)
	}
	return nil
}

// workShare is the share of Options.Memory, in percent, that one answer may take while it is made.
const workShare = 25

// affords returns ErrTooLarge for an answer that takes more bytes than its share.
func (db *DB) affords(what string, bytes int64) error {
	if may := db.opts.Memory / 100 * workShare; bytes > may {
		return fmt.Errorf("%w: %s takes about %d MB, of the %d MB of Options.Memory it may have %d",
			ErrTooLarge, what, bytes>>20, db.opts.Memory>>20, may>>20)
	}
	return nil
}

// Memory returns Options.Memory, or its default.
func (db *DB) Memory() int64 { return db.opts.Memory }

// mismatch translates what index says of another format.
func mismatch(err error) error {
	if errors.Is(err, index.ErrFormat) {
		return fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	return err
}

// create makes a new graph of the options and stores that.
func (db *DB) create(ts uint64) (*index.Snapshot, error) {
	if db.opts.ReadOnly {
		return nil, fmt.Errorf("%w: the store is empty", ErrNotFound)
	}
	o := &db.opts
	s := index.New(index.Meta{
		Directed: o.Direction == Directed,
		Alpha:    orDefault(o.Alpha, defaultAlpha),
		Epsilon:  orDefault(o.Epsilon, defaultEpsilon),
		Seed:     orDefault(o.Seed, defaultSeed),
	})
	return s, db.store.commit(ts, s.WriteBase)
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// agree holds the options against what is stored.
func (db *DB) agree(m *index.Meta) error {
	o := &db.opts
	for _, c := range []struct {
		ok           bool
		what         string
		asked, stand any
	}{
		{o.Direction == AsStored || (o.Direction == Directed) == m.Directed, "Directed", o.Direction == Directed, m.Directed},
		{o.Alpha == 0 || o.Alpha == m.Alpha, "Alpha", o.Alpha, m.Alpha},
		{o.Epsilon == 0 || o.Epsilon == m.Epsilon, "Epsilon", o.Epsilon, m.Epsilon},
		{o.Seed == 0 || o.Seed == m.Seed, "Seed", o.Seed, m.Seed},
	} {
		if !c.ok {
			return fmt.Errorf("%w: option %s is %v, the database was made with %v", ErrMismatch, c.what, c.asked, c.stand)
		}
	}
	return nil
}

// Close cancels trainings, which return ErrClosed, and what runs in the background, waits for the
// transactions that are open, stores what is worth keeping of the caches and closes the database. A
// second Close does nothing.
func (db *DB) Close() error {
	if !db.pins.close() {
		return nil
	}
	db.stop()
	db.pins.wait()
	db.background.Wait()
	<-db.writer // never returned: nobody writes any more
	var err error
	if !db.opts.ReadOnly && !db.opts.InMemory {
		err = db.flush()
	}
	if closed := db.store.close(); err == nil {
		err = closed
	}
	db.opts.Logger.Info("closed", "err", err)
	return err
}

// flush stores the models and the states as they stand.
func (db *DB) flush() error {
	for _, l := range db.learners {
		if err := db.checkpoint(l, db.now.Load().models); err != nil {
			return err
		}
	}
	ts := db.now.Load().ts
	r := db.store.read(ts)
	defer r.close()
	return db.store.batch(ts, func(w index.Writer) error {
		if err := db.states.Trim(r, w); err != nil {
			return err
		}
		return db.states.Write(w)
	})
}

// View calls f with a transaction that reads the database as it is now. It neither waits for
// writers nor is seen by them. The Tx and what it returned are valid until f returns.
func (db *DB) View(ctx context.Context, f func(*Tx) error) error {
	tx, err := db.Begin(ctx, false)
	if err != nil {
		return err
	}
	return tx.run(f)
}

// Update calls f with a transaction that may also write, and commits it if f returns nil; otherwise,
// and if f panics, nothing has happened. Only one function runs at a time, so f must not begin another;
// waiting for it ends with ctx. When Update returns nil the changes are on the disk, unless Options.NoSync was set, and every
// View begun from then on sees them.
//
// A transaction sees the commits before it, also those that are still on their way to the disk;
// Update returns when they are there, whatever f returned, so that nothing it said rests on what a
// power cut may take back. If they do not get there, Update returns why.
func (db *DB) Update(ctx context.Context, f func(*Tx) error) error {
	tx, err := db.Begin(ctx, true)
	if err != nil {
		return err
	}
	return tx.run(f)
}

// lock waits for the right to write, and until all that was committed before is durable.
func (db *DB) lock(ctx context.Context) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	if err := db.settle(); err != nil {
		db.unlock()
		return err
	}
	return nil
}

// enter waits for the right to write.
func (db *DB) enter(ctx context.Context) error {
	if db.opts.ReadOnly {
		return errReadOnly
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-db.writer:
	case <-ctx.Done():
		return ctx.Err()
	case <-db.running.Done():
		return ErrClosed
	}
	err := db.store.failure()
	if err == nil {
		err = db.store.room()
	}
	if err != nil {
		db.unlock()
	}
	return err
}

func (db *DB) unlock() { db.writer <- struct{}{} }

// publish makes a version the one that readers see. Whoever made it durable calls it.
func (db *DB) publish(s *snapshot) {
	db.now.Store(s)
	db.store.discard(db.pins.oldest(s.ts))
}

func (db *DB) pin() (*snapshot, error) { return db.pins.pin(&db.now) }

func (db *DB) unpin(s *snapshot) { db.pins.unpin(s) }
