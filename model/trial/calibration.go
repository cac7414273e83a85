package trial

import (
	"maps"
	"math"
	"slices"
)

// Calibration compares predicted probabilities with outcomes. The zero value is empty. Predictions are counted in cells
// whose width is 0.1 % of the value, so memory does not grow with the number of predictions.
type Calibration struct {
	cells map[uint64]Bin // Predicted and Share are sums
	count int
}

// Bin is a group of the predictions of a Calibration.
type Bin struct {
	Count     int
	Predicted float64 // mean predicted probability
	Share     float64 // share of the predictions that came true
}

// cellBits is the number of bits of a probability's fraction that select its cell.
const cellBits = 10

// Add counts a prediction. cameTrue is its outcome.
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

// Bins divides the predictions, sorted by probability, into at most n bins of equal size. Predictions in the same cell
// stay together, so sizes may differ.
func (c *Calibration) Bins(n int) []Bin {
	var bins []Bin
	var b Bin
	done, next := 0, 1 // number of predictions in bins, and index of the n-th part at which the next bin ends
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
