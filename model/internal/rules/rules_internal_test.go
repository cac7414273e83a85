package rules

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"kith/model/internal/graph"
)

// randomEdges draws edges of three relations, the last one undirected.
func randomEdges(rng *rand.Rand, nodes, edges int) (all []Edge) {
	seen := map[Edge]bool{}
	for range edges {
		e := Edge{ID(rng.IntN(nodes)), ID(rng.IntN(nodes)), uint16(rng.IntN(3))}
		if e.Relation == 2 && e.U > e.V {
			e.U, e.V = e.V, e.U
		}
		if !seen[e] {
			seen[e] = true
			all = append(all, e)
		}
	}
	return all
}

var directed = []bool{true, true, false}

// leads reports whether an edge leads from u to v in a direction.
func leads(all []Edge, u, v ID, d Direction) bool {
	if d == 4 && u > v {
		u, v = v, u
	}
	if d%2 == 1 {
		u, v = v, u
	}
	return slices.Contains(all, Edge{u, v, uint16(d / 2)})
}

// A table has the edges that it was made from, in both directions.
func TestTable(t *testing.T) {
	t.Parallel()
	const n = 12
	edges := randomEdges(rand.New(rand.NewPCG(1, 1)), n, 120)
	g := NewTable(n, directed, slices.Values(edges))
	var _ graph.Typed = g
	if got := slices.Collect(Directions(g)); !slices.Equal(got, []Direction{0, 1, 2, 3, 4}) {
		t.Fatalf("directions %v", got)
	}
	for u := range ID(n) {
		rows := maps.Collect(g.Rows(u))
		var ends []ID
		for _, row := range g.Rows(u) {
			ends = append(ends, row...)
		}
		if !slices.Equal(g.Ends(u), ends) {
			t.Errorf("ends of %d are %v, want %v", u, g.Ends(u), ends)
		}
		for d := range Directions(g) {
			var want []ID
			for v := range ID(n) {
				if leads(edges, u, v, d) {
					want = append(want, v)
				}
			}
			if !slices.Equal(g.Row(u, d), want) || !slices.Equal(rows[d], want) {
				t.Errorf("row of %d in direction %d is %v, %v; want %v", u, d, g.Row(u, d), rows[d], want)
			}
		}
		for v := range ID(n) {
			var want, got []Direction
			for d := range Directions(g) {
				if leads(edges, u, v, d) {
					want = append(want, d)
				}
			}
			for _, a := range g.between(u, v) {
				got = append(got, a.by)
			}
			if !slices.Equal(got, want) {
				t.Errorf("between %d and %d: %v, want %v", u, v, got, want)
			}
		}
	}
}

// paths returns the number of paths along a body from x to each node, which come back neither to x
// nor to the node before, nor go through their own end.
func paths(all []Edge, n int, x ID, body []Direction) map[ID]int32 {
	ends := map[ID]int32{}
	var walk func(path []ID)
	walk = func(path []ID) {
		k := len(path) - 1
		if k == len(body) {
			y := path[k]
			if k == 3 && path[1] == y && body[2] == inverseOf(body[1]) {
				return
			}
			ends[y]++
			return
		}
		for v := range ID(n) {
			if v != x && v != path[k] && leads(all, path[k], v, body[k]) {
				walk(append(slices.Clone(path), v))
			}
		}
	}
	walk([]ID{x})
	return ends
}

func inverseOf(d Direction) Direction {
	if d == 4 {
		return d
	}
	return d ^ 1
}

// A walker counts the paths along bodies, whatever paths it followed before.
func TestWalker(t *testing.T) {
	t.Parallel()
	const n = 10
	rng := rand.New(rand.NewPCG(2, 2))
	edges := randomEdges(rng, n, 70)
	g := NewTable(n, directed, slices.Values(edges))
	var rules []Rule
	for range 60 {
		r := Rule{Len: int8(1 + rng.IntN(MaxLen))}
		for k := range r.path() {
			r.Body[k] = Direction(rng.IntN(5))
		}
		rules = append(rules, r)
	}
	slices.SortFunc(rules, compareBodies)
	var w walker
	for x := range ID(n) {
		w.start(g, x)
		got := make([]map[ID]int32, len(rules))
		w.each(rules, func(i int, ends *layer) {
			got[i] = map[ID]int32{}
			for _, y := range ends.nodes {
				if ends.of(y) > 0 {
					got[i][y] = ends.of(y)
				}
			}
		})
		for i := range rules {
			if want := paths(edges, n, x, rules[i].path()); !maps.Equal(got[i], want) {
				t.Fatalf("from %d along %v: %v, want %v", x, rules[i].path(), got[i], want)
			}
		}
	}
}

