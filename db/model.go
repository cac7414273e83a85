package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"kith/db/internal/record"
	"kith/index"
	"kith/model"
)

// modelView is a version of a model as readers see it in one snapshot.
type modelView struct {
	record.Registry
	info   ModelInfo // without Answers
	scorer *model.Scorer
}

// ModelInfo describes the deployed version of a model.
type ModelInfo struct {
	Name     string    `json:"model"`
	Version  int       `json:"version"`
	Deployed time.Time `json:"deployed,omitzero"` // zero if the database has no record of it
	Before   int       `json:"before"`            // version to which Rollback returns; 0 means none
	Frozen   bool      `json:"frozen"`            // whether it ignores observations
	Answers  bool      `json:"answers"`           // whether it answers requests that name no model
	Policy   string    `json:"policy"`
	Trained  bool      `json:"trained"`
	// Outdated says that another version of this package stored the model, whose columns this
	// version cannot read. What the model had learned is lost, except what it remembers of pairs
	// and nodes. Train trains it again.
	Outdated bool `json:"outdated"`
	Rounds   int  `json:"rounds"` // number of outcomes observed
	Bytes    int  `json:"bytes"`  // memory in bytes
	// VectorsLeftOut is the number of bytes that the vectors of the nodes would have taken in the
	// last training from the edges, if they were left out because that was too much; otherwise 0.
	// Feature vectors, at 16 bytes per entry that is not zero, may take a quarter of
	// Options.Memory, and the rest an eighth and at most 1 GB.
	VectorsLeftOut int64    `json:"vectors_left_out,omitzero"`
	Options        []Option `json:"options,omitzero"`
}

// Option is a named value.
type Option struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// Model is a handle of the model with a name, which need not exist. The name "" stands for the
// model that answers requests without a name or, if no model does, for the model default.
//
// Info, Versions and Export read. With a handle from [Tx.Model], they read what the transaction
// sees. All other methods commit on their own, so they return ErrInput with such a handle. They
// return ErrNoModel if there is no such model.
type Model struct {
	name string
	db   *DB
	tx   *Tx // nil means that each method has a transaction of its own
}

// Model returns a handle of the model with a name.
func (db *DB) Model(name string) *Model { return &Model{name: name, db: db} }

// Model returns a handle of the model with a name, which reads what the transaction sees.
func (tx *Tx) Model(name string) *Model { return &Model{name: name, db: tx.db, tx: tx} }

// view calls f with the transaction of the handle, or with one of its own.
func (m *Model) view(ctx context.Context, f func(*Tx) error) error {
	switch {
	case m.tx == nil:
		return m.db.View(ctx, f)
	case m.tx.ended:
		return ErrClosed
	}
	return f(m.tx)
}

// lock acquires the writer lock to change the model.
func (m *Model) lock(ctx context.Context) error {
	switch {
	case m.tx != nil && m.tx.ended:
		return ErrClosed
	case m.tx != nil:
		return inputf("model %q is changed in a commit of its own, not in a transaction: see DB.Model", m.name)
	}
	return m.db.lock(ctx)
}

// change calls f with the model while it holds the writer lock.
func (m *Model) change(ctx context.Context, f func(*record.Learner) error) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.db.unlock()
	s := m.db.now.Load()
	name := s.learns(m.name)
	l := m.db.learners[name]
	if l == nil {
		return noModel(name, s)
	}
	return f(l)
}

// Create makes an untrained model, which answers only requests that name it. The zero spec is the
// default policy. The feature length is filled in from the graph, and the seed, if it is 0, from
// the database. Create returns ErrExists if the name is taken, and ErrInput for an invalid name or
// spec, or for a spec that sets fields that its policy does not use.
func (m *Model) Create(ctx context.Context, spec ModelSpec) error {
	name, db := m.name, m.db
	if err := checkModelName(name); err != nil {
		return err
	}
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer db.unlock()
	if db.learners[name] != nil {
		return missing(kindModel, name, nil, ErrExists, "model %q exists already", name)
	}
	made, err := newModel(spec, db.now.Load().Snapshot)
	if err != nil {
		return fmt.Errorf("model %q: %w", name, err)
	}
	return db.addModel(name, made, record.Created)
}

// defaultModel is the name of the model that learns where none is named and none answers. The first
// Observe, Choose or Train makes it.
const defaultModel = "default"

