package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// ledger is the oracle of events: it keeps all events of a graph and derives the graph before a
// time from them.
type ledger struct {
	directed bool
	repeats  Repeats
	lines    []bulkLine
}

// before returns the edges before a time as a sorted list of text.
func (l *ledger) before(time int64) (edges []string) {
	type state struct {
		weight float32
		time   int64
	}
	states := map[[2]int64]state{}
	for _, e := range l.lines {
		u, _ := e.src.Int()
		v, _ := e.dst.Int()
		if !l.directed && u > v {
			u, v = v, u
		}
		if e.time >= time {
			continue
		}
		s := states[[2]int64{u, v}]
		switch l.repeats {
		case SumWeights:
			s.weight += e.weight
		case CountRepeats:
			s.weight++
		default:
			s.weight = e.weight
		}
		s.time = e.time
		states[[2]int64{u, v}] = s
	}
	for p, s := range states {
		edges = append(edges, fmt.Sprint(p, s))
	}
	slices.Sort(edges)
	return edges
}

// textOf lists the edges of a graph by key, in the format of ledger.before.
func textOf(s *Snapshot, g *Graph) (edges []string) {
	for e := range g.Edges() {
		u, _ := s.Key(e.U).Int()
		v, _ := s.Key(e.V).Int()
		if !g.Directed() && u > v {
			u, v = v, u
		}
		edges = append(edges, fmt.Sprint([2]int64{u, v}, struct {
			weight float32
			time   int64
		}{e.Weight, e.Time}))
	}
	slices.Sort(edges)
	return edges
}

// drawLines returns n random events in time order, some at the same time.
func drawLines(rng *rand.Rand, n int, from int64) (lines []bulkLine) {
	for range n {
		from += rng.Int64N(3)
		lines = append(lines, bulkLine{Int(rng.Int64N(6)), Int(rng.Int64N(6)), float32(1 + rng.IntN(3)), from, ""})
	}
	return lines
}

// loaded returns s after a bulk load of lines, which may be in any order.
func loaded(t *testing.T, s *Snapshot, lines []bulkLine, how Repeats) *Snapshot {
	t.Helper()
	b := s.Bulk(BulkOptions{Repeats: how})
	for _, l := range lines {
		if err := l.add(b); err != nil {
			t.Fatal(err)
		}
	}
	next, _, err := b.writeTo(context.Background(), newMemory(), s.Meta.Generation+1)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// checkMoments compares the graph of each moment with that of the ledger.
func checkMoments(t *testing.T, what string, s *Snapshot, l *ledger) {
	t.Helper()
	n, last := 0, int64(0)
	for m := range s.Moments(len(l.lines)) {
		if want := l.before(m.Time); !slices.Equal(textOf(s, m.Graph), want) {
			t.Fatalf("%s: before time %d\n%v, want\n%v", what, m.Time, textOf(s, m.Graph), want)
		}
		if m.Time <= last {
			t.Errorf("%s: time %d after %d", what, m.Time, last)
		}
		last = m.Time
		n += len(m.Events)
	}
	if n != len(l.lines) || s.events.latestTime() != last {
		t.Errorf("%s: %d events up to %d, want %d up to %d", what, n, s.events.latestTime(), len(l.lines), last)
	}
}

// TestMoments verifies the graph before each of the newest events: after bulk loads, after commits,
// and after reading the records.
func TestMoments(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		l := &ledger{directed: seed%2 == 0, repeats: []Repeats{SumWeights, CountRepeats}[seed/2%2]}
		meta := soundMeta()
		meta.Directed = l.directed
		s := New(meta)
		for range 2 {
			last := int64(1)
			if n := len(l.lines); n > 0 {
				last = l.lines[n-1].time + 1
			}
			lines := drawLines(rng, 20, last)
			l.lines = append(l.lines, lines...)
			shuffled := slices.Clone(lines)
			if l.repeats == CountRepeats { // the last bits of sums depend on the order
				rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			}
			s = loaded(t, s, shuffled, l.repeats)
			checkMoments(t, fmt.Sprint("seed ", seed, ", loaded"), s, l)
		}
		store := newMemory()
		s.compactTo(t, store, s.Meta.Generation)
		if err := s.WriteBase(store); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			s = commitEvent(t, s, store, rng, l)
		}
		checkMoments(t, fmt.Sprint("seed ", seed, ", committed"), s, l)
		again, err := Open(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkMoments(t, fmt.Sprint("seed ", seed, ", opened"), again, l)
	}
}

