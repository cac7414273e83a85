package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/vmihailenco/msgpack/v5"
)

// The changes of all versions after Meta.Kept are kept, for databases that follow this one. A
// commit writes most of its change anyway, as its log record and its observations; these are kept
// as long as the change. The change record holds the rest. A version that changed a model has its
// change record under another prefix, so that the documents that it names are found without reading
// all changes.

// Commit says how a commit is recorded.
type Commit struct {
	Time      int64                // nanoseconds since 1970
	Decisions []msgpack.RawMessage // the decisions that the commit writes
	Expect    uint64               // value of Meta.History after the commit; 0 means any
	// Sum is the checksum of what the commit did before a part of it was scrubbed; nil means that
	// nothing was.
	Sum *uint32
}

// Change is the effect of the commit that made a version. The change record has neither Keys,
// Nodes, Edges nor Observed, which are in the log record and in the observations.
type Change struct {
	// Time is the time of the commit, in nanoseconds since 1970.
	Time   int64  `msgpack:"time"`
	Before uint64 `msgpack:"before"` // Meta.History before the commit
	After  uint64 `msgpack:"after"`  // Meta.History after the commit
	// Bytes is the number of bytes of its log record, observations and documents.
	Bytes int64 `msgpack:"bytes"`
	// First is the id of the first new key: the number of ids assigned before.
	First ID    `msgpack:"first"`
	Keys  []Key `msgpack:"-"` // new keys, by id
	// Labels are the labels that were made or changed, and the labels of Nodes.
	Labels []LabelChange `msgpack:"labels,omitempty"`
	// Relations are the relations that were made, and the relations of Edges.
	Relations []RelationChange `msgpack:"relations,omitempty"`
	Nodes     []NodeChange     `msgpack:"nodes,omitempty"`
	Edges     []EdgeChange     `msgpack:"edges,omitempty"`
	Vectors   []VectorChange   `msgpack:"vectors,omitempty"`
	// Properties are the properties that were made, and the properties of Values.
	Properties []PropertyChange     `msgpack:"properties,omitempty"`
	Values     []ValueChange        `msgpack:"values,omitempty"`
	Variables  []Variable           `msgpack:"variables,omitempty"` // without a value if it was removed
	Observed   []msgpack.RawMessage `msgpack:"observed,omitempty"`
	Decisions  []msgpack.RawMessage `msgpack:"decisions,omitempty"`
	Decided    uint64               `msgpack:"decided"` // Meta.Decisions after the commit
	Model      *ModelChange         `msgpack:"model,omitempty"`
	Erased     []ID                 `msgpack:"erased,omitempty"` // nodes that lost their keys, ascending
	Scrubbed   *Scrubbed            `msgpack:"scrubbed,omitempty"`

	sum uint32 // checksum of what the commit did, before anything was scrubbed
}

// Scrubbed says that what names erased nodes was removed from a change. It has the checksums of
// what the commit did and of what is left.
type Scrubbed struct {
	//lint:ignore U1000 package msgpack reads the tag
	_msgpack struct{} `msgpack:",as_array"`
	Before   uint32
	After    uint32
}

// LabelChange is a label after a commit.
type LabelChange struct {
	//lint:ignore U1000 package msgpack reads the tag
	_msgpack struct{} `msgpack:",as_array"`
	Number   uint16
	Name     string
	Features int // length of the feature vectors of its nodes; 0 if not set yet
}

// RelationChange is a relation after a commit.
type RelationChange struct {
	//lint:ignore U1000 package msgpack reads the tag
	_msgpack struct{} `msgpack:",as_array"`
	Number   uint16
	Name     string
	Directed bool
	Exclude  bool
	Source   uint16 // number of the label of its sources; 0 means any
	Target   uint16
}

// of returns the relation of a change.
func (c *RelationChange) of() Relation {
	return Relation{Name: c.Name, Directed: c.Directed, Exclude: c.Exclude, SourceLabel: c.Source, TargetLabel: c.Target}
}

