package index

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"kith/index/internal/block"
	"kith/index/internal/spill"

	"github.com/vmihailenco/msgpack/v5"
)

// Format is the version of the stored layout that this code writes and reads.
const Format = 7

// Meta is the record that describes the database and says which other records are valid. Every
// commit writes it. Blocks of other generations and log records beyond Version are leftovers of
// unfinished work.
type Meta struct {
	Format   int     `msgpack:"format"`
	Directed bool    `msgpack:"directed"` // edges of relation 0 have a direction, and of new relations
	Alpha    float64 `msgpack:"alpha"`    // damping factor of PageRank
	Epsilon  float64 `msgpack:"epsilon"`  // maximum error of cached states in the maximum norm
	Seed     uint64  `msgpack:"seed"`

	// ID identifies the database. Its backups and followers have the same.
	ID string `msgpack:"id"`

	// Version is the number of commits so far that changed the graph, observations, decisions or
	// models: commit n made version n.
	Version uint64 `msgpack:"version"`
	// Time is the time of the commit that made Version, in nanoseconds since 1970.
	Time int64 `msgpack:"time"`
	// History is a checksum of the commits so far: it differs if copies of a database went
	// different ways.
	History uint64 `msgpack:"history"`

	// Generation is the generation of the blocks of the base; 0 if there are no blocks.
	Generation uint32 `msgpack:"generation"`
	Base       uint64 `msgpack:"base"`                  // version of the base
	BaseNodes  int64  `msgpack:"base_nodes"`            // number of ids in the base
	BaseEdges  int64  `msgpack:"base_edges"`            // number of edges in the base
	BaseEvents int64  `msgpack:"base_events,omitempty"` // number of events stored with the base
	// BaseProperties is the number of properties that the base knows.
	BaseProperties int `msgpack:"base_properties,omitempty"`
	// InRows reports whether the base has in-rows, because a relation was directed.
	InRows bool `msgpack:"in_rows,omitempty"`
	// LogStart is the version after which the log contains all commits.
	LogStart uint64 `msgpack:"log_start"`
	// LogEnd is the version of the newest log record ever written; 0 if none.
	LogEnd uint64 `msgpack:"log_end"`

	// Model is the name of the model that answers requests which name no model; may be "".
	Model string `msgpack:"model"`

	// Decisions is the number of decisions made so far, and the number of the last decision.
	Decisions uint64 `msgpack:"decisions"`

	// Forgotten is the version up to which observations are forgotten; some may remain stored.
	Forgotten uint64 `msgpack:"forgotten"`
	Observed  int64  `msgpack:"observed"` // number of bytes of the observations after Forgotten

	// KeepBytes is the number of bytes of changes to keep; 0 means that none are kept.
	KeepBytes int64 `msgpack:"keep_bytes,omitempty"`
	// Kept is the version after which changes are kept (see Change).
	Kept      uint64 `msgpack:"kept"`
	KeptBytes int64  `msgpack:"kept_bytes"` // number of bytes that they take

	// Erased is the number of nodes that were erased and that records may still name. See
	// [Snapshot.Scrub].
	Erased int64 `msgpack:"erased,omitempty"`

	Nodes int64 `msgpack:"nodes"` // number of ids assigned
	Live  int64 `msgpack:"live"`  // number of nodes that are not deleted
	Edges int64 `msgpack:"edges"`
	Loops int64 `msgpack:"loops"`
	// FeatureBytes is the number of bytes of all feature vectors.
	FeatureBytes int64 `msgpack:"feature_bytes,omitempty"`
	// Labels holds the labels by number; number 0 is "no label".
	Labels []Label `msgpack:"labels"`
	// Relations holds the relations of edges by number; number 0 is "no relation".
	Relations []Relation `msgpack:"relations"`
	// Properties holds the properties of nodes by number.
	Properties []Property `msgpack:"properties,omitempty"`
	// Variables is the number of variables.
	Variables int `msgpack:"variables,omitempty"`
}

