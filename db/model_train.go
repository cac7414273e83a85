package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"time"

	"kith/db/internal/hidden"
	"kith/db/internal/record"
	"kith/index"
	"kith/model"
)

// TrainOptions say how to train a model.
type TrainOptions struct {
	Log bool // train from the observations that the model remembers instead of the edges of the graph
	// Relation is the relation whose edges are learned; "" means all relations together. The model
	// stays one: it is asked for links of any relation.
	Relation string
	// Plan may be zero: the model's defaults, and a quarter of Options.Memory. With Log, only
	// Epochs and Progress are used. Progress receives all phases of the training, and ends before
	// the version is stored.
	Plan model.EdgePlan
	// Budget is the time that a training from the edges should take; 0 means no limit. Where it ends
	// before the training would, fewer links are read, fewer passes are made and fewer relations are
	// mined. What is learned then depends on the machine and its load. A training does a little of
	// each part, and the comparison at its end, also if these take longer.
	Budget time.Duration
	// Deploy says whether to deploy the new version. A version that is not deployed does not learn,
	// but it can be asked and deployed later.
	Deploy DeployRule
}

// Train trains a copy of the deployed version of a model. Readers keep the present version and
// writers continue. The copy also learns new observations meanwhile, unless the model is frozen.
// Then the copy becomes a new version that replaces the deployed one. If no model answers requests
// without a name, this one does from then on, unless the version is held. Train ends a training in
// the background, which starts again later if it is still due.
//
// A training from the edges leaves some of them out, and compares the new version on these with the
// version before, the built-in model and heuristics. See Comparison. A version that ranks worse is
// stored but, unless t says otherwise, not deployed. Without a comparison, as on a graph of fewer
// than 200 edges, the version is deployed unjudged, and Comparison.Skipped says why.
//
// Train makes the model default if it is to be trained and does not exist, also if the training
// fails. Train returns the new version. It returns ErrNoModel for another missing model, ErrInput
// for a policy that does not learn and for a graph or a relation without edges, ErrNotFound for a
// missing relation, ErrClosed if the database is closed meanwhile, or the error of ctx. After an
// error the model is unchanged.
func (m *Model) Train(ctx context.Context, t TrainOptions) (Training, error) {
	db := m.db
	if err := m.checkLearned(ctx, &t); err != nil {
		return Training{}, err
	}
	l, err := m.clone(ctx, !t.Log)
	if err != nil {
		return Training{}, err
	}
	name := l.Name
	defer db.trainings.Delete(l)
	if t.Deploy != deployIfAhead {
		if err := db.stopRefresh(ctx); err != nil {
			return Training{}, err
		}
	}
	if t.Budget > 0 {
		if t.Plan.Progress == nil {
			t.Plan.Progress = model.NewMeter(time.Now, nil)
		}
		t.Plan.Progress.Limit(t.Budget)
	}
	made := Training{Held: t.Deploy == DeployNever}
	v := record.Version{From: t.origin(), Relation: t.Relation}
	err = db.View(ctx, func(tx *Tx) (err error) {
		of, err := tx.about(t.Relation, false)
		if err != nil {
			return err
		}
		if tx = of.Tx; !t.Log {
			v.Graph, v.Edges = tx.snap.Meta.Version, tx.snap.Graph.NumEdges()
		}
		made.Comparison, v.LeftOut, err = tx.trainAndCompare(ctx, l, t)
		return err
	})
	if err != nil {
		switch {
		case errors.Is(err, ErrInput):
			err = fmt.Errorf("model %q: %w", name, err)
		case ctx.Err() == nil && !errors.Is(err, ErrClosed):
			err = inputf("model %q: %w", name, err)
		}
		return Training{}, err
	}
	t.Plan.Progress.End()
	switch t.Deploy {
	case DeployBetter:
		made.Held = len(made.Comparison.Held()) > 0
	case deployIfAhead:
		made.Held = !made.Comparison.ahead()
	}
	if made.Held && t.Deploy == deployIfAhead {
		return made, nil
	}
	if err := db.lock(ctx); err != nil {
		return Training{}, err
	}
	defer db.unlock()
	now := db.learners[name]
	if now == nil || now.Deployed != l.Deployed || t.Deploy == deployIfAhead && db.inTraining(l.Name) > 1 {
		return Training{}, missing(kindModel, name, nil, ErrNoModel,
			"model %q was dropped, or another version of it deployed, during the training", name)
	}
	s := db.now.Load()
	r := db.store.Read(s.ts)
	defer r.Close()
	if err := record.Replay(ctx, r, s.Meta.Version, map[string]*record.Learner{l.Name: l}); err != nil {
		return Training{}, err
	}
	if err := db.addVersion(now, l, v, made.Held); err != nil {
		return Training{}, err
	}
	made.ModelInfo = viewOf(l).describe()
	made.Answers = !made.Held && db.answering() == l.Name && made.Trained
	return made, nil
}

