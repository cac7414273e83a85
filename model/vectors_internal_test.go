package model

import (
	"context"
	"slices"
	"testing"
)

// A trained model finds similar nodes by its vectors, an untrained one by feature vectors. Neither
// finds any for a node without edges and features.
func TestSimilar(t *testing.T) {
	t.Parallel()
	g, features := groups()
	any := func(ID) bool { return true }
	similar := func(m *Model, w World, source ID) []ID {
		t.Helper()
		got, err := m.Scorer().Similar(context.Background(), w, source, 5, any)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	untrained, trained := newModel(t, "default", "", 12), newModel(t, "default", "", 12)
	without := func(hidden [][2]ID) (World, error) { return g.without(hidden).world(features), nil }
	if err := trained.TrainEdges(context.Background(), g, EdgePlan{Samples: 40, Epochs: 1}, without); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Model{untrained, trained} {
		got := similar(m, g.world(features), 3)
		if inside := len(slices.DeleteFunc(slices.Clone(got), func(u ID) bool { return u >= 20 })); len(got) != 5 || inside < 3 {
			t.Errorf("trained %v: %v are like a node of the first group", m.Trained(), got)
		}
	}
	lone := newMesh(40, false, [2]ID{0, 1}, [2]ID{1, 2})
	plain := newModel(t, "default", "", 0)
	without = func(hidden [][2]ID) (World, error) { return lone.without(hidden).world(nil), nil }
	if err := plain.TrainEdges(context.Background(), lone, EdgePlan{Epochs: 1}, without); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Model{untrained, plain, newModel(t, "prb", "", 0)} {
		if got := similar(m, lone.world(nil), 4); len(got) > 0 {
			t.Errorf("a node of which nothing is known is like %v", got)
		}
	}
}
