package factor

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/gemm"
	"kith/model/nn"
)

// Sizes of a training.
const (
	sampled = 128  // nodes that stand for all others in a batch
	batch   = 512  // questions
	rate    = 0.1  // of Adagrad
	penalty = 0.1  // of N3
	spread  = 0.05 // standard deviation of the first vectors
	forward = 0.3  // mean of the real parts of the first vectors of directions
)

// Question is an edge, read in a direction.
type Question struct {
	Source, Target ID
	By             Direction
}

// Trainer learns factors from the edges of a graph. The bits of its vectors depend on the seed and
// the questions alone.
type Trainer struct {
	rng               *rand.Rand
	nodes, directions vectors
	parts             [nn.Shards]part
	negative          []ID
	correction        []float32 // by negative: log of the number of nodes that it stands for
	sample            blas32.General
	across            blas32.General // the sample, transposed
	slope             blas32.General // of the sample
	frequency         []float32      // of nodes as targets
}

// vectors are rows of vectors with the sums of the squares of their gradients.
type vectors struct{ value, squares []float32 }

// Bytes returns the memory that a training takes.
func Bytes(nodes, edges int) int64 { return 4*3*Dim*int64(nodes) + 2*2*12*int64(edges) }

// NewTrainer returns a trainer for a graph with the given numbers of nodes and directions.
func NewTrainer(nodes, directions int, seed uint64) *Trainer {
	t := &Trainer{rng: rand.New(rand.NewPCG(seed, 11)), frequency: make([]float32, nodes)}
	t.nodes, t.directions = t.draw(nodes), t.draw(directions)
	for i := range t.directions.value {
		if i%Dim < half {
			t.directions.value[i] += forward
		}
	}
	t.sample, t.slope = nn.Resize(blas32.General{}, sampled, Dim), nn.Resize(blas32.General{}, sampled, Dim)
	t.across = nn.Resize(blas32.General{}, Dim, sampled)
	t.negative, t.correction = make([]ID, sampled), make([]float32, sampled)
	return t
}

func (t *Trainer) draw(rows int) vectors {
	v := vectors{make([]float32, rows*Dim), make([]float32, rows*Dim)}
	for i := range v.value {
		v.value[i] = spread * float32(t.rng.NormFloat64())
	}
	return v
}

// Factors returns the present vectors.
func (t *Trainer) Factors() *Factors {
	return newFactors(pack(t.nodes.value), pack(t.directions.value))
}

// Pass learns all questions once, in random order. It changes the order of all.
func (t *Trainer) Pass(ctx context.Context, all []Question) error {
	clear(t.frequency)
	for _, q := range all {
		t.frequency[q.Target]++
	}
	t.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for first := 0; first < len(all); first += batch {
		t.drawSample(all)
		if err := t.learn(ctx, all[first:min(first+batch, len(all))]); err != nil {
			return err
		}
	}
	return nil
}

// drawSample draws the nodes of a batch: half of all nodes alike, half by their frequency.
func (t *Trainer) drawSample(all []Question) {
	n := len(t.frequency)
	for j := range t.negative {
		u := ID(t.rng.IntN(n))
		if j%2 == 1 {
			u = all[t.rng.IntN(len(all))].Target
		}
		share := 0.5/float64(n) + 0.5*float64(t.frequency[u])/float64(len(all))
		t.negative[j], t.correction[j] = u, float32(-math.Log(sampled*share))
		copy(nn.Row(t.sample, j), row(t.nodes.value, int(u)))
		for k, v := range nn.Row(t.sample, j) {
			t.across.Data[k*sampled+j] = v
		}
	}
}

// learn makes a step. The parts of the batch compute their gradients, then each part of the vectors
// takes the steps of its rows, in the order of the batch.
func (t *Trainer) learn(ctx context.Context, questions []Question) error {
	share := func(i int) []Question {
		return questions[i*len(questions)/nn.Shards : (i+1)*len(questions)/nn.Shards]
	}
	if err := nn.Parallel(ctx, nn.Shards, func(i int) { t.parts[i].read(t, share(i)) }); err != nil {
		return err
	}
	clear(t.slope.Data)
	for i := range t.parts {
		nn.AddTo(t.slope.Data, t.parts[i].sampleSlope.Data)
	}
	return nn.Parallel(ctx, nn.Shards, func(owner int) {
		for i := range t.parts {
			p := &t.parts[i]
			for k, q := range share(i) {
				t.nodes.step(owner, int(q.Source), nn.Row(p.source, k))
				t.nodes.step(owner, int(q.Target), nn.Row(p.target, k))
				t.directions.step(owner, int(q.By), nn.Row(p.by, k))
			}
		}
		for j, u := range t.negative {
			t.nodes.step(owner, int(u), nn.Row(t.slope, j))
		}
	})
}

