package model

import "slices"

const pageLen = 512

// pages is an array of a T for each node, in pages that versions of the array share.
type pages[T any] []*[pageLen]T

// at returns the entry of a node; zero where there is no page.
func (p pages[T]) at(u ID) (v T) {
	if i := int(u / pageLen); p.has(i) {
		return p[i][u%pageLen]
	}
	return v
}

// edit returns the place of a node's entry, in a page that the version before does not have.
func (p *pages[T]) edit(before pages[T], u ID) *T {
	i := int(u / pageLen)
	if i >= len(*p) {
		*p = append(*p, slices.Repeat(pages[T]{nil}, i+1-len(*p))...)
	}
	switch page := (*p)[i]; {
	case page == nil:
		(*p)[i] = new([pageLen]T)
	case i < len(before) && page == before[i]:
		own := *page
		(*p)[i] = &own
	}
	return &(*p)[i][u%pageLen]
}

// has reports whether the i-th page is there.
func (p pages[T]) has(i int) bool { return i < len(p) && p[i] != nil }

// held returns the number of entries that take memory.
func (p pages[T]) held() (n int) {
	for i := range p {
		if p.has(i) {
			n += pageLen
		}
	}
	return n
}
