package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"kith/index/internal/block"
	"kith/index/internal/column"
	"kith/index/internal/pages"
)

// Value is a typed value of a property of a node. See [column.Value].
type Value = column.Value

// Kind is the type of the values of a property.
type Kind = column.Kind

// The types of properties.
const (
	NoValue     = column.None
	BoolKind    = column.Bool
	IntegerKind = column.Int
	FloatKind   = column.Float
	StringKind  = column.String
	TimeKind    = column.Time
	ListKind    = column.List
)

// Test selects values of a property. See [column.Test].
type Test = column.Test

// Bound is a bound of the values that a Test selects.
type Bound = column.Bound

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
var ErrKind = errors.New("index: another type")

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
// does not exist. A property that no node has takes another type, and one of integers becomes one of
// floats.
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
	if err := Str(name).Valid(); err != nil {
		return 0, fmt.Errorf("property: %w", err)
	}
	if len(m.Properties) >= MaxProperties {
		return 0, fmt.Errorf("%w: %d properties", ErrTooLarge, MaxProperties)
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

// properties holds the values of properties of all nodes: the values of the base, and the values
// set since. It is persistent, as pages is.
type properties struct {
	base    *storedProperties // nil: no base, or it has no values
	by      *pages.Owner      // may change the slice changed in place
	changed []pages.Array[*Value]
	kept    int64 // memory of the values in changed, in bytes
	number  int   // number of the values in changed
}

// at returns the value that a node has of a property, or none.
func (p *properties) at(property uint16, id ID) Value {
	if v := p.since(property, id); v != nil {
		return *v
	}
	if p.base == nil {
		return Value{}
	}
	return p.base.of(property, id)
}

// since returns the value that was set since the base; nil if none was set.
func (p *properties) since(property uint16, id ID) *Value {
	if int(property) >= len(p.changed) {
		return nil
	}
	return p.changed[property].At(id)
}

// set sets the value that a node has of a property.
func (p *properties) set(by *pages.Owner, property uint16, id ID, v Value) {
	if p.by != by || int(property) >= len(p.changed) {
		changed := make([]pages.Array[*Value], max(len(p.changed), int(property)+1))
		copy(changed, p.changed)
		p.by, p.changed = by, changed
	}
	if old := p.changed[property].At(id); old != nil {
		p.kept -= old.Bytes()
		p.number--
	}
	p.number++
	p.kept += v.Bytes()
	p.changed[property].Set(by, id, &v)
}

// sinceBase yields the values of a property that were set since the base, also those that are none,
// by node.
func (p *properties) sinceBase(property uint16) iter.Seq2[ID, *Value] {
	return func(yield func(ID, *Value) bool) {
		if int(property) >= len(p.changed) {
			return
		}
		for id, v := range p.changed[property].All() {
			if v != nil && !yield(id, v) {
				return
			}
		}
	}
}

// onto returns the values on a new base, which holds the values of old, an earlier version.
func (p *properties) onto(base *storedProperties, old *properties) properties {
	next, by := properties{base: base}, new(pages.Owner)
	for property := range p.changed {
		for id, v := range p.sinceBase(uint16(property)) {
			if v != old.since(uint16(property), id) {
				next.set(by, uint16(property), id, *v)
			}
		}
	}
	return next
}

// all yields the values of a property by node.
func (p *properties) all(property uint16) iter.Seq2[ID, Value] {
	return func(yield func(ID, Value) bool) {
		err := p.merged(property, func(id ID, v Value) error {
			if !yield(id, v) {
				return errStop
			}
			return nil
		}, nil)
		if err != nil && err != errStop {
			p.base.cache.Fail(err)
		}
	}
}

// merged passes the values of a property to visit, by node. If whole is not nil, it passes the
// blocks of the base whose values have not changed to whole instead, as they are stored.
func (p *properties) merged(property uint16, visit func(ID, Value) error, whole func(first ID, block []byte) error) error {
	var changed []ID
	for id := range p.sinceBase(property) {
		changed = append(changed, id)
	}
	// pass visits the values set since the base of nodes before end.
	pass := func(end uint64) error {
		for len(changed) > 0 && uint64(changed[0]) < end {
			if v := p.since(property, changed[0]); v.Kind() != NoValue {
				if err := visit(changed[0], *v); err != nil {
					return err
				}
			}
			changed = changed[1:]
		}
		return nil
	}
	lo, hi := 0, 0
	if p.base != nil {
		lo, hi = p.base.Blocks(property)
	}
	for no := lo; no < hi; no++ {
		first, next := p.base.First[property][no-lo], uint64(MaxNodes)+1
		if no+1 < hi {
			next = uint64(p.base.First[property][no+1-lo])
		}
		if err := pass(uint64(first)); err != nil {
			return err
		}
		if whole != nil && (len(changed) == 0 || uint64(changed[0]) >= next) {
			b, err := p.base.raw(no)
			if err == nil {
				err = whole(first, b)
			}
			if err != nil {
				return err
			}
			continue
		}
		var buffer column.Column
		c, err := p.base.Peek(no, &buffer)
		if err != nil {
			return err
		}
		for i := range c.N {
			id := c.First + ID(i)
			if err := pass(uint64(id)); err != nil {
				return err
			}
			if len(changed) > 0 && changed[0] == id || !c.Has(i) {
				continue
			}
			if err := visit(id, c.At(i)); err != nil {
				return err
			}
		}
		if err := pass(next); err != nil {
			return err
		}
	}
	return pass(MaxNodes + 1)
}

// storedProperties reads the values of a generation when they are asked for. It takes 12 bytes of
// memory for each block, and decoded blocks take memory of the cache. Values that cannot be read are
// missing, and the cache keeps the error.
type storedProperties struct {
	column.Directory
	*block.Set[column.Column]
	cache *blockCache
}

// openProperties returns the values of the base, which are read when they are asked for; nil if it
// has none.
func openProperties(r Reader, cache *blockCache, m *Meta) (*storedProperties, error) {
	if m.BaseProperties == 0 {
		return nil, nil
	}
	dir, err := readDirectory(r, prefixProperty, m.Generation, column.DecodeDirectory)
	if err != nil {
		return nil, err
	}
	return pagedProperties(dir, cache), nil
}

// pagedProperties returns the values of the blocks with the given directory.
func pagedProperties(dir *column.Directory, cache *blockCache) *storedProperties {
	s := &storedProperties{Directory: *dir, cache: cache}
	s.Set = block.NewSet(&cache.Cache, dir.Len(), func(no int, c *column.Column) (bytes int64, err error) {
		err = cache.decode(prefixProperty, uint32(no), func(d *block.Decoder) error {
			if *c, err = column.Decode(d); err != nil {
				return err
			}
			if lo, hi := dir.Blocks(c.Property); no < lo || no >= hi || dir.First[c.Property][no-lo] != c.First {
				return fmt.Errorf("%w: it has the values of property %d from node %d on", ErrCorrupt, c.Property, c.First)
			}
			return nil
		})
		return c.Bytes(), err
	})
	return s
}

// bytes returns the memory of the base, in bytes, apart from cached blocks.
func (p *properties) bytes() int64 {
	if p.base == nil {
		return 0
	}
	return 12 * int64(p.base.Len())
}

// Loaded implements [storedPart]: values are always read on demand.
func (s *storedProperties) Loaded() bool { return true }

// Load implements [storedPart].
func (s *storedProperties) Load(context.Context) error { return nil }

// Len returns the number of blocks.
func (s *storedProperties) Len() int { return s.Directory.Len() }

// of returns the value that a node has of a property, or none.
func (s *storedProperties) of(property uint16, id ID) Value {
	no := s.Find(property, id)
	if no < 0 {
		return Value{}
	}
	c := s.At(no)
	if i := int(id - c.First); i < c.N {
		return c.At(i)
	}
	return Value{}
}

// raw returns a block as it is stored.
func (s *storedProperties) raw(no int) ([]byte, error) {
	b, ok, err := s.cache.source.Read(makeKey(prefixProperty, s.cache.generation, uint32(no)))
	if err == nil && !ok {
		err = fmt.Errorf("%w: it is missing", ErrCorrupt)
	}
	if err == nil {
		err = block.VerifyChecksum(b).Err
	}
	if err != nil {
		return nil, s.cache.wrong(prefixProperty, uint32(no), err)
	}
	return b, nil
}

// writeProperties writes the blocks of the values, and their directory, which it returns. It returns
// nil if there are no properties.
func (c *content) writeProperties(w Writer, generation uint32) (*column.Directory, error) {
	if c.numProperties == 0 {
		return nil, nil
	}
	dir := new(column.Directory)
	emit := func(property uint16, first ID, b []byte) error {
		no := uint32(dir.Len())
		dir.Add(property, first)
		return w.Set(makeKey(prefixProperty, generation, no), b)
	}
	for property := range uint16(c.numProperties) {
		p := column.Packer{Emit: emit}
		err := c.properties.merged(property, func(id ID, v Value) error { return p.Add(property, id, v) },
			func(first ID, b []byte) error { return cmp.Or(p.Close(), emit(property, first, b)) })
		if err = cmp.Or(err, p.Close()); err != nil {
			return nil, err
		}
	}
	return dir, putSplit(w, directoryKey(prefixProperty, generation), dir.Encode())
}

// Value returns the value that a node has of a property, or none.
func (s *Snapshot) Value(property uint16, id ID) Value {
	return s.properties.at(property, id).As(s.Meta.Properties[property].Kind)
}

// Values yields the values of a node, by the number of the property.
func (s *Snapshot) Values(id ID) iter.Seq2[uint16, Value] {
	return func(yield func(uint16, Value) bool) {
		for i := range s.Meta.Properties {
			if v := s.Value(uint16(i), id); v.Kind() != NoValue && !yield(uint16(i), v) {
				return
			}
		}
	}
}

// NumValuesSinceBase returns the number of values of properties that were set since the base.
func (s *Snapshot) NumValuesSinceBase() int { return s.properties.number }

// Having yields the values of a property, by node.
func (s *Snapshot) Having(property uint16) iter.Seq2[ID, Value] {
	return func(yield func(ID, Value) bool) {
		for id, v := range s.properties.all(property) {
			if !yield(id, v.As(s.Meta.Properties[property].Kind)) {
				return
			}
		}
	}
}

// Tester returns a function that reports whether a node has a value of a property that passes a
// test. It is fast for nodes in ascending order: it reads each block once. It must not be called by
// several goroutines at once.
func (s *Snapshot) Tester(property uint16, t Test) func(ID) bool {
	p, kind := &s.properties, s.Meta.Properties[property].Kind
	var match func(i int) bool // of the present block, which has the nodes from first up to end
	first, end, changes := uint64(1), uint64(0), false
	return func(id ID) bool {
		if u := uint64(id); u < first || u >= end {
			match, first, end = p.testBlock(property, id, kind, &t)
			changes = int(property) < len(p.changed) && p.changed[property].HasBetween(ID(first), ID(end-1))
		}
		if changes {
			if v := p.changed[property].At(id); v != nil {
				return t.Matches(v.As(kind))
			}
		}
		return match != nil && match(int(uint64(id)-first))
	}
}

// testBlock compiles a test for the block that may have the value of a node, and returns the nodes
// for which the function holds, from first up to end. A nil function means that they have no values.
func (p *properties) testBlock(property uint16, id ID, kind Kind, t *Test) (match func(i int) bool, first, end uint64) {
	if p.base == nil {
		return nil, 0, uint64(MaxNodes) + 1
	}
	no := p.base.Find(property, id)
	if no < 0 {
		return nil, uint64(id), uint64(id) + 1
	}
	c := p.base.At(no)
	if first, end = uint64(c.First), uint64(c.First)+uint64(c.N); uint64(id) >= end {
		return nil, uint64(id), uint64(id) + 1
	}
	switch {
	case kind.Widens(c.Kind):
		wide := c.Widened()
		c = &wide
	case c.Kind != kind: // the property had another type
		return nil, first, end
	}
	return t.On(c), first, end
}

// SetProperty sets the value that the node id has of the property with this name; no value removes
// it. It returns ErrKind if the property has another type, or an error for a value that cannot be
// stored, for an invalid name, or if there are too many properties.
func (b *Batch) SetProperty(id ID, name string, v Value) error {
	if v.Kind() == NoValue {
		if number, known := b.now.Meta.PropertyNumber(name); known {
			b.changeValue(id, number, v)
		}
		return nil
	}
	if err := b.now.Meta.CheckProperty(name, v); err != nil {
		return err
	}
	number, err := b.now.Meta.property(name, v.Kind())
	if err == nil {
		b.changeValue(id, number, v)
	}
	return err
}

// CheckProperty returns the error of a value that [Batch.SetProperty] refuses.
func (m *Meta) CheckProperty(name string, v Value) error {
	if v.Kind() == NoValue {
		return nil
	}
	if err := v.Check(); err != nil {
		return fmt.Errorf("property %q: %w", name, err)
	}
	without := *m
	_, err := without.property(name, v.Kind())
	return err
}

// changeValue sets a value unless the node has it already.
func (b *Batch) changeValue(id ID, property uint16, v Value) {
	if !b.now.properties.at(property, id).Equal(v) {
		b.setValue(id, property, v)
	}
}

// setValue sets and records a value.
func (b *Batch) setValue(id ID, property uint16, v Value) {
	old := b.now.properties.at(property, id)
	b.record.values = append(b.record.values, valueChange{id: id, property: property, value: v, old: old})
	b.now.properties.set(b.by, property, id, v)
	b.now.Meta.countValue(property, old, v)
	b.grown = b.grown || v.Kind() != NoValue
}

// valueChange is the value of a property after a change.
type valueChange struct {
	id       ID
	property uint16
	value    Value // none: it was removed
	old      Value // value before the change; not stored
}

func (c *valueChange) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(c.id))
	return c.value.Append(binary.AppendUvarint(b, uint64(c.property)))
}

func decodeValueChange(d *block.Decoder) valueChange {
	return valueChange{id: d.ID(), property: d.Relation(), value: column.DecodeValue(d)}
}

// ValueOf returns the value that a Go value means; see [column.Of].
func ValueOf(x any) (Value, bool) { return column.Of(x) }