// commitEvent adds an edge, or weight to an edge, in a separate commit.
func commitEvent(t *testing.T, s *Snapshot, store *memory, rng *rand.Rand, l *ledger) *Snapshot {
	t.Helper()
	e := drawLines(rng, 1, s.events.latestTime()+1)[0]
	b := s.Begin()
	u, _, _ := b.AddNode(e.src)
	v, _, _ := b.AddNode(e.dst)
	had, _ := b.Edge(u, v)
	add := e.weight
	if l.repeats == CountRepeats {
		add = 1
	}
	if _, err := b.SetEdge(Edge{Ends: Ends{U: u, V: v}, Weight: had.Weight + add, Time: e.time}); err != nil {
		t.Fatal(err)
	}
	if err := b.Write(store, Commit{}); err != nil {
		t.Fatal(err)
	}
	l.lines = append(l.lines, e)
	return b.Snapshot()
}

// TestEventsOfStoredRows verifies that an edge that was removed and added has no earlier time after
// the store was opened, whether its rows are read on demand or not.
func TestEventsOfStoredRows(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		h := newHistory(t, directed)
		empty := h.now
		for _, e := range []Edge{{Ends: Ends{U: 0, V: 1}, Weight: 1, Time: 5}, {Ends: Ends{U: 0, V: 1}, Weight: 0, Time: 0}, {Ends: Ends{U: 0, V: 1}, Weight: 1, Time: 6}} {
			b := h.now.Begin()
			for k := range int64(2) {
				_, _, err := b.AddNode(Int(k))
				must(t, err)
			}
			_, err := b.SetEdge(Edge{Ends: Ends{U: e.U, V: e.V}, Weight: e.Weight, Time: e.Time})
			must(t, err)
			must(t, b.Write(h.store, Commit{}))
			h.now = b.Snapshot()
		}
		next, err := h.now.Rebase(empty, empty.compactTo(t, h.store, 1), 1)
		must(t, err)
		must(t, next.WriteBase(h.store))
		for _, rows := range []*Stored{nil, {memorySource{h.store.clone()}, 0}} {
			s, err := Open(h.store, rows)
			must(t, err)
			if got, want := s.events.all(), h.now.events.all(); !slices.Equal(got, want) {
				t.Errorf("directed %v, rows on demand %v: %v, want %v", directed, rows != nil, got, want)
			}
		}
	}
}

// TestEventsAreBounded verifies that a graph keeps the newest events, whatever the order of their
// arrival.
func TestEventsAreBounded(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	var n newestEvents
	var all []Event
	for i := range 2*maxEvents + 1000 {
		all = append(all, Event{Edge: Edge{Ends: Ends{U: ID(i % 7), V: 1}, Weight: 1, Time: int64(1 + i)}})
	}
	for _, i := range rng.Perm(len(all)) {
		n.add(rankedEvent{Event: all[i]})
	}
	if !slices.Equal(n.sorted(), all[maxEvents+1000:]) {
		t.Error("not the newest events, by time")
	}
	e := eventList{}
	for _, v := range all {
		e = e.add(v)
	}
	if !slices.Equal(e.all(), all[maxEvents+1000:]) || e.latestTime() != all[len(all)-1].Time {
		t.Errorf("%d events up to %d", len(e.all()), e.latestTime())
	}
	e = e.merge(all[:10])
	if got := e.all(); len(got) != maxEvents || got[0] != all[maxEvents+1000] {
		t.Errorf("merged: %d events from %+v on", len(got), got[0])
	}
}

// TestMomentsOfHidden verifies that Moments leaves out the events of hidden edges.
func TestMomentsOfHidden(t *testing.T) {
	t.Parallel()
	s := loaded(t, New(soundMeta()), []bulkLine{{Int(1), Int(2), 1, 5, ""}, {Int(1), Int(3), 1, 6, ""}, {Int(1), Int(2), 1, 7, ""}}, SumWeights)
	e := s.Graph.Edit()
	e.Set(Edge{Ends: Ends{U: 0, V: 1}})
	hidden := *s
	hidden.Graph = e.Graph()
	for m := range hidden.Moments(9) {
		if m.Time != 6 || m.Graph.NumEdges() != 0 {
			t.Errorf("time %d, %d edges", m.Time, m.Graph.NumEdges())
		}
	}
}
