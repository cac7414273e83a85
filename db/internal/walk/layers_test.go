package walk_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/db/internal/walk"
	"kith/index"
)

// Layers agrees with a breadth-first search by maps, from one node and from several, in graphs most
// of whose nodes are in reach, or few.
func TestLayers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(200)
		e := index.NewGraph(seed%2 == 0).Edit()
		e.Grow(n * []int{1, 20, 200}[seed%3])
		for range rng.IntN(2 * n) {
			e.Set(index.Edge{Ends: index.Ends{U: index.ID(rng.IntN(n)), V: index.ID(rng.IntN(n))}, Weight: 1})
		}
		g := e.Graph()
		from := make([]index.ID, 1+rng.IntN(3))
		for i := range from {
			from[i] = index.ID(rng.IntN(n))
		}
		slices.Sort(from)
		from = slices.Compact(from)
		const steps = 4
		var want, got [][]index.ID
		seen := map[index.ID]bool{}
		for _, u := range from {
			seen[u] = true
		}
		for layer := from; len(want) < steps; {
			var next []index.ID
			for _, u := range layer {
				to, _ := g.Out(u)
				for _, v := range to {
					if !seen[v] {
						seen[v] = true
						next = append(next, v)
					}
				}
			}
			if layer = next; len(layer) == 0 {
				break
			}
			slices.Sort(layer)
			want = append(want, layer)
		}
		for layer, err := range walk.Layers(ctx, g, steps, from...) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, slices.Clone(layer))
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("seed %d: layers from %d are %d, want %d", seed, from, got, want)
		}
	}
}

func TestLayersCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	e := index.NewGraph(true).Edit()
	e.Grow(3)
	e.Set(index.Edge{Ends: index.Ends{U: 0, V: 1}, Weight: 1})
	e.Set(index.Edge{Ends: index.Ends{U: 1, V: 2}, Weight: 1})
	var last error
	for _, err := range walk.Layers(ctx, e.Graph(), 2, 0) {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("after the end of the context: %v", last)
	}
}

// Without agrees with a search for each node, in lists of all lengths, and changes only the first.
func TestWithout(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 1))
	ascending := func(n int) (all []index.ID) {
		for id := range index.ID(200) {
			if rng.IntN(200) < n {
				all = append(all, id)
			}
		}
		return all
	}
	for range 2000 {
		a, b := ascending(rng.IntN(201)), ascending(rng.IntN(201))
		others := slices.Clone(b)
		want := slices.DeleteFunc(slices.Clone(a), func(u index.ID) bool { return slices.Contains(b, u) })
		if got := walk.Without(slices.Clone(a), b); !slices.Equal(got, want) {
			t.Fatalf("%v without %v: %v, want %v", a, b, got, want)
		}
		if !slices.Equal(b, others) {
			t.Fatalf("%v became %v", others, b)
		}
	}
}
