package db

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"kith/db/internal/record"
	"kith/db/internal/walk"
	"kith/index"
	"kith/model"
	"kith/ppr"
)

// What is forgotten.
//
// An observation is needed until its model has stored what it learned: Open replays it, and so does
// a training that was running when the observation came. After that there are no readers: TRAIN
// FROM LOG uses what the model remembers, which is in its document, and the value of a policy is
// estimated from decisions. When the log is an eighth larger than Options.ObservationBytes, a
// commit makes the models store what they learned up to some version, writes into the meta record
// that the observations up to there are forgotten, and deletes these. Each observation is deleted
// once and none is rewritten, and a model is stored for this at most once per ObservationBytes.
// What a kill leaves undeleted, the next open deletes. A decision is kept until it expires. Commits
// that make or reward decisions delete more expired decisions than they make.

// ObserveOptions is the outcome of a link that was offered.
type ObserveOptions struct {
	Source, Target any
	// Relation is the relation of the link, as for PredictOptions; "" means all relations together.
	Relation string
	Reward   float64    // 1 if the link was made, 0 if not; any number from -3.4e38 to 3.4e38
	Among    Candidates // the candidates that were offered, if known
	Model    string     // default: the model that answers requests without a name, otherwise the model default
	At       time.Time  // time of the outcome; default: as for PredictOptions
	Insert   bool       // add the edge if the reward is 1, with the time At if that is set
	NoCache  bool       // compute PageRank from scratch, so that the model learns a function of graph and observation alone
	// ID identifies the outcome in the application: the number of an event, for example. The same ID
	// again changes nothing, as long as the observation is kept (Options.ObservationBytes). It has at
	// most 1,024 bytes; "" means none.
	ID string
}

// Observe reports the outcome of a link to a model, in a transaction of its own. See [Tx.Observe].
func (db *DB) Observe(ctx context.Context, o ObserveOptions) error {
	return db.Update(ctx, func(tx *Tx) error { return tx.Observe(ctx, o) })
}

// Observe reports the outcome of a link to a model. The model learns it when the transaction
// commits, from the graph without the edge that Insert adds. The contexts that it learns are stored
// with the observation, so that a replay of the log gives the same model, bit for bit, whatever the
// cache held. A frozen model does not learn. From Among, a model of policy default learns how often
// nodes are offered; package model documents the benefit. Observe returns ErrNotFound for a missing
// node, ErrNoModel for a missing model, and ErrInput for a reward that is not finite in 32 bits. A
// model that an observation trains begins to answer requests without a name, unless a
// model does already. Where none does, an observation without the name of a model teaches the model
// default. If that does not exist, the transaction makes it, in a commit of its own.
//
// An outcome with an ID that was observed before, for any model, changes nothing: Observe returns
// nil, whatever its other fields say. So a program that observes what it reads from a queue may
// read a message again after a crash. The database remembers an ID as long as it keeps the
// observation, the newest 64 MB of them by default (Options.ObservationBytes): on the disk, where
// each ID takes about 50 bytes besides, and also in backups and followers. [Tx.Observed] tells
// whether it knows one.
func (tx *Tx) Observe(ctx context.Context, o ObserveOptions) error {
	if _, err := tx.writable(); err != nil {
		return err
	}
	if known, err := tx.Observed(o.ID); known || err != nil {
		return err
	}
	if err := checkReward(o.Reward); err != nil {
		return err
	}
	m, err := tx.learnerOf(o.Model)
	if err != nil {
		return err
	}
	if m.Version == 0 {
		return inputf("%s is a policy that learns nothing", m.info.Name)
	}
	source, target, err := tx.ends(o.Source, o.Target)
	if err != nil {
		return err
	}
	a, err := tx.about(o.Relation, false)
	if err != nil {
		return err
	}
	w, near := a.walker(source, o.NoCache, 0), tx.walker(source, o.NoCache, 0)
	if w.Now, err = tx.requestTime(o.At, time.Time{}, source); err != nil {
		return err
	}
	near.Now = w.Now
	offered, err := tx.offered(ctx, a, tx.clock(o.At, time.Time{}), source, target, o.Among, m.scorer, near)
	if err != nil {
		return err
	}
	x, err := tx.contexts(ctx, m.scorer, w, source, []index.ID{target})
	if err != nil {
		return err
	}
	l := &pendingObservation{id: o.ID, model: m.info.Name, relation: o.Relation, outcome: model.Outcome{
		Pair: model.Pair{Source: source, Target: target}, Contexts: x, Reward: o.Reward, Offered: offered,
	}}
	tx.observes(l)
	if o.Insert && o.Reward == 1 {
		_, err = tx.insertLink(a, source, target, o.At)
	}
	return err
}

