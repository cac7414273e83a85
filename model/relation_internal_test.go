package model

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/graphtest"
	"kith/model/internal/rules"
	"kith/model/nn"
)

// The relations of a made social graph.
const (
	follows = iota
	likes
	hides
)

var socialKinds = []bool{true, true, true}

// socialEdges returns edges of people in camps who follow each other, like what people whom they
// follow like, and hide what the other camps like, and the number of nodes. Things come after the
// people.
func socialEdges(rng *rand.Rand, people, things int) (all []TypedEdge, n int) {
	const camps = 4
	add := func(u, v int, relation uint16) {
		if e := (TypedEdge{U: ID(u), V: ID(v), Relation: relation}); u != v && !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	thing := func(camp int) int { return people + camp + camps*rng.IntN(things/camps) }
	for u := range people {
		for range 5 {
			add(u, u%camps+camps*rng.IntN(people/camps), follows)
		}
		for range 6 {
			add(u, thing(u%camps), likes)
		}
		for range 3 {
			add(u, thing((u+1+rng.IntN(camps-1))%camps), hides)
		}
	}
	return all, people + things
}

// relationsModel returns a model that has learned a part of a social graph, the world of the likes,
// and the likes that are left out.
func relationsModel(t *testing.T) (*Model, World, []TypedEdge) {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 8))
	all, n := socialEdges(rng, 160, 80)
	var rest, out []TypedEdge
	for _, e := range all {
		if e.Relation == likes && rng.IntN(8) == 0 {
			out = append(out, e)
		} else {
			rest = append(rest, e)
		}
	}
	m := newModel(t, "default", "", 0)
	g := TypedGraph{Nodes: n, Directed: socialKinds, Edges: slices.Values(rest)}
	if err := m.TrainRelations(context.Background(), g, EdgePlan{}, nil); err != nil {
		t.Fatal(err)
	}
	mesh := graphtest.New(n, true)
	for _, e := range rest {
		if e.Relation == likes {
			mesh.Add(e.U, e.V)
		}
	}
	return m, World{Graph: mesh, Typed: rules.NewTable(n, socialKinds, slices.Values(rest)), Head: 2 * likes}, out
}

// likedScores scores all things for a person.
func likedScores(t *testing.T, s *Scorer, w World, u ID) []Score {
	t.Helper()
	var things []ID
	for v := ID(160); v < ID(w.Graph.NumNodes()); v++ {
		things = append(things, v)
	}
	scores, err := s.Score(context.Background(), w, Pairs(u, things))
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

// A model that has learned relations ranks what a person will like by the likes of the people whom
// the person follows, and better than by popularity. A copy answers the same, to the bit.
func TestTrainRelations(t *testing.T) {
	t.Parallel()
	m, w, out := relationsModel(t)
	s := m.Scorer()
	if !s.Relational() || s.Basis() != basisModel {
		t.Fatalf("the scorer is based on %s", s.Basis())
	}
	copied, err := Decode(encode(t, m))
	if err != nil {
		t.Fatal(err)
	}
	cloned, err := m.Clone()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range out {
		scores := likedScores(t, s, w, e.U)
		for _, other := range []*Model{copied, cloned} {
			if again := likedScores(t, other.Scorer(), w, e.U); !slices.Equal(again, scores) {
				t.Fatalf("a copy scores %v, want %v", again, scores)
			}
		}
	}
	if own, popular := likedRanks(t, s, w, out); own < 1.3*popular {
		t.Errorf("mrr %.3f, by popularity %.3f of %d links", own, popular, len(out))
	}
}

// likedRanks returns the MRR of likes that are left out, by a scorer and by popularity.
func likedRanks(t *testing.T, s *Scorer, w World, out []TypedEdge) (own, popular float64) {
	t.Helper()
	known := w.Typed.(*rules.Table)
	for _, e := range out {
		scores := likedScores(t, s, w, e.U)
		rank := func(score func(i int) float64) float64 {
			r, at := 1.0, int(e.V)-160
			for i := range scores {
				if _, ok := slices.BinarySearch(known.Row(e.U, w.Head), ID(160+i)); !ok && score(i) > score(at) {
					r++
				}
			}
			return 1 / r
		}
		own += rank(func(i int) float64 { return scores[i].Score }) / float64(len(out))
		popular += rank(func(i int) float64 { return float64(len(known.Row(ID(160+i), 2*likes+1))) }) / float64(len(out))
		for i := range scores {
			if p := scores[i].Score; !(p > 0 && p < 1) {
				t.Fatalf("score %v", p)
			}
		}
	}
	return own, popular
}

// What Reached has found scores the same, to the bit, as the evidence that is read again, for the
// question that it was found for and for others.
func TestFound(t *testing.T) {
	t.Parallel()
	m, w, out := relationsModel(t)
	s, ctx := m.Scorer(), context.Background()
	for _, e := range out[:20] {
		with := w
		with.Found = new(Found)
		near := s.Reached(with, e.U, 50, func(ID) bool { return true })
		if len(near) != 50 || len(with.Found.Nodes) <= len(near) {
			t.Fatalf("%d nodes of %d", len(near), len(with.Found.Nodes))
		}
		all := s.Reached(w, e.U, 1000, func(ID) bool { return true })
		if !slices.Equal(near, all[:50]) || !slices.Equal(slices.Sorted(slices.Values(all)), with.Found.Nodes) {
			t.Fatalf("the likely nodes %v are not the first of %v", near, all)
		}
		slices.Sort(near)
		other := w
		other.Head ^= 1
		for _, c := range []struct {
			w, with World
			pairs   []Pair
		}{
			{w, with, Pairs(e.U, near)},
			{w, with, Pairs(e.U, near[10:30])},
			{w, with, Pairs(e.U, append(near[:10:10], e.U))},
			{w, with, append(Pairs(e.U, near), Pairs(e.V, near)...)},
			{other, World{Graph: w.Graph, Typed: w.Typed, Head: other.Head, Found: with.Found}, Pairs(e.U, near)},
		} {
			want, err := s.Score(ctx, c.w, c.pairs)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.Score(ctx, c.with, c.pairs); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%v (%v), want %v", got, err, want)
			}
		}
	}
}

