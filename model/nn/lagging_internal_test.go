package nn

import (
	"math"
	"math/rand/v2"
	"testing"
)

// sparselyFed is a regressor whose samples use only a few inputs each.
func sparselyFed(batch, n int) *Regressor {
	f := Fit{Adam: true, Rate: 0.003, Fresh: true, Batch: batch, Steps: 700}
	r := NewRegressor(Shape{In: lagFrom, Hidden: []int{6}}, f, 0)
	rng := rand.New(rand.NewPCG(5, 1))
	r.Net.InitNormal(rng)
	for range n {
		x := make([]float32, lagFrom)
		for range 8 {
			j := int(math.Pow(rng.Float64(), 3) * lagFrom) // some inputs often, some almost never
			x[j] = float32(rng.NormFloat64())
		}
		r.Data.Add(x, rng.NormFloat64())
	}
	return r
}

// Lagging weights end where step-by-step Adam leads, within rounding.
func TestLaggingIsAdam(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{1, 4} {
		lag, dense := sparselyFed(batch, 300), sparselyFed(batch, 300)
		dense.Opt.lag = nil
		for training := range 3 {
			lag.Train(rand.New(rand.NewPCG(1, uint64(training))))
			dense.Train(rand.New(rand.NewPCG(1, uint64(training))))
		}
		for _, c := range []struct {
			name      string
			got, want []float32
		}{{"θ", lag.Net.Theta, dense.Net.Theta}, {"m", lag.Opt.M, dense.Opt.M}, {"v", lag.Opt.V, dense.Opt.V}} {
			var off, size float64
			for i, w := range c.want {
				off = max(off, math.Abs(float64(c.got[i]-w)))
				size = max(size, math.Abs(float64(w)))
			}
			if off > 1e-3*size {
				t.Errorf("batch %d: %s is off by %v, the largest is %v", batch, c.name, off, size)
			}
		}
		if lag.Opt.Steps != 700 || len(lag.Opt.lag.rates) != 700 {
			t.Errorf("%d steps, %d rates", lag.Opt.Steps, len(lag.Opt.lag.rates))
		}
	}
}

func TestLags(t *testing.T) {
	t.Parallel()
	wide, f := Shape{In: lagFrom, Hidden: []int{5}}, Fit{Adam: true, Fresh: true}
	if !lags(wide, f) {
		t.Error("a wide network with fresh moments does not lag")
	}
	narrow, deep := wide, wide
	narrow.In, deep.Hidden = 40, nil
	for _, s := range []Shape{narrow, deep} {
		if lags(s, f) {
			t.Errorf("%+v lags", s)
		}
	}
	for _, f := range []Fit{{}, {Adam: true}, {Adam: true, Fresh: true, Decay: 0.1}} {
		if lags(wide, f) {
			t.Errorf("%+v lags", f)
		}
	}
}

func BenchmarkSparseStep(b *testing.B) {
	for name, lag := range map[string]bool{"lagging": true, "dense": false} {
		b.Run(name, func(b *testing.B) {
			r := NewRegressor(Shape{In: 20000, Hidden: []int{100}}, Fit{Adam: true, Fresh: true, Rate: 0.001, Batch: 1}, 0)
			rng := rand.New(rand.NewPCG(1, 1))
			r.Net.InitNormal(rng)
			if !lag {
				r.Opt.lag = nil
			}
			for range 50 {
				x := make([]float32, 20000)
				for range 700 {
					x[rng.IntN(len(x))] = 1
				}
				r.Data.Add(x, rng.Float64())
			}
			for b.Loop() {
				r.step([]int{rng.IntN(50)})
			}
		})
	}
}