// Observed reports whether an outcome with this ID was observed, in this transaction or before, and
// is still kept. It returns ErrInput for an ID that is longer than 1,024 bytes or not plain UTF-8.
func (tx *Tx) Observed(id string) (bool, error) {
	switch {
	case tx.ended:
		return false, ErrClosed
	case id == "":
		return false, nil
	case tx.observedIDs[id]:
		return true, nil
	}
	if err := Str(id).Valid(); err != nil {
		return false, inputf("the ID of an observation: %w", err)
	}
	version, err := tx.snap.Meta.ObservationVersion(tx.reader, id)
	if version == 0 || err != nil || tx.view().Meta.Erased == 0 {
		return version > 0, err
	}
	for doc := range index.Observations(tx.reader, version-1) {
		if doc.Err != nil || doc.At > version {
			return true, doc.Err
		}
		if _, stripped, err := record.StripOutcome(doc.Bytes, tx.erased); err != nil || stripped == id {
			return false, err
		}
	}
	return true, nil
}

// erased reports whether a node was erased.
func (tx *Tx) erased(id index.ID) bool { return tx.key(id).Erased() }

// observes adds an observation to the transaction.
func (tx *Tx) observes(o *pendingObservation) {
	if o.id != "" {
		if tx.observedIDs == nil {
			tx.observedIDs = map[string]bool{}
		}
		tx.observedIDs[o.id] = true
	}
	tx.observed = append(tx.observed, o)
}

// undoObservations removes all observations from the transaction but the first n.
func (tx *Tx) undoObservations(n int) {
	for _, o := range tx.observed[n:] {
		delete(tx.observedIDs, o.id)
	}
	tx.observed = tx.observed[:n]
}

// insertLink adds an edge of weight 1 unless there is one, and reports whether it added the edge.
// The edge is of the relation that a question was about.
func (tx *Tx) insertLink(a about, source, target index.ID, at time.Time) (added bool, err error) {
	if a.inverse {
		source, target = target, source
	}
	x := index.Edge{Ends: index.Ends{U: source, V: target}, Relation: a.relation, Weight: 1}
	_, exists := tx.between(source, target)
	if a.named {
		_, exists = tx.edgeOf(x)
	}
	if exists {
		return false, nil
	}
	if x.Time, err = unixSeconds(at); err == nil {
		err = tx.labelEnds(x, [2]Key{tx.key(source), tx.key(target)})
	}
	if err == nil {
		_, err = tx.batch.SetEdge(x)
	}
	return err == nil, err
}

// offered returns the candidates of an observation, including the target, or nil if they are
// unknown.
func (tx *Tx) offered(
	ctx context.Context, a about, now int64, source, target index.ID, among Candidates, s *model.Scorer, w *walk.Walker,
) ([]index.ID, error) {
	if among.kind == byDefault {
		return nil, nil
	}
	candidates, _, err := tx.candidates(ctx, a, now, ppr.Unit(source), tx.among(a, among, ppr.Unit(source), s), s, w)
	if err != nil {
		return nil, err
	}
	if at, found := slices.BinarySearch(candidates, target); !found {
		candidates = slices.Insert(candidates, at, target)
	}
	return candidates, nil
}

// writeObservations stores the observations, reduced to what the models will learn from.
func (tx *Tx) writeObservations(w index.Writer) error {
	for _, p := range tx.observed {
		if p.document == nil {
			if err := tx.db.encode(p); err != nil {
				return err
			}
		}
		if err := tx.batch.PutObservation(w, p.id, p.document); err != nil {
			return err
		}
	}
	return nil
}