// The inputs of a link of a relation add up to the log-odds of its score.
func TestRelationInputs(t *testing.T) {
	t.Parallel()
	m, w, out := relationsModel(t)
	s, e := m.Scorer(), out[0]
	inputs, err := s.Inputs(context.Background(), w, Pair{Source: e.U, Target: e.V})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, in := range inputs {
		sum += in.Adds
	}
	score := likedScores(t, s, w, e.U)[e.V-160].Score
	if want := math.Log(score / (1 - score)); math.Abs(sum-want) > 0.02 {
		t.Errorf("the inputs add up to %v, want %v", sum, want)
	}
	near := s.Reached(w, e.U, 20, func(v ID) bool { return v >= 160 })
	if len(near) != 20 || s.Reached(World{Graph: w.Graph}, e.U, 20, func(ID) bool { return true }) != nil {
		t.Errorf("%d nodes are likely", len(near))
	}
}

// An outcome of a link of a relation teaches the model at once: the link that was clicked rises,
// the one that was not falls, and other links of other people keep their order.
func TestRelationOutcomes(t *testing.T) {
	t.Parallel()
	m, w, out := relationsModel(t)
	e, far := out[0], out[len(out)-1]
	before, beforeFar := likedScores(t, m.Scorer(), w, e.U), likedScores(t, m.Scorer(), w, far.U)
	pairs := Pairs(e.U, []ID{160, 161, 162})
	x, err := m.Scorer().Contexts(context.Background(), w, pairs)
	if err != nil {
		t.Fatal(err)
	}
	for chosen, reward := range []float64{1, 0} {
		if _, err := m.Observe(Outcome{Pair: pairs[chosen], Contexts: x, Chosen: chosen, Reward: reward, Offered: []ID{160, 161, 162}}); err != nil {
			t.Fatal(err)
		}
	}
	after, afterFar := likedScores(t, m.Scorer(), w, e.U), likedScores(t, m.Scorer(), w, far.U)
	if after[0].Exploit <= before[0].Exploit || after[1].Exploit >= before[1].Exploit {
		t.Errorf("clicked %v -> %v, passed over %v -> %v", before[0].Exploit, after[0].Exploit, before[1].Exploit, after[1].Exploit)
	}
	for i := 3; i < len(afterFar); i++ {
		for j := 3; j < i; j++ {
			if d := beforeFar[i].Exploit - beforeFar[j].Exploit; d*(afterFar[i].Exploit-afterFar[j].Exploit) < 0 && math.Abs(d) > 1e-6 {
				t.Fatalf("other links of another person changed places")
			}
		}
	}
	copied, err := Decode(encode(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if again := likedScores(t, copied.Scorer(), w, e.U); !slices.Equal(again, after) {
		t.Error("a copy answers otherwise")
	}
}

// A model for other numbers of nodes and relations answers as before. Without its relations it
// forgets the rules and still answers.
func TestRenamedRelations(t *testing.T) {
	t.Parallel()
	m, w, out := relationsModel(t)
	n := ID(w.Graph.NumNodes())
	node := func(u ID) (ID, bool) { return n - 1 - u, true }
	renamed, err := m.Renamed(node, func(r int) (int, bool) { return 2 - r, true })
	if err != nil {
		t.Fatal(err)
	}
	var edges []TypedEdge
	for u := range n {
		for d, row := range w.Typed.Rows(u) {
			for _, v := range row {
				if d%2 == 0 {
					edges = append(edges, TypedEdge{U: n - 1 - u, V: n - 1 - v, Relation: uint16(2 - d/2)})
				}
			}
		}
	}
	other := World{Graph: graphtest.New(int(n), true), Typed: rules.NewTable(int(n), socialKinds, slices.Values(edges)), Head: 2 * (2 - likes)}
	e := out[0]
	a, err := m.Scorer().Score(context.Background(), w, []Pair{{Source: e.U, Target: e.V}})
	b, err2 := renamed.Scorer().Score(context.Background(), other, []Pair{{Source: n - 1 - e.U, Target: n - 1 - e.V}})
	if err != nil || err2 != nil || math.Abs(a[0].Score-b[0].Score) > 0.1 {
		t.Errorf("%v, %v; %v, %v", a, b, err, err2)
	}
	gone, err := m.Renamed(node, func(int) (int, bool) { return 0, false })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gone.Scorer().Score(context.Background(), other, []Pair{{Source: 1, Target: 2}}); err != nil {
		t.Error(err)
	}
}

// A training that is ended, or has few edges or little memory, leaves the model as it was.
func TestTrainFewRelations(t *testing.T) {
	t.Parallel()
	all, n := socialEdges(rand.New(rand.NewPCG(8, 8)), 40, 40)
	for what, c := range map[string]struct {
		edges  []TypedEdge
		memory int64
	}{"few edges": {all[:30], 0}, "little memory": {all, 1000}} {
		m := newModel(t, "default", "", 0)
		err := m.TrainRelations(context.Background(), TypedGraph{n, socialKinds, slices.Values(c.edges)}, EdgePlan{Memory: c.memory}, nil)
		if err != nil || m.Scorer().Relational() || m.Trained() {
			t.Errorf("%s: %v, learned %v", what, err, m.Scorer().Relational())
		}
	}
	m := newModel(t, "default", "", 0)
	ended, end := context.WithCancel(context.Background())
	end()
	if err := m.TrainRelations(ended, TypedGraph{n, socialKinds, slices.Values(all)}, EdgePlan{}, nil); err == nil || m.Scorer().Relational() {
		t.Errorf("an ended training: %v", err)
	}
	heuristic := newModel(t, "jaccard", "", 0)
	if err := heuristic.TrainRelations(context.Background(), TypedGraph{n, socialKinds, slices.Values(all)}, EdgePlan{}, nil); err != nil {
		t.Error(err)
	}
}

// relationWorlds returns the worlds of questions about a graph without some of its edges, which
// reports the worlds that were asked for.
func relationWorlds(n int, all []TypedEdge, asked func(hidden []TypedEdge)) WithoutTyped {
	return func(hidden []TypedEdge) (func(ID, rules.Direction) (World, error), error) {
		asked(hidden)
		rest := slices.DeleteFunc(slices.Clone(all), func(e TypedEdge) bool { return slices.Contains(hidden, e) })
		typed := rules.NewTable(n, socialKinds, slices.Values(rest))
		whole, own := newMesh(n, true), []*mesh{newMesh(n, true), newMesh(n, true), newMesh(n, true)}
		for _, e := range rest {
			whole.add(e.U, e.V)
			own[e.Relation].add(e.U, e.V)
		}
		return func(_ ID, head rules.Direction) (World, error) {
			w := whole.world(nil)
			of := own[head/2].world(nil)
			of.Typed, of.Head, of.Whole = typed, head, &w
			return of, nil
		}, nil
	}
}

// A training reads the opinions of the ranker from worlds without the links that it asks about.
// What they add is their weight times the ranker's log-odds in the view.
func TestRankerBesideEvidence(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	all, n := socialEdges(rand.New(rand.NewPCG(8, 8)), 160, 80)
	m, asked := newModel(t, "default", "", 0), 0
	worlds := relationWorlds(n, all, func(hidden []TypedEdge) { asked = len(hidden) })
	g := TypedGraph{Nodes: n, Directed: socialKinds, Edges: slices.Values(all)}
	if err := m.TrainRelations(ctx, g, EdgePlan{}, worlds); err != nil {
		t.Fatal(err)
	}
	if asked < leastRelations {
		t.Fatalf("%d links were hidden", asked)
	}
	at, err := worlds(nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _ := at(3, 2*likes)
	s := m.Scorer()
	r := s.belief.relational
	pairs := Pairs(3, []ID{160, 170, 180})
	odds := func(weights []float64) []float64 {
		r.weights = scoreWeights{All: weights}
		sc := s.scratch()
		defer s.release(sc)
		odds, err := s.relationOdds(ctx, sc, w, pairs)
		if err != nil {
			t.Fatal(err)
		}
		return odds
	}
	bare := odds([]float64{1, 0, 0, 0})
	own := w
	own.Typed, own.Whole = nil, nil
	for view, in := range []World{viewOwn: own, viewAll: *w.Whole} {
		weights := []float64{1, 0, 0, 0}
		weights[1+view] = 0.5
		sc := s.scratch()
		if err := s.config.contexts(ctx, in, pairs, sc); err != nil {
			t.Fatal(err)
		}
		for i, got := range odds(weights) {
			z := nn.Resize(blas32.General{}, 1, s.config.rankLen())
			s.config.rankInput(nn.Row(sc.x, i), s.belief.scale, z.Data)
			want := make([]float64, 1)
			s.belief.ranker.logOdds(new(nn.Tape), z, want)
			if adds := got - bare[i]; want[0] == 0 || math.Abs(adds-0.5*r.level.Slope*want[0]) > 1e-4*math.Abs(want[0]) {
				t.Errorf("view %d adds %v to pair %d, want %v", view, adds, i, 0.5*r.level.Slope*want[0])
			}
		}
	}
}

// Weights of a direction take the place of the weights of all, also under other numbers, and a
// document of weights that do not fit is refused.
func TestScoreWeights(t *testing.T) {
	t.Parallel()
	w := scoreWeights{All: []float64{1, 0, 0, 1}, Each: [][]float64{nil, {0.5, 2, 0, 0}}}
	if got := w.of(1); !slices.Equal(got, []float64{0.5, 2, 0, 0}) {
		t.Errorf("weights %v of a direction that has its own", got)
	}
	for _, d := range []rules.Direction{0, 7} {
		if got := w.of(d); !slices.Equal(got, w.All) {
			t.Errorf("weights %v of direction %d", got, d)
		}
	}
	if !w.reads(0) || w.reads(1) || !w.reads(2) || !w.valid() {
		t.Errorf("the weights %v are read otherwise", w)
	}
	moved := w.renamed(6, func(d rules.Direction) (rules.Direction, bool) { return d + 4, true })
	if got := moved.of(5); !slices.Equal(got, []float64{0.5, 2, 0, 0}) || !slices.Equal(moved.of(1), w.All) {
		t.Errorf("renamed: %v", moved)
	}
	for _, bad := range []scoreWeights{{}, {All: []float64{1}}, {All: []float64{1, 0, 0, math.NaN()}}, {All: w.All, Each: [][]float64{{1}}}} {
		if bad.valid() {
			t.Errorf("weights %v are valid", bad)
		}
	}
}

// The candidates of a list stand for all nodes that are not linked, the nodes that no evidence
// leads to included.
func TestListStandsForAll(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	edges, n := socialEdges(rng, 160, 80)
	n += 500 // nodes without edges
	g := rules.NewTable(n, socialKinds, slices.Values(edges))
	set, err := rules.Mine(context.Background(), g, 1, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	r, sc := &relational{set: set}, new(scratch)
	for _, e := range edges[:50] {
		head := rules.Direction(2 * e.Relation)
		sc.evidence.Open(g, set, e.U, head)
		known, reached := g.Row(e.U, head), sc.evidence.Candidates()
		list := r.list(rng, sc, World{Typed: g, Head: head}, Pair{Source: e.U, Target: e.V}, known)
		if list.nodes[list.ranked.link] != e.V {
			t.Fatalf("the link is %d, want %d", list.nodes[list.ranked.link], e.V)
		}
		var near, far float64
		for i, by := range list.ranked.standsFor {
			u := list.nodes[list.ranked.from+i]
			if _, linked := slices.BinarySearch(known, u); linked || u == e.U {
				t.Errorf("%d is a candidate of %d", u, e.U)
			}
			if slices.Contains(reached, u) {
				near += math.Exp(by)
			} else {
				far += math.Exp(by)
			}
		}
		unlinked := 0
		for _, u := range reached {
			if _, linked := slices.BinarySearch(known, u); !linked {
				unlinked++
			}
		}
		if want := float64(n - len(reached)); math.Abs(near-float64(unlinked)) > 1e-6*near || math.Abs(far-want) > 1e-6*far {
			t.Errorf("candidates stand for %v near and %v far nodes, want %d and %v", near, far, unlinked, want)
		}
	}
}
