package model

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

// offering lets a model without features observe n outcomes with their offers. It reuses the memory
// of the offers, as callers may.
func offering(t testing.TB, m *Model, seed uint64, n int, tell func(Outcome) Outcome) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 4))
	offer := make([]ID, 4)
	for range n {
		x := make([]float32, len(offer)*m.config.width())
		for i := range x {
			x[i] = rng.Float32()
		}
		for i := range offer {
			offer[i] = ID(rng.IntN(12))
		}
		chosen := rng.IntN(len(offer))
		o := Outcome{Pair: Pair{Source: ID(rng.IntN(12)), Target: offer[chosen]}, Contexts: x, Chosen: chosen, Reward: float64(rng.IntN(2)), Offered: offer}
		if _, err := m.Observe(tell(o)); err != nil {
			t.Fatal(err)
		}
	}
}

func asTold(o Outcome) Outcome { return o }

func unsaid(o Outcome) Outcome {
	o.Offered = nil
	return o
}

// A belief with option offers learns offers. Nothing else does: a belief without the option,
// networks, and offers that are too long do not change the model.
func TestOffersAreLearned(t *testing.T) {
	t.Parallel()
	everything := func(o Outcome) Outcome {
		for len(o.Offered) <= maxOffered {
			o.Offered = append(o.Offered, o.Offered...)
		}
		return o
	}
	for _, c := range []struct {
		what, policy string
		settings     []any
		tell         func(Outcome) Outcome
		learned      bool
	}{
		{"a few", "default", nil, asTold, true},
		{"too many", "default", nil, everything, false},
		{"offers = off", "default", []any{"offers", "off"}, asTold, false},
		{"networks", "prb", nil, asTold, false},
		{"networks, offers = on", "prb", []any{"offers", "on"}, asTold, false},
	} {
		told, untold := newModel(t, c.policy, "", 0, c.settings...), newModel(t, c.policy, "", 0, c.settings...)
		offering(t, told, 1, 12, c.tell)
		offering(t, untold, 1, 12, unsaid)
		if learned := !bytes.Equal(encode(t, told), encode(t, untold)); learned != c.learned {
			t.Errorf("%s: learned %v, want %v", c.what, learned, c.learned)
		}
	}
}

// If the ranker is doubted, the one of two otherwise equal targets that was on offer more often
// ranks higher. An older scorer does not change.
func TestOffersRank(t *testing.T) {
	t.Parallel()
	w, pairs := kite().world(nil), Pairs(4, []ID{0, 2}) // alike
	m := newModel(t, "default", "", 0)
	m.belief.setPrior(true)
	x, err := m.Scorer().Contexts(context.Background(), w, Pairs(4, []ID{1}))
	if err != nil {
		t.Fatal(err)
	}
	observe := func(offer ...ID) {
		if _, err := m.Observe(Outcome{Pair: Pair{Source: 4, Target: 1}, Contexts: x, Offered: offer}); err != nil {
			t.Fatal(err)
		}
	}
	observe(0, 1, 2)
	s := m.Scorer()
	before := scoresOf(t, s, w, pairs)
	observe(0, 1)
	observe(0, 1)
	if after := scoresOf(t, s, w, pairs); !slices.Equal(after, before) {
		t.Errorf("a scorer says %+v, and later %+v", before, after)
	}
	if now := scoresOf(t, m.Scorer(), w, pairs); before[0].Score-before[1].Score > 1e-9 || now[0].Exploit <= now[1].Exploit {
		t.Errorf("0 was on offer more often than 2: %+v; before: %+v", now, before)
	}
}

// A decoded model continues with the same bits, including the offers.
func TestOffersAreStored(t *testing.T) {
	t.Parallel()
	m := newModel(t, "default", "", 0)
	offering(t, m, 1, 20, asTold)
	back, err := Decode(encode(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if !Same(m.Scorer(), back.Scorer()) {
		t.Error("it came back as another one")
	}
	for _, m := range []*Model{m, back} {
		offering(t, m, 2, 20, asTold)
	}
	if !bytes.Equal(encode(t, m), encode(t, back)) || !Same(m.Scorer(), back.Scorer()) {
		t.Error("it went on differently")
	}
}

// Trim keeps offers for policies that learn from them, and drops nothing that is learned.
func TestOffersTrimmed(t *testing.T) {
	t.Parallel()
	for policy, kept := range map[string]bool{"default": true, "prb": false, "common_neighbors": false} {
		whole, trimmed := newModel(t, policy, "", 0), newModel(t, policy, "", 0)
		offering(t, whole, 1, 12, asTold)
		offering(t, trimmed, 1, 12, func(o Outcome) Outcome {
			o = trimmed.Trim(o)
			if (o.Offered != nil) != kept {
				t.Errorf("%s: of an offer %v is left", policy, o.Offered)
			}
			return o
		})
		if !bytes.Equal(encode(t, whole), encode(t, trimmed)) {
			t.Errorf("%s: a trimmed outcome taught something else", policy)
		}
	}
}
