package hidden_test

import (
	"math/rand/v2"
	"testing"

	"kith/db/internal/hidden"
)

func TestBeyondChance(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	wrong := 0
	for range 2000 {
		a, b, better := make([]float64, 100), make([]float64, 100), make([]float64, 100)
		for i := range a {
			hard := rng.Float64()
			a[i], b[i] = hard+0.1*rng.NormFloat64(), hard+0.1*rng.NormFloat64()
			better[i] = a[i] + 0.08 + 0.1*rng.NormFloat64()
		}
		if hidden.BeyondChance(a, b) {
			wrong++
		}
		if !hidden.BeyondChance(better, a) || hidden.BeyondChance(a, better) || hidden.BeyondChance(a, a) {
			t.Fatal("a difference of eight standard errors is not told, or the wrong way round")
		}
	}
	if share := float64(wrong) / 2000; share < 0.01 || share > 0.04 { // 2.3 % by the normal distribution
		t.Errorf("%v of equal ones are told apart", share)
	}
}

// The measures of two answers, by hand: a source whose link is second of three, and one whose link
// is no candidate.
func TestQuality(t *testing.T) {
	t.Parallel()
	var q hidden.Quality
	q.Add(1, hidden.Answer{Found: []float64{2}, Others: []float64{3, 1}, FoundExploit: []float64{0.5}, OthersExploit: []float64{0.9, 0.1}})
	q.Add(1, hidden.Answer{Others: []float64{1}, OthersExploit: []float64{0.1}})
	q.Miss(2)
	m := q.Measures()
	if m.Links != 4 || m.Reached != 1 || m.Others != 3 || m.Pairs != 2 || m.MRR != 0.5/4 || m.AUC != 0.5 || !m.Probabilities {
		t.Errorf("%+v", m)
	}
	if h := m.Hits[0]; h.K != 10 || h.Share != 0.25 || h.Short != 1 {
		t.Errorf("%+v", h)
	}
	if len(m.Bins) == 0 || m.ECE == 0 {
		t.Errorf("calibration error %v of %v", m.ECE, m.Bins)
	}
	q.Add(1, hidden.Answer{Found: []float64{2}, FoundExploit: []float64{1.5}})
	if m := q.Measures(); m.Probabilities || m.Bins != nil {
		t.Errorf("an estimate above 1: %+v", m)
	}
}