// learnerOf returns the model that learns from requests with a name. If that is the model default
// and it does not exist, learnerOf makes it. The writer calls it.
func (db *DB) learnerOf(name string) (*record.Learner, error) {
	s := db.now.Load()
	name = s.learns(name)
	if l := db.learners[name]; l != nil || name != defaultModel {
		if l == nil {
			return nil, noModel(name, s)
		}
		return l, nil
	}
	m, err := newModel(model.Spec{}, s.Snapshot)
	if err == nil {
		err = db.addModel(name, m, record.Created)
	}
	return db.learners[name], err
}

// learns returns the name of the model that learns from requests with a name. The model that
// answers requests without a name learns from them, or default if no model does.
func (s *snapshot) learns(name string) string {
	return cmp.Or(name, s.Meta.Model, defaultModel)
}

// learnerOf returns the model that learns from requests with a name. If that is the model default
// and it does not exist, the transaction makes it.
func (tx *Tx) learnerOf(name string) (*modelView, error) {
	name = tx.snap.learns(name)
	if name != defaultModel || tx.snap.models[name] != nil {
		return tx.model(name, 0)
	}
	m, err := newModel(model.Spec{}, tx.view())
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", name, err)
	}
	tx.made = record.NewLearner(name, m, record.Created, tx.snap.Meta.Version+1, tx.recorded().Time)
	seen := *tx.snap
	seen.models = maps.Clone(seen.models)
	seen.models[name] = viewOf(tx.made)
	tx.snap = &seen
	return seen.models[name], nil
}

// commitMade commits the model that the transaction makes, before and apart from its other changes.
func (tx *Tx) commitMade() error {
	if tx.made == nil {
		return nil
	}
	db := tx.db
	if err := db.waitDurable(); err != nil {
		return err
	}
	if err := db.replace(tx.made, db.answering(), tx.recorded()); err != nil {
		return err
	}
	tx.snap, tx.pendingGroup = db.now.Load(), nil
	tx.batch.Follow(&tx.snap.Meta)
	return nil
}

// learner returns the deployed version of a model as the writer sees it, or nil.
func (tx *Tx) learner(name string) *record.Learner {
	if l := tx.db.learners[name]; l != nil || tx.made == nil || tx.made.Name != name {
		return l
	}
	return tx.made
}

// newModel makes an untrained model for a graph. It fills in unset fields of the spec from the
// graph.
func newModel(spec model.Spec, s *index.Snapshot) (*model.Model, error) {
	if unused := spec.Unused(); len(unused) > 0 {
		return nil, inputf("policy %s has no use for %s", cmp.Or(spec.Policy, "default"), strings.Join(unused, ", "))
	}
	spec.Seed = cmp.Or(spec.Seed, s.Meta.Seed)
	spec.FeatureLen, spec.Words = cmp.Or(spec.FeatureLen, featureLen(s)), spec.Words || s.HasWords()
	m, err := model.New(spec)
	if err != nil {
		return nil, optionError(err)
	}
	return m, nil
}

// featureLen returns the length of the longest feature vectors.
func featureLen(s *index.Snapshot) (n int) {
	for _, l := range s.Meta.Labels {
		n = max(n, l.Features)
	}
	return n
}

func checkModelName(name string) error {
	if err := record.CheckName(name); err != nil {
		return inputf("%w", err)
	}
	if slices.Contains(model.Heuristics(), name) {
		return inputf("model name %q: this is a policy that needs no model, USING %s asks it", name, name)
	}
	return nil
}

// Drop deletes the model. If it answers requests without a name, the built-in model answers them
// from then on. The model's observations stay in the log, but a later model of the same name does
// not learn from them.
func (m *Model) Drop(ctx context.Context) error {
	return m.change(ctx, func(l *record.Learner) error {
		answering := m.db.answering()
		if answering == l.Name {
			answering = ""
		}
		return m.db.dropModel(l.Name, answering, m.db.recorded())
	})
}

// dropModel deletes a model. answering is the name of the model that answers requests without a
// name afterwards. The writer calls it.
func (db *DB) dropModel(name, answering string, c index.Commit) error {
	s := db.now.Load()
	r := db.store.Read(s.ts)
	defer r.Close()
	var next *index.Snapshot
	err := db.store.Commit(s.ts+1, func(w index.Writer) (err error) {
		next, err = s.ChangeModel(w, c, &index.ModelChange{Name: name, Answering: answering}, 0)
		return errors.Join(err, index.DeleteModel(r, w, name))
	})
	if err != nil {
		return err
	}
	delete(db.learners, name)
	models := maps.Clone(s.models)
	delete(models, name)
	db.publish(&snapshot{next, models, s.ts + 1})
	db.dropDocuments(s.ts + 1)
	return nil
}

