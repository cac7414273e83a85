package index

import (
	"context"
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
	l := &live{t, New(meta), newMemory(), NewStates(testEps, 1<<20), rand.New(rand.NewPCG(1, 2))}
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
func (l *live) verify(s *Snapshot, r Reader, of StateOf) {
	l.t.Helper()
	ctx := context.Background()
	st, err := l.states.At(ctx, s, r, of)
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

func (l *live) wantStats(what string, want CacheStats) {
	l.t.Helper()
	got := l.states.Stats()
	got.Entries, got.Bytes, got.Budget, got.Evictions = 0, 0, 0, 0
	if got != want {
		l.t.Errorf("%s: counted %+v, want %+v", what, got, want)
	}
}

func TestStatesCatchUp(t *testing.T) {
	for _, directed := range []bool{false, true} {
		l := newLive(t, directed, 60, 150)
		for range 30 {
			for _, form := range []ppr.Form{ppr.Column, ppr.Row} {
				l.verify(l.now, l.store, StateOf{Form: form, Alpha: testAlpha, Source: ID(l.rng.IntN(4))})
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
	for _, directed := range []bool{false, true} {
		l := newLive(t, directed, 3000, 9000)
		l.commit(func(b *Batch) { l.edges(b, 700) })
		twin, err := l.now.Graph.Compact(context.Background())
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
	l := newLive(t, false, 3000, 12000)
	of := StateOf{Form: ppr.Column, Alpha: testAlpha, Source: 5}
	l.verify(l.now, l.store, of)
	l.wantStats("the first time", CacheStats{Computed: 1})
	l.verify(l.now, l.store, StateOf{Form: ppr.Row, Alpha: testAlpha, Source: 5})
	l.wantStats("in the other form", CacheStats{Computed: 1, Hits: 1})
	old := l.now
	near, _ := l.now.Graph.Out(5)
	l.commit(func(b *Batch) { _, err := b.SetEdge(near[0], 6, 1, 0); must(t, err) })
	l.verify(l.now, l.store, of)
	l.wantStats("after a change", CacheStats{Computed: 1, Hits: 1, CatchUps: 1})
	l.verify(old, l.store, of)
	l.wantStats("for a reader of before", CacheStats{Computed: 2, Hits: 1, CatchUps: 1})
	l.verify(l.now, l.store, of)
	l.wantStats("again", CacheStats{Computed: 2, Hits: 2, CatchUps: 1})

	must(t, l.states.Write(l.store), l.states.CheckStates(context.Background(), l.now, l.store))
	if n := len(l.store.keys(prefixState)); n != 1 {
		t.Fatalf("%d states are stored, want 1", n)
	}
	l.states = NewStates(testEps, 1<<20)
	l.verify(l.now, l.store, of)
	l.wantStats("from the store", CacheStats{Loads: 1})
	l.commit(func(b *Batch) { l.edges(b, 50) })
	l.states = NewStates(testEps, 1<<20)
	l.verify(l.now, l.store, of)
	l.wantStats("from the store, not up to date", CacheStats{Loads: 1})

	l.states = NewStates(testEps, 1<<20)
	l.verify(old, l.store, of)
	l.wantStats("stored by a later version", CacheStats{Computed: 1})
	l.store.entries[l.store.keys(prefixState)[0]][20]++
	l.states = NewStates(testEps, 1<<20)
	l.verify(l.now, l.store, of)
	l.wantStats("damaged in the store", CacheStats{Computed: 1, Damaged: 1})
	wantCorrupt(t, "a damaged state", l.states.CheckStates(context.Background(), l.now, l.store))
	must(t, l.states.Write(l.store), l.states.CheckStates(context.Background(), l.now, l.store))
}

// TestStatesAfterALoad verifies that states are computed from scratch after a bulk load, because the log starts
// empty.
func TestStatesAfterALoad(t *testing.T) {
	l := newLive(t, false, 50, 100)
	of := StateOf{Form: ppr.Column, Alpha: testAlpha, Source: 5}
	l.verify(l.now, l.store, of)
	bulk := l.now.Bulk(BulkOptions{})
	for i := range int64(40) {
		must(t, bulk.Edge(Int(5), Int(100+i), 1, 0))
	}
	next, _, err := bulk.Result(context.Background(), 1, func(int64) error { return nil })
	must(t, err)
	l.now = next
	l.verify(l.now, l.store, of)
	l.wantStats("after a load", CacheStats{Computed: 2})
}

func TestStatesKeepTheirBudget(t *testing.T) {
	l := newLive(t, false, 300, 1000)
	l.states = NewStates(testEps, 100<<10)
	for i := range 200 {
		l.verify(l.now, nil, StateOf{Form: ppr.Column, Alpha: testAlpha, Source: ID(i)})
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
	l := newLive(t, false, 3, 3)
	if _, err := l.states.At(context.Background(), l.now, nil, StateOf{Form: ppr.Column, Alpha: testAlpha, Source: 77}); err == nil {
		t.Error("a state of a node that is not there")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range cap(l.states.lent) {
		l.states.lent <- struct{}{}
	}
	if _, err := l.states.At(ctx, l.now, nil, StateOf{Form: ppr.Column, Alpha: testAlpha, Source: 1}); err != context.Canceled {
		t.Errorf("without a solver: %v", err)
	}
	if n := len(l.states.entries); n != 0 {
		t.Errorf("%d entries without a state are left", n)
	}
}

// TestStatesConcurrently lets readers of all versions request the same few states while commits go on.
func TestStatesConcurrently(t *testing.T) {
	l := newLive(t, false, 80, 200)
	l.states = NewStates(testEps, 30<<10) // small, so that states are evicted
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
				of := StateOf{Form: ppr.Column, Alpha: testAlpha, Source: ID(rng.IntN(9))}
				st, err := l.states.At(context.Background(), s, nil, of)
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
		l.verify(l.now, nil, StateOf{Form: ppr.Column, Alpha: testAlpha, Source: ID(i)})
	}
}

func TestEntryQueue(t *testing.T) {
	var q entryQueue
	for _, p := range []float64{3, 1, 2} {
		q.Push(&entry{of: StateOf{Source: ID(p)}, seat: seat{priority: p}})
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
	store, w := newMemory(), ID(0)
	big := &storedState{nodes: make([]ID, 200_000), y: make([]float32, 200_000)} // in two parts
	for i := range big.nodes {
		big.nodes[i], big.y[i] = ID(2*i), 1
	}
	of := func(u ID) StateOf { return StateOf{Form: ppr.Column, Alpha: 0.85, Source: u} }
	for ; w < 5; w++ {
		if err := putState(store, of(w), big); err != nil {
			t.Fatal(err)
		}
	}
	c := NewStates(testEps, 3<<20)
	c.entry(of(0))
	for range 2 {
		if err := c.Trim(store, store); err != nil {
			t.Fatal(err)
		}
	}
	var left []ID
	for e, err := range scanSplit(store, []byte{prefixState}, nil) {
		if err != nil {
			t.Fatal(err)
		}
		of, _ := stateOf(e.Key)
		left = append(left, of.Source)
	}
	if want := []ID{0, 3, 4}; !slices.Equal(left, want) {
		t.Errorf("left are the states of %v, want %v", left, want)
	}
}
