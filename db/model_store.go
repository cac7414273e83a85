package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"kith/db/internal/store"
	"kith/index"
	"kith/model"
)

// checkpoint stores the state of a learner at the present version, unless this state is stored
// already. The writer calls it.
func (db *DB) checkpoint(l *learner) error {
	if l.stored == (checkpoint{l.stored.serial, l.model.Rounds(), db.now.Load().Meta.Version}) {
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
func (db *DB) put(l *learner, c *modelCommit) error {
	s, start := db.now.Load(), time.Now()
	ts, graph := s.ts+1, s.Snapshot
	next := *l
	next.stored.rounds, next.stored.at = l.model.Rounds(), s.Meta.Version
	if c != nil {
		next.stored.at++
	}
	v, _ := l.find(l.Version)
	var err error
	if l.stored.serial == 0 || next.stored.rounds != l.stored.rounds {
		next.stored.serial = ts
		v.Vectors, err = db.writeDocument(l, ts, v.Vectors)
	}
	next.registry = l.with(v.storedAs(next.stored.serial, l.model))
	var entry index.ModelEntry
	if err == nil {
		entry, err = next.entry()
	}
	if err == nil {
		err = db.store.Commit(ts, func(w index.Writer) (err error) {
			if c == nil {
				return errors.Join(index.PutModel(w, l.name, entry), graph.WriteMeta(w))
			}
			m, bytes := next.change(c, entry.Note)
			graph, err = graph.ChangeModel(w, c.Commit, m, bytes)
			return errors.Join(index.PutModel(w, l.name, entry), err)
		})
	}
	if err != nil {
		return fmt.Errorf("model %q: %w", l.name, err)
	}
	l.registry, l.stored = next.registry, next.stored
	models := maps.Clone(s.models)
	models[l.name] = l.view()
	db.publish(&snapshot{graph, models, ts})
	db.dropDocuments(ts)
	db.counters.checkpointed(CheckpointEvent{l.name, l.stored.rounds, time.Since(start)})
	return nil
}

// change returns the change that a commit makes to a model, and the memory of the versions that it
// makes. note is the note of the model's entry.
func (l *learner) change(c *modelCommit, note []byte) (m *index.ModelChange, bytes int64) {
	m = &index.ModelChange{Name: l.name, Answering: c.answering, Note: note}
	for _, number := range c.made {
		v, _ := l.find(number)
		bytes += int64(v.Bytes)
		m.Serials = append(m.Serials, v.Serial)
		if v.Vectors != 0 {
			m.Serials = append(m.Serials, v.Vectors)
		}
	}
	return m, bytes
}

// entry returns the stored form of a learner's versions and its checkpoint.
func (l *learner) entry() (index.ModelEntry, error) {
	note, err := msgpack.Marshal(&l.registry)
	return index.ModelEntry{Serial: l.stored.serial, At: l.stored.at, Kept: l.kept(), Note: note}, err
}

// vectorsSerial marks the serial number of a vectors document. Without the mark, it is the serial
// number of the version's document.
const vectorsSerial = 1 << 63

// writeDocument stores the state of a learner and, unless they are stored already, the vectors of
// its nodes in a separate document. It returns the serial number of the vectors document.
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

// checkpointDue limits the observations that an open replays to an eighth of all, so that the bytes
// written for checkpoints stay proportional to the rounds.
func (l *learner) checkpointDue() bool {
	rounds := l.model.Rounds()
	return rounds-l.stored.rounds >= max(64, rounds/8)
}

// loadModels reads the stored models, or only one of them if name is not "", and replays the
// observations since their checkpoints.
func loadModels(ctx context.Context, r *store.Reader, s *index.Snapshot, name string) (map[string]*learner, error) {
	learners := map[string]*learner{}
	for of, doc := range index.Models(r) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if name != "" && of != name {
			continue
		}
		l, err := openModel(r, of, doc)
		if err != nil {
			return nil, fmt.Errorf("%w: model %q: %w", ErrCorrupt, of, err)
		}
		learners[of] = l
	}
	if of := cmp.Or(name, s.Meta.Model); of != "" && learners[of] == nil {
		return nil, fmt.Errorf("%w: model %q, which is in use, is missing", ErrCorrupt, of)
	}
	return learners, replay(ctx, r, s.Meta.Version, learners)
}

// views returns the models as readers see them.
func views(learners map[string]*learner) map[string]*modelView {
	all := map[string]*modelView{}
	for name, l := range learners {
		all[name] = l.view()
	}
	return all
}

// replay makes each learner learn the observations since its checkpoint, up to version last.
func replay(ctx context.Context, r *store.Reader, last uint64, learners map[string]*learner) error {
	first := last
	for _, l := range learners {
		first = min(first, l.stored.at)
	}
	for doc := range index.Observations(r, first) {
		if doc.At > last && doc.Err == nil {
			return nil // of an unfinished commit
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := decoded[observationRecord](doc)
		if err != nil {
			return fmt.Errorf("observation of version %d: %w", doc.At, err)
		}
		l := learners[rec.Model]
		if l == nil || rec.Frozen || doc.At <= l.stored.at {
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
	var stored registry
	if err := index.Unmarshal(doc.Entry.Note, &stored); err != nil {
		return nil, err
	}
	v, _ := stored.find(stored.Version)
	l, err := readDocument(r, name, doc.Bytes, v.Vectors)
	if err != nil {
		return nil, err
	}
	if err := stored.consistent(l.Version, doc.Entry.Kept); err != nil {
		return nil, err
	}
	l.registry = stored
	l.stored = checkpoint{doc.Entry.Serial, l.model.Rounds(), doc.At}
	return l, nil
}

// readDocument opens the document of a version. Its vectors document, whose serial number is 0 if
// it does not exist, is read.
func readDocument(r index.Reader, name string, doc []byte, vectors uint64) (l *learner, err error) {
	var v []byte
	if vectors != 0 {
		if v, err = index.GetDocument(r, name, vectors); err != nil {
			return nil, err
		}
	}
	return openDocument(name, doc, v)
}

// openDocument opens the document of a version, and its vectors document, nil if it does not exist.
// Of the registry it sets only Version.
func openDocument(name string, doc, vectors []byte) (*learner, error) {
	var rec modelRecord
	if err := index.Unmarshal(doc, &rec); err != nil {
		return nil, err
	}
	if rec.Name != name {
		return nil, fmt.Errorf("its document is that of %q", rec.Name)
	}
	m, err := model.DecodeParts(rec.Document, vectors)
	if err != nil {
		return nil, err
	}
	return &learner{name: name, model: m, registry: registry{Version: rec.Version}}, nil
}

// learner is the deployed version of a model as the writer sees it.
type learner struct {
	name string
	registry
	model  *model.Model
	stored checkpoint
}

// checkpoint describes the stored state of a learner. Open replays the observations after it.
type checkpoint struct {
	serial uint64 // serial number of the document; 0 means no document
	rounds int    // number of outcomes that the document has observed
	at     uint64 // version up to which the document has learned all observations
}

// modelRecord is the stored document of a version of a model.
type modelRecord struct {
	Name     string `msgpack:"name"`
	Version  int    `msgpack:"version"`
	Document []byte `msgpack:"document"`
}

// newLearner returns version 1 of a model that the given version of the database makes.
func newLearner(name string, m *model.Model, from string, at uint64, now int64) *learner {
	return &learner{name: name, model: m, registry: registry{
		Born: at, Deployed: at, Since: now, Version: 1, Versions: []version{{Number: 1, From: from, Made: now}},
	}}
}

// view returns the present version as readers see it.
func (l *learner) view() *modelView {
	m, before := l.model, 0
	if n := len(l.Before); n > 0 {
		before = l.Before[n-1]
	}
	return &modelView{l.registry, ModelInfo{
		Name: l.name, Version: l.Version, Deployed: unixTime(l.Since), Before: before, Frozen: l.Frozen, Policy: m.Policy(),
		Trained: m.Trained(), Outdated: m.Outdated(), Rounds: m.Rounds(), Bytes: m.Bytes(),
		VectorsLeftOut: m.VectorsLeftOut(),
	}, m.Scorer()}
}
