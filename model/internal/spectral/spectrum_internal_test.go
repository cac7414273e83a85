package spectral

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"kith/model/internal/graphtest"
	"kith/model/nn"
)

// randomMesh is a random graph with n nodes and up to m edges.
func randomMesh(n, m int, directed bool) *mesh {
	rng := rand.New(rand.NewPCG(7, 7))
	g := graphtest.New(n, directed)
	for range m {
		g.Add(ID(rng.IntN(n)), ID(rng.IntN(n)))
	}
	return g
}

// bipartite is a random graph of users and items.
func bipartite(users, items, edges int) *mesh {
	rng := rand.New(rand.NewPCG(7, 8))
	g := graphtest.New(users+items, false)
	for range edges {
		g.Add(ID(rng.IntN(users)), ID(users+rng.IntN(items)))
	}
	return g
}

// denseOf returns the adjacency matrix without loops.
func denseOf(g Graph) *mat.Dense {
	n := g.NumNodes()
	a := mat.NewDense(n, n, nil)
	for u := range n {
		out, _ := g.Out(ID(u))
		for _, v := range out {
			if int(v) != u {
				a.Set(u, int(v), 1)
			}
		}
	}
	return a
}

// normalisedOf returns the adjacency matrix without loops, with each entry divided by the fourth
// roots of both degrees.
func normalisedOf(g Graph) *mat.Dense {
	a := denseOf(g)
	a.Apply(func(u, v int, x float64) float64 { return x / fromNormalised(g, ID(u), ID(v)) }, a)
	return a
}

// fromNormalised returns the factor between an entry of the normalised matrix and that of the
// adjacency matrix.
func fromNormalised(g Graph, u, v ID) float64 {
	out, _ := g.Out(u)
	in, _ := g.In(v)
	return math.Pow(float64(max(len(out), 1)*max(len(in), 1)), 0.25)
}

// product returns UΣVᵀ.
func (s *spectrum) product() *mat.Dense {
	n := s.out.row.Rows
	p := mat.NewDense(n, n, nil)
	for u := range n {
		for v := range n {
			sum := 0.0
			if s.parts != nil && s.parts[u] == s.parts[v] {
				continue
			}
			for i, x := range s.value {
				sum += float64(nn.Row(s.out.row, u)[i]) * float64(x) * float64(nn.Row(s.in.row, v)[i])
			}
			p.Set(u, v, sum)
		}
	}
	return p
}

