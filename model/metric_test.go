package model_test

import (
	"math"
	"testing"

	"kith/model"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                 string
		positives, negatives []float64
		hits1, hits2         float64
		mrr, auc             float64
	}{
		{"in order", []float64{3, 4}, []float64{1, 2}, 1, 1, 1, 1},
		{"reversed", []float64{1, 2}, []float64{3, 4}, 0, 0, 1. / 3, 0},
		{"mixed", []float64{2.5, 0.5}, []float64{1, 2, 3}, 0, 0.5, (0.5 + 0.25) / 2, (2./3 + 0) / 2},
		{"all equal", []float64{1, 1}, []float64{1, 1}, 0, 0, 0.5, 0.5},
		{"one of the best is equal", []float64{2}, []float64{2, 1}, 0, 1, 1 / 1.5, 0.75},
		{"twice the second best", []float64{2}, []float64{3, 2, 2}, 0, 0, 1. / 3, (0. + 0.5*2) / 3},
		{"fewer negatives than K", []float64{0}, []float64{5}, 0, 1, 0.5, 0},
		{"no positives", nil, []float64{1, 2}, 0, 0, 0, 0},
	} {
		for _, m := range []struct {
			name      string
			got, want float64
		}{
			{"Hits@1", model.HitsAt(1, c.positives, c.negatives), c.hits1},
			{"Hits@2", model.HitsAt(2, c.positives, c.negatives), c.hits2},
			{"MRR", model.MRR(c.positives, c.negatives), c.mrr},
			{"AUC", model.AUC(c.positives, c.negatives), c.auc},
		} {
			if math.Abs(m.got-m.want) > 1e-12 {
				t.Errorf("%s: %s = %v, want %v", c.name, m.name, m.got, m.want)
			}
		}
	}
}

// The metrics do not modify their arguments.
func TestMetricsKeepOrder(t *testing.T) {
	t.Parallel()
	negatives := []float64{3, 1, 2}
	model.HitsAt(1, []float64{1}, negatives)
	model.MRR([]float64{1}, negatives)
	if negatives[0] != 3 || negatives[1] != 1 {
		t.Errorf("negatives were sorted: %v", negatives)
	}
}
