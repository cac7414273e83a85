package model

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/index"
	"kith/model/nn"
)

// instant is an edge of the oracle.
type instant struct {
	u, v   ID
	weight float64
	time   int64
}

// stream is the oracle: it computes the time columns from a list of edges by brute force.
type stream struct {
	directed bool
	edges    []instant
	now      int64
	pace     float64
	unit     float64 // of weights
}

// grown returns a graph and its stream after random events. Some edges have no time, some are later
// than now.
func grown(rng *rand.Rand, directed bool, nodes, events int) (*index.Graph, *stream) {
	e := index.NewGraph(directed).Edit()
	e.Grow(nodes)
	s := &stream{directed: directed, now: int64(100 * events)}
	for i := range events {
		u, v, time := ID(rng.IntN(nodes)), ID(rng.IntN(nodes)), int64(1+100*i+rng.IntN(3))
		switch rng.IntN(20) {
		case 0:
			time = 0
		case 1:
			time = s.now + 5
		}
		if !directed && u > v {
			u, v = v, u
		}
		at := slices.IndexFunc(s.edges, func(e instant) bool { return e.u == u && e.v == v })
		if at < 0 {
			at = len(s.edges)
			s.edges = append(s.edges, instant{u: u, v: v})
		}
		s.edges[at].weight++
		s.edges[at].time = time
		e.Set(index.Edge{Ends: index.Ends{U: u, V: v}, Weight: float32(s.edges[at].weight), Time: time})
	}
	g := e.Graph()
	s.pace, s.unit = paceOf(g), weightUnit(g)
	return g, s
}

// row returns the edges of a node that are not later than now, newest first. v is the other end.
func (s *stream) row(u ID, in bool) (row []instant) {
	for _, e := range s.edges {
		if e.time > s.now {
			continue
		}
		if e.u == u && !(in && s.directed) || e.v == u && (in && s.directed) {
			if in && s.directed {
				e.v = e.u
			}
			row = append(row, e)
		} else if !s.directed && e.v == u {
			e.v = e.u
			row = append(row, e)
		}
	}
	slices.SortFunc(row, func(a, b instant) int { return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.v, b.v)) })
	return row
}

func rankIn(row []instant, v ID) (rank float64, e instant, found bool) {
	at := slices.IndexFunc(row, func(e instant) bool { return e.v == v })
	if at < 0 {
		return float64(len(row) + 1), instant{}, false
	}
	rank = 1
	for _, o := range row {
		if o.time > row[at].time {
			rank++
		}
	}
	return rank, row[at], true
}

func (s *stream) age(t int64) float64 {
	if t == 0 {
		return 2
	}
	return min(max(math.Log((float64(s.now-t)+1)/(s.pace+1))/4, -4), 1.75)
}

func (s *stream) hot(row []instant, window float64) (sum float64) {
	for _, e := range row {
		if e.time > 0 {
			sum += 1 / (1 + math.Pow(float64(s.now-e.time)/(window*(s.pace+1)), 2))
		}
	}
	return math.Log1p(sum)
}

func total(row []instant) (w float64) {
	for _, e := range row {
		w += e.weight
	}
	return w
}

// meet returns the contacts in either direction.
func (s *stream) meet(u ID) []instant {
	all := s.row(u, false)
	if s.directed {
		for _, e := range s.row(u, true) {
			if at := slices.IndexFunc(all, func(o instant) bool { return o.v == e.v }); at < 0 {
				all = append(all, e)
			} else {
				all[at].time = max(all[at].time, e.time)
			}
		}
	}
	slices.SortFunc(all, func(a, b instant) int { return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.v, b.v)) })
	return all
}

