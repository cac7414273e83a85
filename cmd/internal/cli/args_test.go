package cli

import (
	"math"
	"testing"
)

// Bounds of flags are accepted, and NaN is not.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value float64
		least bool // at least 1
		both  bool // from 1 to 3
	}{{0.5, false, false}, {1, true, true}, {3, true, true}, {3.5, true, false}, {math.NaN(), false, false}} {
		if got := Least("n", c.value, 1) == nil; got != c.least {
			t.Errorf("Least of %v: %v", c.value, got)
		}
		if got := Within("n", c.value, 1, 3) == nil; got != c.both {
			t.Errorf("Within of %v: %v", c.value, got)
		}
	}
}
