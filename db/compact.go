package db

import (
	"kith/index"
)

// A new base is due when the changes since the last one pass a tenth of the edges, and are enough
// for the work to be worth it.
const minChanges = 1 << 16

// compactIfDue begins a compaction in the background. The writer calls it.
func (db *DB) compactIfDue(s *snapshot) {
	if int64(s.Log.Len()) < max(minChanges, s.Meta.Edges/10) || !db.compacting.CompareAndSwap(false, true) {
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
		db.dropLeftovers(now.ts) // a load has made a base of its own meanwhile
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
	db.dropLeftovers(ts)
	return nil
}

// dropLeftovers deletes the blocks of other generations than the present one, the log before its
// start, and the documents that no model has any more: of what is done with, and of what did not
// finish. Nothing depends on their being gone. The writer calls it.
func (db *DB) dropLeftovers(ts uint64) {
	m := &db.now.Load().Meta
	r := db.store.read(ts)
	defer r.close()
	err := db.store.batch(ts, func(w index.Writer) error {
		if err := index.DropGenerations(r, w, m.Generation, m.LogStart); err != nil {
			return err
		}
		return index.DropDocuments(r, w)
	})
	if err != nil {
		db.opts.Logger.Error("deleting leftovers", "err", err)
	}
}