// NodeChange is a node's record after a commit.
type NodeChange struct {
	//lint:ignore U1000 package msgpack reads the tag
	_msgpack struct{} `msgpack:",as_array"`
	ID       ID
	Label    uint16
	Deleted  bool
}

// EdgeChange is an edge after a commit, and the weight Old that it had before. Weight 0 means that
// there is no edge.
type EdgeChange struct {
	//lint:ignore U1000 package msgpack reads the tag
	_msgpack    struct{} `msgpack:",as_array"`
	U, V        ID
	Old, Weight float32
	Time        int64
	Relation    uint16
}

// VectorChange is a node's feature vector after a commit: float32, little endian. Nil means none.
type VectorChange struct {
	//lint:ignore U1000 package msgpack reads the tag
	_msgpack struct{} `msgpack:",as_array"`
	ID       ID
	Vector   []byte
}

// PropertyChange is a property after a commit.
type PropertyChange struct {
	//lint:ignore U1000 package msgpack reads the tag
	_msgpack struct{} `msgpack:",as_array"`
	Number   uint16
	Name     string
	Kind     Kind
}

// ValueChange is the value that a node has of a property after a commit. No value means none.
type ValueChange struct {
	//lint:ignore U1000 package msgpack reads the tag
	_msgpack struct{} `msgpack:",as_array"`
	ID       ID
	Property uint16
	Value    Value
}

// ModelChange is a model after a commit.
type ModelChange struct {
	Name      string `msgpack:"name"`
	Answering string `msgpack:"answering"` // Meta.Model after the commit
	// Note is ModelEntry.Note; empty if the model was dropped.
	Note    msgpack.RawMessage `msgpack:"note,omitempty"`
	Serials []uint64           `msgpack:"serials,omitempty"`
}

// advance makes m the meta record of the next version. sum is the checksum of what the commit did.
func (m *Meta) advance(now int64, sum uint32) {
	m.Version++
	m.Time, m.History = now, nextHistory(m.History, m.Version, now, sum)
}

// nextHistory returns the value of Meta.History after a commit.
func nextHistory(before, version uint64, now int64, sum uint32) uint64 {
	h := fnv.New64a()
	// A hash accepts all bytes.
	_ = binary.Write(h, binary.LittleEndian, []uint64{before, version, uint64(now), uint64(sum)})
	return max(h.Sum64(), 1)
}

// addSum adds a record to the checksum of what a commit did.
func addSum(sum uint32, record []byte) uint32 { return sum*31 + Checksum(record) }

// addVariables adds changed variables to the checksum of what a commit did.
func addVariables(sum uint32, changed []Variable) uint32 {
	for _, v := range changed {
		sum = addSum(addSum(sum, []byte(v.Name)), v.Value)
	}
	return sum
}

// keepNone forgets all changes up to the present version.
func (m *Meta) keepNone() { m.Kept, m.KeptBytes = m.Version, 0 }

// record advances the meta record to the next version, and writes the change record c for it if
// changes are kept. sum is the checksum of what the commit did. It returns ErrMismatch if the
// history differs from the history that the commit expects.
func (m *Meta) record(w Writer, commit *Commit, sum uint32, c *Change) error {
	before := m.History
	m.advance(commit.Time, sum)
	if commit.Expect != 0 && m.History != commit.Expect {
		return fmt.Errorf("%w: version %d is not the same", ErrMismatch, m.Version)
	}
	if m.KeepBytes == 0 {
		m.keepNone()
		return nil
	}
	c.Time, c.Before, c.After, c.Decided = commit.Time, before, m.History, m.Decisions
	b, err := msgpack.Marshal(c)
	if err != nil {
		return fmt.Errorf("index: change: %w", err)
	}
	m.KeptBytes += c.Bytes + int64(len(b))
	kind := byte(prefixChange)
	if c.Model != nil {
		kind = prefixModelChange
	}
	return putSplit(w, makeKey(kind, m.Version), b)
}