func spectrumFor(t *testing.T, g Graph, k int) *spectrum {
	t.Helper()
	s, err := spectrumOf(context.Background(), rand.New(rand.NewPCG(1, 2)), g, k, iteration{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSpectrumOfAllIsTheMatrix(t *testing.T) {
	t.Parallel()
	ring := graphtest.New(8, false) // has double eigenvalues
	for u := range 8 {
		ring.Add(ID(u), ID((u+1)%8))
	}
	for name, g := range map[string]Graph{
		"undirected": randomMesh(50, 200, false), "directed": randomMesh(50, 300, true), "groups": graphtest.TwoGroups(false),
		"ring": ring, "bipartite": bipartite(30, 12, 150), "empty": graphtest.New(5, false), "no nodes": graphtest.New(0, false), "directed, empty": graphtest.New(5, true),
	} {
		s := spectrumFor(t, g, g.NumNodes())
		if g.NumNodes() == 0 {
			continue
		}
		var diff mat.Dense
		diff.Sub(s.product(), normalisedOf(g))
		if off := mat.Norm(&diff, 2); off > 1e-2 {
			t.Errorf("%s: the product differs from the normalised matrix by %v", name, off)
		}
	}
}

func TestSpectrumHoldsTheLargest(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		g := randomMesh(120, 900, directed)
		var svd mat.SVD
		svd.Factorize(normalisedOf(g), mat.SVDNone)
		want := svd.Values(nil)
		s := spectrumFor(t, g, 12)
		for i, v := range s.value[:6] {
			if math.Abs(math.Abs(float64(v))-want[i]) > 0.02*want[0] {
				t.Errorf("directed = %v: singular value %d is %v, want %v", directed, i, v, want[i])
			}
		}
	}
}

// A spectrum that starts from the spectrum of a part of the graph is near the spectrum of all.
func TestSpectrumFromNear(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*mesh{
		"undirected": randomMesh(120, 900, false), "directed": randomMesh(120, 900, true), "bipartite": bipartite(70, 50, 900),
	} {
		var hidden [][2]ID
		for u, row := range g.Succ {
			if u%10 == 0 && len(row) > 0 {
				hidden = append(hidden, [2]ID{ID(u), row[0]})
			}
		}
		const k = 12
		want, less := spectrumFor(t, g, k), spectrumFor(t, g.Without(hidden), k)
		s, err := spectrumOf(context.Background(), rand.New(rand.NewPCG(1, 3)), g, k, iteration{near: less})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range s.value[:6] {
			if math.Abs(math.Abs(float64(v))-math.Abs(float64(want.value[i]))) > 0.03*float64(want.value[0]) {
				t.Errorf("%s: value %d is %v, want %v", name, i, v, want.value[i])
			}
		}
		if slices.Equal(s.value, want.value) {
			t.Errorf("%s: the spectrum was computed from scratch", name)
		}
	}
}

// A node without edges has zero rows, without remains of the iteration's start vector.
func TestSpectrumOfNodeWithoutEdges(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		g := randomMesh(60, 300, directed)
		var own [][2]ID
		for _, v := range g.Succ[7] {
			own = append(own, [2]ID{7, v})
		}
		for _, v := range g.Pred[7] {
			own = append(own, [2]ID{v, 7})
		}
		s := spectrumFor(t, g.Without(own), 5)
		for _, x := range append(slices.Clone(nn.Row(s.in.row, 7)), nn.Row(s.out.row, 7)...) {
			if x != 0 {
				t.Errorf("directed %v: rows %v and %v", directed, nn.Row(s.in.row, 7), nn.Row(s.out.row, 7))
				break
			}
		}
	}
}

func TestSpectrumRepeats(t *testing.T) {
	for _, directed := range []bool{false, true} {
		g := randomMesh(3000, 9000, directed)
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		alone := spectrumFor(t, g, 8)
		runtime.GOMAXPROCS(4)
		together := spectrumFor(t, g, 8)
		if !slices.Equal(alone.value, together.value) || !slices.Equal(alone.out.row.Data, together.out.row.Data) ||
			!slices.Equal(alone.in.row.Data, together.in.row.Data) {
			t.Errorf("directed = %v: another number of processors, another spectrum", directed)
		}
	}
}

func TestSpectrumStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := spectrumOf(ctx, rand.New(rand.NewPCG(1, 2)), randomMesh(50, 200, true), 4, iteration{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// A world without edges other than loops has no spectrum, and its columns are 0.
func TestSpectrumWithoutEdges(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		g := graphtest.New(5, directed, [2]ID{2, 2})
		for i, x := range vectorsFor(t, worldOf(g, nil), g).table(t, worldOf(g, nil)) {
			if slices.ContainsFunc(x, func(v float32) bool { return v != 0 }) {
				t.Errorf("directed = %v: pair %d has %v", directed, i, x)
			}
		}
	}
}

// With all singular values the columns match the dense regression: y = N - N P / diag P with P =
// (NᵀN + λ)⁻¹.
func TestSpectralColumnsAreRidgeRegression(t *testing.T) {
	t.Parallel()
	for _, g := range []*mesh{randomMesh(40, 200, false), randomMesh(40, 200, true), bipartite(25, 15, 120)} {
		directed := g.Directed()
		v := vectorsFor(t, worldOf(g, nil), g)
		rows := v.table(t, worldOf(g, nil))
		a := normalisedOf(g)
		if got, want := v.spectrum.square, math.Pow(mat.Norm(a, 2), 2)/40; !about(got, want) {
			t.Errorf("directed = %v: mean square %v, want %v", directed, got, want)
		}
		for r, c := range ridges() {
			ease := easeRidges()
			forward, back := ridgeOf(a, c*v.spectrum.square), ridgeOf(mat.DenseCopyOf(a.T()), c*v.spectrum.square)
			for u := range 40 {
				for w := range 40 {
					if u == w || a.At(u, w) != 0 {
						continue
					}
					x := rows[u*40+w]
					toA := fromNormalised(g, ID(u), ID(w))
					plain := toA * forward.At(u, w) * forward.leftOver[w]
					if want := math.Asinh(50 * plain); !about(float64(x[spectralRidge+r]), want) {
						t.Fatalf("directed = %v, ridge %v: pair %d, %d has %v, want %v", directed, c, u, w, x[spectralRidge+r], want)
					}
					both := toA * (forward.At(u, w) + back.At(w, u)) / 2
					if k := slices.Index(ease[:], r); k >= 0 && forward.leftOver[w] > 0.06 && back.leftOver[u] > 0.06 &&
						!about(float64(x[spectralEase+k]), math.Asinh(50*both)) {
						t.Fatalf("directed = %v: pair %d, %d has %v, want %v", directed, u, w, x[spectralEase+k], math.Asinh(50*both))
					}
					reverse := fromNormalised(g, ID(w), ID(u)) * forward.At(w, u) * forward.leftOver[u]
					if r == middleRidge && a.At(w, u) == 0 && !about(float64(x[spectralReverse]), math.Asinh(50*reverse)) {
						t.Fatalf("directed = %v: the reverse of pair %d, %d has %v", directed, u, w, x[spectralReverse])
					}
				}
			}
		}
	}
}

// regression holds the estimates of a linear autoencoder, and λP[v, v] for each node.
type regression struct {
	*mat.Dense
	leftOver []float64
}

func ridgeOf(a *mat.Dense, lambda float64) regression {
	n, _ := a.Dims()
	var p, gram, y mat.Dense
	gram.Mul(a.T(), a)
	for i := range n {
		gram.Set(i, i, gram.At(i, i)+lambda)
	}
	if err := p.Inverse(&gram); err != nil {
		panic(err)
	}
	y.Mul(a, &p)
	r := regression{Dense: mat.NewDense(n, n, nil)}
	for v := range n {
		r.leftOver = append(r.leftOver, lambda*p.At(v, v))
		for u := range n {
			r.Set(u, v, a.At(u, v)-y.At(u, v)/p.At(v, v))
		}
	}
	return r
}

// Column spectralTail adds the walks of three edges that the truncated spectrum lacks.
func TestSpectralTail(t *testing.T) {
	t.Parallel()
	g := randomMesh(60, 400, false)
	s := spectrumFor(t, g, 12)
	a := normalisedOf(g)
	var square, cube mat.Dense
	square.Mul(a, a)
	cube.Mul(&square, a)
	for u := range 60 {
		var f spectralSource
		f.read(s, g, ID(u))
		for v := range 60 {
			x := make([]float32, spectralLen)
			f.columns(ID(v), -1, x)
			y, kept := 0.0, 0.0
			for i, value := range s.value[:len(s.cube)] {
				b := float64(nn.Row(s.out.row, u)[i]) * float64(nn.Row(s.in.row, v)[i])
				y += b * float64(s.filter[middleRidge][i])
				kept += b * math.Pow(float64(value), 3)
			}
			toA := fromNormalised(g, ID(u), ID(v))
			if want := math.Asinh(50 * toA * (y + (cube.At(u, v)-kept)/(4*s.square))); !about(float64(x[spectralTail]), want) {
				t.Fatalf("pair %d, %d has %v, want %v", u, v, x[spectralTail], want)
			}
		}
	}
}
