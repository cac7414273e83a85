package model

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
)

// Retrieve keeps the candidates that score best, and the scores that they have among all.
func TestRetrieve(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m, w := trainedGroups(t)
	s := m.Scorer()
	var candidates []ID
	for u := range ID(w.Graph.NumNodes()) {
		candidates = append(candidates, u)
	}
	for _, set := range []Start{{Node: []ID{3}, Value: []float64{1}}, {Node: []ID{3, 9}, Value: []float64{0.5, 0.5}}} {
		all, err := s.ScoreSet(ctx, w, set, candidates)
		if err != nil {
			t.Fatal(err)
		}
		n := len(candidates) / 2
		chosen, in, err := s.Retrieve(ctx, w, set, candidates, n)
		if err != nil || len(chosen) < n || len(chosen) > n*len(set.Node) || !slices.IsSorted(chosen) {
			t.Fatalf("%d of %d for %v, %v: %v", len(chosen), len(candidates), set.Node, err, chosen)
		}
		some, err := s.ScoreSet(ctx, in, set, chosen)
		if err != nil {
			t.Fatal(err)
		}
		best := candidates[slices.IndexFunc(all, func(s Score) bool { return s == slices.MaxFunc(all, compareScores) })]
		if !slices.Contains(chosen, best) {
			t.Errorf("the best candidate of %v, %d, is not among %v", set.Node, best, chosen)
		}
		for i, u := range chosen {
			if some[i] != all[u] {
				t.Errorf("candidate %d of %v has %+v, among all %+v", u, set.Node, some[i], all[u])
			}
		}
	}
}

func compareScores(a, b Score) int {
	switch {
	case a.Score < b.Score:
		return -1
	case a.Score > b.Score:
		return 1
	}
	return 0
}

// Policies without a ranker score all candidates.
func TestRetrieveAll(t *testing.T) {
	t.Parallel()
	w, candidates := kite().world(nil), []ID{1, 2, 3, 4, 5}
	for _, policy := range Policies() {
		s := create(t, Spec{Policy: policy, Seed: 1}).Scorer()
		source := Start{Node: []ID{0}, Value: []float64{1}}
		got, _, err := s.Retrieve(context.Background(), w, source, candidates, 2)
		if err != nil {
			t.Fatal(policy, err)
		}
		if ranks := policy == "default"; ranks != (s.Retrieves(w, source) > 0) || ranks != (len(got) == 2) {
			t.Errorf("%s: %v, retrieves %v", policy, got, s.Retrieves(w, source))
		}
	}
}

// Where the forecast answers alone, all candidates are scored. Where it is added to the ranker, its
// best candidate is retrieved too.
func TestRetrieveForecast(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, weight := range []float64{alone, 0, 1} {
		m, w, pairs := gated(t, weight, 0)
		s, source := m.Scorer(), Start{Node: []ID{pairs[0].Source}, Value: []float64{1}}
		if few := s.Retrieves(w, source); (few == 0) != (weight == alone) {
			t.Errorf("weight %v: retrieves %d", weight, few)
		}
		var candidates []ID
		for v := range ID(w.Graph.NumNodes()) {
			if !linked(w.Graph, source.Node[0], v) && v != source.Node[0] {
				candidates = append(candidates, v)
			}
		}
		n := len(candidates) / 4
		chosen, _, err := s.Retrieve(ctx, w, source, candidates, n)
		if err != nil {
			t.Fatal(err)
		}
		if weight == alone {
			n = len(candidates)
		}
		odds := s.forecastOf(w, source.Node[0], candidates)
		if len(chosen) != n || (odds != nil) != (weight != 0) {
			t.Fatalf("weight %v: %d of %d candidates, want %d; forecast %v", weight, len(chosen), len(candidates), n, odds)
		}
		if best := slices.Index(odds, slices.Max(append(odds, 0))); weight != 0 && !slices.Contains(chosen, candidates[best]) {
			t.Errorf("weight %v: the best by the forecast, %d, is not among %v", weight, candidates[best], chosen)
		}
	}
}

// The lists take turns, and a place that several lists have counts once.
func TestChoose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lists [][]uint32
		n     int
		want  []bool
	}{
		{[][]uint32{{4, 1, 0}, {4, 2}}, 3, []bool{false, true, true, false, true}},
		{[][]uint32{{}, {3, 2, 1}}, 2, []bool{false, false, true, true, false}},
		{[][]uint32{{4}}, 3, []bool{true, true, false, false, true}},
		{[][]uint32{{1}}, 9, []bool{true, true, true, true, true}},
		{nil, 2, []bool{true, true, false, false, false}},
	} {
		got := make([]bool, 5)
		if choose(got, c.lists, c.n); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v, %d: %v, want %v", c.lists, c.n, got, c.want)
		}
	}
}

// Nodes with an edge to the same node, or from the same node, are siblings; one among few counts
// more.
func TestSiblings(t *testing.T) {
	t.Parallel()
	g := newMesh(7, true, [2]ID{0, 1}, [2]ID{0, 2}, [2]ID{3, 1}, [2]ID{4, 0}, [2]ID{4, 5}, [2]ID{4, 6}, [2]ID{1, 5})
	got := siblingsOf(g, 1)
	if want := [2]map[ID]float32{{1: 0.5, 4: 0.5}, {1: 1.5, 2: 0.5}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// notedMesh is a mesh that keeps what is computed of it.
type notedMesh struct {
	*mesh
	notes sync.Map
}

func (g *notedMesh) Notes() *sync.Map { return &g.notes }

// The most popular candidates are the same whether or not the graph keeps the popular nodes.
func TestMostLinked(t *testing.T) {
	t.Parallel()
	const nodes = 3 * maxPopular
	rng := rand.New(rand.NewPCG(1, 2))
	g := newMesh(nodes, false)
	for range 2 * nodes {
		g.add(ID(rng.IntN(nodes/2)), ID(float64(nodes)*rng.Float64()*rng.Float64()))
	}
	var all []ID
	for v := range ID(nodes) {
		all = append(all, v)
	}
	kept := &notedMesh{mesh: g}
	for _, candidates := range [][]ID{all, all[nodes/2:], all[nodes/3:], all[:nodes/8], all[nodes-9:], nil} {
		for _, n := range []int{0, 1, 37, 5000} {
			want := mostLinked(g, candidates, n)
			for range 3 {
				if got := mostLinked(kept, candidates, n); !slices.Equal(got, want) {
					t.Errorf("%d of %d candidates: %v, want %v", n, len(candidates), got, want)
				}
			}
		}
	}
	if popular := popularOf(kept).find(); len(popular) != maxPopular {
		t.Errorf("%d popular nodes are kept, want %d", len(popular), maxPopular)
	}
}
