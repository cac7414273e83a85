package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"kith/db/internal/ctxio"
	"kith/db/internal/modelfile"
	"kith/db/internal/record"
	"kith/index"
	"kith/model"
)

// Versions.
//
// One model answers requests that name none: the first that was trained, until [Model.Deploy]
// selects another or Model.Drop removes it. Its name is in the meta record. Without such a model,
// and while its deployed version is untrained, the built-in model answers, whose weights were
// learned on other graphs.
//
// Model.Create makes the first version of a model; the model default is made by the first Observe,
// Choose or Train that needs it. Each [Model.Train] makes another version from the deployed one.
// The deployed version answers requests that name no version, and only it learns from observations.
// Train compares a new version with others ([Comparison]) and deploys it if it is not worse, unless
// told otherwise. [Model.Deploy] and [Model.Rollback] deploy other versions, each in its own state.
// Up to 8 versions of a model are kept on the disk, with everything that their training
// needs to continue; recently used ones are in memory. The reward of a decision teaches the version
// that is deployed when the reward comes. [Model.Freeze] stops a model from learning: observations
// go to the log with a mark that they are not learned, now or by a replay. Models that were trained
// on edges that have changed since are trained again in the background, one at a time; see
// Options.NoRefresh.
//
// [Model.Export] and [Model.Import] move models between databases. Node ids are specific to a
// database, so an exported model refers to nodes by their keys.

// VersionInfo describes a version of a model.
type VersionInfo struct {
	Number   int       `json:"version"`
	Deployed bool      `json:"deployed"`          // whether it is the version that answers and learns
	From     string    `json:"from"`              // create, edges, refresh, log or import; "" if the database has no record of it
	Relation string    `json:"relation,omitzero"` // whose edges it was trained on; "" means all
	Parent   int       `json:"parent"`            // version that it was trained from; 0 means none
	Made     time.Time `json:"made,omitzero"`     // zero if the database has no record of it
	Trained  bool      `json:"trained"`
	Rounds   int       `json:"rounds"` // number of outcomes observed
	Bytes    int       `json:"bytes"`  // memory in bytes, now or when it was last deployed
}

// Versions describes the versions of the model that are kept, the oldest first. It returns
// ErrNoModel if there is no such model.
func (m *Model) Versions(ctx context.Context) (all []VersionInfo, err error) {
	err = m.view(ctx, func(tx *Tx) error {
		of, err := tx.existing(m.name, 0)
		switch {
		case err != nil:
			return err
		case of.Version == 0:
			return noVersions(m.name)
		}
		for _, v := range of.Versions {
			info := VersionInfo{
				Number: v.Number, From: v.From, Relation: v.Relation, Parent: v.Parent, Made: unixTime(v.Made), Trained: v.Trained, Rounds: v.Rounds, Bytes: v.Bytes,
			}
			if v.Number == of.Version {
				info.Deployed, info.Trained, info.Rounds, info.Bytes = true, of.info.Trained, of.info.Rounds, of.info.Bytes
			}
			all = append(all, info)
		}
		return nil
	})
	return all, err
}

