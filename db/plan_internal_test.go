package db

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/index"
	"kith/ppr"
)

// The planner's predicted bound for the correction from both ends is close to the certified bound, so its choice
// between the correction and a solve is good.
func TestPlanCorrectedBound(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g, err := Open("", &Options{InMemory: true, Epsilon: 1e-4})
	must(t, err)
	defer func() { must(t, g.Close()) }()
	r := rand.New(rand.NewPCG(1, 2))
	const n = 2000
	must(t, g.Update(ctx, func(tx *Tx) error {
		for u := range 4 * n {
			near := (u%n + 1 + int(30*r.ExpFloat64())) % n // degrees differ, and most neighbours are close
			if err := tx.AddEdge(u%n, near, 1); err != nil {
				return err
			}
		}
		return nil
	}))
	var keys []any
	for u := range 40 {
		keys = append(keys, u*n/40)
	}
	must(t, g.View(ctx, func(tx *Tx) error {
		if err := tx.Warm(ctx, keys...); err != nil {
			return err
		}
		for _, form := range []ppr.Form{ppr.Column, ppr.Row} {
			w := tx.walker(0, false, 0)
			task := &task{form: form, alpha: tx.snap.Meta.Alpha}
			ids, err := tx.listed(keys)
			if err != nil {
				return err
			}
			slices.Sort(ids)
			task.h.Node, task.at = ids, ids
			for range ids {
				task.h.Value = append(task.h.Value, 2*r.Float64()-1)
			}
			w.compareCorrected(t, task)
		}
		return nil
	}))
}

func (w *walker) compareCorrected(t *testing.T, task *task) {
	t.Helper()
	_, bound, err := w.combine(context.Background(), task, true)
	must(t, err)
	worst := 0.0
	for i, b := range bound {
		if task.form == ppr.Column {
			b /= pivot(w.view.Graph, task.at[i])
		}
		worst = max(worst, b/largest(task.h.Value))
	}
	for _, c := range w.choices(task) {
		if c.way == wayCorrect && (c.bound < worst/2 || c.bound > 8*worst) {
			t.Errorf("%v: %v promised, %v certified", task.form, c.bound, worst)
		}
	}
}

// The weight of a row start node in an undirected graph includes its degree.
func TestPlanWeight(t *testing.T) {
	t.Parallel()
	edit := index.NewGraph(false).Edit()
	edit.Grow(4)
	edit.Set(1, 2, 3, 0)
	edit.Set(1, 3, 4, 0)
	w := &walker{view: &index.Snapshot{Graph: edit.Graph()}}
	for form, want := range map[ppr.Form]float64{ppr.Column: 2, ppr.Row: 14} {
		if got := w.weight(&task{form: form, h: ppr.Vector{Node: []index.ID{1}, Value: []float64{-2}}}, 0, 1); got != want {
			t.Errorf("%v: %v, want %v", form, got, want)
		}
	}
}
