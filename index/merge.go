package index

// merger merges sorted lists with a tree of losers (Knuth, The Art of Computer Programming 3, section 5.4.1). Equal
// items come in the order of their lists.
type merger[T any] struct {
	lists  []func() (T, bool)
	less   func(a, b *T) bool
	heads  []T    // the next item of each list
	live   []bool // whether the list has a next item
	losers []int  // losers[i] lost the match at node i, whose children are 2i and 2i+1; list l is the leaf len(lists)+l
	winner int    // the list with the first item
}

// newMerger returns a merger of lists, each a function that returns its next item, and false after the last one.
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
