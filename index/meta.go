package index

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/vmihailenco/msgpack/v5"
)

// Format is the version of the stored layout that this code writes and reads.
const Format = 2

// Meta is the one small record that says what the others mean. It is written with every commit, so
// what is stored beside it counts only as far as it says: blocks of another generation and log
// records beyond Version are leftovers of something that did not finish.
type Meta struct {
	Format   int     `msgpack:"format"`
	Directed bool    `msgpack:"directed"`
	Alpha    float64 `msgpack:"alpha"`   // damping of PageRank
	Epsilon  float64 `msgpack:"epsilon"` // max-norm error asked of cached states
	Seed     uint64  `msgpack:"seed"`

	Version    uint64 `msgpack:"version"`               // commits so far; Update n made version n
	Generation uint32 `msgpack:"generation"`            // of the blocks that hold the base; 0: there are none
	Base       uint64 `msgpack:"base"`                  // the version the base stands at
	BaseNodes  int64  `msgpack:"base_nodes"`            // ids of the base
	BaseEdges  int64  `msgpack:"base_edges"`            // edges of the base
	BaseEvents int64  `msgpack:"base_events,omitempty"` // events that the base remembers
	LogStart   uint64 `msgpack:"log_start"`             // the log has all commits after this version
	LogEnd     uint64 `msgpack:"log_end"`               // version of the newest log record ever written; 0: none

	Model string `msgpack:"model"` // the name of the model that answers where a request names none; "": none does

	Decisions uint64 `msgpack:"decisions"` // made so far: the number of the last one

	Forgotten uint64 `msgpack:"forgotten"` // the observations up to this version are, if there are any left
	Observed  int64  `msgpack:"observed"`  // bytes of those after it

	Nodes  int64   `msgpack:"nodes"` // ids given
	Live   int64   `msgpack:"live"`  // nodes not deleted
	Edges  int64   `msgpack:"edges"`
	Loops  int64   `msgpack:"loops"`
	Labels []Label `msgpack:"labels"` // by label number; number 0 is "no label"
}

// Label is a kind of nodes.
type Label struct {
	Name     string `msgpack:"name"`
	Features int    `msgpack:"features"` // length of the feature vectors of its nodes; 0: none yet
	// Partners are the labels of the nodes that its nodes are linked to, by number and ascending, as far as bulk
	// loads with labels told.
	Partners []uint16 `msgpack:"partners,omitempty"`
}

// MaxLabels bounds the number of labels.
const MaxLabels = 1 << 15

// LabelNumber returns the number of the label with this name.
func (m *Meta) LabelNumber(name string) (uint16, bool) {
	i := slices.IndexFunc(m.Labels, func(l Label) bool { return l.Name == name })
	return uint16(max(i, 0)), i >= 0
}

// label returns the number of the label with this name, which is added if there is none.
func (m *Meta) label(name string) (uint16, error) {
	if label, ok := m.LabelNumber(name); ok {
		return label, nil
	}
	if err := Str(name).Valid(); err != nil {
		return 0, fmt.Errorf("label: %w", err)
	}
	if len(m.Labels) >= MaxLabels {
		return 0, fmt.Errorf("%w: %d labels", ErrTooLarge, len(m.Labels))
	}
	m.Labels = append(slices.Clip(m.Labels), Label{Name: name})
	return uint16(len(m.Labels) - 1), nil
}

// join makes a label the partner of another.
func (m *Meta) join(label, partner uint16) {
	l := m.Labels[label]
	i, ok := slices.BinarySearch(l.Partners, partner)
	if ok {
		return
	}
	l.Partners = slices.Insert(slices.Clone(l.Partners), i, partner)
	m.Labels = slices.Clone(m.Labels) // a savepoint, or another snapshot, may have it
	m.Labels[label] = l
}

// fit checks that a label takes vectors of length n, which the first one settles.
func (m *Meta) fit(label uint16, n int) error {
	if m.Labels[label].Features == 0 {
		m.Labels = slices.Clone(m.Labels) // a savepoint may have it
		m.Labels[label].Features = n
	}
	l := &m.Labels[label]
	if l.Features != n {
		of := "nodes without a label have"
		if l.Name != "" {
			of = fmt.Sprintf("label %q has", l.Name)
		}
		return fmt.Errorf("%w: %d features, %s %d", ErrFeatureLen, n, of, l.Features)
	}
	return nil
}

// MinBytes is what a graph of this size takes in memory, were all weights 1, without times, and all
// keys integers that run on.
func (m *Meta) MinBytes() int64 { return 4*(2*m.Edges-m.Loops) + 4*m.Nodes }

// encode returns the stored form.
func (m *Meta) encode() ([]byte, error) {
	b, err := msgpack.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("index: meta: %w", err)
	}
	return b, nil
}

// decodeMeta reads the stored form. It returns ErrFormat for one of another format version, or
// ErrCorrupt.
func decodeMeta(b []byte) (Meta, error) {
	var m Meta
	var of struct { // the rest may mean something else in another format
		Format int `msgpack:"format"`
	}
	if err := Unmarshal(b, &of); err != nil {
		return m, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	if of.Format != Format {
		return m, fmt.Errorf("%w: format %d; this kith reads format %d and nothing newer", ErrFormat, of.Format, Format)
	}
	if err := Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	if !m.sound() {
		return m, fmt.Errorf("%w: %+v", ErrCorrupt, m)
	}
	return m, nil
}

// Unmarshal reads a document in msgpack. It makes a decoder for each: msgpack.Unmarshal keeps them in a
// pool, and the buffer of one that meets damage grows by a megabyte, each time and for good.
func Unmarshal(b []byte, v any) error { return msgpack.NewDecoder(bytes.NewReader(b)).Decode(v) }

// sound reports whether the numbers can be those of a graph.
func (m *Meta) sound() bool {
	unit := func(x float64) bool { return x > 0 && x < 1 }
	return unit(m.Alpha) && unit(m.Epsilon) &&
		m.Base <= m.Version && m.LogStart <= m.Base && m.LogEnd <= m.Version &&
		0 <= m.BaseNodes && m.BaseNodes <= m.Nodes && 0 <= m.BaseEdges && 0 <= m.BaseEvents &&
		m.Forgotten <= m.Version && m.Observed >= 0 &&
		0 <= m.Live && m.Live <= m.Nodes && m.Nodes <= maxEntries &&
		0 <= m.Loops && m.Loops <= m.Edges &&
		0 < len(m.Labels) && len(m.Labels) <= MaxLabels && m.Labels[0].Name == "" &&
		!slices.ContainsFunc(m.Labels, func(l Label) bool { return l.Features < 0 || !m.partners(l.Partners) })
}

// partners reports whether a list can be that of a label's partners.
func (m *Meta) partners(list []uint16) bool {
	for i, p := range list {
		if p == 0 || int(p) >= len(m.Labels) || i > 0 && list[i-1] >= p {
			return false
		}
	}
	return true
}
