package index

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
)

// bulkLine is an edge as passed to a bulk load.
type bulkLine struct {
	src, dst Key
	weight   float32
	time     int64
	relation string
}

// add adds the edge to a bulk load.
func (l bulkLine) add(b *Bulk) error {
	relation, _, err := b.Relation(l.relation, worldRelations()[l.relation])
	if err != nil {
		return err
	}
	return b.Edge(l.src, l.dst, relation, l.weight, l.time)
}

// load is a simple bulk load, the oracle of Bulk. If it returns an error, the world is unchanged.
func (w *world) load(lines []bulkLine, how Repeats) (t Tally, err error) {
	next := w.clone()
	last, sums := maps.Clone(w.edges), map[worldEdge]float64{}
	forth, back := map[worldEdge]int{}, map[worldEdge]int{}
	for p, e := range w.edges {
		sums[p] = float64(e.Weight)
	}
	for _, l := range lines {
		p := w.pair(l.relation, l.src, l.dst)
		before, repeats := last[p]
		if repeats {
			t.Repeated++
			if before.Weight != l.weight || before.Time != l.time {
				t.Differing++
			}
			if how == NoRepeats {
				err = ErrRepeated
			}
		}
		if p.a == l.src {
			forth[p]++
		} else {
			back[p]++
		}
		weight, time := l.weight, l.time
		last[p] = Edge{Weight: weight, Time: time}
		if how == CountRepeats {
			weight = 1
		}
		sums[p] += float64(weight)
		if how == SumWeights || how == CountRepeats {
			weight = float32(sums[p])
		}
		if had := next.edges[p].Time; time == 0 || had != 0 && had > time {
			time = had
		}
		next.setEdge(l.relation, l.src, l.dst, weight, time)
	}
	pairs, alike := 0, 0
	for p, e := range next.edges {
		if err == nil && !ValidWeight(e.Weight) {
			err = ErrWeight
		}
		if w.isDirected(p.relation) || p.a == p.b || forth[p]+back[p] == 0 {
			continue
		}
		pairs++
		if forth[p] > 0 && back[p] > 0 {
			t.BothWays++
		}
		if forth[p] == back[p] {
			alike++
		}
	}
	t.Symmetric = pairs > 0 && alike == pairs
	if err == nil {
		*w = *next
	}
	return t, err
}

// TestRepeats verifies that repeats are combined as a map would combine them, whatever the memory
// limit. Sums of weights, which depend on the order of the additions, are the same to the bit.
func TestRepeats(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for _, directed := range []bool{false, true} {
		for how := KeepLast; how <= NoRepeats; how++ {
			for _, memory := range []int64{0, 1, 2 * 200, 2 * 500, 2 * 2000} {
				var base, lines []bulkLine
				for i := range 400 {
					l := bulkLine{Int(rng.Int64N(6)), Int(rng.Int64N(6)), float32(rng.ExpFloat64()) + 1e-6, rng.Int64N(5) - 2, ""}
					if i%7 == 0 {
						l.weight *= 1 << 24
					}
					if i < 5 {
						base = append(base, l)
					} else {
						lines = append(lines, l)
					}
				}
				if how == NoRepeats {
					base, lines = []bulkLine{{Int(1), Int(2), 1, 0, ""}}, []bulkLine{{Int(2), Int(3), 1, 0, ""}, {Int(2), Int(1), 1, 0, ""}}
				}
				checkRepeats(t, directed, how, memory, base, lines)
			}
		}
	}
}

// checkRepeats loads the lists in turn and compares the results with the oracle.
func checkRepeats(t *testing.T, directed bool, how Repeats, memory int64, lists ...[]bulkLine) {
	t.Helper()
	meta := soundMeta()
	meta.Directed = directed
	now, w := New(meta), newWorld(directed)
	for n, list := range lists {
		bulk := now.Bulk(BulkOptions{Memory: memory, Scratch: newPaper, Repeats: how})
		for _, l := range list {
			if err := l.add(bulk); err != nil {
				t.Fatal(err)
			}
		}
		want, wantErr := w.load(list, how)
		next, got, err := bulk.writeTo(context.Background(), newMemory(), uint32(n+1))
		if !errors.Is(err, wantErr) || wantErr == nil && err != nil {
			t.Fatalf("directed %v, %v, memory %d, list %d: %v, want %v", directed, how, memory, n, err, wantErr)
		}
		if err != nil {
			continue
		}
		if got != want {
			t.Errorf("directed %v, %v, memory %d, list %d: %+v, want %+v", directed, how, memory, n, got, want)
		}
		w.agree(t, next)
		now = next
	}
}

// TestRepeatsSymmetric verifies that Tally distinguishes a list with both directions of every edge
// from one with both directions of some edges.
func TestRepeatsSymmetric(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		lines []bulkLine
		want  Tally
	}{
		{"both directions", []bulkLine{{Int(1), Int(2), 1, 0, ""}, {Int(2), Int(1), 1, 0, ""}, {Int(3), Int(3), 1, 0, ""}}, Tally{1, 0, 1, true}},
		{"one once more", []bulkLine{{Int(1), Int(2), 1, 0, ""}, {Int(2), Int(1), 1, 0, ""}, {Int(2), Int(1), 2, 0, ""}}, Tally{2, 1, 1, false}},
		{"one direction", []bulkLine{{Int(1), Int(2), 1, 0, ""}, {Int(1), Int(2), 1, 3, ""}}, Tally{1, 1, 0, false}},
		{"loops", []bulkLine{{Int(1), Int(1), 1, 0, ""}, {Int(1), Int(1), 1, 0, ""}}, Tally{1, 0, 0, false}},
		{"nothing", nil, Tally{}},
	} {
		bulk := New(soundMeta()).Bulk(BulkOptions{})
		for _, l := range c.lines {
			if err := l.add(bulk); err != nil {
				t.Fatal(err)
			}
		}
		if _, got, err := bulk.result(); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

// TestRepeatsTooHeavy verifies that weights whose sum exceeds the maximum weight are an error, in
// every mode that adds weights.
func TestRepeatsTooHeavy(t *testing.T) {
	t.Parallel()
	for _, how := range []Repeats{SumWeights, CountRepeats} {
		lists := [][]bulkLine{{{Int(1), Int(2), MaxWeight, 0, ""}}, {{Int(2), Int(1), MaxWeight, 0, ""}}}
		if how == CountRepeats { // only the edges already in the graph have their own weight
			lists[0] = append(lists[0], bulkLine{Int(1), Int(2), 1, 0, ""})
		}
		checkRepeats(t, false, how, 0, lists...)
	}
}

// TestRepeatsNamed verifies that ErrRepeated names the nodes, old and new ones, wherever their keys
// are.
func TestRepeatsNamed(t *testing.T) {
	t.Parallel()
	old, _, err := bulkOf(New(soundMeta()), []bulkLine{{Int(5), Str("old"), 1, 0, ""}}, BulkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{0, 1} {
		lines := []bulkLine{{Int(1), Int(2), 1, 0, ""}, {Str("new"), Str("old"), 1, 0, ""}, {Str("x"), Str("y"), 1, 0, ""}, {Str("new"), Str("old"), 1, 0, ""}}
		_, _, err := bulkOf(old, lines, BulkOptions{Memory: memory, Scratch: newPaper, Repeats: NoRepeats})
		if !errors.Is(err, ErrRepeated) || !strings.Contains(err.Error(), "'new' -> 'old' comes twice") {
			t.Errorf("memory %d: %v", memory, err)
		}
	}
}