// ChangeModel returns the next version of s, which changes a model, and writes its records to w.
// bytes is the size of the documents that the change names.
func (s *Snapshot) ChangeModel(w Writer, commit Commit, m *ModelChange, bytes int64) (*Snapshot, error) {
	next := *s
	next.Meta.Model = m.Answering
	if err := next.Meta.record(w, &commit, 0, &Change{Model: m, Bytes: bytes}); err != nil {
		return nil, err
	}
	return &next, next.WriteMeta(w)
}

// change returns what the batch did, for its change record.
func (b *Batch) change(decisions []msgpack.RawMessage) *Change {
	c := &Change{Decisions: decisions}
	mentioned := map[uint16]bool{}
	for _, n := range b.record.nodes {
		mentioned[n.node.label] = true
	}
	for i, l := range b.now.Meta.Labels {
		if mentioned[uint16(i)] && i > 0 || i >= len(b.began.Labels) || l.Features != b.began.Labels[i].Features {
			c.Labels = append(c.Labels, LabelChange{Number: uint16(i), Name: l.Name, Features: l.Features})
		}
	}
	used := map[uint16]bool{}
	for _, e := range b.record.edges {
		used[e.Relation] = true
	}
	for i, r := range b.now.Meta.Relations {
		if i > 0 && used[uint16(i)] || i >= len(b.began.Relations) {
			c.Relations = append(c.Relations, RelationChange{
				Number: uint16(i), Name: r.Name, Directed: r.Directed, Exclude: r.Exclude, Source: r.SourceLabel, Target: r.TargetLabel,
			})
		}
	}
	has := map[uint16]bool{}
	for _, v := range b.record.values {
		has[v.property] = true
	}
	for i, p := range b.now.Meta.Properties {
		if has[uint16(i)] || i >= len(b.began.Properties) || p.Kind != b.began.Properties[i].Kind {
			c.Properties = append(c.Properties, PropertyChange{Number: uint16(i), Name: p.Name, Kind: p.Kind})
		}
	}
	seen := map[ID]bool{}
	for _, v := range b.vectors {
		if !seen[v.id] {
			seen[v.id] = true
			c.Vectors = append(c.Vectors, VectorChange{ID: v.id, Vector: PackFloats(b.now.Features(v.id))})
		}
	}
	return c
}

// PackFloats returns the bytes of v, 4 for each number, the lowest first; nil for no number.
func PackFloats(v []float32) []byte {
	if len(v) == 0 {
		return nil
	}
	b, _ := binary.Append(make([]byte, 0, 4*len(v)), binary.LittleEndian, v) // never fails
	return b
}

// UnpackFloats is the inverse of PackFloats.
func UnpackFloats(b []byte) []float32 {
	if len(b) < 4 {
		return nil
	}
	v := make([]float32, len(b)/4)
	_, _ = binary.Decode(b, binary.LittleEndian, v) // b is long enough
	return v
}

// getChange returns the change record of a version and its size.
func getChange(r Reader, version uint64) (c *Change, size int64, err error) {
	for _, kind := range []byte{prefixChange, prefixModelChange} {
		b, ok, err := getSplit(r, makeKey(kind, version))
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			continue
		}
		c = new(Change)
		if err := Unmarshal(b, c); err != nil {
			return nil, 0, fmt.Errorf("%w: change of version %d: %w", ErrCorrupt, version, err)
		}
		return c, c.Bytes + int64(len(b)), nil
	}
	return nil, 0, fmt.Errorf("%w: the change of version %d is missing", ErrCorrupt, version)
}

