// Package modelfile defines the file of one version of a model, which moves it between databases.
//
// A file is an archive with a document in msgpack. A model refers to nodes by ids, which differ
// between databases, so the document has the keys of the nodes, and [File.Translate] gives the
// model the ids of another graph.
package modelfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/vmihailenco/msgpack/v5"

	"kith/db/internal/archive"
	"kith/db/internal/record"
	"kith/index"
	"kith/model"
)

// ErrTooLarge is returned for a file with a document that is longer than the caller allows.
var ErrTooLarge = errors.New("the document of the model is too large")

// File is a version of a model with the keys of its nodes.
type File struct {
	Name     string     `msgpack:"name"`
	Version  int        `msgpack:"version"`
	Directed bool       `msgpack:"directed"` // whether the graph of origin is directed
	Nodes    []index.ID `msgpack:"nodes"`    // ids of the nodes that the model refers to, ascending
	Keys     []any      `msgpack:"keys"`     // keys of Nodes: an int64 or a string each
	Document []byte     `msgpack:"document"` // the model as package model encodes it

	Relations []relation `msgpack:"relations,omitempty"` // of the graph of origin, by number
}

type relation struct {
	Name     string `msgpack:"name"`
	Directed bool   `msgpack:"directed"`
}

// partSize is the size of the parts of the document, which are the entries of the archive.
const partSize = 1 << 18

// New returns the file of a model, whose nodes are nodes of s. It leaves out erased nodes, which
// have no key, so that a model that is read forgets them.
func New(name string, version int, m *model.Model, s *index.Snapshot) (*File, error) {
	doc, err := m.MarshalBinary()
	if err != nil {
		return nil, err
	}
	f := &File{Name: name, Version: version, Directed: s.Meta.Directed, Document: doc}
	for _, u := range m.Nodes() {
		if int64(u) >= s.Meta.Nodes {
			return nil, fmt.Errorf("a class that is no node: %d", u)
		}
		if k := s.Key(u); !k.Erased() {
			f.Nodes, f.Keys = append(f.Nodes, u), append(f.Keys, k.Value())
		}
	}
	for _, r := range s.Meta.Relations {
		f.Relations = append(f.Relations, relation{r.Name, r.Directed})
	}
	return f, nil
}

// relation returns a function that translates the number of a relation to the number in a graph.
func (f *File) relation(s *index.Snapshot) func(int) (int, bool) {
	return func(n int) (int, bool) {
		if n >= len(f.Relations) {
			return 0, false
		}
		to, ok := s.Meta.RelationNumber(f.Relations[n].Name)
		return int(to), ok && s.Meta.Relations[to].Directed == f.Relations[n].Directed
	}
}

// Write writes the file.
func (f *File) Write(w io.Writer) error {
	doc, err := msgpack.Marshal(f)
	if err != nil {
		return fmt.Errorf("model %q: %w", f.Name, err)
	}
	a, err := archive.NewWriter(w, archive.Model, archive.Header{})
	if err != nil {
		return err
	}
	for part := range slices.Chunk(doc, partSize) {
		number := binary.BigEndian.AppendUint32(nil, uint32(a.Entries))
		if err := a.Add(archive.Entry{Key: number, Value: part}); err != nil {
			return err
		}
	}
	return a.Close()
}

// Read reads a file with a document of at most the given number of bytes. It returns
// index.ErrMismatch for a file that is no model, index.ErrCorrupt for one that was altered or
// truncated, and ErrTooLarge.
func Read(r io.Reader, most int64) (*File, error) {
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
			return nil, ErrTooLarge
		}
	}
	f := &File{}
	if err := model.Unmarshal(doc, f); err != nil {
		return nil, fmt.Errorf("%w: %w", index.ErrCorrupt, err)
	}
	if len(f.Nodes) != len(f.Keys) {
		return nil, fmt.Errorf("%w: %d keys of %d nodes", index.ErrCorrupt, len(f.Keys), len(f.Nodes))
	}
	return f, nil
}

// Translate decodes the model and translates its node ids to the ids of a graph. known is the
// number of its nodes that the graph has; the model forgets all others. It returns
// index.ErrMismatch for a model that does not fit the graph.
func (f *File) Translate(s *index.Snapshot) (m *model.Model, known int, err error) {
	m, err = model.Decode(f.Document)
	if err != nil {
		return nil, 0, decodeError(err, model.ErrVersion)
	}
	ids := map[index.ID]index.ID{}
	for i, key := range f.Keys {
		k, ok := record.KeyOf(key)
		if !ok || k.Valid() != nil {
			return nil, 0, fmt.Errorf("%w: the name of node %d is no key", index.ErrCorrupt, f.Nodes[i])
		}
		if id, ok := s.ID(k); ok {
			ids[f.Nodes[i]] = id
		}
	}
	if err := f.checkGraph(m, s); err != nil {
		return nil, 0, err
	}
	m, err = m.Renamed(func(u index.ID) (index.ID, bool) { id, ok := ids[u]; return id, ok }, f.relation(s))
	if err != nil {
		return nil, 0, decodeError(err, model.ErrInput)
	}
	return m, len(ids), nil
}

// decodeError marks an error as index.ErrMismatch if it is mismatch, and otherwise as
// index.ErrCorrupt.
func decodeError(err, mismatch error) error {
	if errors.Is(err, mismatch) {
		return fmt.Errorf("%w: %w", index.ErrMismatch, err)
	}
	return fmt.Errorf("%w: %w", index.ErrCorrupt, err)
}

// checkGraph returns index.ErrMismatch if the model is for another kind of graph.
func (f *File) checkGraph(m *model.Model, s *index.Snapshot) error {
	lengths := []int{0}
	for _, l := range s.Meta.Labels {
		lengths = append(lengths, l.Features)
	}
	slices.Sort(lengths)
	if want := m.FeatureLen(); !slices.Contains(lengths, want) {
		return fmt.Errorf("%w: it wants feature vectors of length %d, those of the database have %v", index.ErrMismatch, want, slices.Compact(lengths)[1:])
	}
	return nil
}

// Compatible returns index.ErrMismatch unless two models can be versions of the same model: records
// stored for one of them to learn must mean the same to the other.
func Compatible(a, b *model.Model) error {
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
			return fmt.Errorf("%w: its %s is %v, that of the file %v", index.ErrMismatch, c.what, c.ours, c.theirs)
		}
	}
	return nil
}