// checkLearned returns ErrNotFound for a training on a relation that does not exist, and ErrInput
// for a training from outcomes on the edges of one, for one that has no edges, and for a negative
// budget.
func (m *Model) checkLearned(ctx context.Context, t *TrainOptions) error {
	switch {
	case t.Budget < 0:
		return inputf("a budget of %v: want a time above 0, or 0 for no limit", t.Budget)
	case t.Relation == "":
		return nil
	case t.Log:
		return inputf("a training from outcomes learns no edges of relation %q: want the edges, or no relation", t.Relation)
	}
	return m.db.View(ctx, func(tx *Tx) error {
		number, err := tx.relation(t.Relation)
		if err != nil {
			return err
		}
		if r := tx.meta().Relations[number]; r.Edges == r.Loops {
			return inputf("model %q: relation %q has no edges to train on", m.name, t.Relation)
		}
		return nil
	})
}

// origin returns the origin of the version that the training makes.
func (t *TrainOptions) origin() string {
	switch {
	case t.Log:
		return record.TrainedLog
	case t.Deploy == deployIfAhead:
		return record.Refreshed
	}
	return record.TrainedEdges
}

// trainAndCompare trains a model. If it trains from the edges and the graph is large enough, it
// leaves a share of them out and compares the model on these. It returns the share.
func (tx *Tx) trainAndCompare(ctx context.Context, l *record.Learner, t TrainOptions) (c Comparison, leftOut float64, err error) {
	err = tx.db.untilClosed(ctx, func(ctx context.Context) error {
		var v *validation
		t.Plan.Progress.Expect(tx.phasesWithComparison(l, &t)...)
		switch {
		case t.Log:
			c.Skipped = "a training from outcomes hides no edges"
		default:
			t.Plan.Progress.Begin(phaseHide)
			if v, c.Skipped, err = tx.leaveOut(ctx); err != nil {
				return err
			}
		}
		t.Plan.Progress.Finish(phaseHide)
		if v == nil {
			t.Plan.Progress.Finish(phaseModels)
			t.Plan.Progress.Finish(phaseHeuristics)
			if err := tx.fit(ctx, l.Model, t); err != nil {
				return err
			}
			return tx.fitRelations(ctx, l.Model, t)
		}
		leftOut, v.progress, v.brief = v.share, t.Plan.Progress, t.Deploy == deployIfAhead
		if err := v.rest.fit(ctx, l.Model, t); err != nil {
			return err
		}
		if c, err = v.compare(ctx, tx, l); err != nil {
			return err
		}
		return tx.fitRelations(ctx, l.Model, t)
	})
	return c, leftOut, err
}

// addVersion stores the trained learner l as a new version v of a model, and deploys it unless held
// is set. The writer calls it.
func (db *DB) addVersion(now, l *record.Learner, v record.Version, held bool) error {
	c := db.recorded()
	v.Number, v.Parent, v.Made = now.Next(), now.Version, c.Time
	if held {
		return db.storeUndeployed(now, l, v, c)
	}
	if err := db.checkpoint(now); err != nil {
		return err
	}
	l.Registry = now.With(v).Deploying(v.Number, now.History(), db.now.Load().Meta.Version+1, c.Time)
	return db.replace(l, cmp.Or(db.answering(), l.Name), c)
}

