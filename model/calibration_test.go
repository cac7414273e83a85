package model_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/model"
)

// prediction is a probability and its outcome.
type prediction struct {
	p        float64
	cameTrue bool
}

// calibrationError is the expected calibration error of predictions. A bin ends when it has reached
// its share of them.
func calibrationError(all []prediction, bins int) float64 {
	slices.SortStableFunc(all, func(a, b prediction) int {
		if a.p < b.p {
			return -1
		}
		return 1
	})
	sum, from := 0.0, 0
	for next, i := 1, 0; i < len(all); i++ {
		last := i == len(all)-1 || all[i+1].p != all[i].p
		if !last || (i+1)*bins < next*len(all) {
			continue
		}
		mean, share, size := 0.0, 0.0, float64(i+1-from)
		for _, x := range all[from : i+1] {
			mean += x.p / size
			if x.cameTrue {
				share += 1 / size
			}
		}
		sum += size / float64(len(all)) * math.Abs(mean-share)
		next, from = (i+1)*bins/len(all)+1, i+1
	}
	return sum
}

func TestCalibrationError(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		// With even seeds the probabilities are repeated and have a cell each. With odd seeds they
		// are arbitrary and share cells.
		draw, slack := func() float64 { return float64(rng.IntN(65)) / 64 }, 1e-12
		if seed%2 == 1 {
			draw, slack = func() float64 { return math.Pow(rng.Float64(), 3) }, 2e-3
		}
		var c model.Calibration
		var all []prediction
		for range 3000 {
			x := prediction{p: draw()}
			x.cameTrue = rng.Float64() < x.p*x.p
			all = append(all, x)
			c.Add(x.p, x.cameTrue)
		}
		for _, bins := range []int{1, 10, 17} {
			if got, want := c.Error(bins), calibrationError(all, bins); math.Abs(got-want) > slack {
				t.Errorf("seed %d, %d bins: %v, want %v", seed, bins, got, want)
			}
		}
	}
}

func TestCalibrationBins(t *testing.T) {
	t.Parallel()
	var c model.Calibration
	if c.Error(10) != 0 || c.Bins(10) != nil {
		t.Errorf("without predictions: %v, %v", c.Error(10), c.Bins(10))
	}
	for i := range 8 {
		c.Add(0.25, i < 2)
	}
	c.Add(0.75, true)
	c.Add(1, true)
	want := []model.Bin{{Count: 8, Predicted: 0.25, Share: 0.25}, {Count: 1, Predicted: 0.75, Share: 1}, {Count: 1, Predicted: 1, Share: 1}}
	if got := c.Bins(10); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := c.Error(10); math.Abs(got-0.025) > 1e-15 {
		t.Errorf("error %v, want 0.025", got)
	}
	if got := c.Bins(2); len(got) != 2 || got[0].Count != 8 || got[1].Count != 2 {
		t.Errorf("two bins: %v", got)
	}
}
