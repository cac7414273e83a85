package index

import "iter"

// A page holds pageSize items, a chunk pageSize pages.
const (
	pageBits = 6
	pageSize = 1 << pageBits
	pageMask = pageSize - 1
)

// owner marks the pages that one edit made and may change in place. Its address is its identity, so
// it must not have size zero.
type owner struct{ _ byte }

// pages is a persistent sparse array: a copy of the struct is a snapshot, set copies only the page,
// the chunk and the top on the way to an item, and only the first time an owner touches them. An
// item never set is the zero T.
type pages[T any] struct {
	by  *owner
	top []*chunk[T]
}

type chunk[T any] struct {
	by   *owner
	page [pageSize]*page[T]
}

type page[T any] struct {
	by   *owner
	item [pageSize]T
}

func (p *pages[T]) at(i ID) (zero T) {
	c := int(i >> (2 * pageBits))
	if c >= len(p.top) || p.top[c] == nil {
		return zero
	}
	pg := p.top[c].page[i>>pageBits&pageMask]
	if pg == nil {
		return zero
	}
	return pg.item[i&pageMask]
}

func (p *pages[T]) set(by *owner, i ID, v T) {
	c := int(i >> (2 * pageBits))
	if p.by != by || c >= len(p.top) {
		top := make([]*chunk[T], max(len(p.top), c+1))
		copy(top, p.top)
		p.by, p.top = by, top
	}
	ch := p.top[c]
	switch {
	case ch == nil:
		ch = &chunk[T]{by: by}
	case ch.by != by:
		own := *ch
		own.by = by
		ch = &own
	}
	p.top[c] = ch
	pg := ch.page[i>>pageBits&pageMask]
	switch {
	case pg == nil:
		pg = &page[T]{by: by}
	case pg.by != by:
		own := *pg
		own.by = by
		pg = &own
	}
	ch.page[i>>pageBits&pageMask] = pg
	pg.item[i&pageMask] = v
}

// all yields the items of every page that was ever set, zero ones too, ascending.
func (p *pages[T]) all() iter.Seq2[ID, T] {
	return func(yield func(ID, T) bool) {
		for c, ch := range p.top {
			if ch == nil {
				continue
			}
			for j, pg := range ch.page {
				if pg == nil {
					continue
				}
				for k, v := range pg.item {
					if !yield(ID(c)<<(2*pageBits)|ID(j)<<pageBits|ID(k), v) {
						return
					}
				}
			}
		}
	}
}
