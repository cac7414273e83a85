package spill

import (
	"slices"

	"kith/index/internal/huge"
	"kith/ppr"
)

// Sorted is a list of edges of any length, sorted by an external merge sort (Knuth, The Art of
// Computer Programming 3, section 5.4): sorted runs in a scratch file, and the last one in memory.
// Edges of a pair are sorted by relation. Sorting is stable and keeps all edges, so the merge
// returns equal edges in the order in which they were added, whatever the limit.
type Sorted struct {
	Directed Directions // the two directions of an undirected edge are one pair
	// ByU says that edges are added ascending by V and relation, and all are directed, so they need
	// to be sorted by U only.
	ByU     bool
	Limit   int64 // maximum memory of sorting edges in bytes; 0: any number
	Buffers int64 // bytes for reading all runs at the same time
	File    File
	runs    []Section // in the order of addition
	tail    Edges     // follows the runs; sorted after sort
	spare   Edges     // for reuse
}

// Add adds an edge. It returns an error of the scratch file.
func (l *Sorted) Add(e Edge) error {
	if l.Limit > 0 && 2*(l.tail.Bytes()+l.tail.Growth(&e)) > l.Limit && l.tail.Len() > 0 {
		if err := l.spill(); err != nil {
			return err
		}
	}
	l.tail.Add(e)
	return nil
}

// Reuse takes over memory that another list has to spare.
func (l *Sorted) Reuse(from *Sorted) {
	l.tail, from.spare = from.spare, Edges{}
	l.tail.Clear()
}

// spill moves the edges in memory to the scratch file as a run.
func (l *Sorted) spill() error {
	if err := l.File.Open(); err != nil {
		return err
	}
	l.Sort()
	to := SectionOf(l.File.Size, &l.tail)
	if err := l.File.WriteEdges(to, &l.tail); err != nil {
		return err
	}
	l.File.Size += to.Size()
	l.runs = append(l.runs, to)
	l.tail.Clear()
	return nil
}

// Sort sorts the edges in memory.
func (l *Sorted) Sort() {
	if l.ByU {
		l.tail.sortByU(&l.spare)
	} else {
		l.tail.sort(&l.spare, l.Directed)
	}
}

// Reader returns a merger of base, which must ascend or be nil, and of the list. It returns the
// edges ascending by pair and relation. Equal ones come in the order in which they were added, the
// edges of base, which is list 0, first. The merge ends early after an error, which it stores in
// readErr.
func (l *Sorted) Reader(base func() (Edge, bool), readErr *error) *Merger[Edge] {
	if base == nil {
		base = func() (e Edge, ok bool) { return e, false }
	}
	lists := []func() (Edge, bool){base}
	for _, run := range l.runs {
		lists = append(lists, l.File.ReadEdges(run, MergeBuffer(l.Buffers, len(l.runs)), readErr))
	}
	tail, at := &l.tail, -1
	lists = append(lists, func() (e Edge, ok bool) {
		if at++; at >= tail.Len() {
			return e, false
		}
		return tail.At(at), true
	})
	directed := l.Directed
	return NewMerger(lists, func(a, b *Edge) bool { return a.Before(b, directed) })
}

// Take makes the list the given edges, whose ids become those of to, sorted in memory. It returns an
// error for an id that to does not have.
func (l *Sorted) Take(edges Edges, to []ppr.ID) error {
	l.tail = edges
	if err := l.tail.rename(to); err != nil {
		return err
	}
	l.Sort()
	return nil
}

// Rewrite adds a section of the list's file as a run. The ids of its edges become those of to; then
// they are sorted and written back. It returns an error for an id that to does not have.
func (l *Sorted) Rewrite(run Section, to []ppr.ID) error {
	var readErr error
	next := l.File.ReadEdges(run, WholeBuffer, &readErr)
	l.tail.Clear()
	for e, ok := next(); ok; e, ok = next() {
		l.tail.Add(e)
	}
	if readErr != nil {
		return readErr
	}
	if err := l.tail.rename(to); err != nil {
		return err
	}
	l.Sort()
	l.runs = append(l.runs, run)
	return l.File.WriteEdges(run, &l.tail)
}

// Forget drops the edges in memory, which do not belong in the list.
func (l *Sorted) Forget() { l.tail, l.spare = Edges{}, Edges{} }

