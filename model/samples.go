package model

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// samples is the replay store: inputs and targets of a network, oldest first. The first edges samples were drawn from
// the graph, the others came from outcomes.
type samples struct {
	dim   int
	limit int // maximum number of rows, oldest dropped first; 0: no limit
	edges int
	x     []float32 // len(y) x dim
	y     []float32
}

func (s *samples) len() int { return len(s.y) }

func (s *samples) row(i int) []float32 { return s.x[i*s.dim : (i+1)*s.dim] }

// add appends a sample. It ignores samples that are not finite because of an overflow.
func (s *samples) add(x []float32, y float64) {
	if !finite32(x) || math.Abs(y) > math.MaxFloat32 || math.IsNaN(y) {
		return
	}
	s.x = append(s.x, x...)
	s.y = append(s.y, float32(y))
	if s.limit > 0 && s.len() > s.limit {
		s.drop(s.len() - s.limit)
	}
}

// drop removes the n oldest samples. Their memory is released the next time that append grows the slices.
func (s *samples) drop(n int) {
	s.x, s.y = s.x[n*s.dim:], s.y[n:]
	s.edges = max(s.edges-n, 0)
}

// replaceEdges replaces the samples drawn from the graph. It ignores the limit, which could remove whole folds, so that
// the following training sees all of them. The limit applies again when the next sample is added.
func (s *samples) replaceEdges(fresh samples) {
	x := append(fresh.x[:len(fresh.x):len(fresh.x)], s.x[s.edges*s.dim:]...)
	y := append(fresh.y[:len(fresh.y):len(fresh.y)], s.y[s.edges:]...)
	s.x, s.y, s.edges = x, y, fresh.len()
}

// gather copies the samples with the given numbers into the rows of x and y.
func (s *samples) gather(at []int, x blas32.General, y []float32) (blas32.General, []float32) {
	x = resize(x, len(at), s.dim)
	y = y[:0]
	for i, j := range at {
		copy(row(x, i), s.row(j))
		y = append(y, s.y[j])
	}
	return x, y
}

func (s *samples) bytes() int { return 4 * (cap(s.x) + cap(s.y)) }

// restore reads the samples. Their number follows from the lengths of x and y.
func (s *samples) restore(edges int, x, y []byte) error {
	if len(y)%4 != 0 || len(x) != len(y)*s.dim || edges < 0 || edges > len(y)/4 {
		return fmt.Errorf("replay of %d and %d bytes", len(x), len(y))
	}
	s.edges, s.x, s.y = edges, make([]float32, len(x)/4), make([]float32, len(y)/4)
	if !unpackFloats(s.x, x) || !unpackFloats(s.y, y) {
		return errors.New("replay is not finite")
	}
	return nil
}