// clone returns a copy of the learner for a training. The later observations are kept until the
// training has ended. A copy that learns edges reads the words of nodes, if there are any by now,
// and has forgotten erased nodes.
func (m *Model) clone(ctx context.Context, edges bool) (*record.Learner, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	db := m.db
	defer db.unlock()
	l, err := db.learnerOf(m.name)
	if err != nil {
		return nil, err
	}
	copied, err := l.Model.Clone()
	if err == nil {
		err = copied.LoadVectors() // the training may outlive the stored document
	}
	if err == nil && edges && db.now.Load().HasWords() {
		copied, err = copied.WithWords()
	}
	if err == nil && edges {
		copied, err = withoutErased(copied, db.now.Load().Snapshot)
	}
	if err != nil {
		return nil, err
	}
	c := &record.Learner{Name: l.Name, Registry: l.Registry, Model: copied, Stored: record.Checkpoint{At: db.now.Load().Meta.Version}}
	db.trainings.Store(c, nil)
	return c, nil
}

// withoutErased returns a model without what it has of erased nodes.
func withoutErased(m *model.Model, s *index.Snapshot) (*model.Model, error) {
	erased := map[index.ID]bool{}
	for _, id := range m.Nodes() {
		if !s.Live(id) && s.Erased(id) {
			erased[id] = true
		}
	}
	if len(erased) == 0 {
		return m, nil
	}
	return m.Renamed(func(id index.ID) (index.ID, bool) { return id, !erased[id] }, func(r int) (int, bool) { return r, true })
}

// inTraining returns the number of running trainings of a model.
func (db *DB) inTraining(name string) (n int) {
	for l := range db.trainings.Range {
		if l.(*record.Learner).Name == name {
			n++
		}
	}
	return n
}

// fit trains a model, its relations apart.
func (tx *Tx) fit(ctx context.Context, m *model.Model, t TrainOptions) error {
	if t.Log {
		return m.TrainLog(ctx, cmp.Or(t.Plan.Epochs, logEpochs), t.Plan.Progress)
	}
	t.Plan.Memory = tx.trainMemory(t)
	if err := m.TrainEdges(ctx, tx.snap.Graph, t.Plan, tx.worldsWithout(ctx)); err != nil {
		return tx.withNodeKey(err)
	}
	if !m.Forecasts() {
		return nil
	}
	return tx.withNodeKey(m.TrainEvents(ctx, tx.snap.Graph, t.Plan, tx.worldsWithout(ctx), tx.moments(ctx)))
}

// fitRelations trains the part of a model that answers about one relation. It learns from all
// edges, because the comparison asks about no relation.
func (tx *Tx) fitRelations(ctx context.Context, m *model.Model, t TrainOptions) error {
	if !tx.learnsRelations(t) {
		return nil
	}
	t.Plan.Memory = tx.trainMemory(t)
	return m.TrainRelations(ctx, tx.typedGraph(), t.Plan, tx.relationsWithout(ctx))
}

// trainMemory returns the memory of a training.
func (tx *Tx) trainMemory(t TrainOptions) int64 {
	return cmp.Or(t.Plan.Memory, tx.db.opts.memory(workPart))
}

// learnsRelations reports whether a training learns how relations predict each other: it learns all
// edges, and there are several relations.
func (tx *Tx) learnsRelations(t TrainOptions) bool {
	return !t.Log && tx.whole == nil && tx.severalRelations()
}

// severalRelations reports whether there are edges of several relations.
func (tx *Tx) severalRelations() bool {
	used := 0
	for _, r := range tx.snap.Meta.Relations {
		if r.Edges > 0 {
			used++
		}
	}
	return used > 1
}

// typedGraph returns the edges with their relations.
func (tx *Tx) typedGraph() model.TypedGraph {
	g := model.TypedGraph{Nodes: tx.snap.Graph.NumNodes()}
	for _, r := range tx.snap.Meta.Relations {
		g.Directed = append(g.Directed, r.Directed)
	}
	g.Edges = func(yield func(model.TypedEdge) bool) {
		for e := range tx.snap.Graph.Edges() {
			if !yield(model.TypedEdge{U: e.U, V: e.V, Relation: e.Relation}) {
				return
			}
		}
	}
	return g
}

// relationsWithout returns a function that makes the worlds of questions about relations without
// some of the edges.
func (tx *Tx) relationsWithout(ctx context.Context) model.WithoutTyped {
	return func(hidden []model.TypedEdge) (func(index.ID, int32) (model.World, error), error) {
		edges := make([]index.Edge, len(hidden))
		for i, e := range hidden {
			edges[i] = index.Edge{Ends: index.Ends{U: e.U, V: e.V}, Relation: e.Relation}
		}
		rest, err := tx.trainedWithout(ctx, edges, 1)
		if err != nil {
			return nil, err
		}
		return func(source index.ID, head int32) (model.World, error) {
			on, err := rest.about(tx.snap.Meta.Relations[head/2].Name, head%2 == 1)
			if err != nil {
				return model.World{}, err
			}
			return on.walker(source, true, 0).World(), nil
		}, nil
	}
}