// unixTime converts a time in nanoseconds since 1970. 0 means no time.
func unixTime(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// version returns a version of a model; 0 means the deployed one. It returns ErrNoModel if there is
// no such version.
func (tx *Tx) version(m *modelView, n int) (*modelView, error) {
	if n == 0 || m != nil && n == m.Version {
		return m, nil
	}
	if m == nil {
		return nil, missing(kindModel, "", nil, ErrNoModel, "version %d of no model", n)
	}
	v, ok := m.Find(n)
	switch {
	case !ok && m.Version == 0:
		return nil, noVersions(m.info.Name)
	case !ok:
		return nil, noVersion(m.info.Name, &m.Registry, n)
	}
	return tx.db.versions.get(v.Serial, func() (*modelView, error) {
		l, err := record.OpenVersion(tx.reader, m.info.Name, v)
		if err != nil {
			return nil, err
		}
		return viewOf(l), nil
	})
}

// noVersion returns the error for a version that a model does not have. r lists the versions that
// it has.
func noVersion(model string, r *record.Registry, number int) error {
	var have []string
	for _, n := range r.Numbers() {
		have = append(have, strconv.Itoa(n))
	}
	e := missing(kindVersion, strconv.Itoa(number), have, ErrNoModel, "model %q has no version %d (it has %s)", model, number, strings.Join(have, ", "))
	e.DidYouMean = ""
	return e
}

// noVersions returns the error for a policy that is asked for its versions.
func noVersions(policy string) error {
	return missing(kindModel, policy, nil, ErrNoModel, "%s is a policy, which has no versions", policy)
}

// checkVersions opens the versions that are not deployed.
func (tx *Tx) checkVersions(ctx context.Context, name string, r *record.Registry) error {
	for _, v := range r.Versions {
		if v.Number == r.Version {
			continue
		}
		if _, err := record.OpenVersion(tx.reader, name, v); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// versions caches recently used versions that are not deployed.
type versions struct {
	limit int // limit of bytes

	mu     sync.Mutex // protects following fields
	bytes  int
	recent []recentVersion // the most recently used last
}

type recentVersion struct {
	serial uint64 // serial number of its document, which never changes
	*modelView
}

// get returns the version with the document serial. It calls read if the version is not cached.
func (c *versions) get(serial uint64, read func() (*modelView, error)) (*modelView, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.recent, func(m recentVersion) bool { return m.serial == serial }); i >= 0 {
		m := c.recent[i]
		c.recent = append(slices.Delete(c.recent, i, i+1), m)
		return m.modelView, nil
	}
	m, err := read()
	if err != nil {
		return nil, err
	}
	c.recent = append(c.recent, recentVersion{serial, m})
	for c.bytes += m.info.Bytes; c.bytes > c.limit; c.recent = c.recent[1:] {
		c.bytes -= c.recent[0].info.Bytes
	}
	return m, nil
}

// size returns the memory of the cached versions in bytes.
func (c *versions) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// Deploy makes the model answer requests without a name, and a version of it answer for the model
// and learn. Version 0 means the version that is deployed already. The version that was deployed
// stops learning. The new one continues from its own state: it does not learn observations from the
// time when it was not deployed. Deploying a deployed version changes nothing. While the version is
// untrained, the built-in model answers requests without a name. Deploy returns ErrNoModel for a
// model or a version that does not exist, and ErrInput for a model whose policy does not learn:
// such a model answers only requests that name it.
func (m *Model) Deploy(ctx context.Context, version int) error {
	db := m.db
	return m.change(ctx, func(l *record.Learner) error {
		switch {
		case !l.Model.Learns():
			return inputf("model %q follows policy %s, which learns nothing: it answers where it is named", l.Name, l.Model.Policy())
		case version != 0 && version != l.Version:
			return db.switchTo(l, version, l.Name, l.History())
		case db.answering() != l.Name:
			return db.replace(l, l.Name, db.recorded())
		}
		return nil
	})
}

// answering returns the name of the model that answers requests without a name. The writer calls
// it.
func (db *DB) answering() string { return db.now.Load().Meta.Model }

// Rollback deploys the version that was deployed before the present one, and returns its number.
// Further calls go back further. Rollback does not change which model answers requests without a
// name. It returns ErrInput if no other version was deployed before.
func (m *Model) Rollback(ctx context.Context) (version int, err error) {
	err = m.change(ctx, func(l *record.Learner) error {
		last := len(l.Before) - 1
		if last < 0 {
			return inputf("no version of model %q was deployed before version %d", l.Name, l.Version)
		}
		version = l.Before[last]
		return m.db.switchTo(l, version, m.db.answering(), l.Before[:last])
	})
	return version, err
}

// Freeze stops the model from learning. Observations made while it is frozen, including the rewards
// of decisions, go to the log and are never learned. The model stays frozen whichever version is
// deployed. Train still makes new versions of it.
func (m *Model) Freeze(ctx context.Context) error { return m.setFrozen(ctx, true) }

// Thaw lets a frozen model learn again.
func (m *Model) Thaw(ctx context.Context) error { return m.setFrozen(ctx, false) }

func (m *Model) setFrozen(ctx context.Context, on bool) error {
	return m.change(ctx, func(l *record.Learner) error {
		if l.Frozen == on {
			return nil
		}
		frozen := *l
		frozen.Frozen = on
		return m.db.replace(&frozen, m.db.answering(), m.db.recorded())
	})
}

// switchTo deploys a stored version and makes answering the model for requests without a name.
// before are the versions that were deployed before. The writer calls it.
func (db *DB) switchTo(l *record.Learner, number int, answering string, before []int) error {
	v, ok := l.Find(number)
	if !ok {
		return noVersion(l.Name, &l.Registry, number)
	}
	r := db.store.Read(db.now.Load().ts)
	defer r.Close()
	next, err := record.OpenVersion(r, l.Name, v)
	if err != nil {
		return err
	}
	if err := db.checkpoint(l); err != nil {
		return err
	}
	c := db.recorded()
	next.Registry = l.Deploying(number, before, db.now.Load().Meta.Version+1, c.Time)
	next.Stored = record.Checkpoint{Serial: v.Serial, Rounds: next.Model.Rounds()}
	return db.replace(next, answering, c)
}

// storeUndeployed stores the learner l as a new version v of a model without deploying it. The
// writer calls it.
func (db *DB) storeUndeployed(now, l *record.Learner, v record.Version, c index.Commit) error {
	if err := db.checkpoint(now); err != nil {
		return err
	}
	ts := db.now.Load().ts + 1
	l.Registry = now.Registry
	l.Version, l.Deployed = v.Number, 0
	var err error
	if v.Vectors, err = db.writeDocument(l, ts, 0); err != nil {
		return fmt.Errorf("model %q: %w", l.Name, err)
	}
	held := *now
	held.Registry = now.With(v.StoredAs(ts, l.Model))
	return db.replace(&held, db.answering(), c)
}

// replace commits a learner, which is new or has a new registry, and the name of the model that
// answers requests without a name, and publishes both. The writer calls it.
func (db *DB) replace(l *record.Learner, answering string, c index.Commit) error {
	l.Registry = l.Trimmed()
	change := &modelCommit{Commit: c, answering: answering}
	for _, n := range l.Numbers() {
		old := db.learners[l.Name]
		if old == nil || !slices.Contains(old.Numbers(), n) {
			change.made = append(change.made, n)
		}
	}
	if err := db.put(l, change); err != nil {
		return err
	}
	db.learners[l.Name] = l
	return db.forgetChangesIfDue(db.now.Load())
}

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
	learners, err := record.Load(ctx, tx.reader, nil, tx.snap.Snapshot, name)
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
