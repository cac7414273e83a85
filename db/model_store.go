package db

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"kith/db/internal/record"
	"kith/index"
)

// checkpoint stores the state of a learner at the present version, unless this state is stored
// already. The writer calls it.
func (db *DB) checkpoint(l *record.Learner) error {
	if l.Stored == (record.Checkpoint{Serial: l.Stored.Serial, Rounds: l.Model.Rounds(), At: db.now.Load().Meta.Version}) {
		return nil
	}
	return db.put(l, nil)
}

// modelCommit is a commit that changes a model, and so makes a version of the database.
type modelCommit struct {
	index.Commit
	answering string // name of the model that answers requests without a name afterwards
	made      []int  // versions of the model that the commit makes
}

// put stores the state of a learner and publishes it: at the present version if c is nil, which
// makes it a checkpoint, and otherwise at the version that c makes. The document is written before
// the commit that refers to it, because it may be too large for one commit. The writer calls it.
func (db *DB) put(l *record.Learner, c *modelCommit) error {
	s, start := db.now.Load(), time.Now()
	ts, graph := s.ts+1, s.Snapshot
	next := *l
	next.Stored.Rounds, next.Stored.At = l.Model.Rounds(), s.Meta.Version
	if c != nil {
		next.Stored.At++
	}
	v, _ := l.Find(l.Version)
	var err error
	if l.Stored.Serial == 0 || next.Stored.Rounds != l.Stored.Rounds {
		next.Stored.Serial = ts
		v.Vectors, err = db.writeDocument(l, ts, v.Vectors)
	}
	next.Registry = l.With(v.StoredAs(next.Stored.Serial, l.Model))
	var entry index.ModelEntry
	if err == nil {
		entry, err = next.Entry()
	}
	if err == nil {
		err = db.store.Commit(ts, func(w index.Writer) (err error) {
			if c == nil {
				return errors.Join(index.PutModel(w, l.Name, entry), graph.WriteMeta(w))
			}
			m, bytes := next.Change(c.made, c.answering, entry.Note)
			graph, err = graph.ChangeModel(w, c.Commit, m, bytes)
			return errors.Join(index.PutModel(w, l.Name, entry), err)
		})
	}
	if err != nil {
		return fmt.Errorf("model %q: %w", l.Name, err)
	}
	l.Registry, l.Stored = next.Registry, next.Stored
	models := maps.Clone(s.models)
	models[l.Name] = viewOf(l)
	db.publish(&snapshot{graph, models, ts})
	db.dropDocuments(ts)
	db.counters.checkpointed(CheckpointEvent{l.Name, l.Stored.Rounds, time.Since(start)})
	return nil
}

// writeDocument stores the state of a learner and, unless they are stored already, the vectors of
// its nodes in a separate document. It returns the serial number of the vectors document.
func (db *DB) writeDocument(l *record.Learner, serial, vectors uint64) (uint64, error) {
	write, vectors, err := l.Documents(serial, vectors)
	if err != nil {
		return 0, err
	}
	return vectors, db.store.Batch(serial, write)
}

// views returns the models as readers see them.
func views(learners map[string]*record.Learner) map[string]*modelView {
	all := map[string]*modelView{}
	for name, l := range learners {
		all[name] = viewOf(l)
	}
	return all
}

// viewOf returns the present version of a model as readers see it.
func viewOf(l *record.Learner) *modelView {
	m, before := l.Model, 0
	if n := len(l.Before); n > 0 {
		before = l.Before[n-1]
	}
	return &modelView{l.Registry, ModelInfo{
		Name: l.Name, Version: l.Version, Deployed: unixTime(l.Since), Before: before, Frozen: l.Frozen, Policy: m.Policy(),
		Trained: m.Trained(), Outdated: m.Outdated(), Rounds: m.Rounds(), Bytes: m.Bytes(),
		VectorsLeftOut: m.VectorsLeftOut(),
	}, m.Scorer()}
}
