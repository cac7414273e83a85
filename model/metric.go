package model

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// HitsAt is Hits@K as the Open Graph Benchmark defines it (Hu et al., NeurIPS 2020): the share of
// positives that score above the K-th best negative. It is 1 if there are fewer than K negatives,
// and 0 without positives.
func HitsAt(k int, positives, negatives []float64) float64 {
	if len(positives) == 0 {
		return 0
	}
	if len(negatives) < k {
		return 1
	}
	sorted := slices.Sorted(slices.Values(negatives))
	bar := sorted[len(sorted)-k]
	hits := 0
	for _, s := range positives {
		if s > bar {
			hits++
		}
	}
	return float64(hits) / float64(len(positives))
}

// MRR is the mean of 1/rank of each positive among all negatives. Half of the negatives with an
// equal score count as better, as in the Open Graph Benchmark's evaluator.
func MRR(positives, negatives []float64) float64 {
	return meanOver(positives, negatives, func(better, equal int) float64 {
		return 1 / (1 + float64(better) + float64(equal)/2)
	})
}

// AUC is the share of pairs of a positive and a negative that are in the right order. Equal scores
// count half.
func AUC(positives, negatives []float64) float64 {
	if len(negatives) == 0 {
		return 0
	}
	return meanOver(positives, negatives, func(better, equal int) float64 {
		return 1 - (float64(better)+float64(equal)/2)/float64(len(negatives))
	})
}

// meanOver returns the mean over the positives of f, whose arguments are the numbers of negatives
// with better and with equal scores. It returns 0 without positives.
func meanOver(positives, negatives []float64, f func(better, equal int) float64) float64 {
	if len(positives) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(negatives))
	sum := 0.0
	for _, s := range positives {
		from, _ := slices.BinarySearch(sorted, s)
		to, _ := slices.BinarySearchFunc(sorted, s, func(n, s float64) int {
			if n > s {
				return 1
			}
			return cmp.Compare(n, s) - 1 // order equal scores below s
		})
		sum += f(len(sorted)-to, to-from)
	}
	return sum / float64(len(positives))
}

// Calibration compares predicted probabilities with outcomes. The zero value is empty. Predictions
// are counted in cells whose width is 0.1 % of the value, so memory does not grow with the number
// of predictions.
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

// Bins divides the predictions, sorted by probability, into at most n bins of equal size.
// Predictions in the same cell stay together, so sizes may differ.
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

// Error is the expected calibration error (Naeini, Cooper and Hauskrecht, AAAI 2015) over n bins:
// the mean difference between the predicted probability and the share that came true, each bin
// weighted by its size. It is 0 without predictions.
func (c *Calibration) Error(n int) float64 {
	sum := 0.0
	for _, b := range c.Bins(n) {
		sum += float64(b.Count) * math.Abs(b.Predicted-b.Share)
	}
	return sum / max(float64(c.count), 1)
}
