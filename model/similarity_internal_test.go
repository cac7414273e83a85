package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kith/model/internal/column"
)

// drawFeatures draws feature vectors of up to three numbers; some nodes have no vector.
func drawFeatures(t *rapid.T, n int) func(ID) []float32 {
	all := make([][]float32, n)
	for u := range all {
		all[u] = rapid.SliceOfN(rapid.Float32Range(-3, 3), 0, 3).Draw(t, "features")
	}
	return func(u ID) []float32 { return all[u] }
}

// unitVector returns a feature vector of three numbers scaled to length 1, or zeros.
func unitVector(f func(ID) []float32, u ID) []float64 {
	v, length := make([]float64, 3), 0.0
	for i, x := range f(u) {
		v[i] = float64(x)
		length = math.Hypot(length, v[i])
	}
	for i := range v {
		if length > 0 {
			v[i] /= length
		}
	}
	return v
}

func cosineOf(a, b []float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// similarity fills the block of a pair. Another source has been read before.
func similarity(w World, p Pair, x []float32) {
	var s column.Similarity
	var f column.Features
	f.Open(w)
	for _, source := range []ID{p.Target, p.Source} {
		s.Read(&f, source)
		s.Columns(p.Target, x)
	}
}

func TestSimilarity(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := drawMesh(t)
		f := drawFeatures(t, len(g.Succ))
		p := Pair{Source: ID(rapid.IntRange(0, len(g.Succ)-1).Draw(t, "v")), Target: ID(rapid.IntRange(0, len(g.Succ)-1).Draw(t, "c"))}
		a, b := unitVector(f, p.Source), unitVector(f, p.Target)
		var l1, l2 float64
		for i := range a {
			l1 += math.Abs(a[i] - b[i])
			l2 += (a[i] - b[i]) * (a[i] - b[i])
		}
		want := [column.SimilarityLen]float64{column.SimCosine: cosineOf(a, b), column.SimManhattan: l1, column.SimEuclid: math.Sqrt(l2), column.SimLog: math.Log(l2 + 0.001)}
		compare := func(x []float64, nodes []ID, own ID) (best, mean float64) {
			for _, u := range nodes {
				if u != own {
					c := cosineOf(x, unitVector(f, u))
					best, mean = max(best, c), mean+c/float64(len(nodes)+1)
				}
			}
			return best, mean
		}
		want[column.SimNearest], want[column.SimMean] = compare(b, g.Succ[p.Source], p.Target)
		want[column.SimNearestIn], want[column.SimMeanIn] = compare(a, g.Pred[p.Target], p.Source)
		var got [column.SimilarityLen]float32
		similarity(g.world(f), p, got[:])
		for i := range want {
			if math.Abs(float64(got[i])-want[i]) > 1e-5 && (i != column.SimLog || l2 > 1e-9) {
				t.Fatalf("column %d of %v is %v, want %v", i, p, got[i], want[i])
			}
		}
	})
}

// Nodes without features, and worlds without features, have similarity 0.
func TestSimilarityWithoutFeatures(t *testing.T) {
	t.Parallel()
	f := map[ID][]float32{0: {1, 2}}
	for _, w := range []World{kite().world(nil), kite().world(func(u ID) []float32 { return f[u] })} {
		var got [column.SimilarityLen]float32
		similarity(w, Pair{Source: 1, Target: 3}, got[:])
		want := [column.SimilarityLen]float32{column.SimLog: float32(math.Log(1e-3))}
		if got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// Of many neighbours only those with the lowest ids are compared.
func TestSimilarityIsBounded(t *testing.T) {
	t.Parallel()
	g := newMesh(column.MaxCompared+3, true)
	for u := ID(2); int(u) < len(g.Succ); u++ {
		g.add(0, u)
	}
	w := g.world(func(u ID) []float32 {
		if u == 1 || int(u) == len(g.Succ)-1 {
			return []float32{1}
		}
		return nil
	})
	var got [column.SimilarityLen]float32
	if similarity(w, Pair{Source: 0, Target: 1}, got[:]); got[column.SimNearest] != 0 || got[column.SimMean] != 0 {
		t.Errorf("the last of %d neighbours counts: %v", len(g.Succ[0]), got)
	}
	g.Succ[0] = slices.Delete(g.Succ[0], 0, 1)
	if similarity(w, Pair{Source: 0, Target: 1}, got[:]); got[column.SimNearest] != 1 {
		t.Errorf("the last of %d neighbours does not count: %v", len(g.Succ[0]), got)
	}
}

// The difference block is the absolute difference of the entries. The entries of a node without
// features are zeros.
func TestDifferenceBlock(t *testing.T) {
	t.Parallel()
	f := map[ID][]float32{0: {1, -2}, 1: {-1, 4}}
	w := kite().world(func(u ID) []float32 { return f[u] })
	c := config{FeatureLen: 2, Blocks: blockDifference}
	tape := new(scratch)
	if err := c.contexts(t.Context(), w, []Pair{{Source: 0, Target: 1}, {Source: 0, Target: 2}, {Source: 1, Target: 0}}, tape); err != nil {
		t.Fatal(err)
	}
	if want := []float32{2, 6, 1, 2, 2, 6}; !slices.Equal(tape.x.Data, want) {
		t.Errorf("%v, want %v", tape.x.Data, want)
	}
}

// BenchmarkSimilarity compares a source with 1,000 nodes that have 20 of 3,000 words and 30
// neighbours.
func BenchmarkSimilarity(b *testing.B) {
	const nodes, words, each, links = 1000, 3000, 20, 30
	rng := rand.New(rand.NewPCG(1, 1))
	g := newMesh(nodes, false)
	f := make([][]float32, nodes)
	for u := range f {
		f[u] = make([]float32, words)
		for range each {
			f[u][rng.IntN(words)] = 1
		}
		for range links / 2 {
			g.add(ID(u), ID(rng.IntN(nodes)))
		}
	}
	w := g.world(func(u ID) []float32 { return f[u] })
	var x [column.SimilarityLen]float32
	var s column.Similarity
	var read column.Features
	for b.Loop() {
		read.Open(w)
		s.Read(&read, 0)
		for u := ID(1); u < nodes; u++ {
			s.Columns(u, x[:])
		}
	}
}