// trainedWithout returns a read-only transaction without some of the edges for a training, which
// reads so many at once. If that many copies of the graph take little memory, it has a copy,
// because walks pass over copies faster than over changed rows.
func (tx *Tx) trainedWithout(ctx context.Context, edges []index.Edge, copies int) (*Tx, error) {
	bytes := int64(copies) * tx.all().snap.Graph.LoadedBytes()
	if bytes <= tx.db.opts.memory(workPart)/copiesFraction && tx.fitsSecond() {
		return tx.copyWithout(ctx, edges)
	}
	return tx.withoutEdges(ctx, edges)
}

// worldsWithout returns a function that makes the world without some of the edges. A training opens
// a world for each processor.
func (tx *Tx) worldsWithout(ctx context.Context) model.Without {
	return func(hidden [][2]index.ID) (model.World, error) {
		without, err := tx.trainedWithout(ctx, tx.snap.Graph.Joining(hidden), runtime.GOMAXPROCS(0))
		if err != nil {
			return model.World{}, err
		}
		return without.walker(0, true, 0).World(), nil
	}
}

// trainedEvents is the number of the newest events that a training learns.
const trainedEvents = 8192

// moments yields the newest events of the graph, the earliest first, each with the world before it.
func (tx *Tx) moments(ctx context.Context) iter.Seq2[model.Moment, error] {
	return func(yield func(model.Moment, error) bool) {
		for m := range tx.all().snap.Moments(trainedEvents) {
			w := tx.onGraph(m.Graph).walker(0, true, 0)
			w.Now = m.Time
			now := model.Moment{World: w.World()}
			for _, e := range m.Events {
				if tx.whole == nil || slices.Contains(tx.via.Relations, e.Relation) {
					now.Links = append(now.Links, model.Pair{Source: e.U, Target: e.V})
				}
			}
			if len(now.Links) == 0 {
				continue
			}
			if !yield(now, ctx.Err()) {
				return
			}
		}
	}
}

var _ model.Timed = (*index.Graph)(nil)

// The model that answers requests without a name, or else the model default, is trained in the
// background once the graph has minRefresh edges, if it was created and never trained. A version
// that was trained on the edges is trained again when a tenth of the edges, and at least
// minRefresh, have changed since. That training continues from the weights of the version. The new
// version replaces it if it finds links better.
const minRefresh = 1000

// deployIfAhead deploys a version only if its comparison says that it is better, and otherwise
// drops it.
const deployIfAhead DeployRule = "ahead"

// refreshIfDue starts training a model in the background if enough has changed, and if no model is
// being trained. The writer calls it.
func (db *DB) refreshIfDue(s *snapshot) {
	if db.opts.NoRefresh || len(s.models) == 0 {
		return
	}
	for range db.trainings.Range {
		return
	}
	name := db.refreshDue(s)
	if name == "" {
		return
	}
	m := s.models[name]
	was, _ := m.Find(m.Version)
	ctx, cancel := context.WithCancel(db.jobs.ctx)
	started := db.jobs.start(db.jobs.refresh, func() {
		defer cancel()
		db.refresh(ctx, name, was)
	})
	if !started {
		cancel()
		return
	}
	db.stopRefreshing = cancel
	db.refreshed[name] = record.Version{
		Number: m.Version, Graph: s.Meta.Version, Edges: s.Meta.EdgesOf(was.Relation), Relation: was.Relation,
	}
}

// stopRefresh ends the training in the background, if there is one, so that another training has
// its time and its memory. None begins before the other training has ended.
func (db *DB) stopRefresh(ctx context.Context) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	if db.stopRefreshing != nil {
		db.stopRefreshing()
	}
	db.unlock()
	if err := db.acquire(ctx, db.jobs.refresh); err != nil {
		return err
	}
	db.jobs.refresh.release()
	return nil
}

