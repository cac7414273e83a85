package model

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"kith/model/nn"
)

// embedding scores a pair by a network on the product of two learned vectors: z = LayerNorm(Σ Wᵏ (4T) B_k), k = 0 to 2.
// T holds the nodes' words and W = (D + I)⁻¹(A + I). In training each edge is hidden from W, and 70 % of the words are
// dropped. The logits of four such members, which start from different weights, are added.
//
// A plan's defaults are up to 20,000 edges, ten other pairs per edge, 8 folds, and 21 passes for each member. Hits@100
// in percent of one to four members on five splits of Citeseer: 88.2, 89.3, 89.8, 90.3 (validation), 83.2, 85.4, 85.6,
// 85.9 (test). The following were no better on two of them: 35 or 60 passes, half of the words, different dropped words
// for each power of W, new pairs without an edge in each pass, equal initial B_k, edges that are not hidden.
type embedding struct{}

const (
	embedLen     = 128 // length of z
	embedHops    = 3   // number of matrices B_k
	embedMembers = 4   // number of embeddings whose logits are added
	embedScale   = 4   // factor of T
	embedBatch   = 512 // edges per step
	embedDropout = 0.7 // share of the words that a step drops
	embedRate    = 2e-3
	embedDecay   = 1e-3
)

func (embedding) check(c *config) error {
	if c.FeatureLen == 0 {
		return optionf("policy %s needs nodes with feature vectors", c.Policy)
	}
	return nil
}

func (embedding) defaults() EdgePlan {
	return EdgePlan{Samples: 20000, Negatives: 10, Folds: 8, Epochs: 21}
}

func embedShape() nn.Shape { return nn.Shape{In: embedLen, Hidden: []int{64, 64}, Bias: true} }

// sizes returns for each member the length of B with the gain and the shift of LayerNorm, and the length of the
// network.
func (embedding) sizes(c *config) (all []int) {
	for range embedMembers {
		all = append(all, (embedHops*c.FeatureLen+2)*embedLen, embedShape().Params())
	}
	return all
}

func (e embedding) fit(ctx context.Context, c *config, t *training) (weights [][]float32, err error) {
	places, err := placesOf(c, t)
	if err != nil {
		return nil, err
	}
	var nets []*nn.Network
	var sum []float64 // sum of the members' logits of all training pairs
	for i := range embedMembers {
		m, k, err := e.member(ctx, c, t.part(i, embedMembers), places)
		if err != nil {
			return nil, err
		}
		logits, err := m.logits(ctx, k.Net, places, t.folds)
		if err != nil {
			return nil, err
		}
		sum = floats.AddTo(logits, logits, append(sum, make([]float64, len(logits)-len(sum))...))
		nets, weights = append(nets, k.Net), append(weights, m.theta, k.Net.Theta)
	}
	for _, n := range nets {
		n.Divide(nn.Deviation(sum))
	}
	return weights, nil
}

// member trains one embedding with its network.
func (embedding) member(ctx context.Context, c *config, t *training, places []place) (*embedder, *nn.Classifier, error) {
	e := newEmbedder(t.rng, c)
	k := nn.NewClassifier(t.rng, embedShape(), embedRate, embedDecay, 1)
	opt := nn.NewOptimizer(nn.Fit{Adam: true, Rate: embedRate}, len(e.theta))
	return e, k, t.epochs(ctx, func() error {
		for _, f := range t.rng.Perm(len(t.folds)) {
			if err := e.learnFold(ctx, t.rng, k, &opt, places[f], &t.folds[f]); err != nil {
				return err
			}
		}
		return nil
	})
}

// place is the input of an embedding: the words of the nodes and the graph.
type place struct {
	adjacency
	words words
}

func placeOf(c *config, w World) (place, error) {
	t, err := wordsOf(c, w)
	return place{adjacencyOf(w.Graph), t}, err
}

