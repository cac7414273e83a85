package factor

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"kith/model/nn"
)

// made returns questions of a graph in which a link of relation r leads from u to v where (group of
// u + r) mod groups is the group of v, in both directions, without the hidden ones. Groups are
// drawn at random, and each node has few links.
func made(rng *rand.Rand, nodes, groups, relations int) (known, hidden []Question) {
	group := make([]int, nodes)
	for u := range group {
		group[u] = rng.IntN(groups)
	}
	for u := range nodes {
		for r := range relations {
			for range 3 {
				v := rng.IntN(nodes)
				for group[v] != (group[u]+r)%groups {
					v = rng.IntN(nodes)
				}
				q := Question{Source: ID(u), Target: ID(v), By: Direction(2 * r)}
				if rng.IntN(20) == 0 {
					hidden = append(hidden, q)
				} else {
					known = append(known, q, Question{Source: q.Target, Target: q.Source, By: q.By + 1})
				}
			}
		}
	}
	return known, hidden
}

func trained(t *testing.T, known []Question, nodes, directions, passes int) *Factors {
	t.Helper()
	trainer := NewTrainer(nodes, directions, 7)
	all := slices.Clone(known)
	for range passes {
		if err := trainer.Pass(context.Background(), all); err != nil {
			t.Fatal(err)
		}
	}
	return trainer.Factors()
}

// Hidden links between groups rank far above chance, which no path between their ends explains.
func TestHiddenLinks(t *testing.T) {
	t.Parallel()
	const nodes, groups, relations = 240, 6, 3
	known, hidden := made(rand.New(rand.NewPCG(2, 2)), nodes, groups, relations)
	f := trained(t, known, nodes, 2*relations, 30)
	all, scores := make([]ID, nodes), make([]float64, nodes)
	for u := range all {
		all[u] = ID(u)
	}
	above := 0.0
	for _, q := range hidden {
		f.Scores(q.Source, q.By, all, scores)
		for _, s := range scores {
			if s < scores[q.Target] {
				above += 1 / float64(len(hidden)*nodes)
			}
		}
	}
	if above < 0.85 {
		t.Errorf("a hidden link ranks above %.2f of the nodes, by chance above 0.5", above)
	}
}

// The gradients of a batch are the slopes of its loss, which is computed from its definition.
func TestGradients(t *testing.T) {
	t.Parallel()
	known, _ := made(rand.New(rand.NewPCG(3, 3)), 40, 4, 2)
	trainer := NewTrainer(40, 4, 5)
	for _, q := range known {
		trainer.frequency[q.Target]++
	}
	trainer.drawSample(known)
	questions := known[:3]
	loss := func() (sum float64) {
		var turned [Dim]float32
		product := func(v []float32) (p float64) { return nn.Product64(turned[:], v) }
		size := func(v []float32) (sum float64) {
			for k := range half {
				sum += math.Pow(math.Hypot(float64(v[k]), float64(v[half+k])), 3) * penalty / 3
			}
			return sum
		}
		for _, q := range questions {
			x, d, y := row(trainer.nodes.value, int(q.Source)), row(trainer.directions.value, int(q.By)), row(trainer.nodes.value, int(q.Target))
			turn(x, d, turned[:])
			all := math.Exp(product(y))
			for j, u := range trainer.negative {
				if u != q.Target {
					all += math.Exp(product(nn.Row(trainer.sample, j)) + float64(trainer.correction[j]))
				}
			}
			sum += math.Log(all) - product(y) + size(x) + size(d) + size(y)
		}
		return sum
	}
	p := &trainer.parts[0]
	p.read(trainer, questions)
	nodes, directions := make([]float32, len(trainer.nodes.value)), make([]float32, len(trainer.directions.value))
	for k, q := range questions {
		nn.AddTo(row(nodes, int(q.Source)), nn.Row(p.source, k))
		nn.AddTo(row(nodes, int(q.Target)), nn.Row(p.target, k))
		nn.AddTo(row(directions, int(q.By)), nn.Row(p.by, k))
	}
	for what, c := range map[string]struct{ values, gradient []float32 }{
		"node": {trainer.nodes.value, nodes}, "direction": {trainer.directions.value, directions},
		"sampled node": {trainer.sample.Data, p.sampleSlope.Data},
	} {
		for i, g := range c.gradient {
			at := &c.values[i]
			was := *at
			*at = was + 1e-2
			up := loss()
			*at = was - 1e-2
			down := loss()
			*at = was
			if slope := (up - down) / 2e-2; math.Abs(slope-float64(g)) > 2e-3 {
				t.Errorf("%s %d, number %d: gradient %v, slope %v", what, i/Dim, i%Dim, g, slope)
			}
		}
	}
}

// Equal seeds and questions give equal bits, on any number of processors. Other orders of
// processors change nothing.
func TestSameFactors(t *testing.T) {
	known, _ := made(rand.New(rand.NewPCG(4, 4)), 100, 4, 2)
	want := trained(t, known, 100, 4, 2)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if got := trained(t, known, 100, 4, 2); !reflect.DeepEqual(got, want) {
		t.Error("the factors depend on the number of processors")
	}
}

// A stored copy answers the same, and so do the factors of a graph with other numbers. Nodes and
// directions without a vector have score 0.
func TestStoredFactors(t *testing.T) {
	t.Parallel()
	const nodes = 60
	known, _ := made(rand.New(rand.NewPCG(5, 5)), nodes, 4, 2)
	f := trained(t, known, nodes, 4, 3)
	again, err := f.Document().Factors()
	if err != nil || !reflect.DeepEqual(again, f) {
		t.Fatalf("a stored copy differs: %v", err)
	}
	other := f.Renamed(func(u ID) (ID, bool) { return nodes + 5 - u, u != 3 }, func(d Direction) (Direction, bool) { return 3 - d, true })
	if again, err := other.Document().Factors(); err != nil || !reflect.DeepEqual(again, other) {
		t.Fatalf("a stored copy of renamed factors differs: %v", err)
	}
	want, got := make([]float64, 3), make([]float64, 3)
	f.Scores(7, 1, []ID{8, 9, nodes}, want)
	other.Scores(nodes+5-7, 2, []ID{nodes + 5 - 8, nodes + 5 - 9, nodes + 5 - 3}, got)
	if !slices.Equal(got, want) || want[0] == 0 || want[2] != 0 {
		t.Errorf("renamed: %v, want %v", got, want)
	}
	f.Scores(nodes, 1, []ID{1, 2, 3}, got)
	if !slices.Equal(got, make([]float64, 3)) {
		t.Errorf("a node without a vector: %v", got)
	}
	f.Scores(1, 9, []ID{1, 2, 3}, got)
	if !slices.Equal(got, make([]float64, 3)) {
		t.Errorf("a direction without a vector: %v", got)
	}
	for what, d := range map[string]Document{
		"cut":          {f.Document().Nodes[1:], f.Document().Directions, f.Document().Mean},
		"without mean": {f.Document().Nodes, f.Document().Directions, nil},
		"not finite":   {append([]byte{0, 0, 128, 127}, make([]byte, Dim)...), f.Document().Directions, f.Document().Mean},
	} {
		if _, err := d.Factors(); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
