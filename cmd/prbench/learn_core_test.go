package main

import (
	"context"
	"slices"
	"testing"

	"kith/db"
)

// The cores of two cliques, of five and four nodes, and a tail.
func TestCores(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store, err := loadEdges(ctx, false, func(edge func(u, v int)) {
		for u := range 5 {
			for v := range u {
				edge(u, v)
			}
		}
		for u := 10; u < 14; u++ {
			for v := 10; v < u; v++ {
				edge(u, v)
			}
		}
		edge(4, 10)
		for u := 20; u < 26; u++ {
			edge(u, u-1)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	err = store.View(ctx, func(tx *db.Tx) error {
		edges, neighbors, err := edgesOf(tx)
		if err != nil {
			return err
		}
		number := coreNumbers(neighbors)
		slices.Sort(number)
		want := append(slices.Repeat([]int{1}, 7), 3, 3, 3, 3, 4, 4, 4, 4, 4)
		if !slices.Equal(number, want) || len(edges) != 23 {
			t.Errorf("cores are %v of %d edges, want %v of 23", number, len(edges), want)
		}
		var sizes []int64
		err = eachCore(ctx, tx, false, 5, func(core *db.DB) error {
			defer core.Close()
			return core.View(ctx, func(tx *db.Tx) error {
				sizes = append(sizes, tx.Stats().Edges)
				return nil
			})
		})
		if want := []int64{17, 10}; !slices.Equal(sizes, want) {
			t.Errorf("cores of %v edges, want %v", sizes, want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