func placesOf(c *config, t *training) ([]place, error) {
	all := make([]place, len(t.folds))
	for i, f := range t.folds {
		var err error
		if all[i], err = placeOf(c, f.world); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// embedder computes z and its gradient with respect to the parameters.
type embedder struct {
	theta       []float32      // B, then gain and shift
	b           blas32.General // embedHops·words x embedLen, a view of theta
	gain, shift []float32      // views of theta

	sum blas32.General // Σ Wᵏ T B_k; after normalise, its rows with mean 0 and variance 1
	sd  []float32      // standard deviation of its rows
	z   blas32.General
	dz  blas32.General
}

func newEmbedder(rng *rand.Rand, c *config) *embedder {
	words := c.FeatureLen
	e := embedderOf(words, make([]float32, embedding{}.sizes(c)[0]))
	bound := 1 / math.Sqrt(float64(max(words, 1)))
	for i := range e.b.Data {
		e.b.Data[i] = float32((2*rng.Float64() - 1) * bound)
	}
	for i := range e.gain {
		e.gain[i] = 1
	}
	return e
}

func embedderOf(words int, theta []float32) *embedder {
	n := embedHops * words * embedLen
	return &embedder{
		theta: theta, b: blas32.General{Rows: embedHops * words, Cols: embedLen, Stride: embedLen, Data: theta[:n]},
		gain: theta[n : n+embedLen], shift: theta[n+embedLen:],
	}
}

// forward computes z of all nodes.
func (e *embedder) forward(ctx context.Context, p place) error {
	n := len(p.adjacency)
	hop := func(k int) (blas32.General, error) {
		h := nn.Resize(blas32.General{}, n, embedLen)
		return h, nn.Parallel(ctx, n, func(u int) {
			p.words.rows[u].combine(embedScale, nn.Rows(e.b, k*p.words.len, (k+1)*p.words.len), nn.Row(h, u))
		})
	}
	var err error
	e.sum, err = hop(embedHops - 1)
	for k := embedHops - 2; k >= 0 && err == nil; k-- {
		var far, near blas32.General
		if far, err = p.average(ctx, e.sum, true); err != nil {
			return err
		}
		if near, err = hop(k); err != nil {
			return err
		}
		nn.AddTo(near.Data, far.Data)
		e.sum = near
	}
	if err != nil {
		return err
	}
	e.normalise()
	return nil
}

// combine adds to sum the linear combination of the rows of b whose coefficients are the entries of a times by.
func (a sparse) combine(by float32, b blas32.General, sum []float32) {
	for i, at := range a.at {
		blas32.Axpy(by*a.value[i], blas32.Vector{N: b.Cols, Inc: 1, Data: nn.Row(b, int(at))}, blas32.Vector{N: b.Cols, Inc: 1, Data: sum})
	}
}

// normalise is LayerNorm (Ba, Kiros and Hinton, 2016): rows of mean 0 and variance 1, times the gain, plus the shift.
// It leaves the normalised rows, before gain and shift, in sum.
func (e *embedder) normalise() {
	e.z = nn.Resize(e.z, e.sum.Rows, embedLen)
	e.sd = e.sd[:0]
	for u := range e.sum.Rows {
		x, z := nn.Row(e.sum, u), nn.Row(e.z, u)
		mean, squares := 0.0, 0.0
		for _, v := range x {
			mean += float64(v)
			squares += float64(v) * float64(v)
		}
		mean /= embedLen
		sd := math.Sqrt(max(squares/embedLen-mean*mean, 0) + 1e-5)
		e.sd = append(e.sd, float32(sd))
		for i, v := range x {
			x[i] = float32((float64(v) - mean) / sd)
			z[i] = x[i]*e.gain[i] + e.shift[i]
		}
	}
}

// backward fills the gradient of a loss with respect to theta, given dz, its derivative with respect to z.
func (e *embedder) backward(ctx context.Context, p place, grad []float32) error {
	clear(grad)
	g := embedderOf(p.words.len, grad)
	e.denormalise(g)
	columns := p.words.transpose()
	d := e.dz
	for k := range embedHops {
		if k > 0 {
			var err error
			if d, err = p.distribute(ctx, d); err != nil {
				return err
			}
		}
		err := nn.Parallel(ctx, p.words.len, func(w int) {
			columns[w].combine(embedScale, d, nn.Row(g.b, k*p.words.len+w))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// denormalise converts dz from the derivative with respect to z to the derivative with respect to the sum, and adds the
// derivatives with respect to gain and shift to g.
func (e *embedder) denormalise(g *embedder) {
	for u := range e.dz.Rows {
		d, x := nn.Row(e.dz, u), nn.Row(e.sum, u)
		mean, along := float32(0), float32(0)
		for i, v := range d {
			g.gain[i] += v * x[i]
			g.shift[i] += v
			d[i] = v * e.gain[i]
			mean += d[i]
			along += d[i] * x[i]
		}
		mean, along = mean/embedLen, along/embedLen
		for i := range d {
			d[i] = (d[i] - mean - along*x[i]) / e.sd[u]
		}
	}
}

// distribute returns Wᵀ x.
func (a adjacency) distribute(ctx context.Context, x blas32.General) (blas32.General, error) {
	y := nn.Resize(blas32.General{}, x.Rows, x.Cols)
	return y, nn.Parallel(ctx, len(a), func(u int) {
		to := blas32.Vector{N: y.Cols, Inc: 1, Data: nn.Row(y, u)}
		add := func(w int) {
			blas32.Axpy(1/float32(len(a[w])+1), blas32.Vector{N: x.Cols, Inc: 1, Data: nn.Row(x, w)}, to)
		}
		add(u)
		for _, w := range a[u] {
			add(int(w))
		}
	})
}

// transpose returns the nodes of each word.
func (t words) transpose() []sparse {
	columns := make([]sparse, t.len)
	for u, r := range t.rows {
		for i, at := range r.at {
			columns[at].at = append(columns[at].at, uint32(u))
			columns[at].value = append(columns[at].value, r.value[i])
		}
	}
	return columns
}

// drop returns the words without a random share of them. The remaining values are scaled up to compensate.
func (t words) drop(rng *rand.Rand, share float64) words {
	kept := words{len: t.len, rows: make([]sparse, len(t.rows))}
	for u, r := range t.rows {
		for i, at := range r.at {
			if rng.Float64() >= share {
				kept.rows[u].at = append(kept.rows[u].at, at)
				kept.rows[u].value = append(kept.rows[u].value, r.value[i]/float32(1-share))
			}
		}
	}
	return kept
}

// learnFold makes steps on all pairs of a fold, in random order, in the world that lacks the fold's edges.
func (e *embedder) learnFold(ctx context.Context, rng *rand.Rand, k *nn.Classifier, opt *nn.Optimizer, p place, f *fold) error {
	order := rng.Perm(len(f.pairs))
	size := embedBatch * len(f.pairs) / f.edges
	for len(order) > 0 {
		n := min(size, len(order))
		pairs, label := make([]Pair, n), make([]float32, n)
		for i, at := range order[:n] {
			pairs[i] = f.pairs[at]
			if at < f.edges {
				label[i] = 1
			}
		}
		if err := e.learn(ctx, rng, k, opt, p, pairs, label); err != nil {
			return err
		}
		order = order[n:]
	}
	return nil
}

// learn makes one step on a batch.
func (e *embedder) learn(
	ctx context.Context, rng *rand.Rand, k *nn.Classifier, opt *nn.Optimizer, p place, pairs []Pair, label []float32,
) error {
	p.words = p.words.drop(rng, embedDropout)
	if err := e.forward(ctx, p); err != nil {
		return err
	}
	x := e.products(pairs)
	if _, err := k.Learn(ctx, rng, x, label); err != nil {
		return err
	}
	e.dz = nn.Resize(e.dz, e.z.Rows, embedLen)
	clear(e.dz.Data)
	at := 0
	for i := range k.Parts {
		n := (i+1)*len(pairs)/nn.Shards - i*len(pairs)/nn.Shards
		for j := range n {
			e.unfold(pairs[at+j], nn.Row(k.Parts[i].Dx, j))
		}
		at += n
	}
	if err := e.backward(ctx, p, opt.Grad); err != nil {
		return err
	}
	opt.Decoupled(e.theta, embedDecay)
	return nil
}

// products returns z_u ⊙ z_v of each pair.
func (e *embedder) products(pairs []Pair) blas32.General {
	x := nn.Resize(blas32.General{}, len(pairs), embedLen)
	for i, p := range pairs {
		u, v, to := nn.Row(e.z, int(p.Source)), nn.Row(e.z, int(p.Target)), nn.Row(x, i)
		for j := range to {
			to[j] = u[j] * v[j]
		}
	}
	return x
}

// unfold adds to dz the contribution of dx, the derivative with respect to z_u ⊙ z_v.
func (e *embedder) unfold(p Pair, dx []float32) {
	u, v := nn.Row(e.z, int(p.Source)), nn.Row(e.z, int(p.Target))
	du, dv := nn.Row(e.dz, int(p.Source)), nn.Row(e.dz, int(p.Target))
	for j, d := range dx {
		du[j] += d * v[j]
		dv[j] += d * u[j]
	}
}

// logits returns the logits of all training pairs, each in the world of its fold.
func (e *embedder) logits(ctx context.Context, net *nn.Network, places []place, folds []fold) (all []float64, err error) {
	for i, f := range folds {
		if err := e.forward(ctx, places[i]); err != nil {
			return nil, err
		}
		all = append(all, net.Outputs(e.products(f.pairs))...)
	}
	return all, nil
}

func (embedding) view(ctx context.Context, c *config, weights [][]float32, w World) (view, error) {
	p, err := placeOf(c, w)
	if err != nil {
		return nil, err
	}
	var v embedView
	for len(weights) > 0 {
		e := embedderOf(c.FeatureLen, weights[0])
		if err := e.forward(ctx, p); err != nil {
			return nil, err
		}
		v = append(v, embedMember{embedder{z: e.z}, nn.NewNetwork(embedShape(), weights[1])})
		weights = weights[2:]
	}
	return v, nil
}

// embedView is the view of a world by embedding.
type embedView []embedMember

type embedMember struct {
	nodes embedder // with z only
	net   *nn.Network
}

func (v embedView) score(ctx context.Context, pairs []Pair, scores []float64) error {
	clear(scores)
	return nn.InBatches(ctx, len(pairs), func(first, end int) error {
		for _, m := range v {
			floats.Add(scores[first:end], m.net.Outputs(m.nodes.products(pairs[first:end])))
		}
		return nil
	})
}
