package model

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"kith/model/nn"
)

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