// addModel stores version 1 of a new model, which does not yet answer requests without a name. The
// writer calls it.
func (db *DB) addModel(name string, m *model.Model, from string) error {
	c := db.recorded()
	return db.replace(record.NewLearner(name, m, from, db.now.Load().Meta.Version+1, c.Time), db.answering(), c)
}

// describe returns the info of the version with its options, which only descriptions need.
func (m *modelView) describe() ModelInfo {
	info := m.info
	for name, value := range m.scorer.Options() {
		info.Options = append(info.Options, Option{name, value})
	}
	return info
}

// withNodeKey replaces the node id in an error of a model by the node's key.
func (tx *Tx) withNodeKey(err error) error {
	var bad *model.VectorError
	if !errors.As(err, &bad) {
		return err
	}
	return inputf("node %v has %d features, the model wants %d", tx.key(bad.Node).Literal(), bad.Len, bad.Want)
}

// At most one model answers requests that name no model; index.Meta stores its name. Without one,
// the first model to be trained becomes it. Deploy selects another, and Model.Drop removes it.
// While the deployed version of that model is untrained, the built-in model answers. Outcomes
// without the name of a model teach that model or, without one, the model default.

// model returns a version of the named model; 0 means the deployed one. For "" it returns the model
// that answers requests without a name. It returns nil if the built-in model answers, also in place
// of a model default that does not exist yet. A heuristic is returned as a model of version 0.
func (tx *Tx) model(name string, version int) (m *modelView, err error) {
	switch {
	case slices.Contains(model.Heuristics(), name):
		if m, err = tx.heuristic(name); err != nil {
			return nil, err
		}
	case name != "":
		if m = tx.snap.models[name]; m == nil && name != defaultModel {
			return nil, noModel(name, tx.snap, model.Heuristics()...)
		}
	default:
		if m = tx.snap.models[tx.snap.Meta.Model]; m != nil && !m.info.Trained {
			m = nil
		}
	}
	return tx.version(m, version)
}

// heuristic returns a heuristic, whose working memory is reused.
func (tx *Tx) heuristic(name string) (*modelView, error) {
	spec := model.Spec{Policy: name, Seed: tx.snap.Meta.Seed, FeatureLen: featureLen(tx.snap.Snapshot)}
	return kept(&tx.db.heuristics, heuristicKey{name, spec.FeatureLen}, func() (*modelView, error) {
		m, err := model.New(spec)
		if err != nil {
			return nil, err
		}
		return viewOf(&record.Learner{Name: name, Model: m}), nil
	})
}

// kept returns the value of a key. It makes and keeps the value unless there is one.
func kept[V any](in *sync.Map, key any, make func() (V, error)) (V, error) {
	if v, ok := in.Load(key); ok {
		return v.(V), nil
	}
	made, err := make()
	if err != nil {
		return made, err
	}
	v, _ := in.LoadOrStore(key, made)
	return v.(V), nil
}

// heuristicKey identifies a heuristic for feature vectors of a given length.
type heuristicKey struct {
	name     string
	features int
}

// existing is model for requests that need a model, where "" stands for the model that learns from
// requests without a name. It returns ErrNoModel instead of nil.
func (tx *Tx) existing(name string, version int) (*modelView, error) {
	m, err := tx.model(tx.snap.learns(name), version)
	switch {
	case m != nil || err != nil:
		return m, err
	case name == "":
		return nil, missing(kindModel, "", nil, ErrNoModel, "no model is named, and %s", tx.whyPrior())
	}
	return nil, noModel(name, tx.snap, model.Heuristics()...)
}

// noModel returns the error for the name of no model. others are the names that are accepted in
// place of a model's.
func noModel(name string, s *snapshot, others ...string) error {
	names := append(others, slices.Sorted(maps.Keys(s.models))...)
	return missing(kindModel, name, names, ErrNoModel, "no model %q", name)
}

