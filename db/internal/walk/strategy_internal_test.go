package walk

import (
	"context"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/index"
	"kith/ppr"
)

// emptyStore is a store without records.
type emptyStore struct{}

func (emptyStore) Get([]byte) ([]byte, bool, error) { return nil, false, nil }

func (emptyStore) Scan(_, _ []byte) iter.Seq2[index.Entry, error] {
	return func(func(index.Entry, error) bool) {}
}

// The planner's predicted bound for the correction from both ends is close to the certified bound,
// so its choice between the correction and a solve is good.
func TestCorrectedBound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const n, eps = 2000, 1e-4
	b := index.New(index.Meta{Alpha: 0.85, Epsilon: eps, Seed: 1}).Begin()
	for u := range n {
		if _, _, err := b.AddNode(index.Int(int64(u))); err != nil {
			t.Fatal(err)
		}
	}
	for u := range 4 * n {
		near := (u%n + 1 + int(30*r.ExpFloat64())) % n // degrees differ, and most neighbours are close
		if _, err := b.SetEdge(index.Edge{Ends: index.Ends{U: index.ID(u % n), V: index.ID(near)}, Weight: 1}); err != nil {
			t.Fatal(err)
		}
	}
	w := &Walker{States: index.NewStates(eps, 64<<20, 0), View: b.Snapshot(), Reader: emptyStore{}}
	for _, form := range []ppr.Form{ppr.Column, ppr.Row} {
		task := &Task{Form: form, Alpha: 0.85}
		for u := range 40 {
			task.At = append(task.At, index.ID(u*n/40))
			task.Start.Value = append(task.Start.Value, 2*r.Float64()-1)
		}
		task.Start.Node = task.At
		_, bound, err := w.combine(context.Background(), task, true)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i, b := range bound {
			if task.Form == ppr.Column {
				b /= degree(w.View.Graph, task.At[i])
			}
			worst = max(worst, b/largest(task.Start.Value))
		}
		for _, e := range w.Estimates(task) {
			if e.Strategy == Correct && (e.Bound < worst/2 || e.Bound > 8*worst) {
				t.Errorf("%v: %v promised, %v certified", task.Form, e.Bound, worst)
			}
		}
	}
}

// The weight of a row start node in an undirected graph includes its degree.
func TestStartWeight(t *testing.T) {
	t.Parallel()
	edit := index.NewGraph(false).Edit()
	edit.Grow(4)
	edit.Set(index.Edge{Ends: index.Ends{U: 1, V: 2}, Weight: 3})
	edit.Set(index.Edge{Ends: index.Ends{U: 1, V: 3}, Weight: 4})
	w := &Walker{View: &index.Snapshot{Graph: edit.Graph(), Meta: index.Meta{Epsilon: 1}}}
	for form, want := range map[ppr.Form]float64{ppr.Column: 1, ppr.Row: 2} {
		if got, _ := w.bounds(&Task{Form: form, Alpha: 1, Start: ppr.Vector{Node: []index.ID{1}, Value: []float64{-2}}}, 1); got != want {
			t.Errorf("%v: %v, want %v", form, got, want)
		}
	}
}

// What a Known holds changes no answer, also if other nodes are asked for.
func TestKnown(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		w := made(t, 6, directed, [3]int{0, 1, 1}, [3]int{1, 2, 1}, [3]int{2, 3, 2}, [3]int{3, 0, 1}, [3]int{3, 4, 1})
		w.Reader = nil
		known := &Known{}
		for _, at := range [][]index.ID{{1, 2}, {1, 2}, {2, 3, 4}, {1, 2}} {
			w.Known = nil
			to, from, err := w.Proximity(t.Context(), 0.85, 0, at)
			if err != nil {
				t.Fatal(err)
			}
			w.Known = known
			gotTo, gotFrom, err := w.Proximity(t.Context(), 0.85, 0, at)
			if err != nil || !slices.Equal(gotTo, to) || !slices.Equal(gotFrom, from) {
				t.Errorf("directed %v, nodes %d: %v, %v, %v, want %v and %v", directed, at, gotTo, gotFrom, err, to, from)
			}
		}
	}
}
