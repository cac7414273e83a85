package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/column"
	"kith/model/nn"
)

// StartLearner learns StartWeights from several graphs with equal weight.
type StartLearner struct {
	graphs [][]choice
}

// Add reads edges of a graph, as TrainEdges does, for models with feature vectors of the given
// length. A graph with feature vectors counts as two graphs, one with and one without them. A graph
// whose nodes are all linked adds nothing.
func (l *StartLearner) Add(ctx context.Context, g Graph, features int, seed uint64, plan EdgePlan, without Without) error {
	m, err := New(Spec{FeatureLen: features, Seed: seed})
	if err != nil {
		return err
	}
	m.config.Blocks &^= blockVectors
	if err := m.config.rankerPlan(g, &plan); err != nil {
		return err
	}
	rng := rand.New(m.source)
	folds, err := drawFolds(rng, g, plan)
	if err != nil {
		return err
	}
	all, err := m.drawChoices(ctx, rng, g, folds, plan, nil, without)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return nil
	}
	if m.config.rankLen() == startShape().In {
		l.graphs = append(l.graphs, widened(all, column.SimilarityLen))
	}
	l.graphs = append(l.graphs, widened(all, 0))
	return nil
}

// widened returns choices with all columns. similarity is the number of similarity columns that are
// kept; the others are 0.
func widened(all []choice, similarity int) []choice {
	n := startShape().In
	wide := map[*blas32.General]*blas32.General{} // choices share rows
	out := slices.Clone(all)
	for i, c := range out {
		if wide[c.x] == nil {
			x := nn.Resize(blas32.General{}, c.x.Rows, n)
			clear(x.Data)
			keep := min(c.x.Cols, n-column.SimilarityLen+similarity)
			for k := range x.Rows {
				copy(nn.Row(x, k)[n-keep:], nn.Row(*c.x, k)[c.x.Cols-keep:])
			}
			wide[c.x] = &x
		}
		out[i].x = wide[c.x]
	}
	return out
}

// Join adds a learner's graphs.
func (l *StartLearner) Join(o *StartLearner) { l.graphs = append(l.graphs, o.graphs...) }

// StartPlan says how StartWeights are learned.
type StartPlan struct {
	Seed          uint64
	Passes        int     // number of passes over startChoices choices of each graph
	Rate          float64 // initial learning rate
	Drop          float64 // probability that a column of a choice is hidden, because the value of columns differs between graphs
	Decay         float64 // weight decay per unit of the rate
	ResourceShare float64 // share of resource allocation in the training target; it is a strong formula on unknown graphs
}

// startChoices is the number of choices per graph and pass.
const startChoices = 450

// startMembers is the number of independently trained networks that the start is distilled from.
const startMembers = 3

// Learn returns weights learned from the graphs. The result is deterministic for a plan and graphs.
// A single network depends more on its initial weights than on any part of the plan, but the mean
// of several networks does not. A last network is therefore trained to reproduce this mean's scores
// of the candidates.
func (l *StartLearner) Learn(ctx context.Context, plan StartPlan) (*StartWeights, error) {
	if len(l.graphs) == 0 {
		return nil, fmt.Errorf("%w: no graph to learn a start from", ErrInput)
	}
	rng := rand.New(rand.NewPCG(plan.Seed, 5))
	members := make([]*nn.Network, startMembers)
	for i := range members {
		var err error
		if members[i], err = l.member(ctx, rng, plan, guideByResource(plan.ResourceShare)); err != nil {
			return nil, err
		}
	}
	plan.Drop, plan.Decay = 0, choiceDecay
	net, err := l.member(ctx, rng, plan, guideByNetwork(meanNetwork(members)))
	if err != nil {
		return nil, err
	}
	return &StartWeights{&ranker{net, levelOf(net, slices.Concat(l.graphs...))}}, nil
}

// member trains one network.
func (l *StartLearner) member(ctx context.Context, rng *rand.Rand, plan StartPlan, by *guide) (*nn.Network, error) {
	net := nn.NewNetwork(startShape(), nil)
	net.InitUniform(rng)
	c := &choiceLearner{net: net, guide: by, decay: plan.Decay, opt: nn.NewOptimizer(nn.Fit{Adam: true, Rate: plan.Rate}, len(net.Theta))}
	batch, order := make([]choice, choiceBatch), numbers(choiceBatch)
	drawn := make([]blas32.General, choiceBatch) // copied rows of the batch
	steps := plan.Passes * startChoices * len(l.graphs) / choiceBatch
	for step := range steps {
		for i := range batch {
			all := l.graphs[(step*choiceBatch+i)%len(l.graphs)]
			batch[i] = dropped(rng, plan.Drop, all[rng.IntN(len(all))], &drawn[i])
		}
		c.opt.Rate = plan.Rate * (0.03 + 0.97*(1+math.Cos(math.Pi*float64(step)/float64(steps)))/2)
		if err := c.learn(ctx, batch, order); err != nil {
			return nil, err
		}
	}
	if !nn.Finite(net.Theta...) {
		return nil, errors.New("a start is not finite")
	}
	return net, nil
}

// meanNetwork returns a network whose output is the mean of the outputs of networks with one hidden
// layer. It contains all their hidden units.
func meanNetwork(members []*nn.Network) *nn.Network {
	s := members[0].Shape
	width, n := s.Hidden[0], float32(len(members))
	s.Hidden = []int{width * len(members)}
	mean := nn.NewNetwork(s, nil)
	first, last := mean.Dense[0], mean.Dense[1]
	for k, m := range members {
		for i := range s.In {
			copy(first.W[i*first.Out+k*width:], m.Dense[0].W[i*width:(i+1)*width])
		}
		copy(first.B[k*width:], m.Dense[0].B)
		for i, w := range m.Dense[1].W {
			last.W[k*width+i] = w / n
		}
		last.B[0] += m.Dense[1].B[0] / n
	}
	return mean
}

// dropped copies a choice to x. With probability p, a column gets the value of the link in all
// rows, so that it does not distinguish the candidates.
func dropped(rng *rand.Rand, p float64, c choice, x *blas32.General) choice {
	*x = nn.Resize(*x, 1+c.to-c.from, c.x.Cols)
	copy(nn.Row(*x, 0), nn.Row(*c.x, c.link))
	copy(x.Data[x.Cols:], c.x.Data[c.from*x.Cols:c.to*x.Cols])
	for j := range x.Cols {
		if rng.Float64() >= p {
			continue
		}
		for i := range x.Rows {
			x.Data[i*x.Cols+j] = x.Data[j]
		}
	}
	return choice{x: x, from: 1, to: x.Rows, pairsPerCandidate: c.pairsPerCandidate, poolWeight: c.poolWeight}
}
