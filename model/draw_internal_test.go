package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"kith/model/internal/spectral"
	"kith/model/nn"
)

// The candidates of a choice are not links of the source in the whole graph, occur once in their
// list, and those of the first kind are two steps away.
func TestDrawnCandidates(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		g := twoGroups(directed)
		hidden, err := drawEdges(rand.New(rand.NewPCG(1, 1)), g, 20)
		if err != nil {
			t.Fatal(err)
		}
		lacking := g.without(hidden)
		m := newModel(t, "default", "", 0)
		d := &drawing{
			config: &m.config, rng: rand.New(rand.NewPCG(2, 2)), whole: g, world: lacking.world(nil),
			links: hidden, each: 8, scale: m.config.scales(),
		}
		for _, e := range hidden {
			near, far := d.nearbyNodes(e[0])
			for i, v := range far {
				two := slices.ContainsFunc(lacking.Succ[e[0]], func(w ID) bool { return slices.Contains(lacking.Succ[w], v) })
				if v == e[0] || slices.Contains(g.Succ[e[0]], v) || slices.Contains(far[:i], v) || two != (i < near) {
					t.Errorf("%d gathers %v, the first %d of them near: %d does not belong there", e[0], far, near, v)
				}
			}
		}
		if err := d.addLinks(context.Background()); err != nil {
			t.Fatal(err)
		}
		if all := slices.Concat(d.out...); len(all) < 2*len(hidden) {
			t.Fatalf("%d choices of %d links", len(all), len(hidden))
		}
		for _, choices := range d.out { // a link shares its candidates among its choices
			rows := 1
			for _, c := range choices {
				if c.link != 0 || c.from != rows || c.to-c.from > 24/max(2, len(choices)) || c.x.Cols != m.config.rankLen() {
					t.Errorf("one of %d choices is %+v of %d rows", len(choices), c, c.x.Rows)
				}
				rows = c.to
			}
			if rows != choices[0].x.Rows {
				t.Errorf("%d rows are in choices, %d were read", rows, choices[0].x.Rows)
			}
		}
	}
}

