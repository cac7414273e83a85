package fitted

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"kith/model/nn"
)

// embedding scores a pair by a network on the product of two learned vectors: z = LayerNorm(Σ Wᵏ
// (4T) B_k), k = 0 to 2. T holds the nodes' words and W = (D + I)⁻¹(A + I). In training each edge
// is hidden from W, and 70 % of the words are dropped. The logits of four such members, which start
// from different weights, are added.
//
// It is trained on up to 20,000 edges, ten other pairs per edge, 8 folds, and 21 passes for
// each member. Hits@100 in percent of one to four members on five splits of Citeseer: 88.2, 89.3,
// 89.8, 90.3 (validation), 83.2, 85.4, 85.6, 85.9 (test). The following were no better on two of
// them: 35 or 60 passes, half of the words, different dropped words for each power of W, new pairs
// without an edge in each pass, equal initial B_k, edges that are not hidden.
func embedding() *fitted {
	return &fitted{
		name: "embedding", words: true, plan: plan{samples: 20000, negatives: 10, folds: 8, epochs: 21},
		fit: fitEmbedding, view: embedView,
	}
}

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

func embedShape() nn.Shape { return nn.Shape{In: embedLen, Hidden: []int{64, 64}, Bias: true} }

func fitEmbedding(ctx context.Context, c *config, t *training) (weights [][]float32, err error) {
	words, err := wordsOf(c, t.folds[0].world) // the words of all folds
	if err != nil {
		return nil, err
	}
	inputs := make([]embedInput, len(t.folds))
	for i, f := range t.folds {
		inputs[i] = embedInput{adjacencyOf(f.world.Graph), words}
	}
	var nets []*nn.Network
	var sum []float64 // sum of the members' logits of all training pairs
	for range embedMembers {
		e := newEmbedder(t.rng, c)
		e.train(ctx, t, inputs)
		var logits []float64
		for i, f := range t.folds {
			e.forward(ctx, inputs[i])
			logits = append(logits, e.logits(f.pairs)...)
		}
		sum = floats.AddTo(logits, logits, append(sum, make([]float64, len(logits)-len(sum))...))
		nets, weights = append(nets, e.net), append(weights, e.theta, e.net.Theta)
	}
	for _, n := range nets {
		divide(n, deviation(sum))
	}
	return weights, ctx.Err()
}

// train trains one embedding with its network.
func (e *embedder) train(ctx context.Context, t *training, inputs []embedInput) {
	k := newClassifier(t.rng, embedShape(), embedRate, embedDecay, 1)
	e.net = k.net
	opt := nn.NewOptimizer(nn.Fit{Adam: true, Rate: embedRate}, len(e.theta))
	t.epochs(ctx, func() {
		for _, f := range t.rng.Perm(len(t.folds)) {
			e.learn(ctx, t.rng, k, &opt, inputs[f], &t.folds[f])
		}
	})
}

// embedInput is the input of an embedding: the words of the nodes and the graph.
type embedInput struct {
	adjacency
	words nn.Words
}

func embedInputOf(c *config, w World) (embedInput, error) {
	t, err := wordsOf(c, w)
	return embedInput{adjacencyOf(w.Graph), t}, err
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
	net *nn.Network // its inputs are products of two rows of z
}

func newEmbedder(rng *rand.Rand, c *config) *embedder {
	words := c.FeatureLen
	e := embedderOf(words, make([]float32, (embedHops*words+2)*embedLen))
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
	return &embedder{theta: theta, b: nn.NewMatrix(theta[:n], embedLen), gain: theta[n : n+embedLen], shift: theta[n+embedLen:]}
}

// forward computes z of all nodes.
func (e *embedder) forward(ctx context.Context, p embedInput) {
	for k := embedHops - 1; k >= 0; k-- {
		hop := nn.RowByRow(ctx, len(p.adjacency), embedLen, func(u int, row []float32) {
			p.words.Rows[u].Combine(embedScale, nn.Rows(e.b, k*p.words.Len, (k+1)*p.words.Len), row)
		})
		if k < embedHops-1 {
			nn.AddTo(hop.Data, nn.Average(ctx, p.adjacency, e.sum, true).Data)
		}
		e.sum = hop
	}
	e.normalise()
}

// normalise is LayerNorm (Ba, Kiros and Hinton, 2016): rows of mean 0 and variance 1, times the
// gain, plus the shift. It leaves the normalised rows, before gain and shift, in sum.
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

