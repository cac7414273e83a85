package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"kith/db/internal/ctxio"
	"kith/db/internal/modelfile"
	"kith/db/internal/record"
	"kith/index"
	"kith/model"
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

// Export writes a version of the model to w for Import: weights, samples, random state and what it
// remembers of nodes, which are identified by their keys. Version 0 means the deployed version.
// Export returns ErrNoModel if there is no such model or version.
func (m *Model) Export(ctx context.Context, w io.Writer, version int) error {
	return m.view(ctx, func(tx *Tx) error {
		f, err := tx.modelFile(ctx, tx.snap.learns(m.name), version)
		if err != nil {
			return err
		}
		return f.Write(w)
	})
}

// modelFile returns a version of a model as it is exported.
func (tx *Tx) modelFile(ctx context.Context, name string, version int) (*modelfile.File, error) {
	m, number, err := tx.copyOf(ctx, name, version)
	if err != nil {
		return nil, err
	}
	f, err := modelfile.New(name, number, m, tx.snap.Snapshot)
	if err != nil {
		return nil, inputf("model %q: %w", name, err)
	}
	return f, nil
}

// copyOf returns a private copy of a version of a model, in its state in the snapshot.
func (tx *Tx) copyOf(ctx context.Context, name string, version int) (*model.Model, int, error) {
	if tx.ended {
		return nil, 0, ErrClosed
	}
	s := tx.snap.models[name]
	if s == nil || tx.made != nil && tx.made.Name == name {
		return nil, 0, noModel(name, tx.snap)
	}
	if _, err := tx.version(s, version); err != nil {
		return nil, 0, err
	}
	if v, _ := s.Find(version); version != 0 && version != s.Version {
		l, err := record.OpenVersion(tx.reader, name, v)
		if err != nil {
			return nil, 0, err
		}
		return l.Model, version, nil
	}
	learners, err := record.Load(ctx, tx.reader, tx.snap.Snapshot, name)
	if err != nil {
		return nil, 0, err
	}
	return learners[name].Model, s.Version, nil
}

// Import describes what Model.Import made.
type Import struct {
	Model     string `json:"model"`
	Version   int    `json:"version"`
	Deployed  bool   `json:"deployed"`  // whether it is the first version of a new model
	Known     int    `json:"known"`     // number of nodes that the model refers to and the database has
	Forgotten int    `json:"forgotten"` // number of nodes that the database lacks; the model forgets them
}

// Import reads a model that Export wrote. If there is no model of that name it makes one,
// otherwise it makes a new version of the model, which is not deployed. Neither answers requests
// that name no model before Deploy. Nodes are identified by their keys; what the model remembers of
// nodes that the database lacks is dropped.
//
// It returns ErrMismatch for a file that is not a model, has a newer format, or does not fit:
// feature vectors of a length that no label has, a policy or contexts that differ from the existing
// model's. It returns ErrCorrupt for a file that was altered or truncated, and ErrTooLarge for one
// that takes more than a 16th of Options.Memory.
func (m *Model) Import(ctx context.Context, r io.Reader) (Import, error) {
	name, db := m.name, m.db
	if m.tx != nil {
		return Import{}, m.lock(ctx)
	}
	most := db.opts.memory(workPart) / modelFileFraction
	f, err := modelfile.Read(ctxio.Reader(ctx, r), most)
	if errors.Is(err, modelfile.ErrTooLarge) {
		err = fmt.Errorf("%w: the model has more than the %d MB that may be read", ErrTooLarge, most>>20)
	}
	if err != nil {
		return Import{}, fmt.Errorf("model file: %w", err)
	}
	if err := checkModelName(name); err != nil {
		return Import{}, err
	}
	if err := m.lock(ctx); err != nil {
		return Import{}, err
	}
	defer db.unlock()
	read, known, err := f.Translate(db.now.Load().Snapshot)
	if err != nil {
		return Import{}, fmt.Errorf("model file of %q, version %d: %w", f.Name, f.Version, err)
	}
	got := Import{Model: name, Version: 1, Deployed: true, Known: known, Forgotten: len(f.Nodes) - known}
	now := db.learners[name]
	if now == nil {
		return got, db.addModel(name, read, record.Imported)
	}
	if err := modelfile.Compatible(now.Model, read); err != nil {
		return Import{}, fmt.Errorf("model %q: %w", name, err)
	}
	got.Version, got.Deployed = now.Next(), false
	c := db.recorded()
	v := record.Version{Number: got.Version, From: record.Imported, Made: c.Time}
	return got, db.storeUndeployed(now, &record.Learner{Name: name, Model: read}, v, c)
}
