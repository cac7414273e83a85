package index

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"kith/index/internal/spill"
	"kith/ppr"
)

const (
	testAlpha = 0.85
	testEps   = 1e-7
)

// live is a changing graph with its cache and store.
type live struct {
	t      testing.TB
	now    *Snapshot
	store  *memory
	states *States
	rng    *rand.Rand
}

func newLive(t testing.TB, directed bool, nodes, edges int) *live {
	meta := soundMeta()
	meta.Directed = directed
	l := &live{t, New(meta), newMemory(), NewStates(testEps, 1<<20, 0), rand.New(rand.NewPCG(1, 2))}
	l.commit(func(b *Batch) {
		for i := range nodes {
			_, _, err := b.AddNode(Int(int64(i)))
			must(t, err)
		}
		l.edges(b, edges)
	})
	return l
}

func (l *live) commit(f func(*Batch)) {
	b := l.now.Begin()
	f(b)
	must(l.t, b.Write(l.store, Commit{}))
	l.now = b.Snapshot()
}

// edges sets and removes n random edges.
func (l *live) edges(b *Batch, n int) {
	size, relations := int(b.Meta().Nodes), len(b.Meta().Relations)
	for range n {
		x := Edge{Ends: Ends{U: ID(l.rng.IntN(size)), V: ID(l.rng.IntN(size))}, Weight: float32(l.rng.IntN(3))}
		if relations > 1 {
			x.Relation = uint16(l.rng.IntN(relations))
		}
		if _, ok := b.EdgeOf(x); !ok {
			x.Weight++
		}
		_, err := b.SetEdge(x)
		must(l.t, err)
	}
}

// someVias returns parts of the relations, if there are several.
func (l *live) someVias() []Via {
	n := uint16(len(l.now.Meta.Relations))
	if n == 1 {
		return nil
	}
	return []Via{
		{Relations: []uint16{n - 1}}, {Relations: []uint16{n - 1}, Inverse: true}, {Relations: []uint16{0, n - 1}, Factors: []float32{0.5, 3}},
		{Relations: []uint16{0, n - 1}, Both: true}, {Relations: []uint16{n - 1}, Factors: []float32{3}, Both: true},
	}
}

// verify compares a cached state with one computed from scratch: they must differ by at most their
// certified errors.
func (l *live) verify(s *Snapshot, r Reader, of StateID) {
	l.t.Helper()
	ctx := context.Background()
	st, err := l.states.State(ctx, s, r, of)
	must(l.t, err)
	h := ppr.Vector{Node: []ID{of.Source}, Value: []float64{1}}
	form := st.Form()
	fresh, err := ppr.NewSolver().Solve(ctx, s.Graph, form, testAlpha, h, ppr.Target{Norm: ppr.MaxNorm, Eps: 1e-10})
	must(l.t, err)
	for j := range ID(s.Graph.NumNodes()) {
		v, bound := st.Value(s.Graph, j)
		w, also := fresh.Value(s.Graph, j)
		if !(math.Abs(v-w) <= bound+also+1e-15) {
			l.t.Fatalf("version %d, %v: value of %d is %v ± %v, afresh %v ± %v", s.Meta.Version, of, j, v, bound, w, also)
		}
	}
	if b := st.Bound(ppr.MaxNorm); !s.Graph.directed && !(b <= testEps) {
		l.t.Fatalf("version %d, %v: bound %v", s.Meta.Version, of, b)
	}
}

func (l *live) wantStats(what string, want CacheUse) {
	l.t.Helper()
	if got := l.states.Stats().CacheUse; got != want {
		l.t.Errorf("%s: counted %+v, want %+v", what, got, want)
	}
}

func TestStatesCatchUp(t *testing.T) {
	t.Parallel()
	for _, directions := range []spill.Directions{{false}, {true}, {false, false}, {false, true}, {true, false, false}} {
		l := newLive(t, directions[0], 60, 150)
		for i := range 30 {
			if r := i/10 + 1; i%10 == 5 && r < len(directions) {
				l.commit(func(b *Batch) {
					_, err := b.Relate(Relation{Name: strings.Repeat("r", r), Directed: directions[r]})
					must(t, err)
					l.edges(b, 20)
				})
			}
			for _, form := range []ppr.Form{ppr.Column, ppr.Row} {
				l.verify(l.now, l.store, StateID{Form: form, Alpha: testAlpha, Source: ID(l.rng.IntN(4))})
				for _, v := range l.someVias() {
					l.verify(l.now.Via(v), l.store, StateID{Form: form, Alpha: testAlpha, Source: ID(l.rng.IntN(4))})
				}
			}
			l.commit(func(b *Batch) { l.edges(b, l.rng.IntN(5)) })
		}
		if n := l.states.Stats(); n.CatchUps == 0 || n.Hits == 0 || n.Entries == 0 || n.Bytes == 0 {
			t.Errorf("directed %v: %+v", directions, n)
		}
	}
}