// RadixSort sorts edges by pair and relation, stably. Both slices are overwritten. out is the
// sorted slice, and free is the other slice, which may be longer than spare was.
func RadixSort(edges, spare []Edge, directed Directions) (out, free []Edge) {
	for i := range edges {
		if edges[i].Relation != 0 { // often none has a relation
			edges, spare = radixSort(edges, spare, 2, func(some []Edge, to []uint64) {
				for i := range some {
					to[i] = uint64(some[i].Relation)
				}
			})
			break
		}
	}
	oneway, mixed := directed.common()
	return radixSort(edges, spare, 8, func(some []Edge, to []uint64) {
		for i := range some {
			e := &some[i]
			if mixed {
				oneway = directed[e.Relation]
			}
			to[i] = e.pair(oneway)
		}
	})
}

// radixSort sorts items by numbers of some bytes, stably, byte by byte from the lowest (Knuth 3,
// section 5.2.5, algorithm R). numbers writes the numbers of some items to a slice: a call for each
// item would cost more than the sort. Both slices are overwritten. out is the sorted slice, and
// free is the other slice, which may be longer than spare was.
func radixSort[T any](items, spare []T, bytes int, numbers func(some []T, to []uint64)) (out, free []T) {
	const together = 512 // items whose numbers are known at the same time
	var buffer [together]uint64
	count := make([][256]int, bytes)
	for some := range slices.Chunk(items, together) {
		numbers(some, buffer[:])
		for _, x := range buffer[:len(some)] {
			for d := range count {
				count[d][byte(x)]++
				x >>= 8
			}
		}
	}
	if cap(spare) < len(items) {
		spare = huge.Dirty[T](cap(items))
	}
	spare = spare[:len(items)]
	for d := range count {
		place := &count[d]
		if slices.Contains(place[:], len(items)) {
			continue // all items have the same byte here
		}
		at := 0
		for v, n := range place {
			place[v] = at
			at += n
		}
		for some := range slices.Chunk(items, together) {
			numbers(some, buffer[:])
			for i := range some {
				v := byte(buffer[i] >> (8 * d))
				spare[place[v]] = some[i]
				place[v]++
			}
		}
		items, spare = spare, items
	}
	return items, spare
}

// Merger merges sorted lists with a tree of losers (Knuth, The Art of Computer Programming 3,
// section 5.4.1). Equal items come in the order of their lists.
type Merger[T any] struct {
	lists []func() (T, bool)
	less  func(a, b *T) bool
	heads []T    // the next item of each list
	live  []bool // whether the list has a next item
	// losers[i] lost the match at node i, whose children are 2i and 2i+1. List l is the leaf
	// len(lists)+l.
	losers []int
	winner int // the list with the first item
}

// NewMerger returns a merger of lists, each a function that returns its next item, and false after
// the last one.
func NewMerger[T any](lists []func() (T, bool), less func(a, b *T) bool) *Merger[T] {
	n := len(lists)
	m := &Merger[T]{lists: lists, less: less, heads: make([]T, n), live: make([]bool, n), losers: make([]int, n)}
	for l, next := range lists {
		m.heads[l], m.live[l] = next()
	}
	if n > 0 {
		m.winner = m.play(1)
	}
	return m
}

// play holds the matches of the subtree at node and returns its winner.
func (m *Merger[T]) play(node int) int {
	if n := len(m.lists); node >= n {
		return node - n
	}
	a, b := m.play(2*node), m.play(2*node+1)
	if m.beats(b, a) {
		a, b = b, a
	}
	m.losers[node] = b
	return a
}

// beats reports whether the head of list a comes before the head of list b.
func (m *Merger[T]) beats(a, b int) bool {
	switch {
	case !m.live[a] || !m.live[b]:
		return m.live[a]
	case m.less(&m.heads[a], &m.heads[b]):
		return true
	}
	return a < b && !m.less(&m.heads[b], &m.heads[a])
}

// Next returns the next item and the index of its list, and false after the last item.
func (m *Merger[T]) Next() (item T, list int, ok bool) {
	if len(m.lists) == 0 || !m.live[m.winner] {
		return item, 0, false
	}
	w := m.winner
	item, list = m.heads[w], w
	m.heads[w], m.live[w] = m.lists[w]()
	for node := (len(m.lists) + w) / 2; node > 0; node /= 2 {
		if m.beats(m.losers[node], w) {
			w, m.losers[node] = m.losers[node], w
		}
	}
	m.winner = w
	return item, list, true
}
