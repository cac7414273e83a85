package trial_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"kith/cmd/prbench/internal/trial"
	"kith/model"
)

func TestNewData(t *testing.T) {
	t.Parallel()
	d, err := trial.NewData(t.Context(), 4, [][2]trial.ID{{2, 0}, {0, 2}, {1, 1}, {2, 3}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(d.Served, []trial.ID{0, 2, 3}) || !slices.Equal(d.Links[2], []trial.ID{0, 3}) || d.Linked(1, 1) {
		t.Errorf("served %v, links %v", d.Served, d.Links)
	}
	if _, err := trial.NewData(t.Context(), 2, [][2]trial.ID{{0, 2}}, nil); err == nil {
		t.Error("a link to node 2 of 2 passes")
	}
	if _, err := trial.NewData(t.Context(), 2, nil, make([][]float32, 1)); err == nil {
		t.Error("features of 1 node of 2 pass")
	}
}

func TestClasses(t *testing.T) {
	t.Parallel()
	d, err := trial.Classes([]int{1, -1, 0, 1}, 2, make([][]float32, 4))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Served, []trial.ID{0, 2, 3}) || !slices.Equal(d.Offered, []trial.ID{4, 5}) || !d.Linked(0, 5) ||
		!d.Linked(2, 4) || d.Nodes != 6 || len(d.Features) != 6 {
		t.Errorf("%+v", d)
	}
	d, err = trial.Classes([]int{1, 0}, 2, [][]float32{{2, 3}, {4, 5}})
	if err != nil || !slices.Equal(d.Feature(1), []float32{4, 5, 4, 5}) || !slices.Equal(d.Feature(3), []float32{0, 0, 1, 1}) {
		t.Errorf("features %v of node 1 and %v of class 1, %v", d.Feature(1), d.Feature(3), err)
	}
	if d, err := trial.Classes([]int{0, 1}, 2, nil); err != nil || d.Features != nil {
		t.Errorf("without features: %+v, %v", d, err)
	}
	if _, err := trial.Classes([]int{2}, 2, nil); err == nil {
		t.Error("label 2 of 2 classes passes")
	}
	if _, err := trial.Classes([]int{0}, 2, make([][]float32, 2)); err == nil {
		t.Error("features of 2 nodes of 1 pass")
	}
}

// A sample is a function of data and seed and contains each true link at most once. A smaller
// sample is a prefix of a larger one.
func TestSample(t *testing.T) {
	t.Parallel()
	d := communities(t, 0)
	links := 0
	for _, row := range d.Links {
		links += len(row)
	}
	tenth, half := d.Sample(0.1, 3), d.Sample(0.5, 3)
	if len(tenth) != links/20 || len(d.Sample(1, 3)) != links/2 || d.Sample(0, 3) != nil {
		t.Errorf("a tenth of %d links is %d", links/2, len(tenth))
	}
	if !slices.Equal(tenth, half[:len(tenth)]) || slices.Equal(tenth, d.Sample(0.1, 4)) {
		t.Error("samples do not depend on the seed alone")
	}
	seen := make(map[trial.Pair]bool)
	for _, l := range half {
		if l.Source >= l.Target || !d.Linked(l.Source, l.Target) || seen[l] {
			t.Errorf("%v is no link, or is there twice", l)
		}
		seen[l] = true
	}
}

func TestGenerate(t *testing.T) {
	t.Parallel()
	c := trial.Communities{Nodes: 400, Groups: 8, Degree: 12, Inside: 0.9, FeatureLen: 6, Noise: 0.5}
	a, err := trial.Generate(c, 3)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := trial.Generate(c, 3)
	if !reflect.DeepEqual(a, b) {
		t.Error("one seed, two graphs")
	}
	links, inside := 0, 0
	for u, row := range a.Links {
		for _, v := range row {
			links++
			if u%8 == int(v)%8 {
				inside++
			}
		}
	}
	if mean := float64(links) / 400; mean < 8 || mean > 12 {
		t.Errorf("%.1f links a node, want a little less than 12", mean)
	}
	if share := float64(inside) / float64(links); share < 0.85 || share > 0.95 {
		t.Errorf("%.2f of the links are inside a group, want about 0.9", share)
	}
	if _, err := trial.Generate(trial.Communities{Nodes: 9, Groups: 3, Degree: 2, Choices: 2}, 1); err == nil {
		t.Error("choices by features were drawn without features")
	}
	if _, err := trial.Generate(trial.Communities{Nodes: 1}, 1); err == nil {
		t.Error("a graph of one node passes")
	}
}

// The walker's two directions and its solutions agree with each other and with a plain power
// iteration.
func TestWalker(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	g := trial.NewGraph(30)
	for range 60 {
		g.Add(trial.ID(rng.IntN(25)), trial.ID(rng.IntN(25)))
	}
	w := trial.NewWalker(g, 1e-8)
	all := make([]trial.ID, 30)
	for i := range all {
		all[i] = trial.ID(i)
	}
	for _, source := range []trial.ID{0, 7, 29} {
		to, from, err := w.Proximity(context.Background(), 0.85, source, all)
		if err != nil {
			t.Fatal(err)
		}
		h := model.Start{Node: []trial.ID{source}, Value: []float64{1}}
		for form, want := range map[bool][]float64{true: to, false: from} {
			v, bound, err := w.Propagate(context.Background(), model.Walk{Alpha: 0.85, Column: form}, h, all)
			if err != nil {
				t.Fatal(err)
			}
			exact := iterate(g, form, source)
			for i := range v {
				if math.Abs(v[i]-exact[i]) > bound[i]+1e-12 || math.Abs(want[i]-exact[i]) > 1e-6 {
					t.Fatalf("source %d, node %d: %v and %v, want %v within %v", source, i, v[i], want[i], exact[i], bound[i])
				}
			}
		}
	}
}

// iterate solves v = 0.85 P v + 0.15 e_source.
func iterate(g *trial.Graph, column bool, source trial.ID) []float64 {
	v := make([]float64, g.NumNodes())
	for range 300 {
		next := make([]float64, len(v))
		next[source] = 0.15
		for u := range v {
			row, _ := g.Out(trial.ID(u))
			for _, to := range row {
				if column {
					next[to] += 0.85 * v[u] / float64(len(row))
				} else {
					next[u] += 0.85 * v[to] / float64(len(row))
				}
			}
		}
		v = next
	}
	return v
}

func TestGraphWithout(t *testing.T) {
	t.Parallel()
	g := trial.NewGraph(3)
	if !g.Add(0, 1) || !g.Add(1, 2) || !g.Add(2, 2) || g.Add(1, 0) {
		t.Error("Add does not say what it did")
	}
	c := g.Without([][2]trial.ID{{1, 0}, {2, 2}, {0, 2}})
	if c.Has(0, 1) || c.Has(2, 2) || !c.Has(2, 1) || !g.Has(0, 1) || c.Degree(2) != 1 {
		t.Errorf("%+v", c)
	}
}
