package ogb

import (
	"math"
	"testing"

	"kith/cmd/prbench/internal/trial"
)

// With others of its own, a link has the mean of its ranks among them. Others of equal score count
// half, for Hits@K too.
func TestMeasureEach(t *testing.T) {
	t.Parallel()
	p := Part{Links: make([][2]trial.ID, 2), Others: make([][2]trial.ID, 6), Each: 3}
	m := p.Measure([]float64{5, 1, 1, 2, 3, 4, 3, 0}) // ranks 1 and 3
	if math.Abs(m.MRR-(1+1.0/3)/2) > 1e-12 || m.Hits[10] != 1 || math.Abs(m.AUC-(1+1.0/3)/2) > 1e-12 {
		t.Errorf("%+v", m)
	}
	tied := Part{Links: make([][2]trial.ID, 1), Others: make([][2]trial.ID, 20), Each: 20}
	if m := tied.Measure(make([]float64, 21)); m.Hits[10] != 0 || m.Hits[20] != 1 { // rank 11
		t.Errorf("%+v", m)
	}
}

// Without others of its own, a link counts if it scores above the K-th best other.
func TestMeasureShared(t *testing.T) {
	t.Parallel()
	p := Part{Links: make([][2]trial.ID, 4), Others: make([][2]trial.ID, 200)}
	scores := []float64{100.5, 100, 99, 300}
	for i := range 200 {
		scores = append(scores, float64(i)) // the 100th best other has 100
	}
	if m := p.Measure(scores); m.Hits[100] != 0.5 {
		t.Errorf("Hits@100 %v, want 0.5", m.Hits[100])
	}
}
