package index

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

// paper is an in-memory Scratch.
type paper struct{ b []byte }

func newPaper() (Scratch, error) { return &paper{}, nil }

func (p *paper) WriteAt(b []byte, at int64) (int, error) {
	p.b = slices.Grow(p.b, max(0, int(at)+len(b)-len(p.b)))[:max(len(p.b), int(at)+len(b))]
	return copy(p.b[at:], b), nil
}

func (p *paper) ReadAt(b []byte, at int64) (int, error) {
	n := copy(b, p.b[min(at, int64(len(p.b))):])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func randomEdges(rng *rand.Rand, n, nodes int) []Edge {
	edges := make([]Edge, n)
	for i := range edges {
		edges[i] = Edge{U: ID(rng.IntN(nodes)) * 0x10001, V: ID(rng.IntN(nodes)) * 0x301, Weight: 1}
		if rng.IntN(2) == 0 {
			edges[i].Weight, edges[i].Time = float32(i+1), -int64(i)
		}
	}
	return edges
}

func TestRadixSort(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, directed := range []bool{false, true} {
		for _, n := range []int{0, 1, 2, 3, 100, 5000} {
			edges := randomEdges(rng, n, 1+n/4)
			want := slices.Clone(edges)
			slices.SortStableFunc(want, func(a, b Edge) int { return cmp.Compare(a.pair(directed), b.pair(directed)) })
			if got, _ := radixSort(edges, make([]Edge, n), directed); !slices.Equal(got, want) {
				t.Errorf("directed %v: %d edges are not sorted", directed, n)
			}
		}
	}
}

// TestRuns verifies that for any number of runs the merge returns every edge, ordered by pairs, and the edges of a
// pair in the order of addition, those of the base first.
func TestRuns(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for i, limit := range []int{0, 1, 7, 99, 100, 101, 5000} {
		directed := i%2 == 0
		edges := randomEdges(rng, 1000, 20)
		if limit == 99 { // some runs with endpoints only
			for i := range edges[:500] {
				edges[i].Weight, edges[i].Time = 1, 0
			}
		}
		base := []Edge{{U: 0, V: 7, Weight: 3}, {U: 1, V: edges[0].V + 2, Weight: 9}}
		want := slices.Clone(base)
		r := runs{directed: directed, limit: limit, scratch: newPaper}
		for _, e := range edges {
			if err := r.add(e); err != nil {
				t.Fatal(err)
			}
			e.U++
			want = append(want, e)
		}
		if err := r.sort(context.Background(), func(e *Edge) { e.U++ }); err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(want, func(a, b Edge) int { return cmp.Compare(a.pair(directed), b.pair(directed)) })
		for range 2 {
			var got []Edge
			old := 0
			err := r.merged(slices.Values(base), func(e Edge, loaded bool) error {
				if !loaded {
					old++
				}
				got = append(got, e)
				return nil
			})
			if err != nil || !slices.Equal(got, want) || old != len(base) {
				t.Errorf("runs of %d: %d edges, want %d, %v", limit, len(got), len(want), err)
			}
		}
		if n := edgesIn(&r); n != 1000 {
			t.Errorf("%d edges loaded", n)
		}
	}
}

// full is a Scratch without space.
type full struct{ paper }

var errFull = errors.New("no space")

func (*full) WriteAt([]byte, int64) (int, error) { return 0, errFull }

// short is a Scratch that loses all data written to it.
type short struct{ paper }

func (*short) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }

func TestRunsWithoutSpace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func() (Scratch, error)
		want error
	}{
		{"no file", func() (Scratch, error) { return nil, errFull }, errFull},
		{"no space", func() (Scratch, error) { return &full{}, nil }, errFull},
		{"lost", func() (Scratch, error) { return &short{}, nil }, io.EOF},
	} {
		bulk := New(soundMeta()).Bulk(BulkOptions{Run: 2, Scratch: c.make})
		var err error
		for i := int64(0); i < 10 && err == nil; i++ {
			err = bulk.Edge(Int(i), Int(i+1), 1, 0)
		}
		if err == nil {
			_, _, err = bulk.Result(context.Background(), 1, func(int64) error { return nil })
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// edgesIn returns the number of edges of a list, in memory and in the scratch file.
func edgesIn(r *runs) int {
	n := len(r.tail)
	for _, s := range r.spilled {
		n += s.edges
	}
	return n
}