// refresh trains a model, which was in a version. If it is stopped, the model is due again.
func (db *DB) refresh(ctx context.Context, name string, was record.Version) {
	made, err := db.Model(name).Train(ctx, TrainOptions{
		Deploy: deployIfAhead, Relation: was.Relation, Plan: model.EdgePlan{Again: was.From != record.Created},
	})
	switch log := db.opts.Logger; {
	case errors.Is(err, ErrClosed), errors.Is(err, ErrNoModel), db.jobs.ctx.Err() != nil:
	case ctx.Err() != nil:
		if db.lock(db.jobs.ctx) == nil {
			delete(db.refreshed, name)
			db.unlock()
		}
	case err != nil:
		log.Error("refresh", "model", name, "err", err)
	case made.Held:
		log.Info("refresh", "model", name, "deployed", false, "comparison", made.Comparison.String())
	default:
		log.Info("refresh", "model", name, "deployed", true, "version", made.Version, "comparison", made.Comparison.String())
	}
}

// refreshDue returns the name of a model to train, or "". The writer calls it.
func (db *DB) refreshDue(s *snapshot) string {
	answering := cmp.Or(s.Meta.Model, defaultModel)
	for _, name := range slices.Sorted(maps.Keys(s.models)) {
		m := s.models[name]
		v, _ := m.Find(m.Version)
		never := name == answering && len(m.Versions) == 1 && v.From == record.Created
		learned := v.Graph != 0 && (v.From == record.TrainedEdges || v.From == record.Refreshed)
		if m.Frozen || !never && !learned {
			continue
		}
		tried, ok := db.refreshed[name]
		if ok = ok && tried.Number == v.Number; ok {
			v = tried
		}
		switch {
		case never && !ok:
			if s.Meta.Edges >= minRefresh {
				return name
			}
		case m.info.Outdated && !ok, v.Changes(s.Snapshot) >= max(minRefresh, v.Edges/10):
			return name
		}
	}
	return ""
}

// untilClosed calls f, a training, with a context that also ends when the database starts to close.
func (db *DB) untilClosed(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(db.jobs.ctx, func() { cancel(ErrClosed) })()
	err := f(ctx)
	if err != nil && context.Cause(ctx) == ErrClosed {
		return fmt.Errorf("%w, which ended the training", ErrClosed)
	}
	return err
}

// Phases of a training, besides those of package model.
const (
	phaseHide       = "hiding links for the comparison"
	phaseModels     = "comparing with other models"
	phaseHeuristics = "comparing with heuristics"
)

// Times of work in these phases, about.
const (
	hideTime      = 50 * time.Nanosecond   // for each entry of a row of the graph
	askTime       = 600 * time.Microsecond // for a question to a model
	heuristicTime = 150 * time.Microsecond // for a question to a heuristic
)

// logEpochs is the number of passes of a training from outcomes.
const logEpochs = 10

// phases returns the phases of fit and fitRelations.
func (tx *Tx) phases(m *model.Model, t *TrainOptions) []model.Phase {
	if t.Log {
		return m.LogPhases(cmp.Or(t.Plan.Epochs, logEpochs))
	}
	plan := t.Plan
	plan.Memory = tx.trainMemory(*t)
	all := m.EdgePhases(tx.snap.Graph, plan)
	if tx.learnsRelations(*t) {
		all = append(all, m.RelationPhases(tx.snap.Graph.NumRelations(), int(tx.snap.Graph.NumEdges()))...)
	}
	return append(all, m.EventPhases(min(tx.snap.NumEvents(), trainedEvents))...)
}

// phasesWithComparison returns the phases of trainAndCompare.
func (tx *Tx) phasesWithComparison(l *record.Learner, t *TrainOptions) []model.Phase {
	all := tx.phases(l.Model, t)
	if t.Log {
		return all
	}
	models := 2
	if before := tx.snap.models[l.Name]; before != nil && before.info.Trained {
		models++
	}
	return append([]model.Phase{{Name: phaseHide, Steps: 1, Each: time.Duration(tx.snap.Graph.Arcs()) * hideTime}}, append(all,
		model.Phase{Name: phaseModels, Steps: models * hidden.MostSources, Each: askTime},
		model.Phase{Name: phaseHeuristics, Steps: len(tx.comparedHeuristics()) * hidden.MostSources, Each: heuristicTime},
	)...)
}