// encode reduces an observation to what its model will learn from, and encodes it.
func (db *DB) encode(p *pendingObservation) (err error) {
	l := db.learners[p.model]
	p.outcome = l.Model.Trim(p.outcome)
	o := &p.outcome
	p.document, err = msgpack.Marshal(&record.Observation{
		Model: p.model, Source: o.Pair.Source, Target: o.Pair.Target, Reward: o.Reward, Chosen: o.Chosen,
		Contexts: index.PackFloats(o.Contexts), Columns: l.Model.Columns(), Offered: o.Offered,
		Version: l.Version, Frozen: l.Frozen, Decision: p.decision, Relation: p.relation, ID: p.id,
	})
	return err
}

// learn makes the models learn the observations, and returns the models after that.
func (tx *Tx) learn() (map[string]*modelView, error) {
	if len(tx.observed) == 0 {
		return tx.snap.models, nil
	}
	models, answering := maps.Clone(tx.snap.models), tx.snap.Meta.Model
	for _, l := range tx.observed {
		learner := tx.db.learners[l.model]
		if learner.Frozen {
			continue
		}
		before := learner.Model.Trained()
		if _, err := learner.Model.Observe(l.outcome); err != nil {
			return nil, fmt.Errorf("model %q: %w", l.model, err)
		}
		if answering == "" && !before && learner.Model.Trained() {
			answering = l.model
		}
		models[l.model] = viewOf(learner)
	}
	tx.batch.SetModel(answering)
	return models, nil
}

// contexts returns the contexts of a source and its candidates. It returns ErrInput for contexts
// that are not finite.
func (tx *Tx) contexts(
	ctx context.Context, s *model.Scorer, w *walk.Walker, source index.ID, candidates []index.ID,
) ([]float32, error) {
	all, err := s.Contexts(ctx, w.World(), model.Pairs(source, candidates))
	if err != nil {
		return nil, tx.withNodeKey(err)
	}
	for _, x := range all {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return nil, inputf("the features of %v and its candidates are too large to multiply", tx.key(source).Literal())
		}
	}
	return all, nil
}

// Observation is an observation of the log.
type Observation struct {
	GraphVersion uint64  `json:"graph_version"` // version of the graph that the observation's commit made
	Model        string  `json:"model"`
	ModelVersion int     `json:"model_version,omitzero"` // version that was deployed then; 0 means unknown
	Source       Key     `json:"source"`
	Target       Key     `json:"target"`
	Relation     string  `json:"relation,omitzero"` // "" means all relations together
	Reward       float64 `json:"reward"`
	Offered      []Key   `json:"offered,omitzero"`  // the candidates, as far as the model learns from them
	Decision     uint64  `json:"decision,omitzero"` // decision that this rewards; 0 means none
	Learned      bool    `json:"learned"`           // the model was not frozen
	ID           string  `json:"id,omitzero"`       // see ObserveOptions; "" means none
}