// planted returns edges of people who like what the people whom they follow like, and of a relation
// that is noise.
func planted(rng *rand.Rand, people, things int) (all []Edge) {
	likes := map[[2]ID]bool{}
	follows := make([][]ID, people)
	for u := range people {
		for range 4 {
			if v := rng.IntN(people); v != u && !slices.Contains(follows[u], ID(v)) {
				follows[u] = append(follows[u], ID(v))
				all = append(all, Edge{ID(u), ID(v), 0})
			}
		}
		likes[[2]ID{ID(u), ID(people + rng.IntN(things))}] = true
	}
	for range 2 {
		for _, l := range slices.SortedFunc(maps.Keys(likes), func(a, b [2]ID) int { return slices.Compare(a[:], b[:]) }) {
			for u := range people {
				if slices.Contains(follows[u], l[0]) && rng.IntN(3) > 0 {
					likes[[2]ID{ID(u), l[1]}] = true
				}
			}
		}
	}
	for _, l := range slices.SortedFunc(maps.Keys(likes), func(a, b [2]ID) int { return slices.Compare(a[:], b[:]) }) {
		all = append(all, Edge{l[0], l[1], 1})
	}
	noise := map[[2]ID]bool{}
	for range 4 * people {
		p := [2]ID{ID(rng.IntN(people)), ID(people + rng.IntN(things))}
		if p[0] != p[1] && !noise[p] {
			noise[p] = true
			all = append(all, Edge{p[0], p[1], 2})
		}
	}
	return all
}

