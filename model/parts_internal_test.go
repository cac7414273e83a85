package model

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"kith/model/internal/spectral"
)

// trainedGroups returns a model of policy default trained on groups, and its world.
func trainedGroups(t *testing.T) (*Model, World) {
	t.Helper()
	g, features := groups()
	m := newModel(t, "default", "", 12)
	without := func(hidden [][2]ID) (World, error) { return g.without(hidden).world(features), nil }
	if err := m.TrainEdges(context.Background(), g, EdgePlan{Samples: 60, Epochs: 1}, without); err != nil {
		t.Fatal(err)
	}
	return m, g.world(features)
}

// The state and the vectors together are the whole model. An outcome does not change the vectors.
func TestDecodeParts(t *testing.T) {
	t.Parallel()
	m, w := trainedGroups(t)
	vectors, err := m.MarshalVectors()
	if err != nil {
		t.Fatal(err)
	}
	x, err := m.Scorer().Contexts(context.Background(), w, []Pair{{Source: 1, Target: 30}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Observe(Outcome{Pair: Pair{Source: 1, Target: 30}, Contexts: x, Reward: 1}); err != nil {
		t.Fatal(err)
	}
	if again, err := m.MarshalVectors(); err != nil || !bytes.Equal(vectors, again) {
		t.Errorf("an outcome changes the vectors (%v)", err)
	}
	state, err := m.MarshalState()
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeParts(state, vectors)
	if err != nil {
		t.Fatal(err)
	}
	clone, err := m.Clone()
	if err != nil {
		t.Fatal(err)
	}
	whole := encode(t, m)
	for name, other := range map[string]*Model{"parts": back, "clone": clone} {
		if !bytes.Equal(whole, encode(t, other)) {
			t.Errorf("%s: another model", name)
		}
	}
	if len(state)+len(vectors) > len(whole)+1000 || len(state) >= len(whole)-len(vectors)/2 {
		t.Errorf("%d bytes of state and %d of vectors, %d in all", len(state), len(vectors), len(whole))
	}
	vectors[len(vectors)/2] ^= 1
	for _, v := range [][]byte{nil, vectors, state} {
		if _, err := DecodeParts(state, v); !errors.Is(err, errCorrupt) {
			t.Errorf("other vectors: %v", err)
		}
	}
}

// In a graph with other node ids, the renamed model has the same contexts as the original in its
// own graph.
func TestRenamedVectors(t *testing.T) {
	t.Parallel()
	m, w := trainedGroups(t)
	move := func(u ID) (ID, bool) { return (u + 7) % 40, u != 11 }
	renamed, err := m.Renamed(move, sameRelations)
	if err != nil {
		t.Fatal(err)
	}
	var edges [][2]ID
	for u := range ID(40) {
		out, _ := w.Graph.Out(u)
		for _, v := range out {
			a, _ := move(u)
			b, _ := move(v)
			edges = append(edges, [2]ID{a, b})
		}
	}
	there := newMesh(40, false, edges...).world(func(u ID) []float32 { return w.Features((u + 33) % 40) })
	contexts := func(m *Model, w World, p Pair) []float32 {
		t.Helper()
		x, err := m.Scorer().Contexts(context.Background(), w, []Pair{p})
		if err != nil {
			t.Fatal(err)
		}
		return x[len(x)-m.config.rankLen():][:spectral.Len(false)]
	}
	for _, p := range []Pair{{Source: 0, Target: 1}, {Source: 3, Target: 25}, {Source: 39, Target: 2}} {
		a, _ := move(p.Source)
		b, _ := move(p.Target)
		if x, y := contexts(m, w, p), contexts(renamed, there, Pair{Source: a, Target: b}); !slices.Equal(x, y) {
			t.Errorf("%v: %v, renamed %v", p, x, y)
		}
	}
	gone, err := m.Renamed(func(ID) (ID, bool) { return 0, false }, sameRelations)
	if err != nil || gone.belief.vectors != nil || len(gone.Nodes()) != 0 {
		t.Errorf("%v; without nodes it knows %v", err, gone.Nodes())
	}
}