// answeredBy describes m as the source of an answer. A nil m is the built-in model.
func (tx *Tx) answeredBy(m *modelView) string {
	if m == nil {
		return "the built-in model: " + tx.whyPrior()
	}
	of := &m.info
	if of.Version == 0 {
		return "policy " + of.Name
	}
	name := fmt.Sprintf("model %s version %d", of.Name, of.Version)
	switch basis := m.scorer.Basis(); {
	case of.Trained:
		return name
	case basis == of.Policy:
		return name + ": " + basis
	default:
		return name + ", which is " + of.state() + ": " + basis
	}
}

// state describes a model that is not trained.
func (m *ModelInfo) state() string {
	if m.Outdated {
		return "untrained, as another version of kith stored it (TRAIN MODEL trains it again)"
	}
	return "untrained"
}

// whyPrior says why no model answers requests that name none.
func (tx *Tx) whyPrior() string {
	models := tx.snap.models
	if m := models[tx.snap.Meta.Model]; m != nil {
		return fmt.Sprintf("version %d of model %s, which is deployed, is %s", m.Version, m.info.Name, m.info.state())
	}
	if len(models) == 0 {
		return "the database has no model"
	}
	for _, m := range models {
		if m.info.Trained {
			return "no model is deployed"
		}
	}
	return "no model is trained"
}

// Models describes every model, by name.
func (tx *Tx) Models() []ModelInfo {
	var all []ModelInfo
	for _, m := range tx.snap.models {
		all = append(all, tx.info(m))
	}
	slices.SortFunc(all, func(a, b ModelInfo) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Info describes the deployed version of the model. It returns ErrNoModel if there is no such
// model.
func (m *Model) Info(ctx context.Context) (info ModelInfo, err error) {
	err = m.view(ctx, func(tx *Tx) error {
		v, err := tx.existing(m.name, 0)
		if err == nil {
			info = tx.info(v)
		}
		return err
	})
	return info, err
}

func (tx *Tx) info(m *modelView) ModelInfo {
	info := m.describe()
	info.Answers = info.Name == tx.snap.Meta.Model && info.Trained
	return info
}

// prior returns the built-in model for the content of the nodes of a graph.
func (db *DB) prior(s *index.Snapshot) *model.Scorer {
	of := contentKind{featureLen(s), s.HasWords()}
	prior, _ := kept(&db.priors, of, func() (*model.Scorer, error) { return model.Prior(of.features, of.words), nil })
	return prior
}

// scorer returns the scorer of a model or, if it is nil, of the built-in model: with the rules of
// the graph where the question names a relation of several. exact asks for the rules of the present
// version.
func (a about) scorer(m *modelView, exact bool) *model.Scorer {
	if m != nil {
		return m.scorer
	}
	s := a.db.prior(a.view())
	if !a.named || !a.all().severalRelations() {
		return s
	}
	return a.all().ruled.of(a.all(), s, exact)
}

// ruled is the built-in model with the rules of a graph.
type ruled struct {
	mu        sync.Mutex // protects following fields
	plain     *model.Scorer
	scorer    *model.Scorer // plain with the rules
	version   uint64
	edges     int64
	relations int
}

// The rules of a graph are mined anew after it has gained or lost one in staleShare of its edges.
const staleShare = 16

// of returns a built-in model with the rules of the graph that a transaction sees, if these and the
// graph fit into the memory of a graph.
func (r *ruled) of(tx *Tx, plain *model.Scorer, exact bool) *model.Scorer {
	r.mu.Lock()
	defer r.mu.Unlock()
	meta := &tx.snap.Meta // the rules do not read changes that are not committed
	edges, relations := meta.Edges, len(meta.Relations)
	same := r.plain == plain && r.relations == relations && max(edges-r.edges, r.edges-edges) <= r.edges/staleShare
	if exact {
		same = same && r.version == meta.Version
	}
	if !same {
		scorer := plain.OnRules(tx.typedGraph(), tx.db.opts.memory(graphPart)-tx.snap.Graph.LoadedBytes())
		r.plain, r.scorer, r.version, r.edges, r.relations = plain, scorer, meta.Version, edges, relations
	}
	return r.scorer
}

// contentKind is a kind of content of nodes: feature vectors of a length, and words or none.
type contentKind struct {
	features int
	words    bool
}

// ModelSpec says which model to create. See [model.Spec], and [model.DescribePolicies] for the
// policies that a model can follow.
type ModelSpec = model.Spec