// Relation describes a relation of edges.
type Relation struct {
	Name     string `msgpack:"name"`
	Directed bool   `msgpack:"directed"`
	// Exclude says that nodes which it joins are no candidates for links of each other.
	Exclude bool `msgpack:"exclude,omitempty"`
	// SourceLabel and TargetLabel are the numbers of the labels that its nodes have; 0 means any.
	SourceLabel uint16 `msgpack:"source_label,omitempty"`
	TargetLabel uint16 `msgpack:"target_label,omitempty"`
	Edges       int64  `msgpack:"edges"`
	Loops       int64  `msgpack:"loops"`
	// Sources and Targets are the numbers of nodes that its edges leave, and that they lead to;
	// Both is the number of nodes that are both. They are counted for a directed relation with a
	// name.
	Sources int64 `msgpack:"sources,omitempty"`
	Targets int64 `msgpack:"targets,omitempty"`
	Both    int64 `msgpack:"both,omitempty"`
}

// sidesCounted reports whether the sources and the targets of the relation with this number are
// counted.
func (r *Relation) sidesCounted(number uint16) bool { return r.Directed && number != 0 }

// countSides adds n to the numbers of nodes on the sides of the relation, for a node that is a
// source or a target or both.
func (r *Relation) countSides(source, target bool, n int64) {
	if source {
		r.Sources += n
	}
	if target {
		r.Targets += n
	}
	if source && target {
		r.Both += n
	}
}

// Bipartite reports whether hardly any node is both a source and a target: at most an eighth of the
// sources, and of the targets. The sides of an undirected relation, and of the one without a name,
// are not counted.
func (r *Relation) Bipartite() bool { return r.Sources > 0 && 8*r.Both <= min(r.Sources, r.Targets) }

// ends returns the labels that the nodes of an edge should have, 0 for any, and whether they can
// have them besides the labels that they have, u and v. The nodes of an undirected edge may be in
// either order.
func (r *Relation) ends(u, v uint16) (want [2]uint16, ok bool) {
	can := func(has, want uint16) bool { return has == 0 || want == 0 || has == want }
	switch source, target := r.SourceLabel, r.TargetLabel; {
	case can(u, source) && can(v, target):
		return [2]uint16{source, target}, true
	case !r.Directed && can(u, target) && can(v, source):
		return [2]uint16{target, source}, true
	}
	return [2]uint16{r.SourceLabel, r.TargetLabel}, false
}

// MaxRelations is the maximum number of relations with a name.
const MaxRelations = math.MaxUint16

// RelationNumber returns the number of the relation with this name.
func (m *Meta) RelationNumber(name string) (uint16, bool) {
	i := slices.IndexFunc(m.Relations, func(r Relation) bool { return r.Name == name })
	return uint16(max(i, 0)), i >= 0
}

// EdgesOf returns the number of edges of the relation with this name, or of all if it is "".
func (m *Meta) EdgesOf(name string) int64 {
	number, ok := m.RelationNumber(name)
	if !ok || name == "" {
		return m.Edges
	}
	return m.Relations[number].Edges
}

// addRelation adds a relation and returns its number. Relations must not share their memory with
// another version, as those of a [Batch] do not.
func (m *Meta) addRelation(r Relation) (uint16, error) {
	if err := checkRelation(r.Name, len(m.Relations)); err != nil {
		return 0, err
	}
	m.Relations = append(m.Relations, r)
	return uint16(len(m.Relations) - 1), nil
}

// checkRelation returns an error if a relation with this name cannot be added to n relations.
func checkRelation(name string, n int) error {
	if err := checkName("relation", name); err != nil {
		return err
	}
	if n > MaxRelations {
		return tooMany("relation", name, MaxRelations)
	}
	return nil
}

