package ogb

import (
	"context"
	"reflect"
	"testing"

	"kith/cmd/prbench/internal/trial"
)

// communities returns a split of a graph of communities.
func communities(t *testing.T) (*trial.Data, *Split) {
	t.Helper()
	data, err := trial.Generate(trial.Communities{Nodes: 60, Groups: 4, Degree: 12, Inside: 0.9, FeatureLen: 8, Noise: 0.5}, 3)
	if err != nil {
		t.Fatal(err)
	}
	s := &Split{}
	for u, row := range data.Links {
		for i, v := range row {
			into := &s.Train
			switch {
			case i%10 == 3:
				into = &s.Valid.Links
			case i%10 == 7:
				into = &s.Test.Links
			}
			if int(v) > u {
				*into = append(*into, [2]trial.ID{trial.ID(u), v})
			}
		}
	}
	return data, s
}

// Each link has as many negatives of each of its ends. None of them is a link of the graph, a loop
// or the link itself.
func TestHeart(t *testing.T) {
	t.Parallel()
	data, s := communities(t)
	drawn, err := Heart(context.Background(), data.Nodes, data.Features, s)
	if err != nil {
		t.Fatal(err)
	}
	p, known := drawn.Test, GraphOf(data.Nodes, s.Train, s.Valid.Links)
	if p.Each != heartEach || len(p.Others) != heartEach*len(p.Links) || len(p.Links) != len(s.Test.Links) {
		t.Fatalf("%d others of %d links", len(p.Others), len(p.Links))
	}
	for i, l := range p.Links {
		for j, o := range p.Others[i*p.Each : (i+1)*p.Each] {
			kept := 2 * j / p.Each
			if o[kept] != l[kept] || o[0] == o[1] || o == l || known.Has(o[0], o[1]) {
				t.Fatalf("link %v: negative %d is %v", l, j, o)
			}
		}
	}
	again, err := Heart(context.Background(), data.Nodes, data.Features, s)
	if err != nil || !reflect.DeepEqual(again, drawn) {
		t.Errorf("drawn again: other pairs, %v", err)
	}
}

// The mean of the ranks orders the nodes, by hand: node 0 has neighbours 1 and 2, both have
// neighbour 3, which leads to 4.
func TestHeartRanks(t *testing.T) {
	t.Parallel()
	g := GraphOf(6, [][2]trial.ID{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}})
	h := &heart{nodes: 6, train: g, walk: trial.NewWalker(g, 1e-9)}
	found, err := h.replace(context.Background(), 0, 5, g)
	if err != nil || len(found) != heartEach/2 || found[0] != 3 || found[1] != 4 || found[2] != 3 {
		t.Errorf("%v, %v", found, err)
	}
	h.features, h.norm = [][]float32{{1, 0}, {0, 1}, {0, 1}, {0, 1}, {3, 0}, {0, 1}}, []float64{1, 1, 1, 1, 3, 1}
	m, err := h.measures(context.Background(), 0)
	if err != nil || len(m) != 3 || m[0][3] != 1 || m[2][4] != 1 || m[2][3] != 0 || m[1][3] <= m[1][4] {
		t.Errorf("measures %v, %v", m, err)
	}
	all := GraphOf(3, [][2]trial.ID{{0, 1}, {0, 2}})
	if found, err := (&heart{nodes: 3, train: all, walk: trial.NewWalker(all, 1e-9)}).replace(context.Background(), 0, 1, all); err == nil {
		t.Errorf("a node with a link to every other has %v", found)
	}
}