// columns computes the time columns of a pair from their definition.
func (s *stream) columns(u, c ID) (x [timeLen]float64) {
	out, in, meet := s.row(u, false), s.row(u, true), s.meet(u)
	age := func(row []instant, i int) float64 {
		if i >= len(row) {
			return 2
		}
		return s.age(row[i].time)
	}
	rank, e, seen := rankIn(out, c)
	x[colSeenLogRank], x[colSeenAge] = math.Log1p(rank), 2
	if seen {
		x[colSeen], x[colSeenRank], x[colSeenWeight] = 1, 1/rank, math.Log1p(e.weight/s.unit)
		x[colSeenAge], x[colSeenShare] = s.age(e.time), e.weight/total(out)
		x[colSeenLag] = s.age(e.time) - s.age(out[0].time)
	}
	rank, e, met := rankIn(meet, c)
	x[colContactLogRank], x[colContactAge], x[colBackAge] = math.Log1p(rank), 2, 2
	if met {
		x[colContactRank], x[colContactAge] = 1/rank, s.age(e.time)
	}
	if len(out) == 0 {
		x[colFromNew] = 1
	} else {
		x[colFromLast] = out[0].weight / total(out)
	}
	for _, e := range out {
		x[colFromFocus] += math.Pow(e.weight/total(out), 2)
	}
	x[colFromWeight], x[colFromDegree] = math.Log1p(total(out)/s.unit), math.Log1p(float64(len(out)))
	x[colFromAge], x[colFromAge2], x[colFromInAge] = age(out, 0), age(out, 1), 2
	to := s.row(c, true)
	x[colToWeight], x[colToDegree], x[colToAge] = math.Log1p(total(to)/s.unit), math.Log1p(float64(len(to))), age(to, 0)
	for k, window := range []float64{1. / 512, 1. / 64, 1. / 8, 1, 8} {
		x[colToHot+k] = s.hot(to, window)
		if k < 2 {
			x[colFromHot+k] = s.hot(out, window)
		}
	}
	x[colToOutAge] = 2
	if s.directed {
		if rank, e, back := rankIn(in, c); back {
			x[colBack], x[colBackRank], x[colBackWeight], x[colBackAge] = 1, 1/rank, math.Log1p(e.weight/s.unit), s.age(e.time)
			if x[colBackAge] < x[colSeenAge] {
				x[colBackNewer] = 1
			}
		}
		x[colFromInAge], x[colFromInDegree] = age(in, 0), math.Log1p(float64(len(in)))
		from := s.row(c, false)
		x[colToOutWeight], x[colToOutDegree], x[colToOutAge] = math.Log1p(total(from)/s.unit), math.Log1p(float64(len(from))), age(from, 0)
	}
	two, three, now := s.paths(u, c)
	x[colTwoHops], x[colThreeHops], x[colThreeNow] = math.Log1p(two), math.Log1p(three), math.Log1p(now)
	x[colThreePer] = three / math.Sqrt(1+float64(len(to)))
	return x
}

// paths computes the weights of the paths from u to c along recent edges.
func (s *stream) paths(u, c ID) (two, three, now float64) {
	has := func(row []instant, v ID) bool {
		return slices.ContainsFunc(row[:min(len(row), hopRow)], func(e instant) bool { return e.v == v })
	}
	meet, out := s.meet(u), s.row(u, false)
	for i, p := range meet[:min(len(meet), hopPartners)] {
		if has(s.row(p.v, false), c) {
			two += 1 / float64(i+1)
		}
		if s.directed && has(s.row(p.v, true), c) {
			two += 1 / float64(i+1)
		}
	}
	for i, p := range out[:min(len(out), hopPartners)] {
		sharing := s.row(p.v, true)
		for _, e := range sharing[:min(len(sharing), hopRow)] {
			row := s.row(e.v, false)
			all := 0
			for _, o := range s.edges {
				if o.u == e.v || !s.directed && o.v == e.v {
					all++
				}
			}
			if e.v == u || all < 2 || !has(row, c) {
				continue
			}
			three += 1 / math.Log1p(float64(all)) / float64(i+1)
			if i == 0 {
				now += 1 / float64(all)
			}
		}
	}
	return two, three, now
}

// The columns match their definition on random streams, for candidates of several sources, some of
// them repeated.
func TestTimeColumns(t *testing.T) {
	t.Parallel()
	notShort(t)
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		nodes := 3 + rng.IntN(40)
		g, s := grown(rng, seed%2 == 0, nodes, rng.IntN(400))
		var pairs []Pair
		for range 3 {
			u := ID(rng.IntN(nodes))
			for range 30 {
				pairs = append(pairs, Pair{Source: u, Target: ID(rng.IntN(nodes))})
			}
		}
		var h history
		x := nn.Resize(blas32.General{}, len(pairs), timeLen+2)
		h.columns(World{Graph: g, Now: s.now}, pairs, x, 1)
		for i, p := range pairs {
			want := s.columns(p.Source, p.Target)
			for col, v := range nn.Row(x, i)[1 : 1+timeLen] {
				if math.Abs(float64(v)-want[col]) > 1e-5 {
					t.Fatalf("seed %d, %v, column %d: %v, want %v", seed, p, col, v, want[col])
				}
			}
		}
		if i := slices.IndexFunc(h.slot, func(k uint32) bool { return k != 0 }); i >= 0 {
			t.Errorf("slot of node %d is left", i)
		}
	}
}

