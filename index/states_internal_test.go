package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

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
	must(l.t, b.Write(l.store))
	l.now = b.Snapshot()
}

// edges sets and removes n random edges.
func (l *live) edges(b *Batch, n int) {
	size := int(b.View().Meta.Nodes)
	for range n {
		u, v := ID(l.rng.IntN(size)), ID(l.rng.IntN(size))
		w := float32(l.rng.IntN(3))
		if _, ok := b.View().Graph.Edge(u, v); !ok {
			w++
		}
		_, err := b.SetEdge(u, v, w, 0)
		must(l.t, err)
	}
}

// verify compares a cached state with one computed from scratch: they must differ by at most their certified
// errors.
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
	if b := st.Bound(ppr.MaxNorm); !s.Meta.Directed && !(b <= testEps) {
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
	for _, directed := range []bool{false, true} {
		l := newLive(t, directed, 60, 150)
		for range 30 {
			for _, form := range []ppr.Form{ppr.Column, ppr.Row} {
				l.verify(l.now, l.store, StateID{Form: form, Alpha: testAlpha, Source: ID(l.rng.IntN(4))})
			}
			l.commit(func(b *Batch) { l.edges(b, l.rng.IntN(5)) })
		}
		if n := l.states.Stats(); n.CatchUps == 0 || n.Hits == 0 || n.Entries == 0 || n.Bytes == 0 {
			t.Errorf("directed %v: %+v", directed, n)
		}
	}
}

// TestCompactedTwin verifies that a graph with changed rows and the same graph compacted give results that are the
// same to the bit.
func TestCompactedTwin(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		l := newLive(t, directed, 3000, 9000)
		l.commit(func(b *Batch) { l.edges(b, 700) })
		twin, err := l.now.Graph.Without(context.Background(), nil)
		must(t, err)
		var got, want *ppr.State
		for g, st := range map[*Graph]**ppr.State{l.now.Graph: &got, twin: &want} {
			*st, err = ppr.NewSolver().Solve(context.Background(), g, ppr.Column, testAlpha, source(3), ppr.Target{Norm: ppr.L1, Eps: 1e-9})
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
	l.commit(func(b *Batch) { _, err := b.SetEdge(near[0], 6, 1, 0); must(t, err) })
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
	l.wantStats("from the store", CacheUse{Loads: 1})
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

// TestPristine verifies that a pristine state is the one that another solve returns, bit for bit, that a state is pristine
// until an edge changes it, or it comes from the store, and that PristineState replaces one that is not.
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
		target := ppr.Target{Norm: ppr.MaxNorm, Eps: CoarseFactor * testEps}
		fresh, bounds, err := ppr.NewSolver().Values(ctx, l.now.Graph, of.Form, of.Alpha, source(5), target, all)
		must(t, err)
		got, also := st.Values(l.now.Graph, all)
		if pristine != (slices.Equal(got, fresh) && slices.Equal(also, bounds)) {
			t.Errorf("%s: equal to a solve: %v", what, !pristine)
		}
	}
	want("at first", true, Computed)
	want("again", true, Hit)
	l.commit(func(b *Batch) { must(t, b.SetLabel(7, "seen")) })
	want("after a commit without edges", true, Hit)
	near, _ := l.now.Graph.Out(5)
	l.commit(func(b *Batch) { _, err := b.SetEdge(near[0], 6, 3, 0); must(t, err) })
	want("after a change", false, CaughtUp)
	must(t, l.states.Write(l.store, math.MaxInt64))
	state = l.states.PristineState
	want("after a change, pristine", true, Computed)
	want("again, pristine", true, Hit)
	l.commit(func(b *Batch) { must(t, b.SetLabel(8, "seen")) })
	want("after a commit without edges, pristine", true, Hit)
	l.states = NewStates(testEps, 1<<20, 0)
	state = l.states.State
	want("from the store", false, Loaded)
	state = l.states.PristineState
	want("instead of one from the store", true, Computed)
	state = l.states.State
	want("the one that replaced it", true, Hit)
	if n := l.states.Stats(); n.Entries != 1 {
		t.Errorf("%d states are kept", n.Entries)
	}
}

