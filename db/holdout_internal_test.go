package db

import (
	"context"
	"testing"
)

// A holdout uses a graph with all rows in one run. Passes over an overlay of the nodes that lost an
// edge took three times as long as those of a prediction.
func TestHoldoutGraph(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g, err := Open("", &Options{InMemory: true, Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	err = g.Update(ctx, func(tx *Tx) error {
		for i := range 100 {
			if err := tx.PutEdge(i, (i+1)%100); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = g.View(ctx, func(tx *Tx) error {
		s, err := tx.hold(ctx, &EvaluateOptions{Share: 0.3})
		if err != nil {
			return err
		}
		runs := 0
		for range s.rest.snap.Graph.Runs(false) {
			runs++
		}
		if runs != 1 {
			t.Errorf("the rows are in %d runs", runs)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
