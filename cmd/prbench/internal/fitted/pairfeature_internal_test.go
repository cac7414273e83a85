package fitted

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"kith/cmd/prbench/internal/trial"
	"kith/model/nn"
)

// worded is a small graph whose nodes have words. Node n-1 has neither words nor edges.
func worded(n, words int, seed uint64) (World, *config) {
	rng := rand.New(rand.NewPCG(seed, 1))
	g := trial.NewGraph(n)
	for range 2 * n {
		g.Add(ID(rng.IntN(n-1)), ID(rng.IntN(n-1)))
	}
	features := make([][]float32, n)
	for u := range features {
		features[u] = make([]float32, words)
		for i := range features[u] {
			if u < n-1 && rng.IntN(4) == 0 {
				features[u][i] = 1
			}
		}
	}
	return world(g, features), &config{FeatureLen: words}
}

// oracle holds the dense matrices from whose products the features are taken.
type oracle struct {
	a, n, w, t, k *mat.Dense
	among         *oracle // the same for neighbours and kin
}

func oracleOf(t *testing.T, c *config, w World) oracle {
	words, err := wordsOf(c, w)
	if err != nil {
		t.Fatal(err)
	}
	content, err := words.Content(context.Background(), latentLen)
	if err != nil {
		t.Fatal(err)
	}
	o := oracleIn(adjacencyOf(w.Graph), words)
	among := oracleIn(adjacencyOf(w.Graph).union(content.Kin), words)
	o.among = &among
	return o
}

func oracleIn(a adjacency, words nn.Words) oracle {
	size := len(a)
	o := oracle{a: mat.NewDense(size, size, nil), n: mat.NewDense(size, size, nil), w: mat.NewDense(size, size, nil), t: mat.NewDense(size, words.Len, nil), k: &mat.Dense{}}
	for u, row := range a {
		for _, v := range row {
			o.a.Set(u, int(v), 1)
			o.n.Set(u, int(v), 1/float64(len(row)))
			o.w.Set(u, int(v), 1/float64(len(row)+1))
		}
		o.w.Set(u, u, 1/float64(len(row)+1))
		for i, at := range words.Rows[u].At {
			o.t.Set(u, int(at), float64(words.Rows[u].Value[i]))
		}
	}
	o.k.Mul(o.t, o.t.T())
	return o
}

func times(m ...mat.Matrix) *mat.Dense {
	p := mat.DenseCopyOf(m[0])
	for _, x := range m[1:] {
		var next mat.Dense
		next.Mul(p, x)
		p = &next
	}
	return p
}

// series returns (1-α) Σ αᵏ Nᵏ.
func (o oracle) series(alpha float64, steps int) *mat.Dense {
	size, _ := o.n.Dims()
	sum, power := mat.NewDense(size, size, nil), mat.NewDense(size, size, nil)
	for i := range size {
		power.Set(i, i, 1)
	}
	weight := 1 - alpha
	for range steps {
		var term mat.Dense
		term.Scale(weight, power)
		sum.Add(sum, &term)
		power, weight = times(power, o.n), weight*alpha
	}
	return sum
}

// want returns the features of a pair, in order.
func (o oracle) want(u, v int) (f fields) {
	o.ranks(&f, u, v)
	a2 := times(o.a, o.a)
	adamic, resource := 0.0, 0.0
	for w := range o.a.RawMatrix().Rows {
		through := o.a.At(u, w) * o.a.At(w, v)
		adamic += through / math.Log(max(o.degree(w), 2))
		resource += through / max(o.degree(w), 2)
	}
	for _, x := range []float64{a2.At(u, v), adamic, resource, times(a2, o.a).At(u, v), times(a2, a2).At(u, v)} {
		f.add(math.Log1p(x))
	}
	f.both(math.Log1p(o.degree(u)), math.Log1p(o.degree(v)))
	o.words(&f, u, v)
	o.kin(&f, u, v)
	return f
}

func (o oracle) degree(u int) float64 { return mat.Sum(o.a.RowView(u)) }

func (o oracle) ranks(f *fields, u, v int) {
	for _, alpha := range walkAlphas() {
		s := o.series(alpha, walkSteps)
		f.both(math.Log(1e-6+s.At(u, v)), math.Log(1e-6+s.At(v, u)))
	}
}

// cosine returns the cosine of rows of aT and bT.
func (o oracle) cosine(a *mat.Dense, u int, b *mat.Dense, v int) float64 {
	length := func(m *mat.Dense, u int) float64 {
		return math.Max(math.Sqrt(times(m, o.k, m.T()).At(u, u)), 1e-9)
	}
	return times(a, o.k, b.T()).At(u, v) / (length(a, u) * length(b, v))
}