// TestStatesAfterALoad verifies that states are computed from scratch after a bulk load, because the log starts
// empty.
func TestStatesAfterALoad(t *testing.T) {
	t.Parallel()
	l := newLive(t, false, 50, 100)
	of := StateID{Form: ppr.Column, Alpha: testAlpha, Source: 5}
	l.verify(l.now, l.store, of)
	bulk := l.now.Bulk(BulkOptions{})
	for i := range int64(40) {
		must(t, bulk.Edge(Int(5), Int(100+i), 1, 0))
	}
	next, _, err := bulk.result()
	must(t, err)
	l.now = next
	l.verify(l.now, l.store, of)
	l.wantStats("after a load", CacheUse{Computed: 2})
}

func TestStatesKeepTheirBudget(t *testing.T) {
	t.Parallel()
	l := newLive(t, false, 300, 1000)
	l.states = NewStates(testEps, 100<<10, 0)
	for i := range 200 {
		l.verify(l.now, nil, StateID{Form: ppr.Column, Alpha: testAlpha, Source: ID(i)})
		n := l.states.Stats()
		if n.Bytes > n.Budget || n.Budget != 100<<10 {
			t.Fatalf("%d bytes of %d", n.Bytes, n.Budget)
		}
		if held := len(l.states.entries); held != n.Entries {
			t.Fatalf("%d entries are held, %d counted", held, n.Entries)
		}
	}
	if n := l.states.Stats(); n.Evictions == 0 || n.Entries == 0 || n.Evictions+uint64(n.Entries) != n.Computed {
		t.Errorf("%+v", n)
	}
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

// TestStatesConcurrently lets readers of all versions request the same few states while commits go on.
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

func TestEntryQueue(t *testing.T) {
	t.Parallel()
	var q entryQueue
	for _, p := range []float64{3, 1, 2} {
		q.Push(&entry{of: StateID{Source: ID(p)}, queueItem: queueItem{priority: p}})
	}
	if !q.Less(1, 0) || q.Less(0, 2) || q.Len() != 3 {
		t.Errorf("order of %v", q)
	}
	q.Swap(0, 1)
	places := slices.Collect(func(yield func(string) bool) {
		for _, e := range q {
			if !yield(fmt.Sprint(e.of.Source, e.place)) {
				return
			}
		}
	})
	if fmt.Sprint(places) != "[1 0 3 1 2 2]" {
		t.Errorf("places %v", places)
	}
	if e := q.Pop().(*entry); e.place != -1 || len(q) != 2 {
		t.Errorf("popped %v of %d", e, len(q))
	}
}

// TestTrim verifies that Trim keeps stored states within the budget, keeps those in memory, and deletes all parts
// of a state or none.
func TestTrim(t *testing.T) {
	t.Parallel()
	store, w := newMemory(), ID(0)
	big := &storedState{nodes: make([]ID, 200_000), y: make([]float32, 200_000)} // in two parts
	for i := range big.nodes {
		big.nodes[i], big.y[i] = ID(2*i), 1
	}
	of := func(u ID) StateID { return StateID{Form: ppr.Column, Alpha: 0.85, Source: u} }
	for ; w < 5; w++ {
		if err := putSplit(store, stateKey(of(w)), big.encode()); err != nil {
			t.Fatal(err)
		}
	}
	c := NewStates(testEps, 3<<20, 0)
	c.entry(of(0))
	for range 2 {
		if err := c.Trim(store, store); err != nil {
			t.Fatal(err)
		}
	}
	var left []ID
	for e, err := range scanSplit(store, prefixState, nil) {
		if err != nil {
			t.Fatal(err)
		}
		of, _ := parseStateKey(e.Key)
		left = append(left, of.Source)
	}
	if want := []ID{0, 3, 4}; !slices.Equal(left, want) {
		t.Errorf("left are the states of %v, want %v", left, want)
	}
}

// vector returns a random signed start vector over about a third of the nodes below n.
func (l *live) vector(n int) (h ppr.Vector) {
	for u := range ID(n) {
		if l.rng.IntN(3) == 0 {
			h.Node, h.Value = append(h.Node, u), append(h.Value, l.rng.Float64()-0.3)
		}
	}
	return h
}

// track compares a tracked state with one computed from scratch: they must differ by at most their certified
// errors, and the state must be that of h.
func (l *live) track(s *Snapshot, of StateID, h ppr.Vector) {
	l.t.Helper()
	ctx := context.Background()
	norm := ppr.MaxNorm
	st, err := l.states.current(ctx, s, nil, tracked(of), request{h: h, target: ppr.Target{Norm: norm, Eps: testEps}})
	must(l.t, err)
	fresh, err := ppr.NewSolver().Solve(ctx, s.Graph, of.Form, of.Alpha, h, ppr.Target{Norm: norm, Eps: 1e-10})
	must(l.t, err)
	for j := range ID(s.Graph.NumNodes()) {
		v, bound := st.Value(s.Graph, j)
		w, also := fresh.Value(s.Graph, j)
		if !(math.Abs(v-w) <= bound+also+1e-15) {
			l.t.Fatalf("version %d: value of %d is %v ± %v, afresh %v ± %v", s.Meta.Version, j, v, bound, w, also)
		}
	}
	for i, x := range h.Minus(st.H()).Value {
		if math.Abs(x) > 1e-12 {
			l.t.Fatalf("start value %d is off by %v", i, x)
		}
	}
}

func TestTrack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		directed bool
		form     ppr.Form
	}{{false, ppr.Column}, {false, ppr.Row}, {true, ppr.Row}, {true, ppr.Column}} {
		l := newLive(t, c.directed, 80, 250)
		of := StateID{Form: c.form, Alpha: testAlpha, Source: 3}
		h := l.vector(10)
		old, oldH := l.now, h
		for range 20 {
			l.track(l.now, of, h)
			l.commit(func(b *Batch) { l.edges(b, l.rng.IntN(3)) })
			if len(h.Value) > 0 {
				h = ppr.Vector{Node: h.Node, Value: append([]float64(nil), h.Value...)}
				h.Value[l.rng.IntN(len(h.Value))] *= 0.9
			}
		}
		n := l.states.Stats()
		if n.CatchUps < 10 {
			t.Errorf("%+v: %+v", c, n)
		}
		if !l.states.Tracked(of) || l.states.Tracked(StateID{Form: c.form, Alpha: testAlpha, Source: 4}) {
			t.Error("tracked is not told from not tracked")
		}
		l.track(old, of, oldH) // a reader of an earlier version does not disturb the state
		l.track(l.now, of, h)
		l.track(l.now, of, l.vector(40)) // a completely different vector
		l.track(l.now, of, ppr.Vector{})
		must(t, l.states.Write(l.store, math.MaxInt64))
		if got := l.store.keys(prefixState); len(got) != 0 {
			t.Errorf("tracked states were stored: %q", got)
		}
	}
}

