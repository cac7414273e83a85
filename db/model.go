package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"

	"kith/db/store"
	"kith/index"
	"kith/model"
)

// served is a version of a model as readers see it in one snapshot.
type served struct {
	name string
	registry
	rounds  int // number of outcomes observed
	policy  string
	trained bool
	// outdated says that the model was stored with other columns and must be trained again. See model.Outdated.
	outdated bool
	scorer   *model.Scorer
	options  []Option
	bytes    int
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
	serial uint64 // serial number of the document; 0 means that there is none
	rounds int    // number of outcomes that the document has observed
	at     uint64 // version up to which the document has learned all observations
}

// modelRecord is the stored document of a version of a model.
type modelRecord struct {
	Name     string `msgpack:"name"`
	Version  int    `msgpack:"version"`
	Made     uint64 `msgpack:"made"` // store timestamp at which the version was deployed
	Document []byte `msgpack:"document"`
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
	// Outdated says that another version of this package stored the model, whose columns this version cannot read. What
	// the model had learned is lost, except what it remembers of pairs and nodes. Train trains it again.
	Outdated bool     `json:"outdated"`
	Rounds   int      `json:"rounds"` // number of outcomes observed
	Bytes    int      `json:"bytes"`  // memory in bytes
	Options  []Option `json:"options"`
}

// Option is a named value.
type Option struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

const maxModelName = 128

// CreateModel makes an untrained model, which answers only requests that name it. The zero spec is the default policy.
// The feature length is filled in from the graph, and the seed, if it is 0, from the database. CreateModel returns
// ErrExists if the name is taken, and ErrInput for an invalid name or spec, or for a spec that sets fields that its
// policy does not use.
func (db *DB) CreateModel(ctx context.Context, name string, spec model.Spec) error {
	if err := checkModelName(name); err != nil {
		return err
	}
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.unlock()
	if db.learners[name] != nil {
		return missing(KindModel, name, nil, ErrExists, "model %q exists already", name)
	}
	m, err := newModel(spec, db.now.Load().Snapshot)
	if err != nil {
		return fmt.Errorf("model %q: %w", name, err)
	}
	return db.addModel(name, m, Created)
}

// newModel makes an untrained model for a graph. It fills in unset fields of the spec from the graph.
func newModel(spec model.Spec, s *index.Snapshot) (*model.Model, error) {
	if unused := spec.Unused(); len(unused) > 0 {
		return nil, inputf("policy %s has no use for %s", cmp.Or(spec.Policy, "default"), strings.Join(unused, ", "))
	}
	spec.Seed = orDefault(spec.Seed, s.Meta.Seed)
	spec.FeatureLen = orDefault(spec.FeatureLen, featureLen(s))
	if err := resolveClasses(&spec, s); err != nil {
		return nil, err
	}
	m, err := model.New(spec)
	if err != nil {
		return nil, optionError(err)
	}
	if oneWay(m) && !s.Meta.Directed {
		return nil, inputf("propagation = released wants a directed graph, as this one keeps no direction")
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
	if name == "" || len(name) > maxModelName || strings.IndexByte(name, 0) >= 0 || !utf8.ValidString(name) {
		return inputf("model name %q: want 1 to %d bytes of UTF-8 without a zero byte", name, maxModelName)
	}
	if slices.Contains(Heuristics(), name) {
		return inputf("model name %q: this is a policy that needs no model, USING %s asks it", name, name)
	}
	return nil
}

// resolveClasses fills in the present nodes of the label that a spec names.
func resolveClasses(spec *model.Spec, s *index.Snapshot) error {
	if spec.ClassLabel == "" || spec.Classes != nil {
		return nil
	}
	label, ok := s.Meta.LabelNumber(spec.ClassLabel)
	if !ok {
		return noLabel(spec.ClassLabel, s)
	}
	spec.Classes = slices.Collect(s.Labelled(label))
	return nil
}

// DropModel deletes a model. It returns ErrNoModel if there is no such model. If the model answers requests without a
// name, the learned start answers them from then on. The model's observations stay in the log, but a later model of the
// same name does not learn from them.
func (db *DB) DropModel(ctx context.Context, name string) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.unlock()
	if db.learners[name] == nil {
		return noModel(name, db.now.Load())
	}
	s := db.now.Load()
	r := db.store.Read(s.ts)
	defer r.Close()
	next := s.Snapshot
	if db.answering() == name {
		next = next.WithModel("")
	}
	err := db.store.Commit(s.ts+1, func(w index.Writer) error {
		return errors.Join(index.DeleteModel(r, w, name), next.WriteMeta(w)) // a commit needs a record to keep its timestamp
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

// addModel stores version 1 of a new model, which does not yet answer requests without a name. The writer calls it.
func (db *DB) addModel(name string, m *model.Model, from Origin) error {
	ts, now := db.now.Load().ts+1, db.opts.Now().UnixNano()
	return db.replace(&learner{name: name, model: m, registry: registry{
		Born: ts, Deployed: ts, Since: now, Version: 1, Versions: []version{{Number: 1, From: from, Made: now}},
	}}, db.answering())
}

func (l *learner) serve() *served {
	s := &served{
		name: l.name, registry: l.registry, rounds: l.model.Rounds(), policy: l.model.Policy(),
		trained: l.model.Trained(), outdated: l.model.Outdated(), scorer: l.model.Scorer(), bytes: l.model.Bytes(),
	}
	for name, value := range l.model.Options() {
		s.options = append(s.options, Option{name, value})
	}
	return s
}

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
	db.life.checkpointed(CheckpointEvent{l.name, next.rounds, time.Since(start)})
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
	b, err := msgpack.Marshal(&modelRecord{l.name, l.Version, l.Deployed, doc})
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
	if len(doc.Entry.Note) > 0 {
		if err := index.Unmarshal(doc.Entry.Note, &noted); err != nil {
			return nil, err
		}
	}
	v, _ := noted.find(noted.Version)
	l, err := openDocument(r, name, doc.Bytes, v.Vectors)
	if err != nil {
		return nil, err
	}
	if len(doc.Entry.Note) > 0 {
		if err := noted.sound(l.Version, doc.Entry.Kept); err != nil {
			return nil, err
		}
		l.registry = noted
	}
	l.stored = checkpoint{doc.Entry.Serial, l.model.Rounds(), doc.At}
	return l, nil
}

// openDocument reads the document of a version and its vectors document, whose serial number is 0 if there is none. It
// fills the registry with what an older version of this package stored, which had no separate registry.
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
	l := &learner{name: name, model: m, registry: registry{
		Deployed: rec.Made, Version: rec.Version, Versions: []version{{Number: rec.Version}},
	}}
	if rec.Version == 1 {
		l.Born = rec.Made
	}
	return l, nil
}

// named replaces the node id in an error of a model by the node's key.
func (tx *Tx) named(err error) error {
	var stray *model.ClassError
	if errors.As(err, &stray) {
		return inputf("node %v stands for no class of the model", tx.key(stray.Node))
	}
	var bad *model.VectorError
	if !errors.As(err, &bad) {
		return err
	}
	return inputf("node %v has %d features, the model wants %d", tx.key(bad.Node), bad.Len, bad.Want)
}
