package index

import (
	"fmt"
	"slices"
	"testing"

	"kith/ppr"
)

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

// TestTrim verifies that Trim keeps stored states within the budget, keeps those in memory, and
// deletes all parts of a state or none.
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

func TestPrice(t *testing.T) {
	t.Parallel()
	l := newLive(t, false, 60, 150)
	sources := []ID{1, 2, 3}
	if p := l.states.Price(l.now, ppr.Column, testAlpha, sources, 77); p.Missing != 3 || p.SolveOps != 77 || p.Error != 0 {
		t.Errorf("of an empty cache: %+v", p)
	}
	l.verify(l.now, nil, StateID{Form: ppr.Column, Alpha: testAlpha, Source: 2})
	l.track(l.now, StateID{Form: ppr.Column, Alpha: testAlpha, Source: 3}, l.vector(5))
	if p := l.states.Price(l.now, ppr.Column, testAlpha, sources, 77); p.Missing != 2 || p.SolveOps == 77 || p.SolveOps == 0 || p.Error <= 0 || p.Error > 1 {
		t.Errorf("of one source: %+v", p)
	}
	l.states.budget = 0
	l.verify(l.now, nil, StateID{Form: ppr.Column, Alpha: testAlpha, Source: 4})
	if p := l.states.Price(l.now, ppr.Column, testAlpha, sources, 77); p.Missing != 3 || p.SolveOps != 77 || p.Error != 0 || l.states.bytes != 0 {
		t.Errorf("after all have gone: %+v, %d bytes", p, l.states.bytes)
	}
}
