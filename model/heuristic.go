package model

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"kith/model/internal/column"
	"kith/model/internal/graph"
	"kith/model/nn"
)

// ranking fills the scores of candidates by a fixed formula.
type ranking func(ctx context.Context, s *Scorer, w World, pairs []Pair, scores []Score) error

// perPair returns the ranking by a formula of a single pair.
func perPair(score func(s *Scorer, w World, p Pair) float64) ranking {
	return func(ctx context.Context, s *Scorer, w World, pairs []Pair, scores []Score) error {
		return nn.ShareBatches(ctx, len(pairs), func(batches iter.Seq2[int, int]) error {
			for first, end := range batches {
				for i := first; i < end; i++ {
					scores[i].Exploit = score(s, w, pairs[i])
				}
			}
			return nil
		})
	}
}

// overlap scores pairs by the sum of a number over their common neighbours.
type overlap struct {
	number column.Number // positive
	// score returns the score of a pair with a sum, which is positive if the sum is; nil: the sum.
	score func(g Graph, p Pair, sum float64) float64
}

// rank is a [ranking].
func (o *overlap) rank(ctx context.Context, s *Scorer, w World, pairs []Pair, scores []Score) error {
	if err := o.sum(ctx, s, w, pairs, scores); err != nil || o.score == nil {
		return err
	}
	for i, p := range pairs {
		scores[i].Exploit = o.score(w.Graph, p, scores[i].Exploit)
	}
	return nil
}

// sum fills the scores with the sums.
func (o *overlap) sum(ctx context.Context, s *Scorer, w World, pairs []Pair, scores []Score) error {
	t := s.scratch()
	defer s.release(t)
	targets := t.Targets(pairs)
	if !ascendFromOne(pairs) || !t.common.Pays(w.Graph, pairs[0].Source, targets) {
		each := perPair(func(_ *Scorer, w World, p Pair) float64 { return column.SumOf(w.Graph, p, o.number) })
		return each(ctx, s, w, pairs, scores)
	}
	sums, err := t.common.Sum(ctx, w.Graph, pairs[0].Source, targets, o.number)
	for i, x := range sums {
		scores[i].Exploit = x
	}
	return err
}

// one counts common neighbours.
func one(float64) float64 { return 1 }

// adamicAdar is the number of a common neighbour of Adamic and Adar, Social Networks 25 (2003).
func adamicAdar(degree float64) float64 { return 1 / math.Log(degree) }

// resourceAllocation is the number of a common neighbour of Zhou, Lü and Zhang, Eur. Phys. J. B 71
// (2009).
func resourceAllocation(degree float64) float64 { return 1 / degree }

// ascendFromOne reports whether all pairs have one source, and their targets ascend.
func ascendFromOne(pairs []Pair) bool {
	for i := 1; i < len(pairs); i++ {
		if pairs[i].Source != pairs[0].Source || pairs[i].Target <= pairs[i-1].Target {
			return false
		}
	}
	return true
}

// preferentialAttachment is the product of the numbers of neighbours (Barabási and Albert, Science
// 286, 1999): those out of the source and those into the target. Loops do not count.
func preferentialAttachment(_ *Scorer, w World, p Pair) float64 {
	from, to := graph.Out(w.Graph, p.Source), graph.In(w.Graph, p.Target)
	return float64(column.CountWithout(from, p.Source) * column.CountWithout(to, p.Target))
}

// jaccard is the number of common neighbours divided by the number of neighbours out of the source
// or into the target (Jaccard, 1901). Source and target themselves are not counted.
func jaccard(g Graph, p Pair, common float64) float64 {
	from, to := graph.Out(g, p.Source), graph.In(g, p.Target)
	all := float64(column.CountWithout(from, p.Source, p.Target)+column.CountWithout(to, p.Source, p.Target)) - common
	if all == 0 {
		return 0
	}
	return common / all
}

// adjustPageRank sets up the walk of ppr, with all mass at the serving node.
func adjustPageRank(c *config) { c.Alpha, c.Column, c.SeedWeight, c.Center = 0.85, true, 1, false }

// uniform draws a number in [0, 1) that is a function of seed, round and pair, so that scoring
// twice gives the same result.
func uniform(s *Scorer, _ World, p Pair) float64 {
	return s.random(p).Float64()
}

// katz scores pairs by the Katz index (Psychometrika 18, 1953): the sum over l of beta^l times the
// number of walks of l edges from source to target, truncated at length. Like the other formulas it
// ignores weights. Score.Bound is an upper bound of the omitted longer walks, infinite if none is
// known.
func katz(ctx context.Context, s *Scorer, w World, pairs []Pair, scores []Score) error {
	n := w.Graph.NumNodes()
	k := &katzSum{ctx: ctx, g: w.Graph, beta: s.config.Beta, at: make([]float64, n), next: make([]float64, n)}
	to, err := k.certify(graph.Out)
	if err != nil {
		return err
	}
	from := to
	if w.Graph.Directed() {
		if from, err = k.certify(graph.In); err != nil {
			return err
		}
	}
	for first, run := range graph.BySource(pairs) {
		scores := scores[first : first+len(run)]
		if err := k.sum(run, s.config.Length, scores); err != nil {
			return err
		}
		k.bound(from, to, run, scores)
	}
	return nil
}

// adjustKatz sets beta and length. beta is the middle one of the values that Liben-Nowell and
// Kleinberg tried (JASIST 58, 2007).
func adjustKatz(c *config) { c.Beta, c.Length = 0.005, 5 }

// Unbounded returns the reason why a bound may be infinite.
func (s *Scorer) Unbounded() string {
	return fmt.Sprintf("no bound is known of the walks that are longer than length = %d: beta = %v is too large for this graph",
		s.config.Length, s.config.Beta)
}

