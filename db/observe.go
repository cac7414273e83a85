package db

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"kith/index"
	"kith/model"
)

// Observation is what happened to one link that was on offer.
type Observation struct {
	Source, Target any
	Reward         float64    // 1: the link came about, 0: it did not; any number from -3.4e38 to 3.4e38
	Among          Candidates // what it was chosen from, if known; left open: the classes of a model that has some
	Model          string     // default: the one that Predict would use
	At             time.Time  // when; default: as for Prediction
	Insert         bool       // make the edge where the reward is 1, with the time At if that is given
}

// lesson is an observation for a model to learn.
type lesson struct {
	model   string
	outcome model.Outcome
	record  lessonRecord
}

// lessonRecord is an observation as it is stored. It holds the contexts as they were, so that
// learning it again does not depend on the graph of then.
type lessonRecord struct {
	Model    string     `msgpack:"model"`
	Source   uint32     `msgpack:"source"`
	Target   uint32     `msgpack:"target"`
	Reward   float64    `msgpack:"reward"`
	Chosen   int        `msgpack:"chosen"`
	Contexts []byte     `msgpack:"contexts"` // float32, little endian
	Columns  uint32     `msgpack:"columns"`  // of Contexts: see model.Columns; 0: not known
	Offered  []index.ID `msgpack:"offered,omitempty"`
	Version  int        `msgpack:"version,omitempty"`  // of the model; 0: not known
	Frozen   bool       `msgpack:"frozen,omitempty"`   // the model does not learn it
	Decision uint64     `msgpack:"decision,omitempty"` // whose reward it is; 0: of none
}

// Observe tells a model what happened, in a transaction of its own; see [Tx.Observe].
func (db *DB) Observe(ctx context.Context, o Observation) error {
	return db.Update(ctx, func(tx *Tx) error { return tx.Observe(ctx, o) })
}

// Observe tells a model what happened to a link. The model learns it when the transaction commits,
// from the graph as it was before the edge that Insert makes; one that is frozen does not. From Among a model of policy default
// learns how often nodes are on offer; package model says what that is worth. It returns ErrNotFound
// for a node and ErrNoModel for a model that does not exist, also where there is no model at all, and
// ErrInput for a reward that is not finite in 32 bits. A model that is trained by it answers where a request names none, if no
// other one does.
func (tx *Tx) Observe(ctx context.Context, o Observation) error {
	if _, err := tx.writable(); err != nil {
		return err
	}
	if err := CheckReward(o.Reward); err != nil {
		return err
	}
	m, err := tx.someModel(o.Model)
	if err != nil {
		return err
	}
	if m.Version == 0 {
		return fmt.Errorf("%w: %s is a policy that learns nothing", ErrInput, m.name)
	}
	source, target, err := tx.ends(o.Source, o.Target)
	if err != nil {
		return err
	}
	walk := tx.walker(source, true, 0)
	walk.at = tx.instant(source, o.At)
	candidates, chosen, err := tx.offered(ctx, source, target, o.Among, m.scorer, walk)
	if err != nil {
		return err
	}
	taught := candidates
	if !m.scorer.Extras(o.Reward) {
		taught, chosen = []index.ID{target}, 0
	}
	x, err := m.scorer.Contexts(ctx, tx.world(tx.view(), walk), model.Pairs(source, taught))
	if err != nil {
		return tx.named(err)
	}
	if slices.ContainsFunc(x, infinite) {
		return fmt.Errorf("%w: the features of %v and its candidates are too large to multiply", ErrInput, tx.key(source))
	}
	l := &lesson{
		model:   m.name,
		outcome: model.Outcome{Pair: model.Pair{Source: source, Target: target}, Contexts: x, Chosen: chosen, Reward: o.Reward},
		record:  lessonRecord{Model: m.name, Source: source, Target: target, Reward: o.Reward},
	}
	if o.Among.kind != unsaid {
		l.outcome.Offered = candidates
	}
	tx.learned = append(tx.learned, l)
	if o.Insert && o.Reward == 1 {
		if _, ok := tx.between(source, target); !ok {
			at := int64(0)
			if !o.At.IsZero() {
				at = o.At.Unix()
			}
			_, err = tx.batch.SetEdge(source, target, 1, at)
		}
	}
	return err
}

// offered returns the candidates of an observation, the target among them, and its place.
func (tx *Tx) offered(
	ctx context.Context, source, target index.ID, among Candidates, s *model.Scorer, w *walker,
) ([]index.ID, int, error) {
	if among.kind == unsaid && s.Classes() == nil {
		return []index.ID{target}, 0, nil
	}
	candidates, _, err := tx.candidates(ctx, source, tx.among(among, source, s), s, w)
	if err != nil {
		return nil, 0, err
	}
	chosen, found := slices.BinarySearch(candidates, target)
	if !found {
		candidates = slices.Insert(candidates, chosen, target)
	}
	return candidates, chosen, nil
}

// writeLessons stores what was observed, cut down to what the models will learn from.
func (tx *Tx) writeLessons(w index.Writer) error {
	for _, l := range tx.learned {
		learner, rec := tx.db.learners[l.model], l.record
		l.outcome = learner.model.Trim(l.outcome)
		rec.Version, rec.Frozen, rec.Columns = learner.Version, learner.Frozen, learner.model.Columns()
		rec.Chosen, rec.Contexts, rec.Offered = l.outcome.Chosen, packFloats(l.outcome.Contexts), l.outcome.Offered
		b, err := msgpack.Marshal(&rec)
		if err != nil {
			return err
		}
		if err := tx.batch.PutObservation(w, b); err != nil {
			return err
		}
	}
	return nil
}

// learn has the models learn what was observed, and returns the models as they are then.
func (tx *Tx) learn() (map[string]*served, error) {
	if len(tx.learned) == 0 {
		return tx.snap.models, nil
	}
	models, answering := maps.Clone(tx.snap.models), tx.snap.Meta.Model
	for _, l := range tx.learned {
		learner := tx.db.learners[l.model]
		if learner.Frozen {
			continue
		}
		before := learner.model.Trained()
		if _, err := learner.model.Observe(l.outcome); err != nil {
			return nil, fmt.Errorf("model %q: %w", l.model, err)
		}
		if answering == "" && !before && learner.model.Trained() {
			answering = l.model
		}
		models[l.model] = learner.serve()
	}
	tx.batch.SetModel(answering)
	return models, nil
}

func openLesson(doc index.Document) (*lessonRecord, error) {
	if doc.Err != nil {
		return nil, doc.Err
	}
	var rec lessonRecord
	if err := index.Unmarshal(doc.Bytes, &rec); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return &rec, nil
}

// outcome returns the observation for a model to learn.
func (r *lessonRecord) outcome(m *model.Model) model.Outcome {
	return readable(m, r.Columns, model.Outcome{
		Pair: model.Pair{Source: r.Source, Target: r.Target}, Contexts: unpackFloats(r.Contexts), Chosen: r.Chosen,
		Reward: r.Reward, Offered: r.Offered,
	})
}

// readable returns an outcome whose contexts were stored with these columns, 0 where that is not known, without the contexts that
// the model cannot read.
func readable(m *model.Model, columns uint32, o model.Outcome) model.Outcome {
	if columns != 0 && columns != m.Columns() || !m.Fits(o) {
		o.Contexts = nil
	}
	return o
}

func packFloats(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func unpackFloats(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

// infinite reports whether x is infinite or no number.
func infinite(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) }
