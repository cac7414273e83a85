package db_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kith/db"
)

// passages writes n nodes with random vectors of d numbers, in two labels.
func passages(n, d int) func(tx *db.Tx) error {
	return func(tx *db.Tx) error {
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range n {
			v := make([]float32, d)
			for j := range v {
				v[j] = float32(rng.NormFloat64())
			}
			node := db.Node{Key: db.Int(int64(i)), Label: []string{"passage", "title"}[i%2], Features: v, Properties: map[string]any{"lang": fmt.Sprint("l", i%3)}}
			if i%50 == 7 {
				node.Features = nil
			}
			if i%50 == 8 {
				clear(node.Features)
			}
			if err := errors.Join(tx.PutNode(node), tx.PutEdge(i, (i+1)%n)); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestNear verifies that NEAR finds the nodes that a plain comparison of all vectors finds, in
// memory and read from the disk, as candidates and as sources.
func TestNear(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const n, d = 700, 12
	path := place(t)
	g := open(t, path, nil)
	must(t, g.Update(ctx, passages(n, d)))
	query := make([]float32, d)
	for i := range query {
		query[i] = float32(i) - 4
	}
	where := db.Cond{Of: "label", Op: "=", Value: "passage"}.And(db.Cond{Of: "lang", Op: "<>", Value: "l1"})
	check := func() {
		t.Helper()
		must(t, g.View(ctx, func(tx *db.Tx) error {
			want := nearest(tx, query, func(n db.Node) bool { return n.Label == "passage" && n.Properties["lang"] != "l1" })[:20]
			got, err := tx.NearSeeds(ctx, query, 20, where)
			must(t, err)
			for i, s := range got {
				if s.Node != want[i].Node || math.Abs(s.Weight-want[i].Weight) > 1e-12 {
					t.Errorf("seed %d is %v, want %v", i, s, want[i])
				}
			}
			r, err := tx.Predict(ctx, db.PredictOptions{For: 1, Among: db.Near(query, 20).Where(where), Top: -1, Model: "ppr", NoCache: true})
			must(t, err)
			if len(r.Links) != 20 {
				t.Errorf("%d candidates", len(r.Links))
			}
			for _, l := range r.Links {
				if !slices.ContainsFunc(want, func(s db.Seed) bool { return s.Node == l.Target }) {
					t.Errorf("%v is not near", l.Target)
				}
			}
			return nil
		}))
	}
	check()
	must(t, g.Compact(ctx), g.Close())
	g = open(t, path, nil)
	check()
	must(t, g.Close())
}

// nearest returns the nodes with vectors that keep accepts, by cosine.
func nearest(tx *db.Tx, query []float32, keep func(db.Node) bool) (all db.Seeds) {
	for n := range tx.Nodes() {
		var ab, aa, bb float64
		for i, x := range n.Features {
			a, b := float64(query[i]), float64(x)
			ab, aa, bb = ab+a*b, aa+a*a, bb+b*b
		}
		if bb > 0 && keep(n) {
			all = append(all, db.Seed{Node: n.Key, Weight: ab / math.Sqrt(aa*bb)})
		}
	}
	slices.SortStableFunc(all, func(a, b db.Seed) int { return cmp.Compare(b.Weight, a.Weight) })
	return all
}

// TestNearErrors verifies which vectors are refused, and why.
func TestNearErrors(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := open(t, place(t), nil)
	must(t, g.Update(ctx, passages(30, 3)))
	for says, v := range map[string][]float32{
		"without a number other than 0": {0, 0, 0},
		"number 1 is NaN":               {1, float32(math.NaN()), 0},
		`no node has a vector of 2 numbers: nodes with label passage have 3, nodes with label title have 3`: {1, 2},
		"near to nothing": nil,
	} {
		_, err := g.Predict(ctx, db.PredictOptions{For: 1, Among: db.Near(v, 3)})
		if !errors.Is(err, db.ErrInput) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", v, err, says)
		}
		must(t, g.View(ctx, func(tx *db.Tx) error {
			if _, err := tx.NearSeeds(ctx, v, 3, db.Cond{}); !errors.Is(err, db.ErrInput) || !strings.Contains(err.Error(), says) {
				t.Errorf("%v: %v, want %q", v, err, says)
			}
			return nil
		}))
	}
	must(t, g.View(ctx, func(tx *db.Tx) error {
		for _, n := range []int{0, 10_001} {
			if _, err := tx.NearSeeds(ctx, []float32{1, 2, 3}, n, db.Cond{}); !errors.Is(err, db.ErrInput) {
				t.Errorf("%d nodes: %v", n, err)
			}
		}
		if _, err := tx.NearSeeds(ctx, []float32{1, 2, 3}, 3, db.Cond{Of: "lang", Op: "=", Value: "x"}); !errors.Is(err, db.ErrInput) {
			t.Errorf("nothing is left: %v", err)
		}
		return nil
	}))
	must(t, g.Close())
}
