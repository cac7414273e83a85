package index

// sortedEdges is a list of edges of any length, sorted by an external merge sort (Knuth, The Art of
// Computer Programming 3, section 5.4): sorted runs in a scratch file, and the last one in memory.
// Sorting is stable and keeps all edges, so the merge returns the edges of a pair in the order in
// which they were added, whatever the limit.
type sortedEdges struct {
	directed bool  // if false, the two directions of an edge are one pair
	limit    int   // maximum number of edges in memory; 0: any number
	buffers  int64 // bytes for reading all runs at the same time
	file     scratchFile
	runs     []edgeSection // in the order of addition
	tail     []Edge        // follows the runs; sorted after sort
	spare    []Edge        // for reuse
}

// add adds an edge. It returns an error of the scratch file.
func (l *sortedEdges) add(e Edge) error {
	if l.limit > 0 && len(l.tail) >= l.limit {
		if err := l.spill(); err != nil {
			return err
		}
	}
	l.tail = append(l.tail, e)
	return nil
}

// spill moves the edges in memory to the scratch file as a run.
func (l *sortedEdges) spill() error {
	if err := l.file.open(); err != nil {
		return err
	}
	l.sort()
	to := edgeSection{at: l.file.size, edges: len(l.tail), width: widthOf(l.tail)}
	if err := l.file.writeEdges(to, l.tail); err != nil {
		return err
	}
	l.file.size += to.size()
	l.runs = append(l.runs, to)
	l.tail = l.tail[:0]
	return nil
}

// sort sorts the edges in memory.
func (l *sortedEdges) sort() { l.tail, l.spare = radixSort(l.tail, l.spare, l.directed) }

// reader returns a merger of base, which must ascend or be nil, and of the list. It returns the
// edges ascending by pairs. The edges of a pair come in the order in which they were added, those
// of base, which is list 0, first. The merge ends early after an error, which it stores in readErr.
func (l *sortedEdges) reader(base func() (Edge, bool), readErr *error) *merger[Edge] {
	if base == nil {
		base = func() (e Edge, ok bool) { return e, false }
	}
	lists := []func() (Edge, bool){base}
	for _, run := range l.runs {
		lists = append(lists, l.file.readEdges(run, mergeBuffer(l.buffers, len(l.runs)), readErr))
	}
	tail := l.tail
	lists = append(lists, func() (e Edge, ok bool) {
		if len(tail) == 0 {
			return e, false
		}
		e, tail = tail[0], tail[1:]
		return e, true
	})
	directed := l.directed
	return newMerger(lists, func(a, b *Edge) bool { return a.pair(directed) < b.pair(directed) })
}

// pair returns the endpoints of an edge as one number, ordered as edges are. Unless directed, the
// lower endpoint comes first.
func (e *Edge) pair(directed bool) uint64 {
	if !directed && e.U > e.V {
		return uint64(e.V)<<32 | uint64(e.U)
	}
	return uint64(e.U)<<32 | uint64(e.V)
}

// radixSort sorts edges by their pairs, stably, byte by byte from the lowest (Knuth 3, section
// 5.2.5, algorithm R). Both slices are overwritten. out is the sorted slice, free the other one,
// which may be longer than spare was.
func radixSort(edges, spare []Edge, directed bool) (out, free []Edge) {
	var count [8][256]int
	for i := range edges {
		for d, k := 0, edges[i].pair(directed); d < 8; d, k = d+1, k>>8 {
			count[d][byte(k)]++
		}
	}
	if cap(spare) < len(edges) {
		spare = make([]Edge, cap(edges))
	}
	spare = spare[:len(edges)]
	for d := range count {
		place := &count[d]
		if len(edges) == 0 || place[byte(edges[0].pair(directed)>>(8*d))] == len(edges) {
			continue // all edges have the same byte here
		}
		at := 0
		for v, n := range place {
			place[v] = at
			at += n
		}
		for i := range edges {
			v := byte(edges[i].pair(directed) >> (8 * d))
			spare[place[v]] = edges[i]
			place[v]++
		}
		edges, spare = spare, edges
	}
	return edges, spare
}

// merger merges sorted lists with a tree of losers (Knuth, The Art of Computer Programming 3,
// section 5.4.1). Equal items come in the order of their lists.
type merger[T any] struct {
	lists  []func() (T, bool)
	less   func(a, b *T) bool
	heads  []T    // the next item of each list
	live   []bool // whether the list has a next item
	losers []int  // losers[i] lost the match at node i, whose children are 2i and 2i+1; list l is the leaf len(lists)+l
	winner int    // the list with the first item
}

// newMerger returns a merger of lists, each a function that returns its next item, and false after
// the last one.
func newMerger[T any](lists []func() (T, bool), less func(a, b *T) bool) *merger[T] {
	n := len(lists)
	m := &merger[T]{lists: lists, less: less, heads: make([]T, n), live: make([]bool, n), losers: make([]int, n)}
	for l, next := range lists {
		m.heads[l], m.live[l] = next()
	}
	if n > 0 {
		m.winner = m.play(1)
	}
	return m
}

// play holds the matches of the subtree at node and returns its winner.
func (m *merger[T]) play(node int) int {
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

// beats reports whether the head of list a comes before that of list b.
func (m *merger[T]) beats(a, b int) bool {
	switch {
	case !m.live[a] || !m.live[b]:
		return m.live[a]
	case m.less(&m.heads[a], &m.heads[b]):
		return true
	}
	return a < b && !m.less(&m.heads[b], &m.heads[a])
}

// next returns the next item and the index of its list, and false after the last item.
func (m *merger[T]) next() (item T, list int, ok bool) {
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
