package trial

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// neuralPlayer plays NeuralUCB (Zhou, Li and Gu, ICML 2020, algorithm 1) or NeuralTS (Zhang, Zhou,
// Li and Gu, ICLR 2021, algorithm 1). A network f1 estimates the reward. Its bonus is the standard
// deviation ν sqrt(λ gᵀ Z⁻¹ g) of the estimate or, for NeuralTS, a draw with this deviation. g is
// the gradient of f1 at the pair, and Z is the diagonal of λI + Σ g gᵀ over the pairs chosen so
// far. Contexts and options come from a model that learns nothing.
type neuralPlayer struct {
	*modelPlayer
	options map[string]any
	sampled bool // NeuralTS
	seed    uint64
	source  *rand.PCG
	rounds  int
	f1      *nn.Regressor // nil before the first contexts
	design  *design
	tape    nn.Tape
	forms   []float64
}

// newNeuralPlayer returns a player with the contexts and the options of the model of p.
func newNeuralPlayer(p *modelPlayer, sampled bool, seed uint64) (*neuralPlayer, error) {
	n := &neuralPlayer{modelPlayer: p, options: map[string]any{}, sampled: sampled, seed: seed, source: rand.NewPCG(seed, 0)}
	for name, value := range p.model.Options() {
		n.options[name] = value
	}
	if n.options["preset"] != "paper" || n.options["step"] != "schedule" {
		return nil, fmt.Errorf("trial: preset %v, step %v (accepted for neural_ucb and neural_ts: paper, schedule)", n.options["preset"], n.options["step"])
	}
	return n, nil
}

// start makes the networks for contexts of a width.
func (n *neuralPlayer) start(width int) {
	whole := func(name string) int { return n.options[name].(int) }
	fit := nn.Fit{Rate: n.options["exploit_rate"].(float64), Batch: whole("batch"), Steps: whole("steps")}
	if n.options["early_stop"] == "on" {
		fit.Stop = 1e-3
	}
	shape := nn.Shape{In: width, Hidden: slices.Repeat([]int{whole("width")}, whole("layers")-1)}
	n.f1 = nn.NewRegressor(shape, fit, whole("replay"))
	n.f1.Net.InitNormal(rand.New(n.source))
	n.design = newDesign(shape.Params(), n.options["lambda"].(float64))
}

// read computes the contexts of the arms.
func (n *neuralPlayer) read(ctx context.Context, arms []Pair) (x blas32.General, err error) {
	if err := n.contexts(ctx, arms); err != nil {
		return x, fmt.Errorf("trial: contexts: %w", err)
	}
	width := len(n.x) / len(arms)
	if n.f1 == nil {
		n.start(width)
	}
	return nn.NewMatrix(n.x, width), nil
}

// Choose returns the arm with the best estimate and bonus, the first one of equal arms.
func (n *neuralPlayer) Choose(ctx context.Context, arms []Pair) (int, error) {
	x, err := n.read(ctx, arms)
	if err != nil {
		return 0, err
	}
	defer n.networks()()
	scores := make([]float64, len(arms))
	for i, f := range n.f1.Net.Forward(&n.tape, x) {
		scores[i] = float64(f)
	}
	squareGradient(n.f1.Net, &n.tape)
	n.forms = slices.Grow(n.forms[:0], len(arms))[:len(arms)]
	n.design.quadratic(n.f1.Net.Shape, &n.tape, n.forms)
	best := 0
	for i, q := range n.forms {
		bonus := n.options["nu"].(float64) * math.Sqrt(n.options["lambda"].(float64)*q)
		if n.sampled {
			bonus *= n.draw(arms[i])
		}
		if scores[i] += bonus; scores[i] > scores[best] {
			best = i
		}
	}
	return best, nil
}

// draw returns a normal number that is a function of seed, round and pair.
func (n *neuralPlayer) draw(p Pair) float64 {
	pair := uint64(p.Source)<<32 | uint64(p.Target)
	return rand.New(rand.NewPCG(n.seed^uint64(n.rounds), pair)).NormFloat64()
}

// Learn trains f1 if this round is in the schedule of the paper.
func (n *neuralPlayer) Learn(ctx context.Context, arms []Pair, chosen int, reward float64) error {
	x, err := n.read(ctx, arms)
	if err != nil {
		return err
	}
	began := time.Now()
	of := nn.Row(x, chosen)
	n.design.observe(n.f1.Net, &n.tape, of)
	n.f1.Data.Add(of, reward)
	n.rounds++
	if n.rounds <= 2000 && n.rounds%50 == 0 || n.rounds%100 == 0 {
		n.f1.Train(rand.New(n.source))
	}
	n.parts.Train += time.Since(began)
	if reward == 1 {
		return n.Reveal(ctx, arms[chosen])
	}
	return nil
}
