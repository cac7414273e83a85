package model

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// A belief with other columns keeps its memory, and is untrained until it is trained on the edges
// of a graph.
func TestDecodeOtherColumns(t *testing.T) {
	t.Parallel()
	before := newModel(t, "default", "", 3, "pin", "off")
	play(t, before, newRounds(1), 12)
	d := before.document()
	d.Columns = "structural/0:9"
	b, err := seal(magic, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Outdated() || m.Trained() || m.Rounds() != 12 || m.Scorer().Basis() != basisStart || m.belief.data.Len() != 0 {
		t.Errorf("outdated %v, trained %v, %d rounds, basis %s", m.Outdated(), m.Trained(), m.Rounds(), m.Scorer().Basis())
	}
	if m.config.Pin || !m.config.Offers || m.config.Blocks&blockTopology == 0 {
		t.Errorf("pin %v, offers %v, blocks %v", m.config.Pin, m.config.Offers, m.config.Blocks)
	}
	if m.belief.memory.total.Tries != 12 || len(m.Nodes()) == 0 {
		t.Errorf("it remembers %v tries of nodes %v", m.belief.memory.total.Tries, m.Nodes())
	}
	again, err := Decode(encode(t, m))
	if err != nil || !again.Outdated() || !Same(m.Scorer(), again.Scorer()) {
		t.Fatal("stored again it is another model", err)
	}
	g := twoGroups(false)
	features := func(u ID) []float32 { return []float32{float32(u / 20), 1, 0} }
	without := func(hidden [][2]ID) (World, error) { return g.without(hidden).world(features), nil }
	if err := again.TrainEdges(context.Background(), g, EdgePlan{Samples: 40, Epochs: 1}, without); err != nil {
		t.Fatal(err)
	}
	if again.Outdated() || !again.Trained() || again.belief.memory.total.Tries != 12 {
		t.Error("after a training it is still outdated, or has forgotten")
	}
}

// Documents with other columns decode to untrained models with the stored options, for every
// policy.
func TestOtherColumnsOfAnyPolicy(t *testing.T) {
	t.Parallel()
	for _, policy := range Policies() {
		m := newModel(t, policy, "", 3, "seed", 7)
		d := m.document()
		d.Columns, d.Trained = "structural/0:9", true
		*d.Weights = append(*d.Weights, []float32{1})
		b, err := seal(magic, d, nil)
		if err != nil {
			t.Fatal(err)
		}
		old, err := Decode(b)
		if err != nil || !old.Outdated() || old.Trained() {
			t.Errorf("%s: %v", policy, err)
			continue
		}
		if old.config.Seed != 7 || !Same(old.Scorer(), m.Scorer()) {
			t.Errorf("%s: not the untrained model of the same spec", policy)
		}
	}
}

// An outcome with unknown context updates only a belief's memory of the pair.
func TestObserveWithoutContext(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"default", "prb"} {
		m := newModel(t, policy, "default", 2)
		o := m.Trim(Outcome{Pair: Pair{Source: 1, Target: 2}, Reward: 1, Offered: []ID{2, 3}})
		if _, err := m.Observe(o); err != nil || m.Rounds() != 1 {
			t.Errorf("%s: %v after %d rounds", policy, err, m.Rounds())
		}
		if m.belief != nil && (m.belief.memory.of(Pair{Source: 1, Target: 2}, true) != counts{1, 1} || m.belief.data.Len() != 0) {
			t.Errorf("%s remembers %v, with %d samples", policy, m.belief.memory.of(Pair{Source: 1, Target: 2}, true), m.belief.data.Len())
		}
	}
}

// The numbers of blocks are those of their version. If the columns of a context change, a version
// or a length must change: see blockVersions.
func TestColumns(t *testing.T) {
	t.Parallel()
	m := newModel(t, "default", "", 3)
	g, _ := groups()
	w := g.world(func(u ID) []float32 { return []float32{float32(u%3) - 1, 1, float32(u % 2)} })
	x, err := m.Scorer().Contexts(context.Background(), w, []Pair{{Source: 0, Target: 1}, {Source: 0, Target: 25}, {Source: 7, Target: 30}})
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{m.config.columns()}
	for row := range slices.Chunk(x, m.config.width()) {
		line := ""
		for _, v := range row {
			line += fmt.Sprintf("%.3f ", v+0) // never -0
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	got := strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "-0.000", "0.000")
	const path = "testdata/columns"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was, _, _ := strings.Cut(string(want), "\n")
	switch {
	case got == string(want):
	case was == lines[0]:
		t.Errorf("the numbers of %s changed: raise the versions of these blocks, and run with -update\ngot\n%swant\n%s", was, got, want)
	default:
		t.Errorf("columns %s, want %s: run with -update", lines[0], was)
	}
}
