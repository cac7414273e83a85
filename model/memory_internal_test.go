package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"
)

// record is the oracle: a memory in plain maps.
type record struct {
	total  counts
	target map[ID]counts
	pair   map[Pair]counts
	offers map[ID]uint32
}

func newRecord() *record {
	return &record{target: make(map[ID]counts), pair: make(map[Pair]counts), offers: make(map[ID]uint32)}
}

func (r *record) add(p Pair, reward float64, offer []ID) {
	plus := func(c counts) counts { return counts{c.Tries + 1, c.Wins + math.Max(0, math.Min(1, reward))} }
	r.total, r.target[p.Target], r.pair[p] = plus(r.total), plus(r.target[p.Target]), plus(r.pair[p])
	for _, u := range offer {
		r.offers[u]++
	}
}

func (r *record) check(t *rapid.T, m memory, nodes []ID) {
	t.Helper()
	if m.total != r.total {
		t.Fatalf("%+v in all, want %+v", m.total, r.total)
	}
	for _, u := range nodes {
		if got := m.at(u).Target; got != r.target[u] {
			t.Fatalf("node %d: %+v, want %+v", u, got, r.target[u])
		}
		for _, v := range nodes {
			p, back := Pair{Source: u, Target: v}, Pair{Source: v, Target: u}
			one, both := r.pair[p], r.pair[p]
			if u != v {
				both = counts{one.Tries + r.pair[back].Tries, one.Wins + r.pair[back].Wins}
			}
			if got := m.of(p, true); got != one {
				t.Fatalf("%v: %+v, want %+v", p, got, one)
			}
			if got := m.of(p, false); got != both {
				t.Fatalf("%v either way: %+v, want %+v", p, got, both)
			}
		}
		r.checkHistory(t, m, u)
	}
}

// checkHistory compares the columns of a target with their formulas.
func (r *record) checkHistory(t *rapid.T, m memory, u ID) {
	t.Helper()
	odds := func(p float64) float64 { return math.Log(p / (1 - p)) }
	mean := (r.total.Wins + 0.1) / (r.total.Tries + 1)
	rate := odds((r.target[u].Wins+2*mean)/(r.target[u].Tries+2)) - odds(mean)
	usual := 0.0
	for _, n := range r.offers {
		usual += float64(n) / float64(len(r.offers))
	}
	want := [historyLen]float64{colTargetRate: rate, colOffered: math.Log((float64(r.offers[u]) + 3) / (usual + 3))}
	var got [historyLen]float32
	m.history(Pair{Target: u}, got[:])
	for col, v := range want {
		if math.Abs(float64(got[col])-v) > 1e-6*(1+math.Abs(v)) {
			t.Fatalf("column %d of node %d: %v, want %v", col, u, got[col], v)
		}
	}
}

// A memory equals maps of all outcomes. Later outcomes do not change it, and a round trip through
// documents preserves it.
func TestMemory(t *testing.T) {
	t.Parallel()
	nodes := []ID{0, 1, 2, pageLen - 1, pageLen, 5*pageLen + 3}
	node, reward := rapid.SampledFrom(nodes), rapid.SampledFrom([]float64{0, 1, 0.5, -1, 2})
	offer := rapid.SliceOfN(node, 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		var m, old memory
		all, then := newRecord(), newRecord()
		n := rapid.IntRange(0, 40).Draw(t, "outcomes")
		for i := range n {
			p, y, on := Pair{Source: node.Draw(t, "source"), Target: node.Draw(t, "target")}, reward.Draw(t, "reward"), offer.Draw(t, "offer")
			m = m.remember(p, y, on)
			all.add(p, y, on)
			if i < n/2 {
				old = m
				then.add(p, y, on)
			}
		}
		all.check(t, m, nodes)
		then.check(t, old, nodes)
		b, err := msgpack.Marshal(&m)
		if err != nil {
			t.Fatal(err)
		}
		var back memory
		if err := unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		all.check(t, back, nodes)
		if !reflect.DeepEqual(back, m) {
			t.Fatal("a stored memory comes back as another one")
		}
	})
}

