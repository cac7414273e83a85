// Package pages has a persistent array.
package pages

import (
	"iter"

	"kith/ppr"
)

// ID is the index of an item.
type ID = ppr.ID

// A span holds SpanSize consecutive items, or the spans one level below. Spans are small so that
// changing one item copies little.
const (
	spanBits = 4
	SpanSize = 1 << spanBits
	spanMask = SpanSize - 1
	levels   = 4 // number of spans on the path from the top to an item
)

// Owner identifies the edit that made a span and may change it in place. Its address is its
// identity, so it must not have size zero.
type Owner struct{ _ byte }

// Array is a persistent sparse array. A copy of the struct is a snapshot. Set copies only the top
// and the spans on the path to an item, and only the first time an Owner changes them. An item that
// was never set is the zero T.
type Array[T any] struct {
	by  *Owner
	top []*span[*span[*span[*span[T]]]]
}

type span[T any] struct {
	by   *Owner
	item [SpanSize]T
}

// At returns an item.
func (p *Array[T]) At(i ID) (zero T) {
	n := int(i >> (levels * spanBits))
	if n >= len(p.top) || p.top[n] == nil {
		return zero
	}
	a := p.top[n].item[i>>(3*spanBits)&spanMask]
	if a == nil {
		return zero
	}
	b := a.item[i>>(2*spanBits)&spanMask]
	if b == nil {
		return zero
	}
	c := b.item[i>>spanBits&spanMask]
	if c == nil {
		return zero
	}
	return c.item[i&spanMask]
}

// Has reports whether any item was set of the SpanSize^3 items around i.
func (p *Array[T]) Has(i ID) bool {
	n := int(i >> (levels * spanBits))
	return n < len(p.top) && p.top[n] != nil && p.top[n].item[i>>(3*spanBits)&spanMask] != nil
}

// HasBetween reports whether any item from lo to hi may have been set.
func (p *Array[T]) HasBetween(lo, hi ID) bool {
	const around = SpanSize * SpanSize * SpanSize
	for i, end := uint64(lo)/around, uint64(hi)/around; i <= end; i++ {
		if n := int(i / SpanSize); n >= len(p.top) {
			return false
		} else if p.top[n] == nil {
			i |= SpanSize - 1
		} else if p.Has(ID(i * around)) {
			return true
		}
	}
	return false
}

// Set sets an item.
func (p *Array[T]) Set(by *Owner, i ID, v T) {
	n := int(i >> (levels * spanBits))
	if p.by != by || n >= len(p.top) {
		top := make([]*span[*span[*span[*span[T]]]], max(len(p.top), n+1))
		copy(top, p.top)
		p.by, p.top = by, top
	}
	a := ownSpan(&p.top[n], by)
	b := ownSpan(&a.item[i>>(3*spanBits)&spanMask], by)
	c := ownSpan(&b.item[i>>(2*spanBits)&spanMask], by)
	ownSpan(&c.item[i>>spanBits&spanMask], by).item[i&spanMask] = v
}

// ownSpan ensures that the span at p belongs to by, which may then change it.
func ownSpan[T any](p **span[T], by *Owner) *span[T] {
	switch s := *p; {
	case s == nil:
		*p = &span[T]{by: by}
	case s.by != by:
		*p = &span[T]{by, s.item}
	}
	return *p
}

// All yields the items of every span that was ever set, ascending, including zero items.
func (p *Array[T]) All() iter.Seq2[ID, T] {
	return func(yield func(ID, T) bool) {
		for n, a := range nonNil(p.top) {
			for i, b := range nonNil(a.item[:]) {
				for j, c := range nonNil(b.item[:]) {
					for k, d := range nonNil(c.item[:]) {
						for l, v := range d.item {
							id := ((n<<spanBits|i)<<spanBits|j)<<spanBits | k
							if !yield(ID(id<<spanBits|l), v) {
								return
							}
						}
					}
				}
			}
		}
	}
}

// nonNil yields the non-nil spans.
func nonNil[T any](list []*span[T]) iter.Seq2[int, *span[T]] {
	return func(yield func(int, *span[T]) bool) {
		for i, s := range list {
			if s != nil && !yield(i, s) {
				return
			}
		}
	}
}
