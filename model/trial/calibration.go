package trial

import (
	"maps"
	"math"
	"slices"
)

// Calibration compares predicted probabilities with outcomes. The zero value is empty. Predictions are counted in cells, each of
// a width of 0.1 % of its values, so memory does not grow with their number.
type Calibration struct {
	cells map[uint64]Bin // Predicted and Share are sums
	count int
}

// Bin is a part of the predictions of a Calibration.
type Bin struct {
	Count     int
	Predicted float64 // mean probability that was predicted
	Share     float64 // of the predictions that came true
}

// cellBits is the number of bits of a probability's fraction that tell its cell.
const cellBits = 10

// Add counts a prediction and whether it came true.
func (c *Calibration) Add(p float64, cameTrue bool) {
	if c.cells == nil {
		c.cells = map[uint64]Bin{}
	}
	of := math.Float64bits(p+0) >> (52 - cellBits) // -0 counts as 0
	cell := c.cells[of]
	cell.Count++
	cell.Predicted += p
	if cameTrue {
		cell.Share++
	}
	c.cells[of] = cell
	c.count++
}

// Bins cuts the predictions, in the order of their probabilities, into at most n parts of equal size, as far as those of a
// cell, which stay together, allow.
func (c *Calibration) Bins(n int) []Bin {
	var bins []Bin
	var b Bin
	done, next := 0, 1 // predictions in bins, and the n-th part of all that the next bin is to end at
	for _, of := range slices.Sorted(maps.Keys(c.cells)) {
		cell := c.cells[of]
		b.Count += cell.Count
		b.Predicted += cell.Predicted
		b.Share += cell.Share
		if end := done + b.Count; end*n >= next*c.count {
			size := float64(b.Count)
			bins = append(bins, Bin{b.Count, b.Predicted / size, b.Share / size})
			done, next, b = end, end*n/c.count+1, Bin{}
		}
	}
	return bins
}

// Error is the expected calibration error (Naeini, Cooper and Hauskrecht, AAAI 2015) over n bins: the mean difference
// between the predicted probability and the share that came true, each bin weighted by its size. It is 0 without predictions.
func (c *Calibration) Error(n int) float64 {
	sum := 0.0
	for _, b := range c.Bins(n) {
		sum += float64(b.Count) * math.Abs(b.Predicted-b.Share)
	}
	return sum / max(float64(c.count), 1)
}
