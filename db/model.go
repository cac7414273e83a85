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

	"kith/index"
	"kith/model"
)

// served is a version of a model as readers see it in one snapshot.
type served struct {
	name string
	registry
	rounds  int // outcomes observed
	policy  string
	trained bool
	// outdated says that the model was stored with other columns, and is to be trained again: see model.Outdated.
	outdated bool
	scorer   *model.Scorer
	options  []Option
	bytes    int
}

// learner is a model as the writer has it, in the version that is deployed.
type learner struct {
	name string
	registry
	model  *model.Model
	stored checkpoint
}

// checkpoint says what is stored of a learner; learned again on open is the rest.
type checkpoint struct {
	serial uint64 // of the document, 0: there is none
	rounds int    // that the document has seen
	at     uint64 // the version up to which there was nothing else for it to learn
}

// modelRecord is the document of a version of a model as it is stored.
type modelRecord struct {
	Name     string `msgpack:"name"`
	Version  int    `msgpack:"version"`
	Made     uint64 `msgpack:"made"` // the store's timestamp at which it was deployed
	Document []byte `msgpack:"document"`
}

// ModelInfo describes a model in the version that is deployed.
type ModelInfo struct {
	Name     string    `json:"model"`
	Version  int       `json:"version"`
	Deployed time.Time `json:"deployed,omitzero"` // when; zero where the database did not note it
	Before   int       `json:"before"`            // the version that Rollback returns to; 0: none
	Frozen   bool      `json:"frozen"`            // it learns nothing from what is observed
	Answers  bool      `json:"answers"`           // it answers requests that name no model
	Policy   string    `json:"policy"`
	Trained  bool      `json:"trained"`
	// Outdated says that another version of this package stored the model, whose columns this one cannot read. What it had learned is
	// lost, but what it remembers of pairs and nodes; Train trains it again.
	Outdated bool     `json:"outdated"`
	Rounds   int      `json:"rounds"` // outcomes observed
	Bytes    int      `json:"bytes"`  // memory
	Options  []Option `json:"options"`
}

// Option is a named value.
type Option struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

const maxModelName = 128

// CreateModel makes an untrained model, which answers only who names it. The zero spec is the default
// policy; its feature length is filled in from the graph, its seed from the database's if it has none. It
// returns ErrExists if the name is taken, and ErrInput for a name or a spec that cannot be, or that sets what its policy has no
// use for.
func (db *DB) CreateModel(ctx context.Context, name string, spec model.Spec) error {
	if err := checkModelName(name); err != nil {
		return err
	}
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.unlock()
	if db.learners[name] != nil {
		return fmt.Errorf("%w: model %q", ErrExists, name)
	}
	m, err := newModel(spec, db.now.Load().Snapshot)
	if err != nil {
		return fmt.Errorf("model %q: %w", name, err)
	}
	return db.addModel(name, m, Created)
}

// newModel makes an untrained model for a graph; what the spec leaves open is filled in from that.
func newModel(spec model.Spec, s *index.Snapshot) (*model.Model, error) {
	if unused := spec.Unused(); len(unused) > 0 {
		return nil, fmt.Errorf("%w: policy %s has no use for %s", ErrInput, cmp.Or(spec.Policy, "default"), strings.Join(unused, ", "))
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
		return nil, fmt.Errorf("%w: propagation = released wants a directed graph, as this one keeps no direction", ErrInput)
	}
	return m, nil
}

// featureLen is the length of the longest feature vectors.
func featureLen(s *index.Snapshot) (n int) {
	for _, l := range s.Meta.Labels {
		n = max(n, l.Features)
	}
	return n
}

func checkModelName(name string) error {
	if name == "" || len(name) > maxModelName || strings.IndexByte(name, 0) >= 0 || !utf8.ValidString(name) {
		return fmt.Errorf("%w: model name %q: want 1 to %d bytes of UTF-8 without a zero byte", ErrInput, name, maxModelName)
	}
	if slices.Contains(Heuristics(), name) {
		return fmt.Errorf("%w: model name %q: this is a policy that needs no model, USING %s asks it", ErrInput, name, name)
	}
	return nil
}

// resolveClasses fills in the nodes of the label that a spec names, as they are now.
func resolveClasses(spec *model.Spec, s *index.Snapshot) error {
	if spec.ClassLabel == "" || spec.Classes != nil {
		return nil
	}
	label, ok := s.Meta.LabelNumber(spec.ClassLabel)
	if !ok {
		return fmt.Errorf("%w: label %q", ErrNotFound, spec.ClassLabel)
	}
	spec.Classes = slices.Collect(s.Labelled(label))
	return nil
}