// Mining finds the rule that made the likes, with the confidence that all sources show, and no
// confident rule over noise. It depends on the seed alone.
func TestMine(t *testing.T) {
	t.Parallel()
	const people, things = 120, 60
	edges := planted(rand.New(rand.NewPCG(3, 3)), people, things)
	kinds := []bool{true, true, true}
	g := NewTable(people+things, kinds, slices.Values(edges))
	set, err := Mine(context.Background(), g, 5, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	again, err := Mine(context.Background(), g, 5, func() bool { return true })
	if err != nil || !slices.EqualFunc(set.heads, again.heads, func(a, b head) bool { return slices.Equal(a.rules, b.rules) && slices.Equal(a.frequent, b.frequent) }) {
		t.Fatal("mined twice, the rules differ")
	}
	lazy := OnDemand(g, 5)
	new(Reader).Open(g, lazy, 0, 2)
	for d := range lazy.heads {
		if mined := lazy.heads[d].profile != nil; mined != (d == 2) {
			t.Errorf("a question about direction 2 mines direction %d: %v", d, mined)
		}
	}
	var asked sync.WaitGroup
	for range 4 {
		asked.Go(func() {
			for d := range Directions(g) {
				if !slices.Equal(lazy.Rules(d), set.Rules(d)) || !slices.Equal(lazy.Against(d), set.Against(d)) || !slices.Equal(lazy.profile(d), set.profile(d)) {
					t.Errorf("on demand, direction %d has the rules %v, want %v", d, lazy.Rules(d), set.Rules(d))
				}
			}
		})
	}
	asked.Wait()
	best := Rule{}
	for _, r := range set.Rules(2) { // likes
		if slices.Equal(r.path(), []Direction{0, 2}) {
			best = r
		}
		if c := r.Confidence(); c > 0.3 && slices.Contains(r.path(), 4) {
			t.Errorf("the noise %v has confidence %v", r.path(), c)
		}
	}
	var hits, tries float64
	for u := range ID(people) {
		for y := range paths2(g, u) {
			tries++
			if _, ok := slices.BinarySearch(g.Row(u, 2), y); ok {
				hits++
			}
		}
	}
	if h, n := best.Total(); h != hits || n != tries || best.Confidence() < 0.3 {
		t.Errorf("likes <- follows, likes has %v of %v, confidence %v; want %v of %v", h, n, best.Confidence(), hits, tries)
	}
	for _, r := range set.Rules(4) {
		if c := r.Confidence(); c > 0.2 {
			t.Errorf("noise <- %v has confidence %v", r.path(), c)
		}
	}
	renamed := set.Renamed(4, func(u ID) (ID, bool) { return u + 1, true }, func(d Direction) (Direction, bool) { return d + 2, d < 4 })
	if len(renamed.Rules(4)) == 0 || len(renamed.Rules(6)) > 0 {
		t.Errorf("renamed, the heads have %d and %d rules", len(renamed.Rules(4)), len(renamed.Rules(6)))
	}
	for _, r := range renamed.Rules(4) {
		if slices.Max(r.path()) > 5 || slices.Min(r.path()) < 2 {
			t.Errorf("renamed, a rule has body %v", r.path())
		}
	}
	b := set.Marshal()
	back, err := Unmarshal(b)
	if err != nil || !slices.Equal(back.Marshal(), b) || !reflect.DeepEqual(back, set) {
		t.Fatalf("encoded, the rules differ: %v", err)
	}
	for n := range len(b) {
		if _, err := Unmarshal(b[:n]); err == nil {
			t.Fatalf("%d of %d bytes are rules", n, len(b))
		}
	}
}

// paths2 returns the things that people whom u follows like.
func paths2(g *Table, u ID) map[ID]bool {
	out := map[ID]bool{}
	for _, v := range g.Row(u, 0) {
		for _, y := range g.Row(v, 2) {
			out[y] = true
		}
	}
	return out
}

// The estimates of a pusher are near PageRank.
func TestPusher(t *testing.T) {
	t.Parallel()
	const n = 60
	g := NewTable(n, directed, slices.Values(randomEdges(rand.New(rand.NewPCG(4, 4)), n, 200)))
	rank, next := make([]float64, n), make([]float64, n)
	rank[3] = 1
	degree := func(u ID) (d int) {
		for _, row := range g.Rows(u) {
			d += len(row)
		}
		return d
	}
	for range 200 {
		clear(next)
		next[3] = pushAlpha
		for u := range ID(n) {
			for _, row := range g.Rows(u) {
				for _, v := range row {
					next[v] += (1 - pushAlpha) * rank[u] / float64(degree(u))
				}
			}
		}
		rank, next = next, rank
	}
	var p pusher
	p.run(n, 3, func(u ID) [2][]ID { return [2][]ID{g.Ends(u)} })
	for u := range ID(n) {
		if d := math.Abs(float64(p.rankOf(u)) - rank[u]); d > 2*pushEpsilon*float64(degree(u)) {
			t.Errorf("node %d has %v, want %v", u, p.rankOf(u), rank[u])
		}
	}
}

// A reader leads to what rules lead to, whether it has read other questions before, and places
// added nodes among the candidates. A graph that is too large for lists of all nodes has the same
// evidence.
func TestReader(t *testing.T) {
	t.Parallel()
	const people, things = 120, 60
	edges := planted(rand.New(rand.NewPCG(3, 3)), people, things)
	kinds := []bool{true, true, true}
	g, large := NewTable(people+things, kinds, slices.Values(edges)), NewTable(mostDense+1, kinds, slices.Values(edges))
	set, err := Mine(context.Background(), g, 5, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	used, other := new(Reader), new(Reader)
	for u := range ID(people) {
		fresh := new(Reader)
		fresh.Open(g, set, u, 2)
		for y := range paths2(g, u) {
			if !fresh.Has(y) {
				t.Fatalf("no evidence leads from %d to %d", u, y)
			}
		}
		used.Open(g, set, u, 2)
		other.Open(large, set, u, 2)
		if !slices.Equal(used.Candidates(), fresh.Candidates()) || !slices.Equal(other.Candidates(), fresh.Candidates()) {
			t.Fatalf("from %d the candidates are %v and %v, want %v", u, used.Candidates(), other.Candidates(), fresh.Candidates())
		}
		want, got, wide := make([]float32, Len), make([]float32, Len), make([]float32, Len)
		for i := range fresh.Candidates() {
			fresh.Columns(i, want)
			used.Columns(i, got)
			other.Columns(i, wide)
			for k, v := range want {
				if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) || got[k] != v || wide[k] != v && names[k] != names[colProfile] && names[k] != names[colProfileRank] {
					t.Fatalf("%s of %d and %d: %v, %v, %v", names[k], u, fresh.Candidates()[i], v, got[k], wide[k])
				}
			}
		}
		n := len(fresh.Candidates())
		if added := used.Number(u); added != n || used.Number(u) != n || used.Has(u) || len(used.Candidates()) != n {
			t.Fatalf("an added node has number %d, want %d", added, n)
		}
		best := used.Best(3, func(v ID) bool { return v >= people })
		if len(best) != 3 || slices.Min(best) < people {
			t.Fatalf("the best things of %d are %v", u, best)
		}
	}
}

// opposed returns edges of people who follow others, like things at random, some more often than
// others, and like nothing that people hide whom they follow; and visits that tell nothing.
func opposed(rng *rand.Rand, people, things int) (all []Edge) {
	follows, hides := make([][]int, people), make([][]int, people)
	for u := range people {
		for range 4 {
			if v := rng.IntN(people); v != u && !slices.Contains(follows[u], v) {
				follows[u] = append(follows[u], v)
				all = append(all, Edge{ID(u), ID(v), 0})
			}
		}
		for range 5 {
			if p := rng.IntN(things); !slices.Contains(hides[u], p) {
				hides[u] = append(hides[u], p)
				all = append(all, Edge{ID(u), ID(people + p), 2})
			}
		}
	}
	for u := range people {
		near := map[int]bool{}
		for _, v := range follows[u] {
			for _, p := range hides[v] {
				near[p] = true
			}
		}
		for p := range things {
			if !near[p] && rng.IntN(things) < 8*p/things {
				all = append(all, Edge{ID(u), ID(people + p), 1})
			}
		}
		for range 4 {
			if v := rng.IntN(people); v != u && !slices.Contains(all, Edge{ID(u), ID(v), 3}) {
				all = append(all, Edge{ID(u), ID(v), 3})
			}
		}
	}
	return all
}

// Mining finds the rule that speaks against likes, with the hits that chance gives, and no rule
// over visits, which tell nothing.
func TestMineAgainst(t *testing.T) {
	t.Parallel()
	const people, things = 150, 80
	edges := opposed(rand.New(rand.NewPCG(6, 6)), people, things)
	g := NewTable(people+things, []bool{true, true, true, true}, slices.Values(edges))
	set, err := Mine(context.Background(), g, 5, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	likes := 0
	for _, e := range edges {
		if e.Relation == 1 {
			likes++
		}
	}
	var tries, chance float64
	for u := range ID(people) {
		if len(g.Row(u, 2)) == 0 {
			continue
		}
		hidden := map[ID]bool{}
		for _, v := range g.Row(u, 0) {
			for _, y := range g.Row(v, 4) {
				hidden[y] = true
			}
		}
		for y := range hidden {
			tries++
			chance += float64(len(g.Row(u, 2))) * float64(len(g.Row(y, 3))) / float64(likes)
		}
	}
	found := false
	for _, r := range set.Against(2) {
		if slices.Equal(r.path(), []Direction{0, 4}) {
			found = true
			if h, n := r.Total(); h != 0 || n != tries || math.Abs(float64(r.Chance)-chance) > 1e-3*chance {
				t.Errorf("likes <- follows, hides has %v of %v, by chance %v; want 0 of %v, by chance %v", h, n, r.Chance, tries, chance)
			}
		}
	}
	if !found {
		t.Errorf("likes <- follows, hides is not among %d rules against likes", len(set.Against(2)))
	}
	for _, r := range slices.Concat(set.Rules(2), set.Against(2)) {
		if slices.ContainsFunc(r.path(), func(d Direction) bool { return d/2 == 3 }) && r.Len < MaxLen {
			t.Errorf("visits tell something: likes <- %v, %v, by chance %v", r.path(), r.Confidence(), r.ByChance())
		}
	}
	var reader Reader
	x := ID(7)
	reader.Open(g, set, x, 2)
	against := map[ID]bool{}
	for _, v := range g.Row(x, 0) {
		for _, y := range g.Row(v, 4) {
			against[y] = true
		}
	}
	for _, u := range reader.Candidates() {
		columns := make([]float32, Len)
		reader.Columns(reader.Number(u), columns)
		if against[u] && columns[colAgainstMost] <= 0 {
			t.Errorf("nothing speaks against %d, which somebody hides", u)
		}
	}
	for y := range against {
		reasons := set.Reasons(g, x, y, 2, 3, 2)
		if !slices.ContainsFunc(reasons, func(r Reason) bool { return slices.Equal(r.Rule.path(), []Direction{0, 4}) && len(r.Paths) > 0 }) {
			t.Errorf("no reason speaks against %d", y)
		}
	}
}

// BenchmarkReader reads the evidence for a question, with the columns of all candidates.
func BenchmarkReader(b *testing.B) {
	const people, things = 4000, 1000
	g := NewTable(people+things, []bool{true, true, true}, slices.Values(planted(rand.New(rand.NewPCG(3, 3)), people, things)))
	set, err := Mine(context.Background(), g, 5, func() bool { return true })
	if err != nil {
		b.Fatal(err)
	}
	var r Reader
	x := make([]float32, Len)
	u := ID(0)
	for b.Loop() {
		r.Open(g, set, u%people, 2)
		for i := range r.Candidates() {
			r.Columns(i, x)
		}
		u++
	}
	b.ReportMetric(float64(g.edges), "edges")
}
