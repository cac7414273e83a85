package model

import "slices"

const pageLen = 512

// pages is an array with one T for each node. Versions of the array share pages (copy on write).
type pages[T any] []*[pageLen]T

// at returns the entry of a node, zero if its page does not exist.
func (p pages[T]) at(u ID) (v T) {
	if i := int(u / pageLen); p.has(i) {
		return p[i][u%pageLen]
	}
	return v
}

// edit returns a pointer to the entry of a node. It first creates the page, or copies it if the version before has the
// same page.
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

// has reports whether the i-th page exists.
func (p pages[T]) has(i int) bool { return i < len(p) && p[i] != nil }

// held returns the number of allocated entries.
func (p pages[T]) held() (n int) {
	for i := range p {
		if p.has(i) {
			n += pageLen
		}
	}
	return n
}
