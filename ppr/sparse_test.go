package ppr

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestSparse compares an array with a map, over several rounds in the same memory: with room for
// all nodes, with pages, with few pages, and with one room after another.
func TestSparse(t *testing.T) {
	t.Parallel()
	const nodes = 5000
	for _, rooms := range [][]int{{nodes}, {nodes - 1}, {512}, {512, nodes, nodes - 1}} {
		t.Run(fmt.Sprint(rooms), func(t *testing.T) {
			t.Parallel()
			var a sparse[float64]
			r := rand.New(rand.NewPCG(1, 2))
			for i := range 20 {
				a.grow(nodes-r.IntN(100), rooms[i%len(rooms)])
				compareSparse(t, &a, r, nodes-100)
			}
		})
	}
}

// An array for very many nodes takes memory only for those that are used.
func TestSparseOfManyNodes(t *testing.T) {
	t.Parallel()
	var a sparse[float64]
	a.grow(maxWhole+1, math.MaxInt)
	compareSparse(t, &a, rand.New(rand.NewPCG(1, 3)), maxWhole)
	if cells := cap(a.cell); cells > 1<<13 {
		t.Errorf("there are %d cells", cells)
	}
}

// compareSparse adds random values to an empty array and to a map, compares them, and clears the
// array.
func compareSparse(t *testing.T, a *sparse[float64], r *rand.Rand, nodes int) {
	want := map[ID]float64{}
	for range r.IntN(400) {
		u, x := ID(r.IntN(nodes)), r.Float64()
		if _, ok := want[u]; !ok {
			fits, room, cells := a.fits([]ID{u}), a.room(), len(a.cell)
			*a.at(u) += x // may be in the blank page
			a.add(u)
			if fits != (room > 0 || len(a.cell) == cells) {
				t.Fatalf("node %d fits: %v, room for %d pages, %d cells, then %d", u, fits, room, cells, len(a.cell))
			}
		} else {
			*a.at(u) += x
		}
		want[u] += x
	}
	members, last := 0, -1
	for u, x := range a.all() {
		if int(u) <= last || *x != want[u] {
			t.Fatalf("node %d after %d: %v, want %v", u, last, *x, want[u])
		}
		members, last = members+1, int(u)
	}
	if members != len(want) {
		t.Fatalf("%d members, want %d", members, len(want))
	}
	for u := range ID(nodes) {
		if x := *a.at(u); x != want[u] {
			t.Fatalf("node %d: %v, want %v", u, x, want[u])
		}
	}
	a.clear()
}