// Links of a source that are read together have the same columns as links that are read alone.
func TestLinksBySource(t *testing.T) {
	t.Parallel()
	groups := bySource([][2]ID{{3, 1}, {2, 5}, {3, 4}, {2, 1}, {0, 9}})
	if want := [][]int{{0, 2}, {1, 3}, {4}}; !reflect.DeepEqual(groups, want) {
		t.Errorf("groups %v, want %v", groups, want)
	}
	g := twoGroups(false)
	source := ID(1)
	links := [][2]ID{{source, g.Succ[source][0]}, {source, g.Succ[source][1]}}
	lacking := g.without(links)
	m := newModel(t, "default", "", 0)
	read := func(links ...[2]ID) (rows [][]float32) { // of the links
		d := &drawing{
			config: &m.config, rng: rand.New(rand.NewPCG(2, 2)), whole: g, world: lacking.world(nil), links: links, each: 8, scale: m.config.scales(),
		}
		if err := d.addLinks(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, choices := range d.out {
			rows = append(rows, nn.Row(*choices[0].x, choices[0].link))
		}
		return rows
	}
	together := read(links...)
	if alone := slices.Concat(read(links[0]), read(links[1])); !reflect.DeepEqual(together, alone) {
		t.Errorf("columns %v of links read together, %v of links read alone", together, alone)
	}
}

// Edges without direction are learned from both ends, as many as the plan has samples.
func TestDrawnEnds(t *testing.T) {
	t.Parallel()
	const edges = newcomerEvery - 1 // too few for a newcomer
	for _, c := range []struct {
		directed      bool
		samples, want int
	}{{false, 2 * edges, 2 * edges}, {false, edges + 3, edges + 3}, {false, edges, edges}, {true, 2 * edges, edges}} {
		g := twoGroups(c.directed)
		fold, err := drawEdges(rand.New(rand.NewPCG(1, 1)), g, edges)
		if err != nil {
			t.Fatal(err)
		}
		m := newModel(t, "default", "", 0)
		ask := func(hidden [][2]ID) (World, error) { return g.without(hidden).world(nil), nil }
		drawn, _, err := m.drawChoices(context.Background(), rand.New(rand.NewPCG(2, 2)), g, [][][2]ID{fold},
			EdgePlan{Samples: c.samples, Negatives: 4}, nil, ask)
		if err != nil {
			t.Fatal(err)
		}
		pooled := 0 // each end has one choice among all nodes
		for _, choice := range drawn {
			if choice.poolWeight > 0 {
				pooled++
			}
		}
		if pooled != c.want {
			t.Errorf("directed %v, %d samples: %d ends of %d edges were drawn, want %d", c.directed, c.samples, pooled, edges, c.want)
		}
	}
}

// The choices do not depend on the number of processors.
func TestDrawingRepeats(t *testing.T) {
	g := twoGroups(false)
	var want []choice
	for _, n := range []int{1, 2, 5} {
		before := runtime.GOMAXPROCS(n)
		defer runtime.GOMAXPROCS(before)
		plan := EdgePlan{Samples: 60, Negatives: 4, Folds: 5}
		folds, err := drawFolds(rand.New(rand.NewPCG(1, 1)), g, plan)
		if err != nil {
			t.Fatal(err)
		}
		m := newModel(t, "default", "", 0)
		ask := func(hidden [][2]ID) (World, error) { return g.without(hidden).world(nil), nil }
		nodes, err := spectral.NewPlan(context.Background(), spectral.Features{}, g.world(nil), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := m.drawChoices(context.Background(), rand.New(rand.NewPCG(2, 2)), g, folds, plan, nodes, ask)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d processors draw other choices", n)
		}
	}
}

// A fold that cannot be read ends the drawing, and no other fold is opened.
func TestDrawingStops(t *testing.T) {
	t.Parallel()
	g := twoGroups(false)
	m := newModel(t, "default", "", 0)
	damaged, opened := errors.New("damaged"), 0
	without := func(hidden [][2]ID) (World, error) {
		if opened++; len(hidden) > 0 {
			return World{}, damaged
		}
		return g.world(nil), nil
	}
	if err := m.TrainEdges(context.Background(), g, EdgePlan{}, without); !errors.Is(err, damaged) || opened != 2 {
		t.Errorf("error %v, want %v, after %d worlds", err, damaged, opened)
	}
}

// Newcomers have no edges in the world of a fold, and the drawn links are links of newcomers.
func TestNewcomers(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		g := twoGroups(directed)
		edges, links := newcomers(rand.New(rand.NewPCG(1, 1)), g, 5*newcomerEvery)
		if len(edges) == 0 || len(edges) > newcomerHidden*5*newcomerEvery || len(links) == 0 || len(links) > 5*newcomerLinks {
			t.Fatalf("%d edges and %d links of newcomers", len(edges), len(links))
		}
		rest := g.without(edges)
		for _, e := range links {
			if u := e[0]; slices.ContainsFunc(append(slices.Clone(rest.Succ[u]), rest.Pred[u]...), func(v ID) bool { return v != u }) {
				t.Errorf("the newcomer %d has edges to %v and from %v", u, rest.Succ[u], rest.Pred[u])
			}
			if !slices.Contains(g.Succ[e[0]], e[1]) || e[0] == e[1] {
				t.Errorf("%v is no link", e)
			}
		}
	}
}

// After a training, the vectors and the ranker survive a round trip through a document, and
// contexts contain the columns of the vectors.
func TestTrainedVectors(t *testing.T) {
	t.Parallel()
	g := twoGroups(false)
	m := newModel(t, "default", "", 0)
	ask := func(hidden [][2]ID) (World, error) { return g.without(hidden).world(nil), nil }
	if err := m.TrainEdges(context.Background(), g, EdgePlan{Samples: 60}, ask); err != nil {
		t.Fatal(err)
	}
	again, err := Decode(encode(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if !Same(m.Scorer(), again.Scorer()) {
		t.Error("what was decoded answers otherwise")
	}
	pairs := Pairs(1, []ID{2, 25})
	x, err := m.Scorer().Contexts(context.Background(), g.world(nil), pairs)
	if err != nil {
		t.Fatal(err)
	}
	want := nn.Resize(m.scratch.x, len(pairs), spectral.Len(false))
	tape := &scratch{vectors: m.belief.vectors}
	tape.open(g.world(nil))
	tape.spectral.Columns(tape.vectors, &tape.features, pairs, []float64{-1, -1}, want, 0)
	n := m.config.width()
	for i := range pairs {
		if got := x[i*n+1 : i*n+1+spectral.Len(false)]; !slices.EqualFunc(got, nn.Row(want, i), func(a, b float32) bool { return nearly(float64(a), float64(b)) }) {
			t.Errorf("%v: columns %v, want %v", pairs[i], got, nn.Row(want, i))
		}
	}
}
