package model

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// samples are the inputs and targets that a network has been shown, oldest first: the replay store. The first edges of
// them were drawn from the graph itself, the rest came from outcomes.
type samples struct {
	dim   int
	limit int // rows kept, oldest dropped first; 0: all
	edges int
	x     []float32 // len(y) x dim
	y     []float32
}

func (s *samples) len() int { return len(s.y) }

func (s *samples) row(i int) []float32 { return s.x[i*s.dim : (i+1)*s.dim] }

// add keeps a sample, unless an overflow upstream has left it without a meaning.
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

// drop forgets the n oldest samples. The front of the slices is given back when append next grows them.
func (s *samples) drop(n int) {
	s.x, s.y = s.x[n*s.dim:], s.y[n:]
	s.edges = max(s.edges-n, 0)
}

// replaceEdges puts new samples drawn from the graph in the place of the earlier ones. They are all there for the training
// that follows, which a limit would take whole folds from: it holds again when the next sample is added.
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