// Without times, or without World.Now, the columns are 0.
func TestTimeColumnsWithoutTimes(t *testing.T) {
	t.Parallel()
	g, _ := grown(rand.New(rand.NewPCG(1, 1)), true, 9, 50)
	pairs := Pairs(1, []ID{2, 3})
	for what, w := range map[string]World{"no question": {Graph: g}, "no times": {Graph: untimed{g}, Now: 7}} {
		var h history
		x := nn.Resize(blas32.General{}, len(pairs), timeLen)
		for i := range x.Data {
			x.Data[i] = 1
		}
		h.columns(w, pairs, x, 0)
		if slices.ContainsFunc(x.Data, func(v float32) bool { return v != 0 }) {
			t.Errorf("%s: %v", what, x.Data)
		}
	}
}

// untimed hides the times of a graph.
type untimed struct{ Graph }

// Ages are relative: a stream in other time units has the same columns.
func TestTimeColumnsScale(t *testing.T) {
	t.Parallel()
	const by = 1000
	var rows [2][]float32
	for k, unit := range []int64{1, by} {
		rng := rand.New(rand.NewPCG(3, 1))
		e := index.NewGraph(true).Edit()
		e.Grow(20)
		for i := range int64(200) {
			e.Set(index.Edge{Ends: index.Ends{U: ID(rng.IntN(20)), V: ID(rng.IntN(20))}, Weight: 1, Time: (1_000_000 + 1000*i) * unit})
		}
		var h history
		x := nn.Resize(blas32.General{}, 20, timeLen)
		targets := make([]ID, 20)
		for i := range targets {
			targets[i] = ID(i)
		}
		h.columns(World{Graph: e.Graph(), Now: 1_300_000 * unit}, Pairs(3, targets), x, 0)
		rows[k] = x.Data
	}
	for i, v := range rows[0] {
		if math.Abs(float64(v-rows[1][i])) > 1e-2 {
			t.Fatalf("row %d, column %d: %v, and %v in units of %d", i/timeLen, i%timeLen, v, rows[1][i], by)
		}
	}
}

// A common factor of all weights changes no column. Weights that count events, and weights of 1,
// are in units of 1.
func TestTimeColumnsUnit(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		g, s := grown(rand.New(rand.NewPCG(5, 1)), directed, 60, 200)
		ones, _ := grown(rand.New(rand.NewPCG(5, 1)), directed, 60, 10)
		for what, g := range map[string]*index.Graph{"counts": g, "ones": ones, "empty": index.NewGraph(directed)} {
			if unit := weightUnit(g); unit != 1 {
				t.Errorf("directed %v, %s: unit %v", directed, what, unit)
			}
		}
		pairs := slices.Concat(Pairs(3, []ID{1, 2, 3, 4, 5, 6, 7}), Pairs(9, []ID{1, 2, 3, 4, 5, 6, 7}))
		columns := func(g *index.Graph) []float32 {
			var h history
			x := nn.Resize(blas32.General{}, len(pairs), timeLen)
			h.columns(World{Graph: g, Now: s.now}, pairs, x, 0)
			return x.Data
		}
		want := columns(g)
		for _, exponent := range []int{-30, -1, 7, 30} {
			e := g.Edit()
			for edge := range g.Edges() {
				e.Set(index.Edge{Ends: index.Ends{U: edge.U, V: edge.V}, Weight: float32(math.Ldexp(float64(edge.Weight), exponent)), Time: edge.Time})
			}
			if got := columns(e.Graph()); !slices.Equal(got, want) {
				t.Errorf("directed %v, weights times 2^%d: the columns differ", directed, exponent)
			}
		}
	}
}

