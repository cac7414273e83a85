package gemm

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"
)

// random returns a matrix of normal numbers, some of which are 0, within wider rows.
func random(rng *rand.Rand, rows, cols, stride int) blas32.General {
	m := blas32.General{Rows: rows, Cols: cols, Stride: stride, Data: make([]float32, rows*stride)}
	for i := range m.Data {
		if rng.IntN(4) > 0 {
			m.Data[i] = float32(rng.NormFloat64())
		}
	}
	return m
}

// Add has the bits of blas32.Gemm, and writes to no number outside c.
func TestAdd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := func(name string) int { return rapid.IntRange(1, 70).Draw(t, name) }
		rows, cols := size("rows"), size("cols")
		depth := rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(depth-2, 2*depth+2)).Draw(t, "depth")
		more := rapid.IntRange(0, 3).Draw(t, "stride")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		ta, a := blas.NoTrans, random(rng, rows, depth, depth+more)
		if rapid.Bool().Draw(t, "transpose") {
			ta, a = blas.Trans, random(rng, depth, rows, rows+more)
		}
		by := rapid.SampledFrom([]float32{1, -0.3}).Draw(t, "by")
		b, c := random(rng, depth, cols, cols+more), random(rng, rows, cols, cols+more)
		want := c
		want.Data = append([]float32(nil), c.Data...)
		blas32.Gemm(ta, blas.NoTrans, by, a, b, 1, want)
		Add(ta, blas.NoTrans, by, a, b, c)
		for i, v := range c.Data {
			if math.Float32bits(v) != math.Float32bits(want.Data[i]) {
				t.Fatalf("row %d, column %d: %v, want %v", i/c.Stride, i%c.Stride, v, want.Data[i])
			}
		}
	})
}

// The sizes of the first layer of a network of the default.
func BenchmarkAdd(b *testing.B) {
	const rows, depth, cols = 1000, 60, 48
	rng := rand.New(rand.NewPCG(1, 1))
	for name, add := range map[string]func(ta, tb blas.Transpose, by float32, a, b, c blas32.General){"kernel": Add, "blas32": portable} {
		x, w, y := random(rng, rows, depth, depth), random(rng, depth, cols, cols), random(rng, rows, cols, cols)
		b.Run(name+"/forward", func(b *testing.B) {
			for b.Loop() {
				add(blas.NoTrans, blas.NoTrans, 1, x, w, y)
			}
		})
		b.Run(name+"/gradient", func(b *testing.B) {
			for b.Loop() {
				add(blas.Trans, blas.NoTrans, 1e-9, x, y, w)
			}
		})
	}
}
