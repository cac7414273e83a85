package scale

import (
	"math"
	"testing"
)

// known returns the values of a function at sizes.
func known(f func(n float64) float64, sizes ...float64) (points []point) {
	for _, n := range sizes {
		points = append(points, point{n, f(n)})
	}
	return points
}

// TestFitted verifies that each law finds the parameters of data that follow it, and that its
// residual is that of data which do not.
func TestFitted(t *testing.T) {
	t.Parallel()
	sizes := []float64{1e6, 4e6, 16e6}
	for _, c := range []struct {
		law      law
		points   []point
		at1e9    float64
		residual float64
		text     string
	}{
		{constant, known(func(float64) float64 { return 7 }, sizes...), 7, 0, "constant, 0 %"},
		{affine, known(func(n float64) float64 { return 3 * n }, sizes...), 3e9, 0, "constant + linear, 0 %"},
		{nLogN, known(func(n float64) float64 { return n * math.Log2(n) / 8 }, sizes...), 1e9 * math.Log2(1e9) / 8, 0, "n log n, 0 %"},
		{affine, known(func(n float64) float64 { return 5e6 + 2*n }, sizes...), 2.005e9, 0, "constant + linear, 0 %"},
		{affine, known(func(n float64) float64 { return 9 }, sizes...), 9, 0, "constant + linear, 0 %"},
		{power, known(func(n float64) float64 { return 2 * math.Sqrt(n) }, sizes...), 2 * math.Sqrt(1e9), 0, "n^0.50, 0 %"},
		{power, known(func(n float64) float64 { return n * n }, 1, 16), 4e9, 3, "n^1.00, 300 %"}, // bounded by 1: the mean of 1 and 16
		{power, []point{{1, 8}, {4, 2}}, 4, 1, "n^0.00, 100 %"},
		{affine, known(func(n float64) float64 { return 1 + n }, 1, 3), 1e9 + 1, math.NaN(), "constant + linear, exact"},
		{constant, []point{{1, 1}, {2, 3}}, 1.2, 0.6, "constant, 60 %"},                                        // (1 + 1/3) / (1 + 1/9)
		{affine, []point{{1, 1}, {1, 1}, {2, 2}, {4, 8}}, 1e9 * 3.5 / 3.25, 0.4615, "constant + linear, 46 %"}, // without a constant part
	} {
		f, ok := c.law.fitted(c.points)
		if !ok || math.Abs(f.at(1e9)/c.at1e9-1) > 1e-9 {
			t.Errorf("%v of %v: %v for 10^9, want %v", c.law, c.points, f.at(1e9), c.at1e9)
		}
		if math.IsNaN(f.residual) != math.IsNaN(c.residual) || math.Abs(f.residual-c.residual) > 1e-4 || f.String() != c.text {
			t.Errorf("%v of %v: %q with residual %v, want %q with %v", c.law, c.points, f, f.residual, c.text, c.residual)
		}
	}
}

// TestFittedIsSane verifies that no law has a negative part, and that one size is not extrapolated.
func TestFittedIsSane(t *testing.T) {
	t.Parallel()
	for name, points := range map[string][]point{
		"grows faster": {{1, 1}, {2, 8}, {3, 27}},
		"falls":        {{1e6, 9}, {4e6, 5}, {16e6, 1}},
	} {
		f, ok := affine.fitted(points)
		if !ok || f.a < 0 || f.b < 0 || !(f.residual > 0.5) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, l := range []law{constant, nLogN, affine, power, bounded} {
		if f, ok := l.fitted([]point{{1e6, 3}}); ok {
			t.Errorf("%v: one size gave %+v", l, f)
		}
	}
	if f, ok := bounded.fitted([]point{{1, 1}, {2, 2}, {3, 3}}); ok {
		t.Errorf("a bounded figure was extrapolated: %+v", f)
	}
}
