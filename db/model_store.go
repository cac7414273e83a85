package db

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"kith/db/store"
	"kith/index"
	"kith/model"
)

// checkpoint stores the state of a learner at the present version and publishes models, unless this state is stored
// already. The writer calls it.
func (db *DB) checkpoint(l *learner, models map[string]*served) error {
	if l.stored == (checkpoint{l.stored.serial, l.model.Rounds(), db.now.Load().Meta.Version}) {
		return nil
	}
	return db.put(l, models, db.answering())
}

// put stores the state of a learner at the present version, together with the name of the answering model, and
// publishes models. The document is written before the commit that refers to it, because it may be too large for one
// commit. The writer calls it.
func (db *DB) put(l *learner, models map[string]*served, answering string) error {
	s, start := db.now.Load(), time.Now()
	ts, next := s.ts+1, checkpoint{l.stored.serial, l.model.Rounds(), s.Meta.Version}
	now := *l
	if next.serial == 0 || next.rounds != l.stored.rounds {
		next.serial = ts
		v, _ := l.find(l.Version)
		var err error
		if v.Vectors, err = db.writeDocument(l, ts, v.Vectors); err != nil {
			return fmt.Errorf("model %q: %w", l.name, err)
		}
		now.registry = l.with(v)
		models = withRegistry(models, now.name, now.registry)
	}
	graph := s.Snapshot.WithModel(answering)
	entry, err := now.entry(next)
	if err == nil {
		err = db.store.Commit(ts, func(w index.Writer) error {
			return errors.Join(index.PutModel(w, l.name, entry), graph.WriteMeta(w))
		})
	}
	if err != nil {
		return fmt.Errorf("model %q: %w", l.name, err)
	}
	l.registry, l.stored = now.registry, next
	db.publish(&snapshot{graph, models, ts})
	db.dropDocuments(ts)
	db.counters.checkpointed(CheckpointEvent{l.name, next.rounds, time.Since(start)})
	return nil
}

// withRegistry returns a copy of models in which the named model has registry r.
func withRegistry(models map[string]*served, name string, r registry) map[string]*served {
	m := *models[name]
	m.registry = r
	models = maps.Clone(models)
	models[name] = &m
	return models
}

// entry returns the stored form of a learner's versions for a checkpoint.
func (l *learner) entry(at checkpoint) (index.ModelEntry, error) {
	note, err := msgpack.Marshal(&l.registry)
	return index.ModelEntry{Serial: at.serial, At: at.at, Kept: l.kept(), Note: note}, err
}

// vectorsSerial marks the serial number of a vectors document. Without the mark, it is the serial number of the
// version's document.
const vectorsSerial = 1 << 63

// writeDocument stores the state of a learner and, unless they are stored already, the vectors of its nodes in a
// separate document. It returns the serial number of the vectors document.
func (db *DB) writeDocument(l *learner, serial, vectors uint64) (uint64, error) {
	doc, err := l.model.MarshalState()
	if err != nil {
		return 0, err
	}
	b, err := msgpack.Marshal(&modelRecord{l.name, l.Version, doc})
	if err != nil {
		return 0, err
	}
	var v []byte
	if vectors == 0 {
		if v, err = l.model.MarshalVectors(); err != nil {
			return 0, err
		}
	}
	if v != nil {
		vectors = serial | vectorsSerial
	}
	return vectors, db.store.Batch(serial, func(w index.Writer) error {
		err := index.WriteDocument(w, l.name, serial, b)
		if v != nil {
			err = errors.Join(err, index.WriteDocument(w, l.name, vectors, v))
		}
		return err
	})
}

// checkpointDue limits the observations that an open replays to an eighth of all, so that the bytes written for
// checkpoints stay proportional to the rounds.
func (l *learner) checkpointDue() bool {
	rounds := l.model.Rounds()
	return rounds-l.stored.rounds >= max(64, rounds/8)
}

// loadModels reads the stored models and replays the observations since their checkpoints.
func loadModels(ctx context.Context, r *store.Reader, s *index.Snapshot) (map[string]*served, map[string]*learner, error) {
	learners, at := map[string]*learner{}, map[string]uint64{}
	first := s.Meta.Version
	for name, doc := range index.Models(r) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		l, err := openModel(r, name, doc)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: model %q: %w", ErrCorrupt, name, err)
		}
		learners[name], at[name] = l, doc.At
		first = min(first, doc.At)
	}
	if name := s.Meta.Model; name != "" && learners[name] == nil {
		return nil, nil, fmt.Errorf("%w: model %q, which answers where none is named, is missing", ErrCorrupt, name)
	}
	if err := replay(ctx, r, s.Meta.Version, first, learners, at); err != nil {
		return nil, nil, err
	}
	models := map[string]*served{}
	for name, l := range learners {
		models[name] = l.serve()
	}
	return models, learners, nil
}

// replay makes the learners learn the observations after version first. Each learner skips those up to its own version
// in at.
func replay(ctx context.Context, r *store.Reader, last, first uint64, learners map[string]*learner, at map[string]uint64) error {
	for doc := range index.Observations(r, first) {
		if doc.At > last && doc.Err == nil {
			return nil // of an unfinished commit
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := openLesson(doc)
		if err != nil {
			return fmt.Errorf("observation of version %d: %w", doc.At, err)
		}
		l := learners[rec.Model]
		if l == nil || rec.Frozen || doc.At <= at[rec.Model] {
			continue
		}
		if _, err := l.model.Observe(rec.outcome(l.model)); err != nil {
			return fmt.Errorf("%w: observation of version %d: %w", ErrCorrupt, doc.At, err)
		}
	}
	return nil
}

// openModel reads the deployed version of a model.
func openModel(r index.Reader, name string, doc index.Document) (*learner, error) {
	if doc.Err != nil {
		return nil, doc.Err
	}
	var noted registry
	if err := index.Unmarshal(doc.Entry.Note, &noted); err != nil {
		return nil, err
	}
	v, _ := noted.find(noted.Version)
	l, err := openDocument(r, name, doc.Bytes, v.Vectors)
	if err != nil {
		return nil, err
	}
	if err := noted.consistent(l.Version, doc.Entry.Kept); err != nil {
		return nil, err
	}
	l.registry = noted
	l.stored = checkpoint{doc.Entry.Serial, l.model.Rounds(), doc.At}
	return l, nil
}

// openDocument reads the document of a version and its vectors document, whose serial number is 0 if it does not exist. Of
// the registry it sets only Version.
func openDocument(r index.Reader, name string, doc []byte, vectors uint64) (*learner, error) {
	var rec modelRecord
	if err := index.Unmarshal(doc, &rec); err != nil {
		return nil, err
	}
	if rec.Name != name {
		return nil, fmt.Errorf("its document is that of %q", rec.Name)
	}
	var v []byte
	if vectors != 0 {
		var err error
		if v, err = index.GetDocument(r, name, vectors); err != nil {
			return nil, err
		}
	}
	m, err := model.DecodeParts(rec.Document, v)
	if err != nil {
		return nil, err
	}
	return &learner{name: name, model: m, registry: registry{Version: rec.Version}}, nil
}
