package nn

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// Samples is the replay store: inputs and targets of a network, oldest first. The first Edges
// samples were drawn from the graph, later ones came from outcomes.
type Samples struct {
	Dim   int `msgpack:"-"`
	Limit int `msgpack:"-"` // maximum number of rows, oldest dropped first; 0: no limit
	Edges int
	X     Floats // len(Y) x Dim
	Y     Floats
}

// Len returns the number of samples.
func (s *Samples) Len() int { return len(s.Y) }

// Row returns the inputs of sample i.
func (s *Samples) Row(i int) []float32 { return s.X[i*s.Dim : (i+1)*s.Dim] }

// Add appends a sample. It ignores samples that are not finite because of an overflow.
func (s *Samples) Add(x []float32, y float64) {
	if !Finite(x...) || math.Abs(y) > math.MaxFloat32 || math.IsNaN(y) {
		return
	}
	s.X = append(s.X, x...)
	s.Y = append(s.Y, float32(y))
	if n := s.Len() - s.Limit; s.Limit > 0 && n > 0 { // append will release the memory when it grows the slices
		s.X, s.Y, s.Edges = s.X[n*s.Dim:], s.Y[n:], max(s.Edges-n, 0)
	}
}

// ReplaceEdges replaces the samples drawn from the graph. It ignores the limit, which could remove
// whole folds, so that the following training sees all of them. The limit applies again when the
// next sample is added.
func (s *Samples) ReplaceEdges(fresh Samples) {
	x := append(fresh.X[:len(fresh.X):len(fresh.X)], s.X[s.Edges*s.Dim:]...)
	y := append(fresh.Y[:len(fresh.Y):len(fresh.Y)], s.Y[s.Edges:]...)
	s.X, s.Y, s.Edges = x, y, fresh.Len()
}

// Gather copies the samples with the given numbers into the rows of x and y.
func (s *Samples) Gather(at []int, x blas32.General, y []float32) (blas32.General, []float32) {
	x = Resize(x, len(at), s.Dim)
	y = y[:0]
	for i, j := range at {
		copy(Row(x, i), s.Row(j))
		y = append(y, s.Y[j])
	}
	return x, y
}

// Bytes returns the size of the samples in bytes, without unused capacity.
func (s *Samples) Bytes() int { return 4 * (len(s.X) + len(s.Y)) }

// Check reports an error for decoded samples that do not fit together.
func (s *Samples) Check() error {
	if len(s.X) != len(s.Y)*s.Dim || s.Edges < 0 || s.Edges > len(s.Y) {
		return fmt.Errorf("replay of %d samples with %d numbers, %d of them from edges", len(s.Y), len(s.X), s.Edges)
	}
	return nil
}
