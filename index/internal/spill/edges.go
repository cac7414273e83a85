package spill

import (
	"kith/index/internal/huge"
	"kith/ppr"
)

// Edges is a list of edges in memory. While all its edges are plain, it holds only their ends.
//
// INVARIANT: plain or full is empty.
type Edges struct {
	plain []Ends
	full  []Edge
}

// Bytes of an edge in memory.
const (
	plainBytes = 8
	fullBytes  = 24
)

// isPlain reports whether an edge has weight 1, no time and relation 0, as most edges have.
func (e *Edge) isPlain() bool { return e.Weight == 1 && e.Time == 0 && e.Relation == 0 }

// Len returns the number of edges.
func (l *Edges) Len() int { return len(l.plain) + len(l.full) }

// At returns edge i.
func (l *Edges) At(i int) Edge {
	if len(l.plain) == 0 {
		return l.full[i]
	}
	return Edge{Ends: l.plain[i], Weight: 1}
}

// Bytes returns the memory of the edges in bytes.
func (l *Edges) Bytes() int64 {
	return plainBytes*int64(len(l.plain)) + fullBytes*int64(len(l.full))
}

// Growth returns the number of bytes that Add would add to Bytes.
func (l *Edges) Growth(e *Edge) int64 {
	if len(l.full) == 0 && e.isPlain() {
		return plainBytes
	}
	return fullBytes + (fullBytes-plainBytes)*int64(len(l.plain))
}

// Add adds an edge.
func (l *Edges) Add(e Edge) {
	if len(l.full) == 0 && e.isPlain() {
		l.plain = append(huge.Grow(l.plain), e.Ends)
		return
	}
	if len(l.plain) > 0 {
		l.widen()
	}
	l.full = append(huge.Grow(l.full), e)
}

// widen makes room for weights, times and relations.
func (l *Edges) widen() {
	l.full = huge.Dirty[Edge](2 * len(l.plain))[:0]
	for i := range l.plain {
		l.full = append(l.full, l.At(i))
	}
	l.plain = nil
}

// Clear removes all edges.
func (l *Edges) Clear() { l.plain, l.full = l.plain[:0], l.full[:0] }

// rename replaces all ids. It returns ErrOther for an id that to does not have.
func (l *Edges) rename(to []ppr.ID) error {
	ok := true
	rename := func(e *Ends) {
		if ok = ok && int(e.U) < len(to) && int(e.V) < len(to); ok {
			e.U, e.V = to[e.U], to[e.V]
		}
	}
	for i := range l.plain {
		rename(&l.plain[i])
	}
	for i := range l.full {
		rename(&l.full[i].Ends)
	}
	if !ok {
		return Error(ErrOther)
	}
	return nil
}

// sort sorts the edges by pair and relation, stably. It overwrites spare.
func (l *Edges) sort(spare *Edges, directed Directions) {
	l.full, spare.full = RadixSort(l.full, spare.full, directed)
	l.plain, spare.plain = radixSort(l.plain, spare.plain, 8, func(some []Ends, to []uint64) {
		oneway := directed[0]
		for i := range some {
			to[i] = some[i].pair(oneway)
		}
	})
}

// sortByU sorts the edges by U, stably. It overwrites spare.
func (l *Edges) sortByU(spare *Edges) {
	l.full, spare.full = radixSort(l.full, spare.full, 4, func(some []Edge, to []uint64) {
		for i := range some {
			to[i] = uint64(some[i].U)
		}
	})
	l.plain, spare.plain = radixSort(l.plain, spare.plain, 4, func(some []Ends, to []uint64) {
		for i := range some {
			to[i] = uint64(some[i].U)
		}
	})
}