// TestCompactedTwin verifies that a graph with changed rows and the same graph compacted give
// results that are the same to the bit.
func TestCompactedTwin(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		l := newLive(t, directed, 3000, 9000)
		l.commit(func(b *Batch) { l.edges(b, 700) })
		twin, err := l.now.Graph.Without(context.Background(), nil)
		must(t, err)
		var got, want *ppr.State
		for g, st := range map[*Graph]**ppr.State{l.now.Graph: &got, twin: &want} {
			*st, err = ppr.NewSolver().Solve(context.Background(), g, ppr.Column, testAlpha, ppr.Unit(3), ppr.Target{Norm: ppr.L1, Eps: 1e-9})
			must(t, err)
		}
		nodes, y := got.Estimate()
		twins, z := want.Estimate()
		if !slices.Equal(nodes, twins) || !slices.Equal(y, z) || got.Bound(ppr.L1) != want.Bound(ppr.L1) || got.EdgeOps() < 9000 {
			t.Errorf("directed %v: the states differ after %d edge operations", directed, got.EdgeOps())
		}
	}
}

// TestStatesCount verifies that each way of obtaining a state increments its own counter.
func TestStatesCount(t *testing.T) {
	t.Parallel()
	l := newLive(t, false, 3000, 12000)
	of := StateID{Form: ppr.Column, Alpha: testAlpha, Source: 5}
	l.verify(l.now, l.store, of)
	l.wantStats("the first time", CacheUse{Computed: 1})
	l.verify(l.now, l.store, StateID{Form: ppr.Row, Alpha: testAlpha, Source: 5})
	l.wantStats("in the other form", CacheUse{Computed: 1, Hits: 1})
	old := l.now
	near, _ := l.now.Graph.Out(5)
	l.commit(func(b *Batch) { _, err := b.SetEdge(Edge{Ends: Ends{U: near[0], V: 6}, Weight: 1}); must(t, err) })
	l.verify(l.now, l.store, of)
	l.wantStats("after a change", CacheUse{Computed: 1, Hits: 1, CatchUps: 1})
	l.verify(old, l.store, of)
	l.wantStats("for a reader of before", CacheUse{Computed: 2, Hits: 1, CatchUps: 1})
	l.verify(l.now, l.store, of)
	l.wantStats("again", CacheUse{Computed: 2, Hits: 2, CatchUps: 1})

	must(t, l.states.Write(l.store, math.MaxInt64), l.states.CheckStates(context.Background(), l.now, l.store))
	if n := len(l.store.keys(prefixState)); n != 1 {
		t.Fatalf("%d states are stored, want 1", n)
	}
	l.states = NewStates(testEps, 1<<20, 0)
	l.verify(l.now, l.store, of)
	l.wantStats("in the store, and of the same edges", CacheUse{Computed: 1})
	l.commit(func(b *Batch) { l.edges(b, 50) })
	l.states = NewStates(testEps, 1<<20, 0)
	l.verify(l.now, l.store, of)
	l.wantStats("from the store, not up to date", CacheUse{Loads: 1})

	l.states = NewStates(testEps, 1<<20, 0)
	l.verify(old, l.store, of)
	l.wantStats("stored by a later version", CacheUse{Computed: 1})
	l.store.entries[l.store.keys(prefixState)[0]][20]++
	l.states = NewStates(testEps, 1<<20, 0)
	l.verify(l.now, l.store, of)
	l.wantStats("damaged in the store", CacheUse{Computed: 1})
	if n := l.states.Stats().Damaged; n != 1 {
		t.Errorf("%d damaged states were counted", n)
	}
	wantCorrupt(t, "a damaged state", l.states.CheckStates(context.Background(), l.now, l.store))
	must(t, l.states.Write(l.store, math.MaxInt64), l.states.CheckStates(context.Background(), l.now, l.store))
}

