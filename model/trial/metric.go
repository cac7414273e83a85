package trial

import (
	"cmp"
	"slices"
)

// HitsAt is Hits@K as the Open Graph Benchmark defines it (Hu et al., NeurIPS 2020): the share of positives that score
// above the K-th best negative. It is 1 if there are fewer than K negatives, and 0 without positives.
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

// MRR is the mean of 1/rank of each positive among all negatives. Half of the negatives with an equal score count as
// better, as in the Open Graph Benchmark's evaluator.
func MRR(positives, negatives []float64) float64 {
	return meanOver(positives, negatives, func(better, equal int) float64 {
		return 1 / (1 + float64(better) + float64(equal)/2)
	})
}

// AUC is the share of pairs of a positive and a negative that are in the right order. Equal scores count half.
func AUC(positives, negatives []float64) float64 {
	if len(negatives) == 0 {
		return 0
	}
	return meanOver(positives, negatives, func(better, equal int) float64 {
		return 1 - (float64(better)+float64(equal)/2)/float64(len(negatives))
	})
}

// meanOver returns the mean over the positives of f, whose arguments are the numbers of negatives with better and with
// equal scores. It returns 0 without positives.
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
