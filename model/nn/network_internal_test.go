package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"
)

// reference computes f with plain float64 loops.
func reference(s Shape, theta []float64, x []float64) float64 {
	for l := 0; l <= len(s.Hidden); l++ {
		out := 1
		if l < len(s.Hidden) {
			out = s.Hidden[l]
		}
		w := theta[:out*len(x)]
		theta = theta[len(w):]
		y := make([]float64, out)
		for o := range y {
			for i, v := range x {
				y[o] += w[i*out+o] * v
			}
			if s.Bias {
				y[o] += theta[o]
			}
			if l < len(s.Hidden) {
				y[o] = max(y[o], 0)
			}
		}
		if s.Bias {
			theta = theta[out:]
		}
		x = y
	}
	return x[0]
}

// slopes returns the gradient of reference by central differences.
func slopes(s Shape, theta, x []float64) []float64 {
	const h = 1e-8 // kinks are unlikely to be so near
	grad := make([]float64, len(theta))
	for i := range theta {
		old := theta[i]
		theta[i] = old + h
		up := reference(s, theta, x)
		theta[i] = old - h
		grad[i] = (up - reference(s, theta, x)) / (2 * h)
		theta[i] = old
	}
	return grad
}

func wide(v []float32) []float64 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}

func drawShape(t *rapid.T) Shape {
	s := Shape{In: rapid.IntRange(1, 12).Draw(t, "in"), Bias: rapid.Bool().Draw(t, "bias")}
	for range rapid.IntRange(1, 3).Draw(t, "hidden layers") {
		s.Hidden = append(s.Hidden, rapid.IntRange(1, 9).Draw(t, "width"))
	}
	return s
}

func drawNetwork(t *rapid.T, s Shape) (*Network, blas32.General) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	n := NewNetwork(s, make([]float32, s.Params()))
	n.InitUniform(rng)
	x := Resize(blas32.General{}, rapid.IntRange(1, 5).Draw(t, "rows"), s.In)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	return n, x
}

// byOutput lists the indices of the parameters in the order of φ: weights output by output, then
// biases.
func byOutput(s Shape) (order []int) {
	in := s.In
	for l := 0; l <= len(s.Hidden); l++ {
		out := 1
		if l < len(s.Hidden) {
			out = s.Hidden[l]
		}
		first := len(order)
		for o := range out {
			for i := range in {
				order = append(order, first+i*out+o)
			}
		}
		if s.Bias {
			for o := range out {
				order = append(order, first+in*out+o)
			}
		}
		in = out
	}
	return order
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-4*(1+math.Abs(b)) }

// checkGradient compares outputs, and the gradient of a weighted sum of the outputs, with the
// reference.
func checkGradient(t *rapid.T, s Shape) {
	n, x := drawNetwork(t, s)
	var tp Tape
	out := n.Forward(&tp, x)
	dout := make([]float32, x.Rows)
	want := make([]float64, len(n.Theta))
	for i := range x.Rows {
		dout[i] = float32(i) - 1.5
		in := wide(Row(x, i))
		if f := reference(s, wide(n.Theta), in); !near(float64(out[i]), f) {
			t.Fatalf("%+v: f = %v, want %v", s, out[i], f)
		}
		for j, g := range slopes(s, wide(n.Theta), in) {
			want[j] += g * float64(dout[i])
		}
	}
	grad := make([]float32, len(n.Theta))
	n.Backward(&tp, dout)
	n.AddGradient(&tp, 1, grad)
	for j, g := range grad {
		if !near(float64(g), want[j]) {
			t.Fatalf("%+v: gradient %d = %v, want %v", s, j, g, want[j])
		}
	}
}

func TestGradient(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkGradient(t, drawShape(t)) })
}

func TestPhi(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawShape(t)
		n, x := drawNetwork(t, s)
		pool := rapid.IntRange(1, 60).Draw(t, "pool")
		var tp Tape
		n.Forward(&tp, x)
		phi := Resize(blas32.General{}, x.Rows, PhiLen(s, pool))
		n.Phi(&tp, pool, phi)
		for i := range x.Rows {
			want := make([]float64, phi.Cols)
			grad := slopes(s, wide(n.Theta), wide(Row(x, i)))
			for j, at := range byOutput(s) {
				want[j/pool] += grad[at] / float64(pool)
			}
			for j, p := range Row(phi, i) {
				if !near(float64(p), want[j]) {
					t.Fatalf("%+v, pool %d: φ[%d] = %v, want %v", s, pool, j, p, want[j])
				}
			}
		}
	})
}

func TestInit(t *testing.T) {
	t.Parallel()
	deviation := func(w []float32) float64 {
		sum := 0.0
		for _, x := range w {
			sum += float64(x) * float64(x)
		}
		return math.Sqrt(sum / float64(len(w)))
	}
	s := Shape{In: 50, Hidden: []int{400, 400}}
	n := NewNetwork(s, make([]float32, s.Params()))
	n.InitNormal(rand.New(rand.NewPCG(1, 1)))
	for l, want := range []float64{math.Sqrt(2.0 / 400), math.Sqrt(2.0 / 400), math.Sqrt(1.0 / 400)} {
		if got := deviation(n.Dense[l].W); math.Abs(got/want-1) > 0.1 {
			t.Errorf("layer %d: deviation %.4f, want %.4f", l, got, want)
		}
	}
	s.Bias = true
	n = NewNetwork(s, make([]float32, s.Params()))
	n.InitUniform(rand.New(rand.NewPCG(1, 1)))
	for l, fan := range []float64{50, 400, 400} {
		for _, w := range append(n.Dense[l].W, n.Dense[l].B...) {
			if bound := 1 / math.Sqrt(fan); math.Abs(float64(w)) > bound {
				t.Fatalf("layer %d: weight %v beyond %v", l, w, bound)
			}
		}
		if want := 1 / math.Sqrt(3*fan); math.Abs(deviation(n.Dense[l].W)/want-1) > 0.1 {
			t.Errorf("layer %d: deviation %.4f, want %.4f", l, deviation(n.Dense[l].W), want)
		}
	}
}

func BenchmarkForward(b *testing.B) {
	for _, d := range []int{20, 40} {
		b.Run(fmt.Sprintf("k=100/d=%d", d), func(b *testing.B) {
			s := Shape{In: d, Hidden: []int{100}, Bias: true}
			n := NewNetwork(s, make([]float32, s.Params()))
			n.InitUniform(rand.New(rand.NewPCG(1, 1)))
			x := Resize(blas32.General{}, 100, d)
			for i := range x.Data {
				x.Data[i] = float32(i%7) - 3
			}
			phi := Resize(blas32.General{}, 100, PhiLen(s, 50))
			var tp Tape
			b.ReportAllocs()
			for b.Loop() {
				n.Forward(&tp, x)
				n.Phi(&tp, 50, phi)
			}
		})
	}
}

func BenchmarkStep(b *testing.B) {
	for _, batch := range []int{1, 32} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			s := Shape{In: 20, Hidden: []int{100}, Bias: true}
			r := NewRegressor(s, Fit{Rate: 0.01, Batch: batch, Steps: 1}, 0)
			rng := rand.New(rand.NewPCG(1, 1))
			r.Net.InitUniform(rng)
			for range 1000 {
				x := make([]float32, 20)
				for i := range x {
					x[i] = float32(rng.NormFloat64())
				}
				r.Data.Add(x, rng.Float64())
			}
			order := rng.Perm(1000)[:batch]
			b.ReportAllocs()
			for b.Loop() {
				r.step(order)
			}
		})
	}
}