// Long rows are sampled: the counts are approximate, and the age of the newest entry is exact.
func TestTimeColumnsLongRow(t *testing.T) {
	t.Parallel()
	const n = 5000
	rng := rand.New(rand.NewPCG(4, 1))
	e := index.NewGraph(true).Edit()
	e.Grow(n + 1)
	s := &stream{directed: true, now: n * 100}
	for i, u := range rng.Perm(n) {
		s.edges = append(s.edges, instant{ID(u) + 1, 0, 1, int64(100 * (i + 1))})
		e.Set(index.Edge{Ends: index.Ends{U: ID(u) + 1, V: 0}, Weight: 1, Time: int64(100 * (i + 1))})
	}
	g := e.Graph()
	s.pace, s.unit = paceOf(g), weightUnit(g)
	var h history
	x := nn.Resize(blas32.General{}, 1, timeLen)
	h.columns(World{Graph: g, Now: s.now}, Pairs(1, []ID{0}), x, 0)
	want := s.columns(1, 0)
	for _, col := range []int{colToWeight, colToDegree, colToAge, colToHot + 3, colToHot + 4} {
		if math.Abs(float64(x.Data[col])-want[col]) > 0.2 {
			t.Errorf("column %d: %v, want %v", col, x.Data[col], want[col])
		}
	}
	if got := float64(x.Data[colToAge]); math.Abs(got-want[colToAge]) > 1e-5 {
		t.Errorf("age %v, want %v", got, want[colToAge])
	}
}

func BenchmarkTimeColumns(b *testing.B) {
	for _, nodes := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			e := index.NewGraph(true).Edit()
			e.Grow(nodes)
			for i := range int64(20 * nodes) {
				e.Set(index.Edge{Ends: index.Ends{U: ID(rng.IntN(nodes)), V: ID(rng.IntN(nodes))}, Weight: 1, Time: 1 + i})
			}
			g := e.Graph()
			targets := make([]ID, 1000)
			for i := range targets {
				targets[i] = ID(i * nodes / 1000)
			}
			var h history
			x := nn.Resize(blas32.General{}, len(targets), timeLen)
			u := ID(0)
			for b.Loop() {
				u = (u + 1) % ID(nodes)
				h.columns(World{Graph: g, Now: int64(20 * nodes)}, Pairs(u, targets), x, 0)
			}
		})
	}
}

// TestPaceOfZeroTimes verifies that the pace is the same whether a row without times stores zeros
// or nothing.
func TestPaceOfZeroTimes(t *testing.T) {
	t.Parallel()
	made := func(zeros bool) float64 {
		e := index.NewGraph(true).Edit()
		e.Grow(6)
		e.Set(index.Edge{Ends: index.Ends{U: 0, V: 5}, Weight: 1, Time: 1000})
		e.Set(index.Edge{Ends: index.Ends{U: 1, V: 5}, Weight: 1, Time: 5000})
		if zeros {
			e.Set(index.Edge{Ends: index.Ends{U: 5, V: 4}, Weight: 1, Time: 1}) // the row of node 5 stores times from then on
		}
		e.Set(index.Edge{Ends: index.Ends{U: 5, V: 4}})
		e.Set(index.Edge{Ends: index.Ends{U: 5, V: 3}, Weight: 1})
		return paceOf(e.Graph())
	}
	if nothing, zeros := made(false), made(true); nothing != zeros || nothing == 86400 {
		t.Errorf("pace %v with zeros, %v without", zeros, nothing)
	}
}

// Rows that a replay keeps change no column.
func TestKeptRows(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		var kept, fresh history
		kept.keepRows()
		rng := rand.New(rand.NewPCG(5, 5))
		for now := range habits(300, directed) {
			pairs := Pairs(ID(rng.IntN(10)), []ID{now.Links[0].Target, 3, 12, 17, 25})
			got, want := nn.Resize(blas32.General{}, len(pairs), timeLen), nn.Resize(blas32.General{}, len(pairs), timeLen)
			kept.columns(now.World, pairs, got, 0)
			fresh.columns(now.World, pairs, want, 0)
			if !slices.Equal(got.Data, want.Data) {
				t.Fatalf("directed %v, time %d: %v, want %v", directed, now.World.Now, got.Data, want.Data)
			}
		}
		if n := len(kept.keptOut.rows); n < 10 {
			t.Errorf("directed %v: %d rows are kept", directed, n)
		}
	}
}
