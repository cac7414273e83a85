package db

import (
	"kith/index"
)

// A new base is due when the changes since the last one pass a tenth of the edges, and are enough
// for the work to be worth it.
const minChanges = 1 << 16

// compactIfDue begins a compaction in the background. The writer calls it.
func (db *DB) compactIfDue(s *snapshot) {
	changes, _ := s.Log.Since(s.Meta.Base) // the log reaches back further
	if int64(len(changes)) < max(minChanges, s.Meta.Edges/10) || !db.compacting.CompareAndSwap(false, true) {
		return
	}
	db.background.Add(1)
	go func() {
		defer db.background.Done()
		defer db.compacting.Store(false)
		if err := db.compact(); err != nil && db.running.Err() == nil {
			db.opts.Logger.Error("compaction", "err", err)
		}
	}()
}

// compact writes the graph as it is now as a new generation of blocks, which becomes the base, and
// deletes the old one. Readers and writers go on but for the moment of the change.
func (db *DB) compact() error {
	old, err := db.pin()
	if err != nil {
		return err
	}
	defer db.unpin(old)
	base, err := old.Graph.Compact()
	if err != nil {
		return err
	}
	generation := db.generation.Add(1)
	if err := db.writeGeneration(old, generation); err != nil {
		return err
	}
	if err := db.lock(db.running); err != nil {
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
func (db *DB) writeGeneration(s *snapshot, generation uint32) error {
	return db.store.batch(s.ts, func(w index.Writer) error { return s.WriteGeneration(w, generation) })
}

// rebase commits the meta record of next, whose generation is written, publishes it and deletes what
// it does not need. The writer calls it.
func (db *DB) rebase(now *snapshot, next *index.Snapshot, models map[string]*served) error {
	ts := now.ts + 1
	if err := db.store.commit(ts, next.WriteMeta); err != nil {
		return err
	}
	db.publish(&snapshot{next, models, ts})
	db.dropLeftovers(ts, next.Meta.Generation)
	return nil
}

// dropLeftovers deletes the blocks of the generations up to last, but for the present one, the log
// before its start, and the documents that no model has any more: of what is done with, and of what
// did not finish. What a compaction is writing meanwhile has a later number than last. Nothing
// depends on their being gone. The writer calls it.
func (db *DB) dropLeftovers(ts uint64, last uint32) {
	m := &db.now.Load().Meta
	db.tidy(ts, func(r index.Reader, w index.Writer) error {
		if err := index.DropGenerations(r, w, m.Generation, last); err != nil {
			return err
		}
		return index.DropLog(r, w, m.LogStart)
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