// TestValues verifies that a state is kept only from the second request on, and that it is then updated for changes
// of the graph and for nearby start vectors.
func TestValues(t *testing.T) {
	t.Parallel()
	l := newLive(t, false, 80, 250)
	ctx, at := context.Background(), []ID{1, 7, 3}
	target := ppr.Target{Norm: ppr.MaxNorm, Eps: testEps}
	of := StateID{Form: ppr.Row, Alpha: testAlpha, Source: 3}
	ask := func(h ppr.Vector, kept bool) {
		t.Helper()
		v, bound, _, err := l.states.Values(ctx, l.now, of, h, target, at)
		must(t, err)
		want, also, err := ppr.NewSolver().Values(ctx, l.now.Graph, of.Form, of.Alpha, h, ppr.Target{Norm: ppr.MaxNorm, Eps: 1e-10}, at)
		must(t, err)
		for i := range at {
			if !(math.Abs(v[i]-want[i]) <= bound[i]+also[i]+1e-15) {
				t.Errorf("value of %d is %v ± %v, want %v", at[i], v[i], bound[i], want[i])
			}
		}
		if l.states.Tracked(of) != kept {
			t.Errorf("a state is kept: %v", !kept)
		}
	}
	h := ppr.Vector{Node: []ID{2, 5, 9}, Value: []float64{1, -0.5, 2}}
	other := ppr.Vector{Node: []ID{2, 5, 10}, Value: h.Value}
	ask(h, false)
	ask(other, false)
	ask(h, false)
	ask(h, true)
	l.commit(func(b *Batch) { l.edges(b, 2) })
	ask(ppr.Vector{Node: append(h.Node, 11), Value: append(h.Value, 0.1)}, true)
	if n := l.states.Stats(); n.CatchUps != 1 || n.Computed != 4 {
		t.Errorf("%+v", n)
	}
	ask(other, true) // too far from the tracked vector, so no state is kept for it
	if st, err := l.states.current(ctx, l.now, nil, tracked(of), request{h: h, target: target}); err != nil || l.states.Stats().Computed != 5 {
		t.Errorf("the state kept is lost: %v, %v", st.H(), err)
	}
}