// GetChange returns what the commit of a version after Meta.Kept did. It returns ErrCorrupt if a
// part of it is missing.
func GetChange(r Reader, version uint64) (*Change, error) {
	c, _, err := getChange(r, version)
	if err != nil {
		return nil, err
	}
	sum := uint32(0)
	for d := range Observations(r, version-1) {
		if d.Err == nil && d.At > version {
			break
		}
		if d.Err != nil {
			return nil, d.Err
		}
		sum = addSum(sum, d.Bytes)
		c.Observed = append(c.Observed, d.Bytes)
	}
	logged, ok, err := getSplit(r, makeKey(prefixLog, version))
	if err != nil {
		return nil, err
	}
	if ok {
		sum = addSum(sum, logged)
		if err := c.addLogged(logged); err != nil {
			return nil, fmt.Errorf("log of version %d: %w", version, err)
		}
	}
	c.sum = addVariables(sum, c.Variables)
	whole := true
	if c.Scrubbed != nil {
		whole, c.sum = c.sum == c.Scrubbed.After, c.Scrubbed.Before
	}
	if !whole || nextHistory(c.Before, version, c.Time, c.sum) != c.After {
		return nil, fmt.Errorf("%w: a part of the change of version %d is missing", ErrCorrupt, version)
	}
	return c, nil
}

// addLogged adds the content of a log record.
func (c *Change) addLogged(b []byte) error {
	r, err := decodeRecord(b)
	if err != nil {
		return err
	}
	c.First, c.Keys = r.first, r.keys
	for _, n := range r.nodes {
		c.Nodes = append(c.Nodes, NodeChange{ID: n.id, Label: n.node.label, Deleted: n.node.deleted})
	}
	for _, e := range r.edges {
		c.Edges = append(c.Edges, EdgeChange{U: e.U, V: e.V, Old: e.Old, Weight: e.Weight, Time: e.Time, Relation: e.Relation})
	}
	for _, v := range r.values {
		c.Values = append(c.Values, ValueChange{ID: v.id, Property: v.property, Value: v.value})
	}
	c.Erased = r.erased
	return nil
}

// Replay applies the graph changes of a commit to the same version of a copy of the database. The
// batch must be empty. Replay returns ErrMismatch if the commit cannot have changed this version.
func (b *Batch) Replay(c *Change) error {
	m := &b.now.Meta
	if len(c.Keys) > 0 && int64(c.First) != m.Nodes || c.Decided < m.Decisions {
		return mismatch("%d nodes and %d decisions, after %d and %d", c.First, c.Decided, m.Nodes, m.Decisions)
	}
	m.Decisions = c.Decided
	if err := b.replayKeys(c); err != nil {
		return err
	}
	for _, l := range c.Labels {
		if err := m.replayLabel(l); err != nil {
			return err
		}
	}
	for _, r := range c.Relations {
		if err := b.replayRelation(r); err != nil {
			return err
		}
	}
	for _, n := range c.Nodes {
		if int64(n.ID) >= m.Nodes || int(n.Label) >= len(m.Labels) {
			return mismatch("node %d of %d with label %d of %d", n.ID, m.Nodes, n.Label, len(m.Labels))
		}
		b.replayNode(n.ID, node{n.Label, n.Deleted})
	}
	for i := range c.Edges {
		if err := b.replayEdge(&c.Edges[i]); err != nil {
			return err
		}
	}
	for _, v := range c.Vectors {
		if int64(v.ID) >= m.Nodes {
			return mismatch("features of node %d of %d", v.ID, m.Nodes)
		}
		if err := b.SetFeatures(v.ID, UnpackFloats(v.Vector)); err != nil {
			return err
		}
	}
	for _, p := range c.Properties {
		if number, err := m.property(p.Name, p.Kind); err != nil || number != p.Number {
			return mismatch("property %q is number %d, not %d: %v", p.Name, number, p.Number, err)
		}
	}
	for _, v := range c.Values {
		if int64(v.ID) >= m.Nodes || int(v.Property) >= len(m.Properties) {
			return mismatch("property %d of %d of node %d of %d", v.Property, len(m.Properties), v.ID, m.Nodes)
		}
		if kind := v.Value.Kind(); kind != NoValue && !m.Properties[v.Property].Kind.Has(kind) {
			return mismatch("a value of type %v of property %q", kind, m.Properties[v.Property].Name)
		}
		b.setValue(v.ID, v.Property, v.Value)
	}
	for _, v := range c.Variables {
		if err := b.SetVariable(v.Name, v.Value); err != nil {
			return err
		}
	}
	return nil
}

