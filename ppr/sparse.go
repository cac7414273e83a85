package ppr

import (
	"iter"
	"slices"
)

// A page holds the values of pageSize consecutive nodes.
const (
	pageBits = 3
	pageSize = 1 << pageBits
	pageMask = pageSize - 1
)

// sparse is an array of a value for each node, with memory only for pages of nodes that have one: besides the pages, it
// takes 5/8 of a byte a node: the position of a page for every 8 nodes, and a bit for each. The memory is kept when the array is cleared. The zero
// value has room for no node.
//
// A node without a page has its place in the blank page, the first one, which holds zeros. A loop may change a value
// there if it calls add at once, which moves the value, so the loop that spreads a push need not ask for the page.
type sparse[T any] struct {
	page []uint32 // position in cell of the page of each pageSize nodes; 0 means none
	cell []T
	used nodeSet // nodes that were added
}

// grow makes room for the nodes of a graph in an empty array.
func (a *sparse[T]) grow(nodes int) {
	if pages := (nodes + pageSize - 1) / pageSize; pages > len(a.page) {
		a.page = make([]uint32, pages+pages/8)
		a.used.grow(len(a.page) * pageSize)
	}
	if a.cell == nil {
		a.cell = make([]T, pageSize)
	}
}

// at returns the place of u's value, which is zero if u was not added. It is valid until the next call of add.
func (a *sparse[T]) at(u ID) *T { return &a.cell[a.page[u>>pageBits]|u&pageMask] }

// add makes u a member of the array and returns the place of its value, which is valid until the next call of add.
func (a *sparse[T]) add(u ID) *T {
	a.used.add(u)
	p := &a.page[u>>pageBits]
	if *p != 0 {
		return &a.cell[*p|u&pageMask]
	}
	end := len(a.cell)
	a.cell = slices.Grow(a.cell, pageSize)[:end+pageSize]
	clear(a.cell[end:])
	*p = uint32(end)
	c, blank := a.at(u), &a.cell[u&pageMask]
	var zero T
	*c, *blank = *blank, zero
	return c
}

// all returns the nodes that were added, ascending, and their values.
func (a *sparse[T]) all() iter.Seq2[ID, *T] {
	return func(yield func(ID, *T) bool) {
		for u := range a.used.all() {
			if !yield(u, a.at(u)) {
				return
			}
		}
	}
}

// clear empties the array, in time linear in the nodes that were added.
func (a *sparse[T]) clear() {
	for u := range a.used.all() {
		a.page[u>>pageBits] = 0
	}
	a.used.clear()
	a.cell = a.cell[:min(len(a.cell), pageSize)]
	clear(a.cell) // a loop may have left a NaN in the blank page
}