// katzSum is the state of the computation of a sum.
type katzSum struct {
	ctx      context.Context
	g        Graph
	beta     float64
	at, next []float64 // beta^l times the number of walks of l edges from the source to each node
	reached  []ID      // nodes where at is not 0
}

// sum fills the scores of pairs with a common source.
func (k *katzSum) sum(pairs []Pair, length int, scores []Score) error {
	clear(k.at)
	k.at[pairs[0].Source], k.reached = 1, append(k.reached[:0], pairs[0].Source)
	for range length {
		if err := k.step(); err != nil {
			return err
		}
		for i, p := range pairs {
			scores[i].Exploit += k.at[p.Target]
		}
	}
	return nil
}

// step lengthens all walks by one edge.
func (k *katzSum) step() error {
	var reached []ID
	for i, u := range k.reached {
		if err := check(k.ctx, i); err != nil {
			return err
		}
		weight := k.beta * k.at[u]
		if weight == 0 { // beta is 0, or the walks are too long for a float64
			continue
		}
		for _, v := range graph.Out(k.g, u) {
			if k.next[v] == 0 {
				reached = append(reached, v)
			}
			k.next[v] += weight
		}
	}
	for _, u := range k.reached {
		k.at[u] = 0
	}
	slices.Sort(reached) // for a fixed order of summation
	k.at, k.next, k.reached = k.next, k.at, reached
	return nil
}

// certificate is y > 0 with A y <= rho y, where A is the adjacency matrix or its transpose. A nil y
// is all ones. It follows that A^l y <= rho^l y: the bound of Collatz and Wielandt for the spectral
// radius, kept entry by entry.
type certificate struct {
	rho float64
	y   []float64
}

// bound fills the bounds of pairs with a common source. Let x be the terms of the longest walks
// (k.at). The longer walks continue from there, and their bounds add up to a geometric series. For
// the target t, two bounds of the walks with l more edges are known. If y is a certificate of A,
// then e_t <= y / y(t), which gives rho^l x y / y(t). If z is a certificate of the transpose and x
// <= c z, the bound is c rho^l z(t). The smaller one is used.
func (k *katzSum) bound(from, to certificate, pairs []Pair, scores []Score) {
	if len(k.reached) == 0 {
		return // no longer walks exist
	}
	mass, peak := 0.0, 0.0
	for _, u := range k.reached {
		mass += k.at[u] * to.at(u)
		peak = max(peak, k.at[u]/from.at(u))
	}
	mass, peak = mass*to.series(k.beta), peak*from.series(k.beta)
	for i, p := range pairs {
		scores[i].Bound = min(mass/to.at(p.Target), peak*from.at(p.Target))
	}
}

// series is the sum of (beta rho)^l for l >= 1.
func (c certificate) series(beta float64) float64 {
	if r := beta * c.rho; r < 1 {
		return r / (1 - r)
	}
	return math.Inf(1)
}

func (c certificate) at(u ID) float64 {
	if c.y == nil {
		return 1
	}
	return c.y[u]
}

// certify makes at most certifyRounds passes over the graph to reach a series with a ratio of at
// most goodRatio. Otherwise the ratio reached is used.
const (
	goodRatio     = 0.9
	certifyRounds = 24
)

// certify finds a certificate of the matrix with the given rows. It first tries the largest number
// of neighbours. If that is too large, it starts from the square roots of these numbers, which are
// exact for a star, and makes steps of the power iteration of A + I; no step increases rho.
func (k *katzSum) certify(rows func(Graph, ID) []ID) (certificate, error) {
	c := certificate{}
	n := k.g.NumNodes()
	for u := range n {
		c.rho = max(c.rho, float64(len(rows(k.g, ID(u)))))
	}
	if k.beta*c.rho <= goodRatio {
		return c, nil
	}
	y, z := make([]float64, n), make([]float64, n)
	for u := range y {
		y[u] = math.Sqrt(float64(max(len(rows(k.g, ID(u))), 1)))
	}
	for range certifyRounds {
		rho, err := k.ratio(rows, y, z)
		if err != nil {
			return c, err
		}
		if rho < c.rho {
			c.rho, c.y = rho, slices.Clone(y)
		}
		if k.beta*c.rho <= goodRatio {
			break
		}
		largest := 0.0
		for u := range y {
			y[u] += z[u]
			largest = max(largest, y[u])
		}
		for u := range y {
			y[u] = max(y[u]/largest, 1e-100)
		}
	}
	c.rho *= 1 + 1e-9 // margin for the rounding errors of the sums
	return c, nil
}

// ratio fills z = A y and returns the largest ratio of its entries to the entries of y.
func (k *katzSum) ratio(rows func(Graph, ID) []ID, y, z []float64) (rho float64, err error) {
	for u := range z {
		if err := check(k.ctx, u); err != nil {
			return 0, err
		}
		z[u] = 0
		for _, v := range rows(k.g, ID(u)) {
			z[u] += y[v]
		}
		rho = max(rho, z[u]/y[u])
	}
	return rho, nil
}

// check returns the error of ctx. It looks only at every 4096th i.
func check(ctx context.Context, i int) error {
	if i%4096 != 0 {
		return nil
	}
	return ctx.Err()
}

// random returns the random numbers of a pair in this round: a function of seed, round and pair.
func (s *Scorer) random(p Pair) *rand.Rand {
	pair := uint64(p.Source)<<32 | uint64(p.Target)
	return rand.New(rand.NewPCG(s.config.Seed^uint64(s.round), pair))
}
