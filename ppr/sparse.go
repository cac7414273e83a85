package ppr

import "iter"

// A page holds the values of pageSize consecutive nodes.
const (
	pageBits = 3
	pageSize = 1 << pageBits
	pageMask = pageSize - 1
)

// maxWhole is the number of nodes up to which an array may have a cell for each node. For more, the
// kernel takes longer to supply that much memory than a first solution takes, and later ones are
// not faster.
const maxWhole = 1 << 20

// sparse is an array of a value for each node. If there is room for the values of all nodes, and
// they are at most maxWhole, it has a cell for each. Otherwise it has pages of nodes with a member,
// and besides them takes 5/8 of a byte a node: the position of a page for every 8 nodes, and a bit
// for each. The memory is kept when the array is cleared. The zero value has room for no node.
//
// A node without a page has its place in the blank page, the first one, which holds zeros. A loop
// may change a value there if it calls add at once, which moves the value, so the loop that spreads
// a push need not ask for the page.
type sparse[T any] struct {
	whole bool    // cell[u] is the value of u
	page  []ID    // position in cell of the page of each pageSize nodes; 0 means none
	cell  []T     // the pages
	most  int     // number of cells that there is room for
	used  nodeSet // the members
}

// grow makes room for the nodes of a graph in an empty array of at most the given number of cells.
func (a *sparse[T]) grow(nodes, most int) {
	if whole := nodes <= min(most, maxWhole); whole != a.whole {
		*a = sparse[T]{whole: whole}
	}
	a.most = most
	pages := (nodes + pageSize - 1) / pageSize
	switch {
	case a.whole && nodes > len(a.cell):
		a.cell = make([]T, min(nodes+nodes/8, most, maxWhole))
	case !a.whole && pages > len(a.page):
		a.page, a.cell = make([]ID, pages+pages/8), make([]T, pageSize)
	}
	if nodes > 64*len(a.used.word) {
		a.used.grow(nodes + nodes/8)
	}
}

// at returns the place of u's value, which is zero if u was not added. It is valid until the next
// call of add.
func (a *sparse[T]) at(u ID) *T {
	if a.whole {
		return &a.cell[u]
	}
	return &a.cell[a.page[u>>pageBits]|u&pageMask]
}

// add makes u a member of the array and returns the place of its value, which is valid until the
// next call of add.
func (a *sparse[T]) add(u ID) *T {
	a.used.add(u)
	if !a.whole && a.page[u>>pageBits] == 0 {
		a.addPage(u)
	}
	return a.at(u)
}

// addPage gives u a page.
func (a *sparse[T]) addPage(u ID) {
	end := len(a.cell)
	if end+pageSize > cap(a.cell) {
		more := make([]T, end, end+a.growth())
		copy(more, a.cell)
		a.cell = more
	}
	a.cell = a.cell[:end+pageSize]
	clear(a.cell[end:])
	blank := &a.cell[u&pageMask]
	a.page[u>>pageBits] = ID(end)
	*a.at(u) = *blank
	var zero T
	*blank = zero
}

// growth returns the number of cells by which the pages grow. They double while that is little
// memory, then grow to all that is allowed, so that the copy takes little memory. Members that are
// added without room take another eighth.
func (a *sparse[T]) growth() int {
	n := len(a.cell)
	if n < a.most/8 {
		return n
	}
	return max(a.most-n, n/8, pageSize)
}

// fits reports whether there is room for the pages of all nodes of an ascending list.
func (a *sparse[T]) fits(list []ID) bool {
	return a.whole || len(list) <= a.room() || a.newPages(list) <= a.room()
}

// room returns the number of pages that there is room for.
func (a *sparse[T]) room() int { return max(0, a.most-len(a.cell)) / pageSize }

// newPages returns the number of pages that the nodes of an ascending list need and do not have.
func (a *sparse[T]) newPages(list []ID) (n int) {
	last := ^ID(0)
	for _, u := range list {
		if p := u >> pageBits; p != last && a.page[p] == 0 {
			n, last = n+1, p
		}
	}
	return n
}

// all returns the members, ascending, and their values.
func (a *sparse[T]) all() iter.Seq2[ID, *T] {
	return func(yield func(ID, *T) bool) {
		for u := range a.used.all() {
			if !yield(u, a.at(u)) {
				return
			}
		}
	}
}

// clear empties the array, in time linear in the members.
func (a *sparse[T]) clear() {
	if a.whole {
		var zero T
		for u := range a.used.all() {
			a.cell[u] = zero
		}
		a.used.clear()
		return
	}
	for u := range a.used.all() {
		a.page[u>>pageBits] = 0
	}
	a.used.clear()
	a.cell = a.cell[:min(len(a.cell), pageSize)]
	clear(a.cell) // a loop may have left a NaN in the blank page
}