// The success rate of a target, relative to all tries, is the further from 0 the more often it was
// tried. It is 0 for an untried target.
func TestTargetRate(t *testing.T) {
	t.Parallel()
	var m memory
	for i := range 60 {
		m = m.remember(Pair{Source: 1, Target: ID(10 + i%2)}, float64(i%2), nil) // 11 always succeeds, 10 never
		if i < 6 {
			m = m.remember(Pair{Source: 2, Target: ID(20 + i%2)}, float64(i%2), nil) // the same for 21 and 20, with fewer tries
		}
	}
	rate := func(target ID) float32 {
		var x [historyLen]float32
		m.history(Pair{Source: 1, Target: target}, x[:])
		return x[colTargetRate]
	}
	if !(rate(10) < rate(20) && rate(20) < 0 && 0 < rate(21) && rate(21) < rate(11)) || rate(1) != 0 || rate(9000) != 0 {
		t.Errorf("targets 10, 20, 21, 11 and two untried: %v, %v, %v, %v, %v, %v", rate(10), rate(20), rate(21), rate(11), rate(1), rate(9000))
	}
}

func TestRestoreMemoryRefuses(t *testing.T) {
	t.Parallel()
	good := func() nodeDocument {
		return nodeDocument{Node: 3, nodeMemory: nodeMemory{Pairs: []pairMemory{{Target: 1, counts: counts{1, 0}}, {Target: 4, counts: counts{2, 2}}}}}
	}
	for name, spoil := range map[string]func(d *nodeDocument){
		"targets descend":  func(d *nodeDocument) { slices.Reverse(d.Pairs) },
		"a target twice":   func(d *nodeDocument) { d.Pairs[1].Target = d.Pairs[0].Target },
		"tries not finite": func(d *nodeDocument) { d.Pairs[0].Tries = math.Inf(1) },
		"wins not real":    func(d *nodeDocument) { d.Pairs[1].Wins = math.NaN() },
		"target not real":  func(d *nodeDocument) { d.Target.Tries = math.NaN() },
		"nodes descend":    func(d *nodeDocument) { d.Node = 1 },
		"a node twice":     func(d *nodeDocument) { d.Node = 2 },
		"a huge node":      func(d *nodeDocument) { d.Node = math.MaxUint32 },
		"tries below zero": func(d *nodeDocument) { d.Pairs[0].Tries = -1 },
		"wins below zero":  func(d *nodeDocument) { d.Target = counts{1, -1} },
		"more wins":        func(d *nodeDocument) { d.Target = counts{1, 2} },
	} {
		d := good()
		spoil(&d)
		if err := new(memory).restore(&memoryDocument{Nodes: []nodeDocument{{Node: 2}, d}}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, total := range []counts{{math.NaN(), 0}, {math.Inf(1), 1}, {1, 2}, {-2, -3}} {
		if err := new(memory).restore(&memoryDocument{Total: total}); err == nil {
			t.Errorf("%v wins in %v tries: accepted", total.Wins, total.Tries)
		}
	}
	if err := new(memory).restore(&memoryDocument{counts{3, 2}, []nodeDocument{{Node: 2}, good()}}); err != nil {
		t.Error(err)
	}
}

// A memory of one node takes little time and memory, independent of its id. A node beyond
// maxMemoryNode is an error and changes nothing.
func TestMemoryOfFarNode(t *testing.T) {
	t.Parallel()
	var m memory
	far := nodeDocument{maxMemoryNode, 1, nodeMemory{Target: counts{1, 1}}}
	if err := m.restore(&memoryDocument{counts{1, 1}, []nodeDocument{far}}); err != nil {
		t.Fatal(err)
	}
	if docs := slices.Collect(m.all()); len(docs) != 1 || docs[0].Node != maxMemoryNode || m.bytes() > 1<<14 {
		t.Errorf("%+v, %d bytes", docs, m.bytes())
	}
	learner := newModel(t, "default", "", 0)
	x := make([]float32, learner.config.width())
	for _, o := range []Outcome{
		{Pair: Pair{Source: math.MaxUint32, Target: 1}, Contexts: x},
		{Pair: Pair{Source: 1, Target: maxMemoryNode + 1}, Contexts: x},
		{Pair: Pair{Source: 1, Target: 2}, Contexts: x, Offered: []ID{2, math.MaxUint32}},
	} {
		if _, err := learner.Observe(o); !errors.Is(err, ErrInput) || learner.Rounds() != 0 {
			t.Errorf("%v, %v on offer: %v, %d rounds", o.Pair, o.Offered, err, learner.Rounds())
		}
	}
}

func BenchmarkRemember(b *testing.B) {
	for _, offered := range []int{0, 100} {
		b.Run(fmt.Sprintf("offered=%d", offered), func(b *testing.B) {
			b.ReportAllocs()
			rng := rand.New(rand.NewPCG(1, 1))
			node := func() ID { return ID(rng.IntN(10000)) }
			var m memory
			offer := make([]ID, offered)
			for b.Loop() {
				for i := range offer {
					offer[i] = node()
				}
				m = m.remember(Pair{Source: node(), Target: node()}, 1, offer)
			}
		})
	}
}
