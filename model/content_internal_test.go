package model

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/model/internal/graphtest"
	"kith/model/internal/spectral"
)

// worded returns a graph whose nodes have feature vectors of zeros and ones, and the same graph
// whose nodes have words in their place.
func worded() (g *mesh, features, words World) {
	g, short := groups()
	features, words = g.world(nil), g.world(nil)
	const step = NumWords / 12
	words.Words = func(u ID, to []uint32) []uint32 {
		for i, x := range short(u) {
			if x != 0 {
				to = append(to, uint32(step*i))
			}
		}
		return to
	}
	features.Features = func(u ID) []float32 {
		long := make([]float32, NumWords)
		for _, w := range words.Words(u, nil) {
			long[w] = 1
		}
		return long
	}
	return g, features, words
}

// pairsOf returns all pairs of a few sources.
func pairsOf(n ID) (all []Pair) {
	for u := ID(0); u < n; u += 7 {
		for v := range n {
			all = append(all, Pair{Source: u, Target: v})
		}
	}
	return all
}

func contexts(t *testing.T, s *Scorer, w World) []float32 {
	t.Helper()
	x, err := s.Contexts(context.Background(), w, pairsOf(ID(w.Graph.NumNodes())))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Words count as feature vectors of zeros and ones do, bit by bit, and a model without words does
// not see them.
func TestWordsAreFeatures(t *testing.T) {
	t.Parallel()
	g, features, words := worded()
	long, short := create(t, Spec{FeatureLen: NumWords}), create(t, Spec{Words: true})
	if !slices.Equal(contexts(t, long.Scorer(), features), contexts(t, short.Scorer(), words)) {
		t.Error("contexts of words differ from contexts of feature vectors")
	}
	plan, err := short.config.planned(g, words)
	if err != nil {
		t.Fatal(err)
	}
	want, err := long.config.planned(g, features)
	if err != nil {
		t.Fatal(err)
	}
	short.belief.vectors, long.belief.vectors = plan, want
	short.scorer, long.scorer = nil, nil
	if !slices.Equal(contexts(t, long.Scorer(), features), contexts(t, short.Scorer(), words)) {
		t.Error("contexts of vectors of words differ from those of feature vectors")
	}
	plain := create(t, Spec{})
	if !slices.Equal(contexts(t, plain.Scorer(), words), contexts(t, plain.Scorer(), g.world(nil))) {
		t.Error("a model without words reads them")
	}
	far, near := make([]ID, 0, 40), func(s *Scorer, w World) []ID {
		all, err := s.Similar(context.Background(), w, 3, 5, func(ID) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if a, b := near(create(t, Spec{FeatureLen: NumWords}).Scorer(), features), near(create(t, Spec{Words: true}).Scorer(), words); !slices.Equal(a, b) {
		t.Errorf("by words %v are similar, by feature vectors %v", b, a)
	}
	for u := range ID(40) {
		far = append(far, u)
	}
	if got := short.Scorer().Promising(words, 3, far, 10); len(got) != 10 || slices.ContainsFunc(got[:3], func(u ID) bool { return u >= 20 }) {
		t.Errorf("%v are promising for a node of the first group", got)
	}
	if got := plain.Scorer().Promising(words, 3, far, 10); got != nil {
		t.Errorf("%v are promising for a model without words", got)
	}
}

// planned returns the vectors of a training.
func (c *config) planned(g *mesh, w World) (*spectral.Vectors, error) {
	p, _, err := c.planVectors(context.Background(), w, 64<<20)
	if err != nil {
		return nil, err
	}
	return vectorsIn(context.Background(), rand.New(rand.NewPCG(1, 1)), p, w, nil)
}

// Words and feature vectors together weigh the same.
func TestWordsWithFeatures(t *testing.T) {
	t.Parallel()
	g := newMesh(3, false, [2]ID{0, 1})
	w := g.world(func(u ID) []float32 { return [][]float32{{3, 4}, {30, 40}, {-4, 3}}[u] })
	w.Words = func(u ID, to []uint32) []uint32 { return append(to, [][]uint32{{1, 2}, {7, 9}, {1, 2}}[u]...) }
	alike := create(t, Spec{FeatureLen: 2, Words: true}).config.content().Closeness(w, 0)
	for u, want := range []float32{1, 0.5, 0.5} {
		if got := alike(ID(u)); got < want-1e-6 || got > want+1e-6 {
			t.Errorf("node %d has cosine %v, want %v", u, got, want)
		}
	}
}

// A trained model ranks a node without edges by its words, also one that was added later, and keeps
// that when it is stored.
func TestWordsOfNewNodes(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		_, _, words := worded()
		read := words.Words
		g := &mesh{Mesh: graphtest.TwoGroups(directed)}
		m := create(t, Spec{Words: true, Seed: 7})
		without := func(hidden [][2]ID) (World, error) {
			w := g.without(hidden).world(nil)
			w.Words = read
			return w, nil
		}
		if err := m.TrainEdges(context.Background(), g, EdgePlan{Epochs: 6}, without); err != nil {
			t.Fatal(err)
		}
		stored, err := Decode(encode(t, m))
		if err != nil {
			t.Fatal(err)
		}
		if !stored.Words() || !Same(m.Scorer(), stored.Scorer()) {
			t.Errorf("directed %v: the model differs after it was stored", directed)
		}
		later := newMesh(42, directed)
		for u, row := range g.Succ {
			for _, v := range row {
				if directed || ID(u) < v {
					later.add(ID(u), v)
				}
			}
		}
		w := later.world(nil)
		w.Words = func(u ID, to []uint32) []uint32 {
			const step = NumWords / 12
			switch u {
			case 40:
				return append(to, 0, step, 2*step, 3*step) // words of the first group
			case 41:
				return append(to, 8*step, 9*step, 10*step, 11*step) // words of the second
			}
			return read(u, to)
		}
		right := 0
		for u := range ID(40) {
			scores, err := stored.Scorer().Score(context.Background(), w, Pairs(u, []ID{40, 41}))
			if err != nil {
				t.Fatal(err)
			}
			if (scores[0].Score > scores[1].Score) == (u < 20) {
				right++
			}
		}
		if right < 36 {
			t.Errorf("directed %v: %d of 40 nodes prefer the new node of their group", directed, right)
		}
	}
}

// A model gets words without losing what it remembers of pairs.
func TestWithWords(t *testing.T) {
	t.Parallel()
	m := create(t, Spec{Seed: 7})
	if _, err := m.Observe(Outcome{Pair: Pair{Source: 1, Target: 2}, Reward: 1}); err != nil {
		t.Fatal(err)
	}
	n, err := m.WithWords()
	if err != nil {
		t.Fatal(err)
	}
	if !n.Words() || m.Words() || n.Rounds() != 1 || n.config.width() <= m.config.width() {
		t.Errorf("words %v, %d rounds, %d columns", n.Words(), n.Rounds(), n.config.width())
	}
	if want := create(t, Spec{Words: true, Seed: 7}).config.columns(); n.config.columns() != want {
		t.Errorf("columns %s, want %s", n.config.columns(), want)
	}
	if again, err := n.WithWords(); err != nil || again != n {
		t.Errorf("a model with words got them again: %v", err)
	}
	if heuristic := create(t, Spec{Policy: "prb"}); heuristic.Words() {
		t.Error("policy prb reads words")
	}
}
