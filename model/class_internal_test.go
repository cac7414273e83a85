package model

import (
	"context"
	"errors"
	"slices"
	"testing"
)

func classModel(t *testing.T, features int, preset string) *Model {
	t.Helper()
	m, err := New(Spec{Policy: "prb_n", Preset: preset, FeatureLen: features, Classes: []ID{3, 5, 6}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestClassContexts(t *testing.T) {
	t.Parallel()
	vectors := map[ID][]float32{0: {1, 2}, 3: {7, 7}, 5: {9, 9}}
	w := newMesh(8, false).world(func(u ID) []float32 { return vectors[u] })
	s := classModel(t, 2, "released").Scorer()
	x, err := s.Contexts(context.Background(), w, []Pair{{Source: 0, Target: 5}, {Source: 0, Target: 3}, {Source: 0, Target: 6}, {Source: 1, Target: 6}})
	if err != nil {
		t.Fatal(err)
	}
	want := []float32{
		0, 0, 1, 2, 0, 0,
		1, 2, 0, 0, 0, 0,
		0, 0, 0, 0, 1, 2,
		0, 0, 0, 0, 0, 0,
	}
	if !slices.Equal(x, want) {
		t.Errorf("contexts %v, want %v", x, want)
	}
	if !slices.Equal(s.Classes(), []ID{3, 5, 6}) {
		t.Errorf("classes %v", s.Classes())
	}
}

// Candidates that are not class nodes are an error, with and without features.
func TestClassRefuses(t *testing.T) {
	t.Parallel()
	w := newMesh(8, false).world(nil)
	for _, features := range []int{0, 2} {
		s := classModel(t, features, "paper").Scorer()
		if _, err := s.Score(context.Background(), w, Pairs(0, []ID{3, 4})); !errors.Is(err, ErrInput) {
			t.Errorf("%d features: score of node 4: %v, want ErrInput", features, err)
		}
		if _, err := s.Contexts(context.Background(), w, Pairs(0, []ID{4})); !errors.Is(err, ErrInput) {
			t.Errorf("%d features: context of node 4: %v, want ErrInput", features, err)
		}
	}
	m := classModel(t, 2, "paper")
	without := func([][2]ID) (World, error) { return w, nil }
	if err := m.TrainEdges(context.Background(), w.Graph, EdgePlan{}, without); !errors.Is(err, ErrInput) {
		t.Errorf("TrainEdges: %v, want ErrInput", err)
	}
}

// The policy learns which class belongs to which features.
func TestClassLearns(t *testing.T) {
	t.Parallel()
	ctx, m, classes := context.Background(), classModel(t, 3, "paper"), Pairs(0, []ID{3, 5, 6})
	wrong := 0
	for round := range 400 {
		truth := round % 3
		feature := make([]float32, 3)
		feature[(truth+1)%3] = 1
		w := newMesh(8, false).world(func(ID) []float32 { return feature })
		s := m.Scorer()
		scores, err := s.Score(ctx, w, classes)
		if err != nil {
			t.Fatal(err)
		}
		o := Outcome{}
		for i := range scores {
			if scores[i].Score > scores[o.Chosen].Score {
				o.Chosen = i
			}
		}
		if o.Contexts, err = s.Contexts(ctx, w, classes); err != nil {
			t.Fatal(err)
		}
		if o.Chosen == truth {
			o.Reward = 1
		} else if round >= 300 {
			wrong++
		}
		if _, err := m.Observe(o); err != nil {
			t.Fatal(err)
		}
	}
	if wrong > 10 {
		t.Errorf("%d of the last 100 wrong", wrong)
	}
}

// The other policies with classes have the same contexts as prb_n.
func TestClassRivals(t *testing.T) {
	t.Parallel()
	w := newMesh(8, false).world(func(u ID) []float32 { return []float32{float32(u) + 1, 2} })
	pairs := Pairs(1, []ID{3, 5, 6})
	want, err := classModel(t, 2, "paper").Scorer().Contexts(context.Background(), w, pairs)
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"prb", "prb_greedy"} {
		m, err := New(Spec{Policy: policy, Preset: "paper", FeatureLen: 2, Classes: []ID{3, 5, 6}})
		if err != nil {
			t.Fatal(err)
		}
		if x, err := m.Scorer().Contexts(context.Background(), w, pairs); err != nil || !slices.Equal(x, want) {
			t.Errorf("%s: %v, want %v, %v", policy, x, want, err)
		}
	}
}
