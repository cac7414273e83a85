package spill

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kith/ppr"
)

// paper is an in-memory Scratch.
type paper struct{ b []byte }

func newPaper() (Scratch, error) { return &paper{}, nil }

// WriteAt implements [io.WriterAt].
func (p *paper) WriteAt(b []byte, at int64) (int, error) {
	p.b = append(p.b, make([]byte, max(0, int(at)+len(b)-len(p.b)))...)
	return copy(p.b[at:], b), nil
}

// ReadAt implements [io.ReaderAt].
func (p *paper) ReadAt(b []byte, at int64) (int, error) {
	return bytes.NewReader(p.b).ReadAt(b, at)
}

func randomEdges(rng *rand.Rand, n, nodes, relations int) []Edge {
	edges := make([]Edge, n)
	for i := range edges {
		edges[i] = Edge{Ends: Ends{ppr.ID(rng.IntN(nodes)) * 0x10001, ppr.ID(rng.IntN(nodes)) * 0x301}, Weight: 1}
		if relations > 1 {
			edges[i].Relation = uint16(rng.IntN(relations)) * 0x101
		}
		if rng.IntN(2) == 0 {
			edges[i].Weight, edges[i].Time = float32(i+1), -int64(i)
		}
	}
	return edges
}

// someDirections returns directions for randomEdges with one relation and with several.
func someDirections() []Directions {
	several := make(Directions, 9*0x101+1)
	for i := range several {
		several[i] = i%2 == 1
	}
	return []Directions{{false}, {true}, several}
}

// inOrder compares edges by pair and relation.
func inOrder(directed Directions) func(a, b Edge) int {
	return func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.Pair(directed), b.Pair(directed)), cmp.Compare(a.Relation, b.Relation))
	}
}

// relationsOf returns the number of relations that randomEdges can have.
func relationsOf(directed Directions) int { return 1 + len(directed)/0x101 }

func TestRadixSort(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, directed := range someDirections() {
		for _, n := range []int{0, 1, 2, 3, 100, 5000} {
			edges := randomEdges(rng, n, 1+n/4, relationsOf(directed))
			want := slices.Clone(edges)
			slices.SortStableFunc(want, inOrder(directed))
			if got, _ := RadixSort(edges, make([]Edge, n), directed); !slices.Equal(got, want) {
				t.Errorf("directed %v: %d edges are not sorted", directed, n)
			}
		}
	}
}

// TestEdges verifies that a list returns the edges that were added, whichever of them are plain, and
// that Growth says what they add to Bytes.
func TestEdges(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for _, plain := range []int{0, 1, 50, 100} {
		want := randomEdges(rng, 100, 9, 2)
		for i := range want[:plain] {
			want[i] = Edge{Ends: want[i].Ends, Weight: 1}
		}
		var l Edges
		for range 2 {
			for i, e := range want {
				bytes := l.Bytes() + l.Growth(&e)
				if l.Add(e); l.Bytes() != bytes || l.Len() != i+1 {
					t.Errorf("%d plain: edge %d makes %d bytes, want %d", plain, i, l.Bytes(), bytes)
				}
			}
			for i, e := range want {
				if l.At(i) != e {
					t.Errorf("%d plain: edge %d is %v, want %v", plain, i, l.At(i), e)
				}
			}
			l.Clear()
		}
	}
}

// TestSortedByU verifies that a list of edges that ascend by V is sorted, in one run and in several.
func TestSortedByU(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	for _, limit := range []int64{0, 1000} {
		for _, relations := range []int{1, 3} {
			directed := slices.Repeat(Directions{true}, 1+relations*0x101)
			want := randomEdges(rng, 500, 20, relations)
			order := inOrder(directed)
			slices.SortFunc(want, order)
			want = slices.CompactFunc(want, func(a, b Edge) bool { return order(a, b) == 0 })
			byV := slices.Clone(want)
			slices.SortStableFunc(byV, func(a, b Edge) int { return cmp.Compare(a.V, b.V) })
			l := Sorted{Directed: directed, ByU: true, Limit: limit, File: File{Create: newPaper}}
			for _, e := range byV {
				if err := l.Add(e); err != nil {
					t.Fatal(err)
				}
			}
			l.Sort()
			var got []Edge
			var err error
			in := l.Reader(nil, &err)
			for e, _, ok := in.Next(); ok; e, _, ok = in.Next() {
				got = append(got, e)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("limit %d, %d relations: not sorted, %v", limit, relations, err)
			}
		}
	}
}

// TestSorted verifies that for any number of runs the merge returns every edge, ordered by
// pair and relation, and equal edges in the order of addition, the edges of the base first.
func TestSorted(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for i, limit := range []int{0, 1, 7, 99, 100, 101, 5000} {
		directed := someDirections()[i%3]
		edges := randomEdges(rng, 1000, 20, relationsOf(directed))
		if limit == 99 { // some runs with endpoints only
			for i := range edges[:500] {
				edges[i].Weight, edges[i].Relation, edges[i].Time = 1, 0, 0
			}
		}
		base := []Edge{{Ends: Ends{0, 7}, Weight: 3}, {Ends: Ends{1, edges[0].V + 2}, Weight: 9}}
		want := slices.Concat(base, edges)
		slices.SortStableFunc(want, inOrder(directed))
		l := Sorted{Directed: directed, Limit: int64(limit) * 2 * fullBytes, File: File{Create: newPaper}}
		for _, e := range edges {
			if err := l.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		l.Sort()
		for range 2 {
			var got []Edge
			var err error
			left, old := base, 0
			in := l.Reader(func() (e Edge, ok bool) {
				if len(left) == 0 {
					return e, false
				}
				e, left = left[0], left[1:]
				return e, true
			}, &err)
			for e, list, ok := in.Next(); ok; e, list, ok = in.Next() {
				if list == 0 {
					old++
				}
				got = append(got, e)
			}
			if err != nil || !slices.Equal(got, want) || old != len(base) {
				t.Errorf("runs of %d: %d edges, want %d, %v", limit, len(got), len(want), err)
			}
		}
	}
}

// TestMerger verifies that the merge of sorted lists is their concatenation, sorted stably.
func TestMerger(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type item struct{ value, list int }
		less := func(a, b *item) bool { return a.value < b.value }
		var lists []func() (item, bool)
		var want, got []item
		for list, values := range rapid.SliceOfN(rapid.SliceOf(rapid.IntRange(0, 9)), 0, 9).Draw(t, "lists") {
			slices.Sort(values)
			for _, v := range values {
				want = append(want, item{v, list})
			}
			lists = append(lists, func() (i item, ok bool) {
				if len(values) == 0 {
					return i, false
				}
				i, values = item{values[0], list}, values[1:]
				return i, true
			})
		}
		slices.SortStableFunc(want, func(a, b item) int { return cmp.Compare(a.value, b.value) })
		m := NewMerger(lists, less)
		for i, list, ok := m.Next(); ok; i, list, ok = m.Next() {
			if list != i.list {
				t.Fatalf("%v is from list %d", i, list)
			}
			got = append(got, i)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
