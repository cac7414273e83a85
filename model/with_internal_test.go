package model

import (
	"context"
	"errors"
	"testing"
)

func TestWith(t *testing.T) {
	t.Parallel()
	s := newModel(t, "prb_greedy", "default", 0).Scorer()
	for name, value := range map[string]any{"alpha": 0.7, "norm": "column", "seed_weight": 5, "center": "off"} {
		other, err := s.With(name, value)
		if err != nil {
			t.Fatal(err)
		}
		if Same(s, other) {
			t.Errorf("%s = %v changed nothing", name, value)
		}
		a, err := s.Score(context.Background(), kite().world(nil), Pairs(1, []ID{3, 4}))
		if err != nil {
			t.Fatal(err)
		}
		b, err := other.Score(context.Background(), kite().world(nil), Pairs(1, []ID{3, 4}))
		if err != nil {
			t.Fatal(err)
		}
		if a[0].Exploit != b[0].Exploit || a[0].Score == b[0].Score {
			t.Errorf("%s = %v: %+v became %+v", name, value, a[0], b[0])
		}
		for option, shown := range other.Options() {
			if option == name && shown == optionOf(s, name) {
				t.Errorf("%s is still shown as %v", name, shown)
			}
		}
	}
	d := tried(t, 5).Scorer()
	if other, err := d.With("alpha", 0.7); err != nil || other.belief != d.belief {
		t.Errorf("another alpha is another belief: %v", err)
	}
	for name, value := range map[string]any{"alpha": 2, "width": 7, "colour": "red"} {
		if _, err := s.With(name, value); !errors.Is(err, ErrOption) {
			t.Errorf("With(%s, %v) = %v, want ErrOption", name, value, err)
		}
	}
	if _, err := newModel(t, "jaccard", "", 0).Scorer().With("alpha", 0.5); !errors.Is(err, ErrOption) {
		t.Errorf("a walk of a policy without one: %v, want ErrOption", err)
	}
}

func optionOf(s *Scorer, name string) any {
	for option, value := range s.Options() {
		if option == name {
			return value
		}
	}
	return nil
}

// The scorer of a decoded model is the same until one of the two models learns.
func TestSame(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"prb", "default"} {
		m := newModel(t, policy, "default", 3)
		play(t, m, newRounds(1), 25)
		twin, err := Decode(encode(t, m))
		if err != nil {
			t.Fatal(err)
		}
		if !Same(m.Scorer(), twin.Scorer()) {
			t.Errorf("%s: a decoded model scores differently", policy)
		}
		play(t, twin, newRounds(1), 10)
		if Same(m.Scorer(), twin.Scorer()) {
			t.Errorf("%s: learning changed nothing", policy)
		}
	}
	if newModel(t, "prb", "", 0).Scorer().Walk().Alpha == 0 || newModel(t, "jaccard", "", 0).Scorer().Walk().Alpha != 0 {
		t.Error("prb walks, jaccard does not")
	}
}

// Beliefs with the same number of outcomes differ if their contents differ.
func TestSameBelief(t *testing.T) {
	t.Parallel()
	a, b := tried(t, 5), tried(t, 5)
	if !Same(a.Scorer(), b.Scorer()) {
		t.Error("equal runs led to different scorers")
	}
	for m, target := range map[*Model]ID{a: 1, b: 2} {
		if _, err := m.Observe(Outcome{Pair: Pair{Source: 0, Target: target}, Contexts: make([]float32, m.config.width())}); err != nil {
			t.Fatal(err)
		}
	}
	if Same(a.Scorer(), b.Scorer()) {
		t.Error("failures of different pairs are the same")
	}
}
