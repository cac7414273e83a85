package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

func TestMeanNetwork(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := shape{In: 5, Hidden: []int{4}, Bias: true}
	x := blas32.General{Rows: 3, Cols: 5, Stride: 5, Data: make([]float32, 15)}
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	var members []*network
	want := make([]float64, x.Rows)
	for range 3 {
		n := newNetwork(s, make([]float32, s.params()))
		n.initUniform(rng)
		members = append(members, n)
		for i, f := range n.forward(new(tape), x) {
			want[i] += float64(f) / 3
		}
	}
	for i, got := range meanNetwork(members).forward(new(tape), x) {
		if math.Abs(float64(got)-want[i]) > 1e-6 {
			t.Errorf("row %d: %v, want the mean %v", i, got, want[i])
		}
	}
}

// The weights in the source are of the columns in the source.
func TestLearnedStart(t *testing.T) {
	s, err := parseStart(learnedStart)
	if err != nil {
		t.Fatal(err)
	}
	if s.String() != learnedStart {
		t.Error("the weights change when they are read and written")
	}
	if _, err := parseStart(learnedStart[4:]); err == nil {
		t.Error("weights of another length are read")
	}
}