// Observations yields the observations that are still kept (see Options.ObservationBytes) in commit
// order, including those for models that no longer exist. For choices, see Decisions.
func (tx *Tx) Observations() iter.Seq2[Observation, error] {
	return func(yield func(Observation, error) bool) {
		if tx.ended {
			yield(Observation{}, ErrClosed)
			return
		}
		for doc := range tx.observationDocuments(0) {
			o, err := tx.publicObservation(doc)
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

// observationDocuments yields the documents of the observations after a version that are still
// kept, in commit order.
func (tx *Tx) observationDocuments(after uint64) iter.Seq[index.Document] {
	return func(yield func(index.Document) bool) {
		for doc := range index.Observations(tx.reader, max(after, tx.view().Meta.Forgotten)) {
			if doc.Err == nil && doc.At > tx.view().Meta.Version {
				return // of an unfinished commit
			}
			if !yield(doc) {
				return
			}
		}
	}
}

func (tx *Tx) publicObservation(doc index.Document) (Observation, error) {
	rec, err := record.Decode[record.Observation](doc)
	if err != nil {
		return Observation{}, err
	}
	for _, id := range rec.IDs() {
		if int64(id) >= tx.view().Meta.Nodes {
			return Observation{}, fmt.Errorf("%w: an observation of version %d names node %d", ErrCorrupt, doc.At, id)
		}
	}
	return newObservation(rec, doc.At, tx.key), nil
}

// newObservation returns the exported form of an observation of a version. key returns the key of a
// node.
func newObservation(r *record.Observation, version uint64, key func(index.ID) Key) Observation {
	o := Observation{
		GraphVersion: version, Model: r.Model, ModelVersion: r.Version, Source: key(r.Source), Target: key(r.Target),
		Relation: r.Relation, Reward: r.Reward, Decision: r.Decision, Learned: !r.Frozen, ID: r.ID,
	}
	if o.Source.Erased() || o.Target.Erased() {
		o.ID = ""
	}
	for _, id := range r.Offered {
		o.Offered = append(o.Offered, key(id))
	}
	return o
}

// forgetIfDue forgets the oldest observations when the log is an eighth larger than
// Options.ObservationBytes. The writer calls it.
func (db *DB) forgetIfDue(s *snapshot) error {
	if limit := db.opts.ObservationBytes; s.Meta.Observed-limit <= limit/8 {
		return nil
	}
	if err := db.waitDurable(); err != nil {
		return err
	}
	if err := db.forget(); err != nil {
		db.opts.Logger.Error("forgetting observations", "err", err)
	}
	return nil
}

// forget marks the oldest observations as forgotten in the meta record, and then deletes them.
//
// INVARIANT: every model has stored what it learned up to that version, and no running training
// began before it, so the forgotten observations have no reader.
func (db *DB) forget() error {
	s := db.now.Load()
	r := db.store.Read(s.ts)
	defer r.Close()
	last := s.Meta.Version
	for l := range db.trainings.Range {
		last = min(last, l.(*record.Learner).Stored.At)
	}
	next, err := s.Forget(r, db.opts.ObservationBytes, last)
	if err != nil || next.Meta.Forgotten == s.Meta.Forgotten {
		return err
	}
	for _, l := range db.learners {
		if l.Stored.At >= next.Meta.Forgotten {
			continue
		}
		if err := db.checkpoint(l); err != nil {
			return err
		}
	}
	ts := db.now.Load().ts + 1
	if err := db.store.Commit(ts, next.WriteMeta); err != nil {
		return err
	}
	db.publish(&snapshot{next, db.now.Load().models, ts})
	db.tidy(ts, func(r index.Reader, w index.Writer) error {
		return errors.Join(next.Meta.DropForgotten(r, w, s.Meta.Forgotten), next.Meta.DropObservationIDs(r, w))
	})
	return nil
}

// checkObservationID verifies that the id of an observation of a version is known.
func (tx *Tx) checkObservationID(id string, version uint64) error {
	if id == "" {
		return nil
	}
	known, err := tx.snap.Meta.ObservationVersion(tx.reader, id)
	if err == nil && known != version {
		err = fmt.Errorf("%w: the id of an observation of version %d is recorded with version %d", ErrCorrupt, version, known)
	}
	return err
}

// checkObservations opens every observation, and verifies that every model has learned all that is
// forgotten.
func (tx *Tx) checkObservations(ctx context.Context) error {
	m := &tx.snap.Meta
	bytes := int64(0)
	for doc := range index.Observations(tx.reader, m.Forgotten) {
		o, err := record.Decode[record.Observation](doc)
		if err != nil {
			return fmt.Errorf("observation of version %d: %w", doc.At, err)
		}
		if !tx.snap.Erased(o.Source) && !tx.snap.Erased(o.Target) {
			if err := tx.checkObservationID(o.ID, doc.At); err != nil {
				return err
			}
		}
		if doc.At > m.Version {
			return fmt.Errorf("%w: an observation of version %d, the graph is at %d", ErrCorrupt, doc.At, m.Version)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		bytes += int64(len(doc.Bytes))
	}
	if bytes != m.Observed {
		return fmt.Errorf("%w: the observations have %d bytes, and were counted as %d", ErrCorrupt, bytes, m.Observed)
	}
	for name, doc := range index.Models(tx.reader) {
		if doc.Err == nil && doc.At < m.Forgotten {
			return fmt.Errorf("%w: model %q has learned up to version %d, observations up to %d are forgotten", ErrCorrupt, name, doc.At, m.Forgotten)
		}
	}
	return nil
}