// replayKeys assigns ids to new keys, and erases nodes, as early as possible: a later key may be
// the key of one of them.
func (b *Batch) replayKeys(c *Change) error {
	first := b.now.Meta.Nodes
	if n := len(c.Erased); n > 0 && int64(c.Erased[n-1]) >= first+int64(len(c.Keys)) {
		return mismatch("node %d of %d is erased", c.Erased[n-1], first+int64(len(c.Keys)))
	}
	for _, id := range c.Erased {
		if int64(id) < first {
			b.setErased(id)
		}
	}
	for i, k := range c.Keys {
		if _, known := b.lookup(k); known || k.Erased() && k != Erased(c.First+ID(i)) {
			return mismatch("node %v is new", k.Literal())
		}
		if b.now.Meta.Nodes >= MaxNodes {
			return tooManyNodes()
		}
		b.now.Meta.Live++
		b.grown = true
		id := b.addKey(k)
		if _, erased := slices.BinarySearch(c.Erased, id); erased {
			b.setErased(id)
		}
	}
	return nil
}

func mismatch(format string, args ...any) error {
	return fmt.Errorf("%w: the change was made to a different graph: "+format, append([]any{ErrMismatch}, args...)...)
}

// replayLabel makes or changes a label.
func (m *Meta) replayLabel(c LabelChange) error {
	number, known := m.LabelNumber(c.Name)
	if !known {
		var err error
		if number, err = m.label(c.Name); err != nil {
			return err
		}
	}
	l := &m.Labels[number]
	if number != c.Number || l.Features != 0 && l.Features != c.Features || c.Features < 0 {
		return mismatch("label %q is number %d with %d features, not number %d with %d", c.Name, number, l.Features, c.Number, c.Features)
	}
	l.Features = c.Features
	return nil
}

// replayRelation makes a relation.
func (b *Batch) replayRelation(c RelationChange) (err error) {
	number, known := b.RelationNumber(c.Name)
	if int(max(c.Source, c.Target)) >= len(b.now.Meta.Labels) {
		return mismatch("relation %q joins label %d with label %d, of %d", c.Name, c.Source, c.Target, len(b.now.Meta.Labels))
	}
	if !known {
		if number, err = b.Relate(c.of()); err != nil {
			return err
		}
	}
	if r := uncounted(b.now.Meta.Relations[number : number+1])[0]; number != c.Number || r != c.of() {
		return mismatch("relation %d is %+v, not number %d, %+v", number, r, c.Number, c.of())
	}
	return nil
}

// replayNode sets the record of a node.
func (b *Batch) replayNode(id ID, n node) {
	old := b.now.nodes.at(id)
	switch {
	case old.deleted && !n.deleted:
		b.now.Meta.Live++
	case !old.deleted && n.deleted:
		b.now.Meta.Live--
	}
	b.grown = true
	b.setNode(id, n)
}

// replayEdge sets an edge. An edge that the commit added and deleted again is in the log record
// too, so it is recorded here.
func (b *Batch) replayEdge(c *EdgeChange) error {
	m := &b.now.Meta
	if int(c.Relation) >= len(m.Relations) {
		return mismatch("an edge of relation %d of %d", c.Relation, len(m.Relations))
	}
	x := Edge{Ends: Ends{U: c.U, V: c.V}, Relation: c.Relation, Weight: c.Weight, Time: c.Time}
	if int64(max(c.U, c.V)) >= m.Nodes || c.Weight != 0 && !ValidWeight(c.Weight) || b.edit.g.inOrder(x) != x {
		return mismatch("edge %d -> %d of weight %v among %d nodes", c.U, c.V, c.Weight, m.Nodes)
	}
	had, _ := b.edit.edgeOf(x)
	if had.Weight != c.Old {
		return mismatch("edge %v -> %v had weight %v, not %v", b.Key(c.U).Literal(), b.Key(c.V).Literal(), had.Weight, c.Old)
	}
	if c.Old != 0 || c.Weight != 0 {
		b.edit.Set(x)
	}
	b.grown, b.revised = b.grown || c.Old == 0, b.revised || c.Old != 0 || c.Weight == 0
	b.countEdge(x, edgesAdded(c.Old, c.Weight))
	b.record.edges = append(b.record.edges, edgeChange{Edge: x, Old: c.Old, last: had.Time})
	return nil
}

