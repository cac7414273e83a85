package fitted

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/stat"

	"kith/model/nn"
)

// classifier trains a network as a logistic regression with binary cross-entropy of sigmoid(f(x)),
// AdamW (Loshchilov and Hutter, ICLR 2019) and dropout of hidden units (Srivastava et al., JMLR 15,
// 2014). Training drops units; finish scales their outgoing weights down.
type classifier struct {
	net   *nn.Network
	opt   nn.Optimizer
	decay float64 // weight decay of AdamW
	keep  float64 // share of the hidden units that a training step keeps

	parts [nn.Shards]shard
}

// shard is the working memory of a part of a batch.
type shard struct {
	tape nn.Tape
	dout []float32
	dx   blas32.General // derivative with respect to the inputs
	grad []float32
	loss float64
}

// newClassifier returns a classifier with random weights. Each step keeps a share of the hidden
// units.
func newClassifier(rng *rand.Rand, s nn.Shape, rate, decay, keep float64) *classifier {
	k := &classifier{net: nn.NewNetwork(s, nil), opt: nn.NewOptimizer(nn.Fit{Adam: true, Rate: rate}, s.Params()), decay: decay, keep: keep}
	k.net.InitUniform(rng)
	return k
}

// learn makes one step on the mean loss of a batch and returns that loss. The gradients of the
// inputs stay in the parts.
func (k *classifier) learn(ctx context.Context, rng *rand.Rand, x blas32.General, label []float32) (float64, error) {
	seed := rng.Uint64()
	err := nn.Parallel(ctx, nn.Shards, func(i int) {
		from, to := i*x.Rows/nn.Shards, (i+1)*x.Rows/nn.Shards
		k.parts[i].loss = 0
		if from < to {
			k.part(i, rand.NewPCG(seed, uint64(i)), nn.Rows(x, from, to), label[from:to], float32(x.Rows))
		}
	})
	if err != nil {
		return 0, err
	}
	clear(k.opt.Grad)
	loss := 0.0
	for i := range k.parts {
		loss += k.parts[i].loss
		if i*x.Rows/nn.Shards < (i+1)*x.Rows/nn.Shards {
			nn.AddTo(k.opt.Grad, k.parts[i].grad)
		}
	}
	k.opt.Decoupled(k.net.Theta, k.decay)
	return loss / float64(x.Rows), nil
}

// part computes the gradient of a part of a batch of n rows.
func (k *classifier) part(i int, random *rand.PCG, x blas32.General, label []float32, n float32) {
	p := &k.parts[i]
	p.tape.Drop = dropout{random, k.keep}.apply
	p.dout = p.dout[:0]
	for j, f := range k.net.Forward(&p.tape, x) {
		loss, slope := crossEntropy(float64(f), float64(label[j]))
		p.loss += loss
		p.dout = append(p.dout, float32(slope)/n)
	}
	p.grad = k.net.Gradient(&p.tape, p.dout, p.grad)
	p.dx = k.net.InputGradient(&p.tape, p.dx)
}

// finish replaces the network by the mean of the networks that dropout trained.
func (k *classifier) finish() {
	for _, d := range k.net.Dense[1:] {
		blas32.Scal(float32(k.keep), blas32.Vector{N: len(d.W), Inc: 1, Data: d.W})
	}
}

// crossEntropy returns the loss log(1 + exp(f)) - y f and its derivative with respect to f.
func crossEntropy(f, y float64) (loss, slope float64) {
	e := math.Exp(-math.Abs(f))
	sigmoid := 1 / (1 + e)
	if f < 0 {
		sigmoid = e / (1 + e)
	}
	return math.Max(f, 0) + math.Log1p(e) - y*f, sigmoid - y
}

// dropout zeroes entries at random.
type dropout struct {
	random *rand.PCG
	keep   float64
}

// apply uses 16 random bits per entry.
func (d dropout) apply(v []float32) {
	bar := uint64(d.keep * (1 << 16))
	var bits uint64
	for i := range v {
		if i%4 == 0 {
			bits = d.random.Uint64()
		}
		if bits&0xffff >= bar {
			v[i] = 0
		}
		bits >>= 16
	}
}

// deviation returns the standard deviation, at least 1e-6.
func deviation(scores []float64) float64 { return max(stat.PopStdDev(scores, nil), 1e-6) }

// divide divides the outputs of a network.
func divide(n *nn.Network, by float64) {
	last := n.Dense[len(n.Dense)-1]
	for _, p := range [][]float32{last.W, last.B} {
		blas32.Scal(float32(1/by), blas32.Vector{N: len(p), Inc: 1, Data: p})
	}
}
