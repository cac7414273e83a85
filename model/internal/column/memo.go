package column

import "kith/model/internal/graph"

// maxKnown is the largest number of nodes that a Memo and a Features hold.
const maxKnown = 1 << 16

// Memo holds values of nodes that are expensive to compute. When it is full it forgets all of them.
type Memo[V any] struct{ known map[graph.ID]V }

// Get returns the value of a node and reports whether it is known.
func (m *Memo[V]) Get(u graph.ID) (v V, known bool) {
	v, known = m.known[u]
	return v, known
}

// Put stores the value of a node.
func (m *Memo[V]) Put(u graph.ID, v V) {
	if m.known == nil {
		m.known = map[graph.ID]V{}
	}
	if len(m.known) >= maxKnown {
		clear(m.known)
	}
	m.known[u] = v
}

// Clear forgets all values.
func (m *Memo[V]) Clear() { clear(m.known) }