// KeepChanges returns s with Meta.KeepBytes set to bytes, and with its oldest changes forgotten
// until the rest takes at most this size. The caller should call DropForgotten once the meta record
// of the result is stored.
func (s *Snapshot) KeepChanges(r Reader, bytes int64) (*Snapshot, error) {
	next := *s
	m := &next.Meta
	if m.KeepBytes = bytes; bytes == 0 || s.Meta.KeepBytes == 0 {
		m.keepNone()
	}
	for m.KeptBytes > bytes && m.Kept < m.Version {
		_, size, err := getChange(r, m.Kept+1)
		if err != nil {
			return nil, err
		}
		m.Kept++
		m.KeptBytes -= size
	}
	return &next, nil
}

// DropForgotten deletes the records of forgotten versions after the given one: changes,
// observations, and log records before the start of the log. The log record and the observations of
// a version stay as long as its change is kept.
func (m *Meta) DropForgotten(r Reader, w Writer, after uint64) error {
	for kind, last := range map[byte]uint64{
		prefixChange: m.Kept, prefixModelChange: m.Kept, prefixLog: min(m.Kept, m.LogStart), prefixObservation: min(m.Kept, m.Forgotten),
	} {
		if last <= after {
			continue
		}
		if err := deleteRange(r, w, []byte{kind}, makeKey(kind, after+1), makeKey(kind, last+1)); err != nil {
			return err
		}
	}
	return nil
}

// CheckChanges calls check for each version whose change is kept. It verifies that the changes
// follow one another, and that Meta.KeptBytes is their size.
func (m *Meta) CheckChanges(r Reader, check func(version uint64) error) error {
	bytes, history := int64(0), uint64(0)
	for version := m.Kept + 1; version <= m.Version; version++ {
		c, size, err := getChange(r, version)
		if err != nil {
			return err
		}
		if err := check(version); err != nil {
			return err
		}
		if history != 0 && c.Before != history {
			return fmt.Errorf("%w: the change of version %d does not follow that before", ErrCorrupt, version)
		}
		bytes, history = bytes+size, c.After
	}
	if bytes != m.KeptBytes || m.Kept < m.Version && history != m.History {
		return fmt.Errorf("%w: the changes have %d bytes, and were counted as %d", ErrCorrupt, bytes, m.KeptBytes)
	}
	return nil
}

// IDs returns the ids of the nodes that the graph changes of c mention and more, ascending and
// without repetitions.
func (c *Change) IDs(more ...ID) []ID {
	all := slices.Clone(more)
	for i := range c.Keys {
		all = append(all, c.First+ID(i))
	}
	for _, n := range c.Nodes {
		all = append(all, n.ID)
	}
	for _, e := range c.Edges {
		all = append(all, e.U, e.V)
	}
	for _, v := range c.Vectors {
		all = append(all, v.ID)
	}
	for _, v := range c.Values {
		all = append(all, v.ID)
	}
	all = append(all, c.Erased...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Features returns the feature vector of a change; nil means none.
func (v *VectorChange) Features() []float32 { return UnpackFloats(v.Vector) }

// documentsOfChanges adds the keys of the documents that model changes name.
func documentsOfChanges(r Reader, named map[string]bool) error {
	for v, err := range scanSplit(r, prefixModelChange, nil) {
		var c Change
		if err = cmp.Or(err, v.err); err == nil {
			err = msgpack.NewDecoder(bytes.NewReader(v.Value)).Decode(&c)
		}
		if err != nil || c.Model == nil {
			return fmt.Errorf("%w: change of a model: %w", ErrCorrupt, err)
		}
		for _, serial := range c.Model.Serials {
			named[string(documentKey(c.Model.Name, serial))] = true
		}
	}
	return nil
}
