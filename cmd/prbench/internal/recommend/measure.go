package recommend

import (
	"math"
	"slices"
)

// Measures are means over users.
type Measures struct {
	// Recall20 is the share of the test items that are among the first 20 recommended ones, as in
	// LightGCN (He et al., SIGIR 2020). Others divide by 20 where there are more test items.
	Recall20 float64
	// NDCG20 and NDCG10 are the discounted cumulative gains of the first 20 or 10 recommended items
	// over the largest possible ones.
	NDCG20, NDCG10 float64
	HR10           float64 // share of the users with a test item among the first 10
}

// Measure measures what users, all of whom have test items, are recommended.
func (s *Split) Measure(users []int, recommended [][]uint32) (m Measures) {
	n := float64(len(users))
	for i, u := range users {
		test := s.Test[u]
		var hits []bool
		for _, item := range recommended[i] {
			_, hit := slices.BinarySearch(test, item)
			hits = append(hits, hit)
		}
		m.Recall20 += float64(count(hits, 20)) / float64(len(test)) / n
		m.NDCG20 += ndcg(hits, len(test), 20) / n
		m.NDCG10 += ndcg(hits, len(test), 10) / n
		m.HR10 += float64(min(1, count(hits, 10))) / n
	}
	return m
}

// count returns the number of hits among the first k.
func count(hits []bool, k int) (n int) {
	for _, hit := range hits[:min(k, len(hits))] {
		if hit {
			n++
		}
	}
	return n
}

// ndcg returns the normalized discounted cumulative gain of the first k recommendations to a user
// with some number of test items.
func ndcg(hits []bool, test, k int) float64 {
	gain, ideal := 0.0, 0.0
	for i := range k {
		discount := 1 / math.Log2(float64(i+2))
		if i < len(hits) && hits[i] {
			gain += discount
		}
		if i < test {
			ideal += discount
		}
	}
	return gain / ideal
}