// DropModel deletes a model, or returns ErrNoModel. If it is the one that answers where a request names
// none, the learned start does from then on. What it was told stays in the log of observations,
// from which a model of the same name that is made later does not learn.
func (db *DB) DropModel(ctx context.Context, name string) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.unlock()
	if db.learners[name] == nil {
		return noModel(name)
	}
	s := db.now.Load()
	r := db.store.read(s.ts)
	defer r.close()
	next := s.Snapshot
	if db.answering() == name {
		next = next.WithModel("")
	}
	err := db.store.commit(s.ts+1, func(w index.Writer) error {
		return errors.Join(index.DeleteModel(r, w, name), next.WriteMeta(w)) // so that a record keeps the timestamp
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

func noModel(name string) error { return fmt.Errorf("%w: %q", ErrNoModel, name) }

// addModel stores version 1 of a model that is new, and answers nothing yet. The writer calls it.
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

// checkpoint stores a learner as it stands, at the present version, and publishes models with it, unless
// that is what is stored. The writer calls it.
func (db *DB) checkpoint(l *learner, models map[string]*served) error {
	if l.stored == (checkpoint{l.stored.serial, l.model.Rounds(), db.now.Load().Meta.Version}) {
		return nil
	}
	return db.put(l, models, db.answering())
}

// put stores a learner as it stands, at the present version, together with which model answers, and
// publishes models with it. The document is written before the commit that makes it count, since one
// commit may be too small for it. The writer calls it.
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
		err = db.store.commit(ts, func(w index.Writer) error {
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

// withRegistry returns the models, of which one has another registry.
func withRegistry(models map[string]*served, name string, r registry) map[string]*served {
	m := *models[name]
	m.registry = r
	models = maps.Clone(models)
	models[name] = &m
	return models
}

// entry is what is stored of a learner's versions, in the state of a checkpoint.
func (l *learner) entry(at checkpoint) (index.ModelEntry, error) {
	note, err := msgpack.Marshal(&l.registry)
	return index.ModelEntry{Serial: at.serial, At: at.at, Kept: l.kept(), Note: note}, err
}

// vectorsSerial marks the serial number of a document of vectors, which is otherwise that of a version's document.
const vectorsSerial = 1 << 63

// writeDocument stores a learner as it stands, and the vectors of its nodes in a document of their own unless they are stored
// already, with a serial number that it returns.
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
	return vectors, db.store.batch(serial, func(w index.Writer) error {
		err := index.WriteDocument(w, l.name, serial, b)
		if v != nil {
			err = errors.Join(err, index.WriteDocument(w, l.name, vectors, v))
		}
		return err
	})
}

// checkpointDue bounds what an open has to learn again to an eighth of all there was, so that the
// bytes written for checkpoints stay proportional to the rounds.
func (l *learner) checkpointDue() bool {
	rounds := l.model.Rounds()
	return rounds-l.stored.rounds >= max(64, rounds/8)
}

// loadModels reads the stored models and has them learn what was observed since their checkpoints.
func loadModels(ctx context.Context, r *reader, s *index.Snapshot) (map[string]*served, map[string]*learner, error) {
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

// replay has the learners observe what was observed after version first, and after the version at
// which each of them stands.
func replay(ctx context.Context, r *reader, last, first uint64, learners map[string]*learner, at map[string]uint64) error {
	for doc := range index.Observations(r, first) {
		if doc.At > last && doc.Err == nil {
			return nil // of a commit that did not finish
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

// openModel reads a model in the version that is deployed.
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

// openDocument reads the document of a version, and that of its vectors, whose serial number is 0 if there is none. Of its registry
// it knows what an older kith did, which had no other.
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

// named is an error of a model, the node in it called by its key.
func (tx *Tx) named(err error) error {
	var stray *model.ClassError
	if errors.As(err, &stray) {
		return fmt.Errorf("%w: node %v stands for no class of the model", ErrInput, tx.key(stray.Node))
	}
	var bad *model.VectorError
	if !errors.As(err, &bad) {
		return err
	}
	return fmt.Errorf("%w: node %v has %d features, the model wants %d", ErrInput, tx.key(bad.Node), bad.Len, bad.Want)
}
