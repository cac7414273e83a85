package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"

	"kith/index"
	"kith/model"
)

// Learner is the deployed version of a model as the writer sees it.
type Learner struct {
	Name string
	Registry
	Model  *model.Model
	Stored Checkpoint
}

// Checkpoint describes the stored state of a learner. Open replays the observations after it.
type Checkpoint struct {
	Serial uint64 // serial number of the document; 0 means no document
	Rounds int    // number of outcomes that the document has observed
	At     uint64 // version up to which the document has learned all observations
}

// Document is the stored document of a version of a model.
type Document struct {
	Name     string `msgpack:"name"`
	Version  int    `msgpack:"version"`
	Document []byte `msgpack:"document"`
}

// NewLearner returns version 1 of a model that the given version of the database makes.
func NewLearner(name string, m *model.Model, from string, at uint64, now int64) *Learner {
	return &Learner{Name: name, Model: m, Registry: Registry{
		Born: at, Deployed: at, Since: now, Version: 1, Versions: []Version{{Number: 1, From: from, Made: now}},
	}}
}

// Load reads the stored models, or only one of them if name is not "", and replays the
// observations since their checkpoints. With a source of the same version, the vectors of nodes are
// read from the source when they are first used; see [model.OpenParts].
func Load(ctx context.Context, r index.Reader, source index.Source, s *index.Snapshot, name string) (map[string]*Learner, error) {
	learners := map[string]*Learner{}
	for of, doc := range index.Models(r) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if name != "" && of != name {
			continue
		}
		l, err := OpenModel(r, source, of, doc)
		if err != nil {
			return nil, fmt.Errorf("%w: model %q: %w", index.ErrCorrupt, of, err)
		}
		learners[of] = l
	}
	if of := cmp.Or(name, s.Meta.Model); of != "" && learners[of] == nil {
		return nil, fmt.Errorf("%w: model %q, which is in use, is missing", index.ErrCorrupt, of)
	}
	return learners, Replay(ctx, r, s.Meta.Version, learners)
}

