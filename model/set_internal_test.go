package model

import (
	"context"
	"math"
	"reflect"
	"testing"
)

// The score of a set is the weighted mean of the scores that its nodes give the same candidates,
// part by part, and that of one node is the node's, for every policy.
func TestScoreSet(t *testing.T) {
	t.Parallel()
	ctx, w := context.Background(), kite().world(func(u ID) []float32 { return []float32{float32(u), 1} })
	targets := []ID{1, 3, 4, 5}
	for _, policy := range Policies() {
		s := create(t, Spec{Policy: policy, FeatureLen: 2, Seed: 1}).Scorer()
		if with, err := s.With("seed_weight", 3); err == nil {
			s = with
		}
		set := Start{Node: []ID{0, 1, 2}, Value: []float64{0.5, 0.125, 0.375}}
		got, err := s.ScoreSet(ctx, w, set, targets)
		if err != nil {
			t.Fatal(policy, err)
		}
		want := make([]Score, len(targets))
		for i, u := range set.Node {
			alone, err := s.Score(ctx, w, Pairs(u, targets))
			if err != nil {
				t.Fatal(policy, err)
			}
			one, err := s.ScoreSet(ctx, w, Start{Node: []ID{u}, Value: []float64{1}}, targets)
			if err != nil || !reflect.DeepEqual(one, alone) {
				t.Errorf("%s: node %d alone: %+v, %v, want %+v", policy, u, one, err, alone)
			}
			for j, a := range alone {
				want[j].Score += set.Value[i] * a.Score
				want[j].Exploit += set.Value[i] * a.Exploit
				want[j].Explore += set.Value[i] * a.Explore
				want[j].PPR += set.Value[i] * a.PPR
			}
		}
		for j, g := range got {
			for _, d := range []float64{g.Score - want[j].Score, g.Exploit - want[j].Exploit, g.Explore - want[j].Explore, g.PPR - want[j].PPR} {
				if !(math.Abs(d) < 1e-9) {
					t.Errorf("%s: node %d: %+v, want %+v", policy, targets[j], g, want[j])
				}
			}
		}
	}
}