// step moves row i along its gradient, if it belongs to the owner.
func (v *vectors) step(owner, i int, gradient []float32) {
	if i%nn.Shards != owner {
		return
	}
	value, squares := row(v.value, i), row(v.squares, i)
	for k, g := range gradient[:Dim] {
		squares[k] += g * g
		value[k] -= rate * g / float32(math.Sqrt(float64(squares[k]+1e-10)))
	}
}

// part is the working memory of a part of a batch, with a row for each question.
type part struct {
	turned, score, slope blas32.General // product of source and direction; scores of the sample; slope of turned
	source, target, by   blas32.General // gradients
	sampleSlope          blas32.General // gradients of the sample
}

// read computes the gradients of some questions.
func (p *part) read(t *Trainer, questions []Question) {
	n := len(questions)
	p.sampleSlope = nn.Resize(p.sampleSlope, sampled, Dim)
	for _, m := range []*blas32.General{&p.turned, &p.slope, &p.source, &p.target, &p.by} {
		*m = nn.Resize(*m, n, Dim)
	}
	p.score = nn.Resize(p.score, n, sampled)
	clear(p.sampleSlope.Data)
	if n == 0 {
		return
	}
	for i, q := range questions {
		turn(row(t.nodes.value, int(q.Source)), row(t.directions.value, int(q.By)), nn.Row(p.turned, i))
	}
	clear(p.score.Data)
	gemm.Add(blas.NoTrans, blas.NoTrans, 1, p.turned, t.across, p.score)
	for i, q := range questions {
		p.readLink(t, i, row(t.nodes.value, int(q.Target)), q.Target)
	}
	gemm.Add(blas.NoTrans, blas.NoTrans, 1, p.score, t.sample, p.slope)
	gemm.Add(blas.Trans, blas.NoTrans, 1, p.score, p.turned, p.sampleSlope)
	for i, q := range questions {
		source, by := row(t.nodes.value, int(q.Source)), row(t.directions.value, int(q.By))
		turnBack(source, by, nn.Row(p.slope, i), nn.Row(p.source, i), nn.Row(p.by, i))
		penalise(source, nn.Row(p.source, i))
		penalise(by, nn.Row(p.by, i))
		penalise(row(t.nodes.value, int(q.Target)), nn.Row(p.target, i))
	}
}

// readLink turns the scores of question i into their slopes, the probabilities of the sample, and
// starts the gradients with the link's part.
func (p *part) readLink(t *Trainer, i int, target []float32, link ID) {
	score, turned := nn.Row(p.score, i), nn.Row(p.turned, i)
	own := nn.Dot(turned, target)
	top := own
	for j, u := range t.negative {
		if score[j] += t.correction[j]; u == link {
			score[j] = float32(math.Inf(-1))
		}
		top = max(top, score[j])
	}
	mine := exp(own - top)
	sum := mine
	for j, s := range score {
		score[j] = exp(s - top)
		sum += score[j]
	}
	for j := range score {
		score[j] /= sum
	}
	slope := mine/sum - 1
	to, of := nn.Row(p.target, i), nn.Row(p.slope, i)
	for k := range to {
		to[k], of[k] = slope*turned[k], slope*target[k]
	}
}

// penalise adds the gradient of the N3 penalty, the sum of the cubes of the absolute values.
func penalise(v, gradient []float32) {
	v, gradient = v[:Dim], gradient[:Dim]
	for k := range half {
		size := penalty * float32(math.Sqrt(float64(v[k]*v[k]+v[half+k]*v[half+k])))
		gradient[k] += size * v[k]
		gradient[half+k] += size * v[half+k]
	}
}

// exp returns about e^x for x up to 0.
func exp(x float32) float32 {
	if x < -30 {
		return 0
	}
	x = 1 + x/256
	for range 8 {
		x *= x
	}
	return x
}