// Replay makes each learner learn the observations since its checkpoint, up to version last.
func Replay(ctx context.Context, r index.Reader, last uint64, learners map[string]*Learner) error {
	first := last
	for _, l := range learners {
		first = min(first, l.Stored.At)
	}
	for doc := range index.Observations(r, first) {
		if doc.At > last && doc.Err == nil {
			return nil // of an unfinished commit
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := Decode[Observation](doc)
		if err != nil {
			return fmt.Errorf("observation of version %d: %w", doc.At, err)
		}
		l := learners[rec.Model]
		if l == nil || rec.Frozen || doc.At <= l.Stored.At {
			continue
		}
		if _, err := l.Model.Observe(rec.Outcome(l.Model)); err != nil {
			return fmt.Errorf("%w: observation of version %d: %w", index.ErrCorrupt, doc.At, err)
		}
	}
	return nil
}

// OpenModel reads the deployed version of a model. A source is used as in [Load], and may be nil.
func OpenModel(r index.Reader, source index.Source, name string, doc index.Document) (*Learner, error) {
	if doc.Err != nil {
		return nil, doc.Err
	}
	var stored Registry
	if err := index.Unmarshal(doc.Entry.Note, &stored); err != nil {
		return nil, err
	}
	v, _ := stored.Find(stored.Version)
	l, err := readDocument(r, source, name, doc.Bytes, v.Vectors)
	if err != nil {
		return nil, err
	}
	if err := stored.Consistent(l.Version, doc.Entry.Kept); err != nil {
		return nil, err
	}
	l.Registry = stored
	l.Stored = Checkpoint{doc.Entry.Serial, l.Model.Rounds(), doc.At}
	return l, nil
}

// OpenVersion reads a version that is not deployed. It returns index.ErrCorrupt if the version
// cannot be read.
func OpenVersion(r index.Reader, name string, v Version) (*Learner, error) {
	var l *Learner
	doc, err := index.GetDocument(r, name, v.Serial)
	if err == nil {
		l, err = readDocument(r, nil, name, doc, v.Vectors)
	}
	if err == nil && l.Version != v.Number {
		err = fmt.Errorf("its document is that of version %d", l.Version)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: model %q, version %d: %w", index.ErrCorrupt, name, v.Number, err)
	}
	return l, nil
}

// readDocument opens the document of a version, and its vectors document, whose serial number is 0
// if it does not exist. Without a source, it reads all of the vectors document.
func readDocument(r index.Reader, source index.Source, name string, doc []byte, vectors uint64) (l *Learner, err error) {
	var v []byte
	switch {
	case vectors == 0:
	case source != nil:
		stored, err := index.OpenDocument(source, name, vectors)
		if err != nil {
			return nil, err
		}
		return openDocument(name, doc, func(state []byte) (*model.Model, error) { return model.OpenParts(state, stored) })
	default:
		if v, err = index.GetDocument(r, name, vectors); err != nil {
			return nil, err
		}
	}
	return OpenDocument(name, doc, v)
}

// OpenDocument opens the document of a version, and its vectors document, nil if it does not exist.
// Of the registry it sets only Version.
func OpenDocument(name string, doc, vectors []byte) (*Learner, error) {
	return openDocument(name, doc, func(state []byte) (*model.Model, error) { return model.DecodeParts(state, vectors) })
}

func openDocument(name string, doc []byte, decode func(state []byte) (*model.Model, error)) (*Learner, error) {
	var rec Document
	if err := index.Unmarshal(doc, &rec); err != nil {
		return nil, err
	}
	if rec.Name != name {
		return nil, fmt.Errorf("its document is that of %q", rec.Name)
	}
	m, err := decode(rec.Document)
	if err != nil {
		return nil, err
	}
	return &Learner{Name: name, Model: m, Registry: Registry{Version: rec.Version}}, nil
}

// CheckpointDue limits the observations that an open replays to an eighth of all, so that the bytes
// written for checkpoints stay proportional to the rounds.
func (l *Learner) CheckpointDue() bool {
	rounds := l.Model.Rounds()
	return rounds-l.Stored.Rounds >= max(64, rounds/8)
}

// Entry returns the stored form of a learner's versions and its checkpoint.
func (l *Learner) Entry() (index.ModelEntry, error) {
	note, err := msgpack.Marshal(&l.Registry)
	return index.ModelEntry{Serial: l.Stored.Serial, At: l.Stored.At, Kept: l.Kept(), Note: note}, err
}

// vectorsSerial marks the serial number of a vectors document. Without the mark, it is the serial
// number of the version's document.
const vectorsSerial = 1 << 63

// Documents encodes the model and, unless they are stored already with the serial number vectors,
// the vectors of its nodes in a separate document. It returns a function that writes the documents,
// and the serial number of the vectors document.
func (l *Learner) Documents(serial, vectors uint64) (write func(index.Writer) error, number uint64, err error) {
	doc, err := l.Model.MarshalState()
	if err != nil {
		return nil, 0, err
	}
	b, err := msgpack.Marshal(&Document{l.Name, l.Version, doc})
	if err != nil {
		return nil, 0, err
	}
	var v []byte
	if vectors == 0 {
		if v, err = l.Model.MarshalVectors(); err != nil {
			return nil, 0, err
		}
	}
	if v != nil {
		vectors = serial | vectorsSerial
	}
	return func(w index.Writer) error {
		err := index.WriteDocument(w, l.Name, serial, b)
		if v != nil {
			err = errors.Join(err, index.WriteDocument(w, l.Name, vectors, v))
		}
		return err
	}, vectors, nil
}

// Change returns the change of a commit that makes versions of a model, and their memory. answering
// is the model that answers requests without a name afterwards, note the note of the model's entry.
func (l *Learner) Change(made []int, answering string, note []byte) (m *index.ModelChange, bytes int64) {
	m = &index.ModelChange{Name: l.Name, Answering: answering, Note: note}
	for _, number := range made {
		v, _ := l.Find(number)
		bytes += int64(v.Bytes)
		m.Serials = append(m.Serials, v.Serial)
		if v.Vectors != 0 {
			m.Serials = append(m.Serials, v.Vectors)
		}
	}
	return m, bytes
}