// backward fills the gradient of a loss with respect to theta, given dz, its derivative with
// respect to z.
func (e *embedder) backward(ctx context.Context, p embedInput, grad []float32) {
	clear(grad)
	g := embedderOf(p.words.Len, grad)
	e.denormalise(g)
	columns := p.words.Transpose()
	d := e.dz
	for k := range embedHops {
		if k > 0 {
			d = p.averageTransposed(ctx, d)
		}
		_ = nn.Parallel(ctx, p.words.Len, func(w int) {
			columns[w].Combine(embedScale, d, nn.Row(g.b, k*p.words.Len+w))
		})
	}
}

// denormalise converts dz from the derivative with respect to z to the derivative with respect to
// the sum, and adds the derivatives with respect to gain and shift to g.
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

// averageTransposed returns Wᵀ x.
func (a adjacency) averageTransposed(ctx context.Context, x blas32.General) blas32.General {
	return nn.RowByRow(ctx, len(a), x.Cols, func(u int, to []float32) {
		add := func(w int) { nn.Axpy(1/float32(len(a[w])+1), nn.Row(x, w), to) }
		add(u)
		for _, w := range a[u] {
			add(int(w))
		}
	})
}

// drop returns the words without a random share of them. The remaining values are scaled up to
// compensate.
func drop(t nn.Words, rng *rand.Rand, share float64) nn.Words {
	kept := nn.Words{Len: t.Len, Rows: make([]nn.Sparse, len(t.Rows))}
	for u, r := range t.Rows {
		for i, at := range r.At {
			if rng.Float64() >= share {
				kept.Rows[u].Append(int(at), r.Value[i]/float32(1-share))
			}
		}
	}
	return kept
}

// learn makes steps on all pairs of a fold, in random order, in the world that lacks the fold's
// edges.
func (e *embedder) learn(ctx context.Context, rng *rand.Rand, k *classifier, opt *nn.Optimizer, input embedInput, f *fold) {
	whole := input.words
	for batch := range slices.Chunk(rng.Perm(len(f.pairs)), embedBatch*len(f.pairs)/f.edges) {
		pairs, label := make([]Pair, len(batch)), make([]float32, len(batch))
		for i, at := range batch {
			pairs[i] = f.pairs[at]
			if at < f.edges {
				label[i] = 1
			}
		}
		input.words = drop(whole, rng, embedDropout)
		e.forward(ctx, input)
		if _, err := k.learn(ctx, rng, e.products(pairs), label); err != nil {
			return
		}
		e.dz = nn.Resize(e.dz, e.z.Rows, embedLen)
		clear(e.dz.Data)
		for i := range k.parts {
			first := i * len(pairs) / nn.Shards
			for j, p := range pairs[first : (i+1)*len(pairs)/nn.Shards] {
				e.addProductGradient(p, nn.Row(k.parts[i].dx, j))
			}
		}
		e.backward(ctx, input, opt.Grad)
		opt.Decoupled(e.theta, embedDecay)
	}
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

// addProductGradient adds to dz the contribution of dx, the derivative with respect to z_u ⊙ z_v.
func (e *embedder) addProductGradient(p Pair, dx []float32) {
	u, v := nn.Row(e.z, int(p.Source)), nn.Row(e.z, int(p.Target))
	du, dv := nn.Row(e.dz, int(p.Source)), nn.Row(e.dz, int(p.Target))
	for j, d := range dx {
		du[j] += d * v[j]
		dv[j] += d * u[j]
	}
}

// logits returns the logits of pairs in the world of the last forward.
func (e *embedder) logits(pairs []Pair) []float64 { return e.net.Outputs(e.products(pairs)) }

func embedView(ctx context.Context, c *config, weights [][]float32, w World) (view, error) {
	p, err := embedInputOf(c, w)
	if err != nil {
		return nil, err
	}
	var members []embedder // with z and net only
	for member := range slices.Chunk(weights, 2) {
		e := embedderOf(c.FeatureLen, member[0])
		e.forward(ctx, p)
		members = append(members, embedder{z: e.z, net: nn.NewNetwork(embedShape(), member[1])})
	}
	return func(ctx context.Context, pairs []Pair, scores []float64) error {
		clear(scores)
		return nn.InBatches(ctx, len(pairs), func(first, end int) error {
			for i := range members {
				floats.Add(scores[first:end], members[i].logits(pairs[first:end]))
			}
			return nil
		})
	}, ctx.Err()
}