// TestQuestions verifies that the number of remembered start vectors is bounded.
func TestQuestions(t *testing.T) {
	t.Parallel()
	l := newLive(t, false, 5, 5)
	h := source(1)
	for u := range ID(maxRecentRequests + 10) {
		if l.states.isRepeat(l.now, StateID{Source: u}, h) {
			t.Fatalf("node %d was not asked about", u)
		}
	}
	if n := len(l.states.recentRequests); n > maxRecentRequests {
		t.Errorf("%d recent requests", n)
	}
	if _, _, _, err := l.states.Values(context.Background(), l.now, StateID{Alpha: testAlpha}, source(99), ppr.Target{Eps: 1}, nil); !errors.Is(err, ppr.ErrNode) {
		t.Errorf("a start node that is not there: %v", err)
	}
}

func TestTrackRefuses(t *testing.T) {
	t.Parallel()
	l := newLive(t, false, 5, 5)
	of := StateID{Form: ppr.Column, Alpha: testAlpha}
	_, err := l.states.current(context.Background(), l.now, nil, tracked(of), request{h: source(99), target: ppr.Target{Eps: 1e-6}})
	if !errors.Is(err, ppr.ErrNode) {
		t.Errorf("a start node that is not there: %v", err)
	}
	if len(l.states.entries) != 0 || l.states.Tracked(of) {
		t.Error("an entry without a state is left")
	}
}

func TestPrice(t *testing.T) {
	t.Parallel()
	l := newLive(t, false, 60, 150)
	sources := []ID{1, 2, 3}
	if p := l.states.Price(ppr.Column, testAlpha, sources, 77); p.Missing != 3 || p.SolveOps != 77 || p.Error != 0 {
		t.Errorf("of an empty cache: %+v", p)
	}
	l.verify(l.now, nil, StateID{Form: ppr.Column, Alpha: testAlpha, Source: 2})
	l.track(l.now, StateID{Form: ppr.Column, Alpha: testAlpha, Source: 3}, l.vector(5))
	if p := l.states.Price(ppr.Column, testAlpha, sources, 77); p.Missing != 2 || p.SolveOps == 77 || p.SolveOps == 0 || p.Error <= 0 || p.Error > 1 {
		t.Errorf("of one source: %+v", p)
	}
	l.states.budget = 0
	l.verify(l.now, nil, StateID{Form: ppr.Column, Alpha: testAlpha, Source: 4})
	if p := l.states.Price(ppr.Column, testAlpha, sources, 77); p.Missing != 3 || p.SolveOps != 77 || p.Error != 0 || l.states.bytes != 0 {
		t.Errorf("after all have gone: %+v, %d bytes", p, l.states.bytes)
	}
}

// tracked returns the id of the tracked state of a source.
func tracked(of StateID) StateID {
	of.tracked = true
	return of
}
