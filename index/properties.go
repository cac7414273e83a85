package index

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"kith/index/internal/block"
	"kith/index/internal/column"
	"kith/index/internal/pages"
	"kith/index/internal/word"
)

// properties holds the values of properties of all nodes: the values of the base, and the values
// set since. It is persistent, as pages is.
type properties struct {
	base    *storedProperties // nil: no base, or it has no values
	by      *pages.Owner      // may change the slice changed in place
	changed []pages.Array[*Value]
	kept    int64         // memory of the values in changed, in bytes
	number  int           // number of the values in changed
	words   []*vocabulary // by property; nil or missing: not kept. by may change the slice in place
}

// vocabulary finds the words of the values of a property. What it learns is a function of a sample
// of the values, and is learned when it is first asked for.
//
// INVARIANT: versions of the properties that share a vocabulary have the same sample.
type vocabulary struct {
	once    sync.Once
	learned atomic.Pointer[vocabularyOf]
}

type vocabularyOf struct {
	kind  Kind           // of the property
	shift int            // of 2^shift nodes, the sample has one
	words *word.Property // nil: the property has no words
}

// newVocabularies returns vocabularies for a number of properties.
func newVocabularies(n int) []*vocabulary {
	all := make([]*vocabulary, n)
	for i := range all {
		all[i] = new(vocabulary)
	}
	return all
}

// wordsOf returns the words of a property; nil if it has none.
func (p *properties) wordsOf(property uint16, m *Meta) *word.Property {
	v := new(vocabulary)
	if int(property) < len(p.words) && p.words[property] != nil {
		v = p.words[property]
	}
	v.once.Do(func() {
		described := &m.Properties[property]
		shift := sampleShift(described.Nodes)
		sample := p.sample(property, shift, m)
		v.learned.Store(&vocabularyOf{described.Kind, shift, word.New(described.Name, described.Kind, sample, int64(len(sample))<<shift)})
	})
	return v.learned.Load().words
}

// keepsWords reports whether the words of a property are known, and the same after the value of a
// node has changed: the sample has another node.
func (p *properties) keepsWords(property uint16, id ID, m *Meta) bool {
	if int(property) >= len(p.words) || p.words[property] == nil {
		return false
	}
	of, described := p.words[property].learned.Load(), &m.Properties[property]
	return of != nil && of.kind == described.Kind && of.shift == sampleShift(described.Nodes) && !sampled(id, of.shift)
}

// forgetWords forgets the words of a property.
func (p *properties) forgetWords(by *pages.Owner, property uint16) {
	p.own(by, property)
	p.words[property] = new(vocabulary)
}

// The words of a property are learned from most of its values, or from a sample of about
// sampledValues or more.
const sampledValues = 4096

// sampleShift returns k, if a sample of a number of values has those of one of 2^k nodes.
func sampleShift(values int64) int { return max(bits.Len64(uint64(values)/sampledValues)-1, 0) }

// sampled reports whether a sample of one of 2^shift nodes has a node.
func sampled(id ID, shift int) bool { return sampledOf(uint64(id)>>shift, shift) == uint64(id) }

// sampledOf returns the node that a sample has of the 2^shift nodes with consecutive ids that make
// a part.
func sampledOf(part uint64, shift int) uint64 {
	return part<<shift + part*0x9e3779b97f4a7c15>>32&(1<<shift-1)
}

// sample returns a sample of the values of a property, which is a function of these: of 2^shift
// nodes with consecutive ids, the value of one.
func (p *properties) sample(property uint16, shift int, m *Meta) (sample []Value) {
	described := m.Properties[property]
	add := func(v Value) {
		if v.Kind() != NoValue {
			sample = append(sample, v.As(described.Kind))
		}
	}
	parts := m.Nodes>>shift + 1
	if shift == 0 || parts > described.Nodes/2 { // reading all values is faster
		for id, v := range p.all(property) {
			if sampled(id, shift) {
				add(v)
			}
		}
		return sample
	}
	for part := range uint64(parts) {
		add(p.at(property, ID(sampledOf(part, shift))))
	}
	return sample
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
	p.own(by, property)
	if old := p.changed[property].At(id); old != nil {
		p.kept -= old.Bytes()
		p.number--
	}
	p.number++
	p.kept += v.Bytes()
	p.changed[property].Set(by, id, &v)
}

