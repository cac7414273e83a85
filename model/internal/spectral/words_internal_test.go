package spectral

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"kith/model/nn"
)

// The basis has the bits of the first columns of Q, in memory of the size of the matrix, not of all
// of Q.
func TestOrthonormalise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{300, 7}, {400, 100}, {50, 50}, {9, 1}} {
		x := randomRows(rng, size[0], size[1])
		m := mat.NewDense(x.Rows, x.Cols, nil)
		m.Apply(func(i, j int, _ float64) float64 { return float64(nn.Row(x, i)[j]) }, m)
		var qr mat.QR
		var q mat.Dense
		qr.Factorize(m)
		qr.QTo(&q)
		orthonormalise(x)
		for i := range x.Rows {
			for j, got := range nn.Row(x, i) {
				if want := float32(q.At(i, j)); got != want {
					t.Fatalf("%v: entry %d, %d is %v, want %v", size, i, j, got, want)
				}
			}
		}
	}
	var before, after runtime.MemStats
	x := randomRows(rng, 20_000, 3)
	runtime.ReadMemStats(&before)
	orthonormalise(x)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 10<<20 {
		t.Errorf("%d rows take %d MB", x.Rows, n>>20)
	}
}
