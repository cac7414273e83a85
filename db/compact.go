package db

import (
	"context"
	"errors"
	"time"

	"kith/index"
)

// A new base is due when the changes since the last one pass a tenth of the edges, and are enough
// for the work to be worth it.
const minChanges = 1 << 16

// compactIfDue begins a compaction in the background. The writer calls it.
func (db *DB) compactIfDue(s *snapshot) {
	changes, _ := s.Log.Since(s.Meta.Base) // the log reaches back further
	if int64(len(changes)) < max(minChanges, s.Meta.Edges/10) {
		return
	}
	select {
	case <-db.compactor:
	default:
		return // one is under way
	}
	db.background.Add(1)
	go func() {
		defer db.background.Done()
		defer func() { db.compactor <- struct{}{} }()
		err := db.compact(db.running)
		if err == nil {
			err = db.store.collect()
		}
		if err != nil && !errors.Is(err, ErrClosed) && db.running.Err() == nil {
			db.opts.Logger.Error("compaction", "err", err)
		}
	}()
}

// Compact has the database take as little space as it can: what has changed goes into a new base of
// the graph, and the store's tables are merged into one level without what nobody can read any more.
// Readers and writers go on meanwhile. What the store has not yet put into tables, which it does by
// itself and on Close, is left out: [CompactDir] frees the last of the space. When ctx ends, Compact
// returns its error; tables that are being merged by then still are to the end, for which Close waits.
//
// Nobody has to call it: the graph gets a new base, the store merges tables and its value log is
// collected, all by themselves as changes come.
func (db *DB) Compact(ctx context.Context) error {
	if db.opts.ReadOnly {
		return errReadOnly
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-db.compactor:
	case <-ctx.Done():
		return ctx.Err()
	case <-db.running.Done():
		return ErrClosed
	}
	done := make(chan error, 1)
	go func() {
		err := db.compactAll(ctx)
		db.compactor <- struct{}{}
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
	if err := db.compactLog(ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := db.pin() // keeps the database open
	if err != nil {
		return err
	}
	defer db.unpin(s)
	db.store.discard(db.pins.oldest(s.ts))
	return db.store.compact()
}

// compactLog makes a new base if there is a log.
func (db *DB) compactLog(ctx context.Context) error {
	s, err := db.pin()
	if err != nil {
		return err
	}
	logged := s.Meta.Version > s.Meta.LogStart
	db.unpin(s)
	if !logged {
		return nil
	}
	return db.compact(ctx)
}

// CompactDir is Compact for a database that is not open, and leaves nothing behind that can be freed.
func CompactDir(ctx context.Context, path string, o *Options) error {
	g, err := Open(path, o)
	if err != nil {
		return err
	}
	if err = g.compactLog(ctx); err == nil {
		err = g.compactLog(ctx) // a new base keeps the log since the one before, for the cache
	}
	if closed := g.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return squeeze(ctx, path, g.opts)
}

// compact writes the graph as it is now as a new generation of blocks, which becomes the base, and
// deletes the old one. Readers and writers go on but for the moment of the change.
func (db *DB) compact(ctx context.Context) (err error) {
	start := time.Now()
	defer func() { db.life.compacted(CompactionEvent{time.Since(start), err}) }()
	if err := db.settle(); err != nil {
		return err
	}
	old, err := db.pin()
	if err != nil {
		return err
	}
	defer db.unpin(old)
	base, err := old.Graph.Compact(ctx)
	if err != nil {
		return err
	}
	generation := db.generation.Add(1)
	if err := db.writeGeneration(ctx, old, generation); err != nil {
		return err
	}
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.unlock()
	now := db.now.Load()
	if now.Meta.Generation != old.Meta.Generation {
		db.dropLeftovers(now.ts, generation) // a load has made a base of its own meanwhile
		return nil
	}
	next, err := now.Rebase(old.Snapshot, base, generation)
	if err != nil {
		return err
	}
	return db.rebase(now, next, now.models)
}

// writeGeneration writes the blocks of s. They are at the timestamp of s: a later commit makes them
// count, and nobody reads them before.
func (db *DB) writeGeneration(ctx context.Context, s *snapshot, generation uint32) error {
	return db.store.batch(s.ts, func(w index.Writer) error {
		return s.WriteGeneration(cancellableWriter{ctx, w}, generation)
	})
}

// rebase commits the meta record of next, whose generation is written, publishes it and deletes what
// it does not need. The writer calls it.
func (db *DB) rebase(now *snapshot, next *index.Snapshot, models map[string]*served) error {
	ts := now.ts + 1
	if err := db.store.commit(ts, next.WriteBase); err != nil {
		return err
	}
	db.publish(&snapshot{next, models, ts})
	db.dropLeftovers(ts, next.Meta.Generation)
	return nil
}

// dropLeftovers deletes the blocks of the generations up to last, but for the present one, the log
// before its start, the observations that are forgotten, and the documents that no model has any more:
// of what is done with, and of what did not finish. What a compaction is writing meanwhile has a later
// number than last. Nothing depends on their being gone. The writer calls it.
func (db *DB) dropLeftovers(ts uint64, last uint32) {
	m := &db.now.Load().Meta
	db.tidy(ts, func(r index.Reader, w index.Writer) error {
		if err := index.DropGenerations(r, w, m.Generation, last); err != nil {
			return err
		}
		if err := index.DropLog(r, w, m.LogStart); err != nil {
			return err
		}
		return index.DropObservations(r, w, 0, m.Forgotten)
	})
	db.dropDocuments(ts)
}

// dropDocuments deletes the documents that no model has any more. The writer calls it.
func (db *DB) dropDocuments(ts uint64) { db.tidy(ts, index.DropDocuments) }

// tidy deletes what nobody needs. If that fails, it only stays.
func (db *DB) tidy(ts uint64, f func(index.Reader, index.Writer) error) {
	r := db.store.read(ts)
	defer r.close()
	if err := db.store.batch(ts, func(w index.Writer) error { return f(r, w) }); err != nil {
		db.opts.Logger.Error("deleting leftovers", "err", err)
	}
}
