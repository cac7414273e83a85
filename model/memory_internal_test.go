package model

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// record is a memory as plain maps: the oracle.
type record struct {
	total          counts
	source, target map[ID]counts
	pair           map[Pair]counts
}

func newRecord() *record {
	return &record{source: make(map[ID]counts), target: make(map[ID]counts), pair: make(map[Pair]counts)}
}

func (r *record) add(p Pair, reward float64) {
	plus := func(c counts) counts { return counts{c.tries + 1, c.wins + math.Max(0, math.Min(1, reward))} }
	r.total = plus(r.total)
	r.source[p.Source], r.target[p.Target], r.pair[p] = plus(r.source[p.Source]), plus(r.target[p.Target]), plus(r.pair[p])
}

func (r *record) check(t *rapid.T, m memory, nodes []ID) {
	t.Helper()
	if m.total != r.total {
		t.Fatalf("%+v in all, want %+v", m.total, r.total)
	}
	for _, u := range nodes {
		if n := m.at(u); n.source != r.source[u] || n.target != r.target[u] {
			t.Fatalf("node %d: %+v and %+v, want %+v and %+v", u, n.source, n.target, r.source[u], r.target[u])
		}
		for _, v := range nodes {
			p, back := Pair{u, v}, Pair{v, u}
			one, both := r.pair[p], r.pair[p]
			if u != v {
				both = counts{one.tries + r.pair[back].tries, one.wins + r.pair[back].wins}
			}
			if got := m.of(p, true); got != one {
				t.Fatalf("%v: %+v, want %+v", p, got, one)
			}
			if got := m.of(p, false); got != both {
				t.Fatalf("%v either way: %+v, want %+v", p, got, both)
			}
		}
	}
}

// A memory is what maps of all outcomes are; every memory stays what it was; and so does one that was stored.
func TestMemory(t *testing.T) {
	nodes := []ID{0, 1, 2, memoryPageLen - 1, memoryPageLen, 5*memoryPageLen + 3}
	node, reward := rapid.SampledFrom(nodes), rapid.SampledFrom([]float64{0, 1, 0.5, -1, 2})
	rapid.Check(t, func(t *rapid.T) {
		var m, old memory
		all, then := newRecord(), newRecord()
		n := rapid.IntRange(0, 40).Draw(t, "outcomes")
		for i := range n {
			p, y := Pair{node.Draw(t, "source"), node.Draw(t, "target")}, reward.Draw(t, "reward")
			m = m.remember(p, y)
			all.add(p, y)
			if i < n/2 {
				old = m
				then.add(p, y)
			}
		}
		all.check(t, m, nodes)
		then.check(t, old, nodes)
		back, err := restoreMemory([2]float64{m.total.tries, m.total.wins}, m.document())
		if err != nil {
			t.Fatal(err)
		}
		all.check(t, back, nodes)
		if !reflect.DeepEqual(back.document(), m.document()) {
			t.Fatal("a stored memory is stored differently again")
		}
	})
}

// The history of a pair: how much better each end did than all, the surer the more it was tried; and how often the target
// failed. Who was never tried is like all.
func TestHistory(t *testing.T) {
	var m memory
	for i := range 60 {
		m = m.remember(Pair{1, ID(10 + i%2)}, float64(i%2)) // 11 always succeeds, 10 never
		if i < 6 {
			m = m.remember(Pair{2, ID(20 + i%2)}, float64(i%2)) // and so with 21 and 20, which were tried less
		}
	}
	column := func(source, target ID, col int) float64 {
		x := make([]float32, historyLen)
		m.history(Pair{source, target}, x)
		return float64(x[col])
	}
	rate := func(target ID) float64 { return column(1, target, colTargetRate) }
	if !(rate(10) < rate(20) && rate(20) < 0 && 0 < rate(21) && rate(21) < rate(11)) || rate(1) != 0 || rate(9000) != 0 {
		t.Errorf("targets 10, 20, 21, 11 and two untried: %v, %v, %v, %v, %v, %v", rate(10), rate(20), rate(21), rate(11), rate(1), rate(9000))
	}
	if a, b := column(1, 10, colSourceRate), column(11, 10, colSourceRate); math.Abs(a) > 0.05 || b != 0 {
		t.Errorf("a source that does as well as all: %v; one untried: %v", a, b)
	}
	for target, fails := range map[ID]float64{10: 30, 20: 3, 11: 0, 9000: 0} {
		if got := column(1, target, colTargetFails); math.Abs(got-math.Log(1+fails)) > 1e-6 {
			t.Errorf("%v for %v failures of %d", got, fails, target)
		}
	}
}

func TestRestoreMemoryRefuses(t *testing.T) {
	good := func() nodeDocument {
		return nodeDocument{Node: 3, To: []uint32{1, 4}, Tries: []float64{1, 2}, Wins: []float64{0, 2}}
	}
	for name, spoil := range map[string]func(d *nodeDocument){
		"targets descend":  func(d *nodeDocument) { slices.Reverse(d.To) },
		"a target twice":   func(d *nodeDocument) { d.To[1] = d.To[0] },
		"tries missing":    func(d *nodeDocument) { d.Tries = d.Tries[1:] },
		"wins missing":     func(d *nodeDocument) { d.Wins = nil },
		"tries not finite": func(d *nodeDocument) { d.Tries[0] = math.Inf(1) },
		"wins not real":    func(d *nodeDocument) { d.Wins[1] = math.NaN() },
		"source not real":  func(d *nodeDocument) { d.Source[1] = math.NaN() },
		"target not real":  func(d *nodeDocument) { d.Target[0] = math.NaN() },
		"nodes descend":    func(d *nodeDocument) { d.Node = 1 },
		"a node twice":     func(d *nodeDocument) { d.Node = 2 },
		"a huge node":      func(d *nodeDocument) { d.Node = math.MaxUint32 },
	} {
		d := good()
		spoil(&d)
		if _, err := restoreMemory([2]float64{}, []nodeDocument{{Node: 2}, d}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := restoreMemory([2]float64{3, 2}, []nodeDocument{{Node: 2}, good()}); err != nil {
		t.Error(err)
	}
}

func BenchmarkRemember(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var m memory
	for b.Loop() {
		m = m.remember(Pair{ID(rng.IntN(10000)), ID(rng.IntN(10000))}, 1)
	}
}