// TestPristine verifies that a pristine state is the one that another solve returns, bit for bit,
// that a state is pristine until an edge changes it, or it comes from the store of other edges, and
// that PristineState replaces one that is not.
func TestPristine(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := newLive(t, false, 3000, 12000)
	of := StateID{Form: ppr.Column, Alpha: testAlpha, Source: 5, Coarse: true}
	state := l.states.State
	want := func(what string, pristine bool, from Origin) {
		t.Helper()
		st, err := state(ctx, l.now, l.store, of)
		must(t, err)
		if st.Pristine != pristine || st.Origin != from {
			t.Errorf("%s: pristine %v, origin %v", what, st.Pristine, st.Origin)
		}
		all := make([]ID, l.now.Graph.NumNodes())
		for u := range all {
			all[u] = ID(u)
		}
		target := ppr.Target{Norm: ppr.MaxNorm, Eps: coarseFactor * testEps}
		fresh, bounds, err := ppr.NewSolver().Values(ctx, l.now.Graph, of.Form, of.Alpha, ppr.Unit(5), target, all)
		must(t, err)
		got, also := st.Values(l.now.Graph, all)
		if pristine != (slices.Equal(got, fresh) && slices.Equal(also, bounds)) {
			t.Errorf("%s: equal to a solve: %v", what, !pristine)
		}
	}
	want("at first", true, fromScratch)
	want("again", true, upToDate)
	l.commit(func(b *Batch) { must(t, b.SetLabel(7, "seen")) })
	want("after a commit without edges", true, upToDate)
	near, _ := l.now.Graph.Out(5)
	l.commit(func(b *Batch) { _, err := b.SetEdge(Edge{Ends: Ends{U: near[0], V: 6}, Weight: 3}); must(t, err) })
	want("after a change", false, fromLog)
	must(t, l.states.Write(l.store, math.MaxInt64))
	state = l.states.PristineState
	want("after a change, pristine", true, fromScratch)
	want("again, pristine", true, upToDate)
	l.commit(func(b *Batch) { must(t, b.SetLabel(8, "seen")) })
	want("after a commit without edges, pristine", true, upToDate)
	l.states = NewStates(testEps, 1<<20, 0)
	state = l.states.State
	want("in the store, and of the same edges", true, fromScratch)
	l.commit(func(b *Batch) { _, err := b.SetEdge(Edge{Ends: Ends{U: near[0], V: 6}, Weight: 2}); must(t, err) })
	l.states = NewStates(testEps, 1<<20, 0)
	state = l.states.State
	want("from the store", false, fromStore)
	state = l.states.PristineState
	want("instead of one from the store", true, fromScratch)
	state = l.states.State
	want("the one that replaced it", true, upToDate)
	if n := l.states.Stats(); n.Entries != 1 {
		t.Errorf("%d states are kept", n.Entries)
	}
}

// TestStatesAfterALoad verifies that states are computed from scratch after a bulk load, because
// the log starts empty.
func TestStatesAfterALoad(t *testing.T) {
	t.Parallel()
	l := newLive(t, false, 50, 100)
	of := StateID{Form: ppr.Column, Alpha: testAlpha, Source: 5}
	l.verify(l.now, l.store, of)
	bulk := l.now.Bulk(BulkOptions{})
	for i := range int64(40) {
		must(t, bulk.Edge(Int(5), Int(100+i), 0, 1, 0))
	}
	next, _, err := bulk.result()
	must(t, err)
	l.now = next
	l.verify(l.now, l.store, of)
	l.wantStats("after a load", CacheUse{Computed: 2})
}

func TestStatesOfNothing(t *testing.T) {
	t.Parallel()
	l := newLive(t, false, 3, 3)
	if _, err := l.states.State(context.Background(), l.now, nil, StateID{Form: ppr.Column, Alpha: testAlpha, Source: 77}); err == nil {
		t.Error("a state of a node that is not there")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range cap(l.states.slots) {
		l.states.slots <- struct{}{}
	}
	if _, err := l.states.State(ctx, l.now, nil, StateID{Form: ppr.Column, Alpha: testAlpha, Source: 1}); err != context.Canceled {
		t.Errorf("without a solver: %v", err)
	}
	if n := len(l.states.entries); n != 0 {
		t.Errorf("%d entries without a state are left", n)
	}
}

// TestStatesConcurrently lets readers of all versions request the same few states while commits go
// on.
func TestStatesConcurrently(t *testing.T) {
	t.Parallel()
	l := newLive(t, false, 80, 200)
	l.states = NewStates(testEps, 30<<10, 0) // small, so that states are evicted
	versions := []*Snapshot{l.now}
	for range 20 {
		l.commit(func(b *Batch) { l.edges(b, 3) })
		versions = append(versions, l.now)
	}
	var readers sync.WaitGroup
	for i := range 4 {
		readers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			for n := range 100 {
				s := versions[min(len(versions)-1, n/5+rng.IntN(2))]
				of := StateID{Form: ppr.Column, Alpha: testAlpha, Source: ID(rng.IntN(9))}
				st, err := l.states.State(context.Background(), s, nil, of)
				if err != nil {
					t.Error(err)
					return
				}
				if b := st.Bound(ppr.MaxNorm); !(b <= testEps) {
					t.Errorf("bound %v", b)
				}
			}
		})
	}
	readers.Wait()
	for i := range 9 {
		l.verify(l.now, nil, StateID{Form: ppr.Column, Alpha: testAlpha, Source: ID(i)})
	}
}
