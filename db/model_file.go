package db

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/vmihailenco/msgpack/v5"

	"kith/db/internal/archive"
	"kith/db/internal/ctxio"
	"kith/db/internal/record"
	"kith/index"
	"kith/model"
)

// modelFile is one version of a model, as Model.Export writes it: a msgpack document in an archive.
// A model refers to nodes by ids, which differ between databases, so the file has the keys of the
// nodes.
type modelFile struct {
	Name     string     `msgpack:"name"`
	Version  int        `msgpack:"version"`
	Directed bool       `msgpack:"directed"` // whether the graph of origin is directed
	Nodes    []index.ID `msgpack:"nodes"`    // ids of the nodes that the model refers to, ascending
	Keys     []any      `msgpack:"keys"`     // keys of Nodes: an int64 or a string each
	Document []byte     `msgpack:"document"` // the model as package model encodes it
}

// modelFilePart is the size of the parts of the document, which are the entries of the archive.
const modelFilePart = 1 << 18

// Export writes a version of the model to w for Import: weights, samples, random state and what it
// remembers of nodes, which are identified by their keys. Version 0 means the deployed version.
// Export returns ErrNoModel if there is no such model or version.
func (m *Model) Export(ctx context.Context, w io.Writer, version int) error {
	return m.view(ctx, func(tx *Tx) error {
		f, err := tx.modelFile(ctx, tx.snap.learns(m.name), version)
		if err != nil {
			return err
		}
		return f.write(w)
	})
}

// modelFile returns a version of a model as it is exported.
func (tx *Tx) modelFile(ctx context.Context, name string, version int) (*modelFile, error) {
	m, number, err := tx.copyOf(ctx, name, version)
	if err != nil {
		return nil, err
	}
	doc, err := m.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", name, err)
	}
	f := &modelFile{Name: name, Version: number, Directed: tx.snap.Meta.Directed, Nodes: m.Nodes(), Document: doc}
	for _, u := range f.Nodes {
		if int64(u) >= tx.snap.Meta.Nodes {
			return nil, inputf("model %q has a class that is no node: %d", name, u)
		}
		f.Keys = append(f.Keys, tx.snap.Key(u).Value())
	}
	return f, nil
}

func (f *modelFile) write(w io.Writer) error {
	doc, err := msgpack.Marshal(f)
	if err != nil {
		return fmt.Errorf("model %q: %w", f.Name, err)
	}
	a, err := archive.NewWriter(w, archive.Model, archive.Header{})
	if err != nil {
		return err
	}
	for part := range slices.Chunk(doc, modelFilePart) {
		number := binary.BigEndian.AppendUint32(nil, uint32(a.Entries))
		if err := a.Add(archive.Entry{Key: number, Value: part}); err != nil {
			return err
		}
	}
	return a.Close()
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
	f, err := readModelFile(ctxio.Reader(ctx, r), db.opts.memory(workPart)/modelFileFraction)
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
	read, got, err := f.translate(db.now.Load().Snapshot)
	if err != nil {
		return Import{}, fmt.Errorf("model file of %q, version %d: %w", f.Name, f.Version, err)
	}
	got.Model, got.Version, got.Deployed = name, 1, true
	now := db.learners[name]
	if now == nil {
		return got, db.addModel(name, read, record.Imported)
	}
	if err := compatible(now.Model, read); err != nil {
		return Import{}, fmt.Errorf("model %q: %w", name, err)
	}
	got.Version, got.Deployed = now.Next(), false
	c := db.recorded()
	v := record.Version{Number: got.Version, From: record.Imported, Made: c.Time}
	return got, db.storeUndeployed(now, &record.Learner{Name: name, Model: read}, v, c)
}

// translate decodes the model and translates its node ids to the ids of a graph.
func (f *modelFile) translate(s *index.Snapshot) (*model.Model, Import, error) {
	var got Import
	m, err := model.Decode(f.Document)
	if err != nil {
		return nil, got, modelFileError(err, model.ErrVersion)
	}
	ids := map[index.ID]index.ID{}
	for i, key := range f.Keys {
		k, err := KeyOf(key)
		if err != nil {
			return nil, got, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		if id, ok := s.ID(k); ok {
			ids[f.Nodes[i]] = id
		}
	}
	got.Known, got.Forgotten = len(ids), len(f.Nodes)-len(ids)
	if err := f.checkGraph(m, s); err != nil {
		return nil, got, err
	}
	m, err = m.Renamed(func(u index.ID) (index.ID, bool) { id, ok := ids[u]; return id, ok })
	if err != nil {
		return nil, got, modelFileError(err, model.ErrInput)
	}
	return m, got, nil
}

// modelFileError marks an error as ErrMismatch if it is mismatch, and otherwise as ErrCorrupt.
func modelFileError(err, mismatch error) error {
	if errors.Is(err, mismatch) {
		return fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// checkGraph returns ErrMismatch if the model is for another kind of graph.
func (f *modelFile) checkGraph(m *model.Model, s *index.Snapshot) error {
	lengths := []int{0}
	for _, l := range s.Meta.Labels {
		lengths = append(lengths, l.Features)
	}
	slices.Sort(lengths)
	if want := m.FeatureLen(); !slices.Contains(lengths, want) {
		return fmt.Errorf("%w: it wants feature vectors of length %d, those of the database have %v", ErrMismatch, want, slices.Compact(lengths)[1:])
	}
	return nil
}

// compatible returns ErrMismatch unless two models can be versions of the same model: records
// stored for one of them to learn must mean the same to the other.
func compatible(a, b *model.Model) error {
	ours, theirs := maps.Collect(a.Options()), maps.Collect(b.Options())
	for _, c := range []struct {
		what         string
		ours, theirs any
	}{
		{"policy", a.Policy(), b.Policy()},
		{"length of feature vectors", a.FeatureLen(), b.FeatureLen()},
		{"blocks", ours["blocks"], theirs["blocks"]},
		{"normalize", ours["normalize"], theirs["normalize"]},
	} {
		if fmt.Sprint(c.ours) != fmt.Sprint(c.theirs) {
			return fmt.Errorf("%w: its %s is %v, that of the file %v", ErrMismatch, c.what, c.ours, c.theirs)
		}
	}
	return nil
}

// readModelFile reads a file with a document of at most the given number of bytes.
func readModelFile(r io.Reader, most int64) (*modelFile, error) {
	a, err := archive.NewReader(r, archive.Model)
	if err != nil {
		return nil, err
	}
	var doc []byte
	for part, err := range a.All() {
		if err != nil {
			return nil, err
		}
		if doc = append(doc, part.Value...); int64(len(doc)) > most {
			return nil, fmt.Errorf("%w: the model has more than the %d MB that may be read", ErrTooLarge, most>>20)
		}
	}
	f := &modelFile{}
	if err := model.Unmarshal(doc, f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if len(f.Nodes) != len(f.Keys) {
		return nil, fmt.Errorf("%w: %d keys of %d nodes", ErrCorrupt, len(f.Keys), len(f.Nodes))
	}
	return f, nil
}
