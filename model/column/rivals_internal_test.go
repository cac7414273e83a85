package column

import (
	"math"
	"testing"
)

// What is remembered of log1p is what math.Log1p returns, also of numbers that are not remembered.
func TestHalfLogs(t *testing.T) {
	t.Parallel()
	var logs halfLogs
	for range 2 {
		for _, x := range []float64{0, 0.5, 3, 2.5, 0.25, 7, 1e-9, maxHalves/2 - 0.5, maxHalves / 2, 1e300, math.Inf(1), -0.5} {
			if got, want := logs.log1p(x), math.Log1p(x); got != want {
				t.Errorf("log1p(%v) = %v, want %v", x, got, want)
			}
		}
	}
	if len(logs) > maxHalves {
		t.Errorf("%d values are held", len(logs))
	}
}
