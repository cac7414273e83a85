package candidate

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/gonum"

	"kith/index"
)

// Near is a node whose feature vector is close to a vector.
type Near struct {
	ID     index.ID
	Cosine float64
}

// nearPart is the number of consecutive ids that a goroutine searches at a time.
const nearPart = 1 << 14

// slack is the number of further nodes that are kept while cosines are computed in 32 bits.
const slack = 16

// search compares a vector with the vectors of all nodes.
type search struct {
	ctx    context.Context
	view   *index.Snapshot
	vector []float32
	norm   float32
	most   int
	next   atomic.Int64 // the first id that is not searched

	mu   sync.Mutex // protects following fields
	best []Near
	same bool // some node has a vector of the same length
}

// Closest returns the n nodes whose feature vectors have the largest cosine with a vector, the
// largest first and, of equal ones, the lowest id first. Nodes whose vectors have another length,
// or only zeros, are left out. accept returns a function, for one goroutine, that reports whether a
// node may be one of them. found reports whether any vector has the length. All processors work.
func Closest(
	ctx context.Context, view *index.Snapshot, vector []float32, n int, accept func() func(index.ID) bool,
) (best []Near, found bool, err error) {
	s := &search{ctx: ctx, view: view, vector: vector, norm: norm32(vector), most: n + slack}
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		match := accept()
		all.Go(func() { s.work(match) })
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	s.cut(s.most)
	for i := range s.best {
		s.best[i].Cosine = cosine(vector, view.Features(s.best[i].ID))
	}
	s.cut(n)
	return s.best, s.same, view.Err()
}

// work searches parts of the nodes until none is left.
func (s *search) work(accept func(index.ID) bool) {
	list, same, nodes := own{most: s.most, least: float32(math.Inf(-1))}, false, int64(s.view.Graph.NumNodes())
	for {
		lo := s.next.Add(nearPart) - nearPart
		if lo >= nodes || s.ctx.Err() != nil {
			break
		}
		for id, v := range s.view.Vectors(index.ID(lo), index.ID(min(lo+nearPart, nodes))) {
			if len(v) != len(s.vector) {
				continue
			}
			same = true
			if !accept(id) {
				continue
			}
			if length := norm32(v); length > 0 {
				list.add(id, dot32(s.vector, v)/(length*s.norm))
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.best, s.same = append(s.best, list.best...), s.same || same
}

// cut keeps the n best nodes, in order.
func (s *search) cut(n int) {
	slices.SortFunc(s.best, order)
	s.best = s.best[:min(n, len(s.best))]
}

func order(a, b Near) int { return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.ID, b.ID)) }

// own are the best nodes of a goroutine: between one and two times most of them.
type own struct {
	best  []Near
	most  int
	least float32 // what a node must exceed
}

func (o *own) add(id index.ID, cosine float32) {
	if cosine <= o.least {
		return
	}
	o.best = append(o.best, Near{id, float64(cosine)})
	if len(o.best) == 2*o.most {
		slices.SortFunc(o.best, order)
		o.best = o.best[:o.most]
		o.least = float32(o.best[o.most-1].Cosine)
	}
}

func dot32(a, b []float32) float32 { return gonum.Implementation{}.Sdot(len(a), a, 1, b, 1) }

func norm32(v []float32) float32 { return float32(math.Sqrt(float64(dot32(v, v)))) }

// cosine returns the cosine of two vectors, in 64 bits.
func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}
