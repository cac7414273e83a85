package model

import (
	"context"
	"math"
	"testing"

	"kith/model/nn"
)

// scale brings vectors of any size to the given length, even if the factor exceeds float32.
func TestScale(t *testing.T) {
	t.Parallel()
	for _, size := range []float32{math.SmallestNonzeroFloat32, 1e-40, 1e-20, 1, 3e38} {
		v := []float32{0, size, -size, 0}
		nn.Scale(v, 2)
		for i, want := range []float64{0, math.Sqrt2, -math.Sqrt2, 0} {
			if math.Abs(float64(v[i])-want) > 1e-3 {
				t.Errorf("of size %v: %v", size, v)
			}
		}
	}
}

// Feature vectors near zero do not lead to scores that are not finite.
func TestTinyFeatures(t *testing.T) {
	t.Parallel()
	g := twoGroups(false)
	tiny := func(u ID) []float32 { return []float32{0, math.SmallestNonzeroFloat32 * float32(u%3), 1e-44} }
	for _, policy := range []string{"default", "prb"} {
		for _, preset := range Presets() {
			m := newModel(t, policy, preset, 3)
			scores, err := m.Scorer().Score(context.Background(), g.world(tiny), Pairs(1, []ID{2, 3, 30}))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range scores {
				if math.IsNaN(s.Score) || math.IsInf(s.Score, 0) {
					t.Errorf("%s, %s: %+v", policy, preset, s)
				}
			}
		}
	}
}