// checkName returns an error for a name that a label, a relation or a property cannot have.
func checkName(what, name string) error {
	if n := len(name); n > block.MaxKeyLen {
		return fmt.Errorf("%s %.20q...: a name of %d bytes; at most %d are accepted", what, name, n, block.MaxKeyLen)
	}
	if err := Str(name).Valid(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// tooMany returns the error for the name of a thing of which a graph has the most already.
func tooMany(what, name string, most int) error {
	return fmt.Errorf("%w: %s %q would be one more than the %d that a graph can have", ErrTooLarge, what, name, most)
}

// directions returns which relations are directed.
func (m *Meta) directions() spill.Directions {
	all := make(spill.Directions, len(m.Relations))
	for i, r := range m.Relations {
		all[i] = r.Directed
	}
	return all
}

// countEdge counts an edge that is added, or removed if n is -1.
func (m *Meta) countEdge(e Edge, n int64) {
	r := &m.Relations[e.Relation]
	m.Edges, r.Edges = m.Edges+n, r.Edges+n
	if e.U == e.V {
		m.Loops, r.Loops = m.Loops+n, r.Loops+n
	}
}

// Label describes a label of nodes.
type Label struct {
	Name string `msgpack:"name"`
	// Features is the length of the feature vectors of its nodes; 0 if not set yet.
	Features int   `msgpack:"features"`
	Nodes    int64 `msgpack:"nodes"` // number of nodes with the label; not counted for number 0
	// Partners lists the labels of nodes that nodes with this label are linked to, as declared by
	// bulk loads with labels. Label numbers ascend.
	Partners []uint16 `msgpack:"partners,omitempty"`
}

// maxLabels is the maximum number of labels.
const maxLabels = 1 << 15

// LabelNumber returns the number of the label with this name.
func (m *Meta) LabelNumber(name string) (uint16, bool) {
	i := slices.IndexFunc(m.Labels, func(l Label) bool { return l.Name == name })
	return uint16(max(i, 0)), i >= 0
}

// label returns the number of the label with this name, and adds the label if it does not exist.
func (m *Meta) label(name string) (uint16, error) {
	if label, ok := m.LabelNumber(name); ok {
		return label, nil
	}
	if err := checkName("label", name); err != nil {
		return 0, err
	}
	if len(m.Labels) >= maxLabels {
		return 0, tooMany("label", name, maxLabels-1)
	}
	m.Labels = append(slices.Clip(m.Labels), Label{Name: name})
	return uint16(len(m.Labels) - 1), nil
}

// addPartner adds partner to the partners of label.
func (m *Meta) addPartner(label, partner uint16) {
	l := m.Labels[label]
	i, ok := slices.BinarySearch(l.Partners, partner)
	if ok {
		return
	}
	l.Partners = slices.Insert(slices.Clone(l.Partners), i, partner)
	m.Labels = slices.Clone(m.Labels) // a savepoint or another snapshot may share the slice
	m.Labels[label] = l
}

// fitFeatures checks that a label accepts vectors of length n. The first vector of a label sets its
// length.
func (m *Meta) fitFeatures(label uint16, n int) error {
	if m.Labels[label].Features == 0 {
		m.Labels = slices.Clone(m.Labels) // a savepoint may share the slice
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

// decodeMeta decodes the stored form. It returns ErrMismatch for a record in a different format, or
// ErrCorrupt.
func decodeMeta(b []byte) (*Meta, error) {
	var of struct { // other fields may have another meaning in another format
		Format int `msgpack:"format"`
	}
	if err := Unmarshal(b, &of); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	if of.Format != Format {
		return nil, fmt.Errorf("%w: format %d; this kith reads format %d only: load the edge lists into a new database", ErrMismatch, of.Format, Format)
	}
	m := new(Meta)
	if err := Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	if !m.consistent() {
		return nil, fmt.Errorf("%w: %+v", ErrCorrupt, *m)
	}
	return m, nil
}

// Unmarshal decodes a msgpack document. It uses a new decoder each time: msgpack.Unmarshal keeps
// decoders in a pool, and each damaged document permanently enlarges the buffer of a pooled decoder
// by a megabyte.
func Unmarshal(b []byte, v any) error { return msgpack.NewDecoder(bytes.NewReader(b)).Decode(v) }

// consistent reports whether the values of m are consistent.
func (m *Meta) consistent() bool {
	unit := func(x float64) bool { return x > 0 && x < 1 }
	return unit(m.Alpha) && unit(m.Epsilon) &&
		m.Base <= m.Version && m.LogStart <= m.Base && m.LogEnd <= m.Version &&
		0 <= m.BaseNodes && m.BaseNodes <= m.Nodes && 0 <= m.BaseEdges && 0 <= m.BaseEvents &&
		m.Forgotten <= m.Version && m.Observed >= 0 && m.Kept <= m.Version && m.KeptBytes >= 0 && m.KeepBytes >= 0 &&
		0 <= m.Erased && m.Erased <= m.Nodes && 0 <= m.Live && m.Live <= m.Nodes && m.Nodes <= MaxNodes &&
		0 <= m.Loops && m.Loops <= m.Edges && 0 <= m.FeatureBytes &&
		0 < len(m.Labels) && len(m.Labels) <= maxLabels && m.Labels[0].Name == "" &&
		!slices.ContainsFunc(m.Labels, func(l Label) bool {
			return l.Features < 0 || l.Nodes < 0 || l.Nodes > m.Live || !m.validPartners(l.Partners)
		}) && m.validRelations() && m.validProperties()
}

// uncounted returns relations without their numbers of edges and nodes.
func uncounted(relations []Relation) []Relation {
	all := slices.Clone(relations)
	for i := range all {
		r := &all[i]
		r.Edges, r.Loops, r.Sources, r.Targets, r.Both = 0, 0, 0, 0, 0
	}
	return all
}

// validRelations reports whether the relations are valid, and have all edges.
func (m *Meta) validRelations() bool {
	edges, loops := m.Edges, m.Loops
	for _, r := range m.Relations {
		if r.Loops < 0 || r.Edges < r.Loops || r.Both < 0 || min(r.Sources, r.Targets) < r.Both || max(r.Sources, r.Targets) > r.Edges || int(max(r.SourceLabel, r.TargetLabel)) >= len(m.Labels) {
			return false
		}
		edges, loops = edges-r.Edges, loops-r.Loops
	}
	return edges == 0 && loops == 0 && 0 < len(m.Relations) && len(m.Relations) <= MaxRelations+1 &&
		m.Relations[0].Name == "" && m.Relations[0].Directed == m.Directed
}

// validPartners reports whether list is a valid list of partners.
func (m *Meta) validPartners(list []uint16) bool {
	for i, p := range list {
		if p == 0 || int(p) >= len(m.Labels) || i > 0 && list[i-1] >= p {
			return false
		}
	}
	return true
}

// IsCurrent reports whether the record under key belongs to the version that m describes and is not
// derived: it is neither a leftover nor a cached state.
func (m *Meta) IsCurrent(key []byte) bool {
	if len(key) < 2 {
		return false
	}
	n := firstNumber(key)
	switch kind := key[0]; {
	case kind == prefixState:
		return false
	case kind == prefixBase:
		return n == uint64(m.Generation)
	case WrittenOnce(key):
		return m.Generation > 0 && n == uint64(m.Generation)
	case kind == prefixLog:
		return n > min(m.LogStart, m.Kept) && n <= m.Version
	case kind == prefixObservation:
		return n > min(m.Forgotten, m.Kept) && n <= m.Version
	case kind == prefixChange || kind == prefixModelChange:
		return n > m.Kept && n <= m.Version
	}
	return true
}

func putMeta(w Writer, key []byte, m *Meta) error {
	b, err := msgpack.Marshal(m)
	if err != nil {
		return fmt.Errorf("index: meta: %w", err)
	}
	return putSplit(w, key, b)
}

// ReadMeta returns the meta record, or nil if it is missing.
func ReadMeta(r Reader) (*Meta, error) { return readMeta(r, []byte{prefixMeta}) }

// readMeta reads the meta record under a key, or a copy of it. It returns nil if there is no
// record, ErrMismatch for a record in a different format, or ErrCorrupt.
func readMeta(r Reader, key []byte) (*Meta, error) {
	b, ok, err := getSplit(r, key)
	if err == nil && !ok {
		return nil, nil
	}
	var m *Meta
	if err == nil {
		m, err = decodeMeta(b)
	}
	if err != nil {
		return nil, fmt.Errorf("meta: %w", err)
	}
	return m, nil
}

// Property describes a property of nodes.
//
// INVARIANT: the values of a property have its type, or are integers where the type is float. Such
// integers were set while the type was integer, and are read as floats.
type Property struct {
	Name  string `msgpack:"name"`
	Kind  Kind   `msgpack:"kind"`
	Nodes int64  `msgpack:"nodes"` // number of nodes that have a value
}

// ErrKind is returned for a value of a property whose values have another type.
var ErrKind = errors.New("index: value of another type")

// errStop stops a pass over values.
var errStop = errors.New("stop")

// MaxProperties is the maximum number of properties.
const MaxProperties = 1 << 12

// PropertyNumber returns the number of the property with this name.
func (m *Meta) PropertyNumber(name string) (uint16, bool) {
	i := slices.IndexFunc(m.Properties, func(p Property) bool { return p.Name == name })
	return uint16(max(i, 0)), i >= 0
}

// property returns the number of the property with this name and type, and adds the property if it
// does not exist. A property that no node has takes another type, and one of integers becomes one
// of floats.
func (m *Meta) property(name string, kind Kind) (uint16, error) {
	number, known := m.PropertyNumber(name)
	switch {
	case !kind.Valid():
		return 0, fmt.Errorf("index: property %q has no type", name)
	case known && m.Properties[number].Kind == kind:
		return number, nil
	case known && m.Properties[number].Nodes > 0 && !kind.Widens(m.Properties[number].Kind):
		return 0, fmt.Errorf("%w: property %q is of type %v, not %v", ErrKind, name, m.Properties[number].Kind, kind)
	case known:
		m.Properties = slices.Clone(m.Properties) // a savepoint may share the slice
		m.Properties[number].Kind = kind
		return number, nil
	}
	if err := checkName("property", name); err != nil {
		return 0, err
	}
	if len(m.Properties) >= MaxProperties {
		return 0, tooMany("property", name, MaxProperties)
	}
	m.Properties = append(slices.Clip(m.Properties), Property{Name: name, Kind: kind})
	return uint16(len(m.Properties) - 1), nil
}

// countValue counts a value of a property that has changed.
func (m *Meta) countValue(property uint16, old, now Value) {
	if old.Kind() != NoValue {
		m.Properties[property].Nodes--
	}
	if now.Kind() != NoValue {
		m.Properties[property].Nodes++
	}
}

// validProperties reports whether the properties are valid.
func (m *Meta) validProperties() bool {
	return len(m.Properties) <= MaxProperties && 0 <= m.BaseProperties && m.BaseProperties <= len(m.Properties) &&
		!slices.ContainsFunc(m.Properties, func(p Property) bool {
			return !p.Kind.Valid() || p.Nodes < 0 || p.Nodes > m.Live || p.Name == ""
		})
}

// CheckProperty returns the error of a value that [Batch.SetProperty] refuses.
func (m *Meta) CheckProperty(name string, v Value) error {
	if v.Kind() == NoValue {
		return nil
	}
	without := *m
	_, err := without.propertyFor(name, v)
	return err
}

// propertyFor is property for a value, or returns the error of a value that cannot be stored.
func (m *Meta) propertyFor(name string, v Value) (uint16, error) {
	if err := v.Check(); err != nil {
		return 0, fmt.Errorf("property %q: %w", name, err)
	}
	return m.property(name, v.Kind())
}