// own makes the parts of the slices up to a property those that by may change in place.
func (p *properties) own(by *pages.Owner, property uint16) {
	if p.by == by && int(property) < len(p.changed) {
		return
	}
	changed := make([]pages.Array[*Value], max(len(p.changed), int(property)+1))
	copy(changed, p.changed)
	words := make([]*vocabulary, max(len(p.words), len(changed)))
	copy(words, p.words)
	p.by, p.changed, p.words = by, changed, words
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
	next.words = append(slices.Clone(p.words), make([]*vocabulary, max(0, len(next.changed)-len(p.words)))...)
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
	return p.mergedWith(property, p.changes(property), visit, whole)
}

// changes returns the values of a property that were set since the base.
func (p *properties) changes(property uint16) *valueStream {
	var ids []ID
	for id := range p.sinceBase(property) {
		ids = append(ids, id)
	}
	return newValueStream(func() (id ID, v Value, ok bool) {
		if len(ids) == 0 {
			return 0, v, false
		}
		id, ids = ids[0], ids[1:]
		return id, *p.since(property, id), true
	})
}

// valueStream is a stream of values of a property by node. A value may be none.
type valueStream struct {
	next  func() (ID, Value, bool)
	id    ID // of the head
	value Value
	ok    bool // the stream has a head
}

func newValueStream(next func() (ID, Value, bool)) *valueStream {
	s := &valueStream{next: next}
	s.advance()
	return s
}

func (s *valueStream) advance() { s.id, s.value, s.ok = s.next() }

// before reports whether the head is before a node.
func (s *valueStream) before(end uint64) bool { return s.ok && uint64(s.id) < end }

// over returns the values of s, and the values of below of other nodes.
func (s *valueStream) over(below *valueStream) *valueStream {
	if !below.ok {
		return s
	}
	return newValueStream(func() (id ID, v Value, ok bool) {
		first := s
		if below.ok && (!s.ok || below.id < s.id) {
			first = below
		} else if below.ok && below.id == s.id {
			below.advance()
		}
		id, v, ok = first.id, first.value, first.ok
		if ok {
			first.advance()
		}
		return id, v, ok
	})
}

// passTo passes the values of the nodes before end to visit, unless they are none.
func (s *valueStream) passTo(end uint64, visit func(ID, Value) error) error {
	for s.before(end) {
		if s.value.Kind() != NoValue {
			if err := visit(s.id, s.value); err != nil {
				return err
			}
		}
		s.advance()
	}
	return nil
}

// mergedWith is merged with other changes of the values of the base.
func (p *properties) mergedWith(
	property uint16, changed *valueStream, visit func(ID, Value) error, whole func(first ID, block []byte) error,
) error {
	lo, hi := 0, 0
	if p.base != nil {
		lo, hi = p.base.Blocks(property)
	}
	for no := lo; no < hi; no++ {
		first, next := p.base.First[property][no-lo], uint64(MaxNodes)+1
		if no+1 < hi {
			next = uint64(p.base.First[property][no+1-lo])
		}
		if err := changed.passTo(uint64(first), visit); err != nil {
			return err
		}
		if whole != nil && !changed.before(next) {
			b, err := p.base.raw(no)
			if err == nil {
				err = whole(first, b)
			}
			if err != nil {
				return err
			}
			continue
		}
		if err := p.mergeBlock(no, changed, visit); err != nil {
			return err
		}
		if err := changed.passTo(next, visit); err != nil {
			return err
		}
	}
	return changed.passTo(MaxNodes+1, visit)
}

// mergeBlock passes the values of a block of the base to visit, and the changed ones of the nodes
// before the last one of the block.
func (p *properties) mergeBlock(no int, changed *valueStream, visit func(ID, Value) error) error {
	var buffer column.Column
	c, err := p.base.Peek(no, &buffer)
	if err != nil {
		return err
	}
	for i := range c.N {
		id := c.First + ID(i)
		if err := changed.passTo(uint64(id), visit); err != nil {
			return err
		}
		if changed.ok && changed.id == id || !c.Has(i) {
			continue
		}
		if err := visit(id, c.At(i)); err != nil {
			return err
		}
	}
	return nil
}

// storedProperties reads the values of a generation when they are asked for. It takes 12 bytes of
// memory for each block, and decoded blocks take memory of the cache. Values that cannot be read
// are missing, and the cache keeps the error.
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
	b, d, err := s.cache.read(prefixProperty, uint32(no))
	if err = cmp.Or(err, d.Err); err != nil {
		return nil, s.cache.wrong(prefixProperty, uint32(no), err)
	}
	return b, nil
}

// testBlock compiles a test for the block that may have the value of a node, and returns the nodes
// for which the function holds, from first up to end. A nil function means that they have no
// values.
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

// ValueOf returns the value that a Go value means; see [column.Of].
func ValueOf(x any) (Value, bool) { return column.Of(x) }