// kin appends the features of byKin. There are fewer words than the length of latent vectors, so
// these are as exact as the words.
func (o oracle) kin(f *fields, u, v int) {
	o.among.ranks(f, u, v)
	f.add(o.cosine(o.among.w, u, o.among.w, v))
	f.both(math.Log1p(o.among.degree(u)), math.Log1p(o.among.degree(v)))
	one := o.series(0, 1)
	power := one
	for range 4 {
		f.add(o.cosine(power, u, power, v))
		power = times(power, o.w)
	}
	f.both(o.cosine(one, u, o.n, v), o.cosine(one, v, o.n, u))
	f.add(o.cosine(o.n, u, o.n, v))
}

func (o oracle) words(f *fields, u, v int) {
	sided := func(m *mat.Dense) { f.both(m.At(u, v), m.At(v, u)) }
	f.add(o.k.At(u, v))
	sided(times(o.w, o.k))
	sided(times(o.w, o.w, o.k, o.w.T()))
	power := o.w
	for range 3 {
		f.add(o.cosine(power, u, power, v))
		power = times(power, o.w)
	}
	sided(times(o.n, o.k))
	sided(times(o.n, o.n, o.k))
	f.add(times(o.n, o.k, o.n.T()).At(u, v))
	for i := range 2 {
		alpha := walkAlphas()[i]
		s := o.series(alpha, stepsOf(alpha))
		sided(times(s, o.k))
		f.add(times(s, o.k, s.T()).At(u, v))
	}
	nearest := func(u, v int) (best float64) {
		for w := range o.a.RawMatrix().Rows {
			best = max(best, o.a.At(u, w)*o.k.At(w, v))
		}
		return best
	}
	f.both(nearest(u, v), nearest(v, u))
}

// The features are entries of products of dense matrices.
func TestPairFeatures(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		w, c := worded(14, 9, seed)
		o := oracleOf(t, c, w)
		s, err := surroundingsOf(context.Background(), c, w)
		if err != nil {
			t.Fatal(err)
		}
		pairs := []Pair{{Source: 0, Target: 1}, {Source: 1, Target: 0}, {Source: 5, Target: 3}, {Source: 0, Target: 7}, {Source: 13, Target: 2}, {Source: 2, Target: 13}, {Source: 12, Target: 11}}
		x := noise(rand.New(rand.NewPCG(1, 1)), len(pairs), pairFeatures(c))
		s.features(context.Background(), pairs, x)
		for i, p := range pairs {
			want := o.want(int(p.Source), int(p.Target))
			if len(want) != x.Cols {
				t.Fatalf("%d features, want %d", x.Cols, len(want))
			}
			for j, v := range nn.Row(x, i) {
				if math.Abs(float64(v-want[j])) > 1e-4*(1+math.Abs(float64(want[j]))) {
					t.Errorf("pair %v, feature %d: %v, want %v", p, j, v, want[j])
				}
			}
		}
	}
}

// A training edge is hidden from its own features: if it is the only link between its ends, the
// features are those of unlinked nodes.
func TestPairSamplesHideTheirEdges(t *testing.T) {
	t.Parallel()
	g := trial.NewGraph(40)
	for u := ID(0); u < 40; u += 2 {
		g.Add(u, u+1)
	}
	tr := &training{rng: rand.New(rand.NewPCG(7, 0)), graph: g, plan: plan{samples: 20, negatives: 2, folds: 4}}
	err := tr.draw(context.Background(), func(hidden [][2]ID) (World, error) { return world(g.Without(hidden), nil), nil })
	if err != nil {
		t.Fatal(err)
	}
	x, labels, err := pairSamples(context.Background(), new(config), tr)
	if err != nil {
		t.Fatal(err)
	}
	if edges := nn.Dot(labels, labels); edges != 20 || len(labels) != 60 {
		t.Fatalf("%v edges of %d samples, want 20 of 60", edges, len(labels))
	}
	for i, y := range labels {
		for j, v := range nn.Row(x, i)[:graphFeatures-2] {
			if v > 0 || j < 6 && v > float32(math.Log(1e-6))+1e-3 {
				t.Errorf("sample %d (label %v), feature %d: %v is more than a stranger has", i, y, j, v)
			}
		}
	}
}

func TestSurroundingsRefuseLargeGraphs(t *testing.T) {
	t.Parallel()
	w := world(trial.NewGraph(maxSmooth/1000+1), nil)
	if _, err := surroundingsOf(context.Background(), &config{FeatureLen: 1000}, w); !errors.Is(err, ErrRefused) {
		t.Errorf("%v, want ErrRefused", err)
	}
}
