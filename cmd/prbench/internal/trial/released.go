package trial

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model"
	"kith/model/nn"
)

// released is the preset with the networks of the authors' published program, which departs from
// the paper in most points: weights are drawn uniformly and have biases, losses have no factor 1/2,
// f2 begins with a convolution, learns its targets plus 1, and is weighted by 1 / sqrt(round) from
// round 500 on. In a failed round of the first 1,000, candidates that were not chosen are samples
// of f2 with target 1.2. The walk is the paper's; option propagation = released is the walk of the
// program: normalised by column, along edges that lead only from the serving node to the chosen
// one.
const released = "released"

// Presets returns the names of the presets of kith's models, and released.
func Presets() []string { return append(model.Presets(), released) }

// WithPreset returns a spec with a preset. For preset released, the spec holds the contexts, the
// walk and the options of the networks; an [Entry] says that the networks are the program's.
func WithPreset(spec model.Spec, preset string) (model.Spec, error) {
	spec.Preset = preset
	if preset != released {
		return spec, nil
	}
	spec.Preset = "paper"
	for _, o := range []struct {
		name  string
		value any
	}{{"normalize", "none"}, {"exploit_rate", 0.1}, {"explore_rate", 0.01}} {
		if err := spec.Set(o.name, o.value); err != nil {
			return spec, err
		}
	}
	return spec, nil
}

// Constants of the authors' program.
const (
	releasedKernel = 40   // width of the convolution over φ
	releasedStride = 50   // its step
	releasedShift  = 1    // added to the targets of f2 and subtracted from its outputs
	releasedExtra  = 1.2  // target of f2 for candidates that were not chosen
	releasedRounds = 1000 // rounds in which there are such targets, and a training every 10 rounds
	releasedDecay  = 500  // round from which f2 is weighted by 1 / sqrt(round)
)

// ReleasedPlayer plays prb or prb_greedy with the networks of the authors' program. Contexts, walk
// and options come from a model that learns nothing.
type ReleasedPlayer struct {
	*modelPlayer
	options map[string]any
	source  *rand.PCG
	rounds  int
	f1      *nn.Regressor // nil before the first contexts
	f2      *convolved    // nil: the policy does not explore
	tape    nn.Tape
	phi     blas32.General
}

// newReleasedPlayer returns a player with the contexts, the walk and the options of the model of p.
func newReleasedPlayer(p *modelPlayer, seed uint64) (*ReleasedPlayer, error) {
	r := &ReleasedPlayer{modelPlayer: p, options: map[string]any{}, source: rand.NewPCG(seed, 0)}
	for name, value := range p.model.Options() {
		r.options[name] = value
	}
	if o := r.options; p.model.Policy() != "prb" && p.model.Policy() != "prb_greedy" || o["step"] != "schedule" || o["center"] != "off" {
		return nil, fmt.Errorf("trial: policy %s, step %v, center %v (accepted for preset released: prb and its relatives, schedule, off)",
			p.model.Policy(), o["step"], o["center"])
	}
	return r, nil
}

func (r *ReleasedPlayer) whole(name string) int      { return r.options[name].(int) }
func (r *ReleasedPlayer) number(name string) float64 { return r.options[name].(float64) }

// start makes the networks for contexts of a width.
func (r *ReleasedPlayer) start(width int) {
	hidden := slices.Repeat([]int{r.whole("width")}, r.whole("layers")-1)
	shape := nn.Shape{In: width, Hidden: hidden, Bias: true}
	// a loss without the factor 1/2 has twice the gradient, which is as good as twice the rate
	fit := nn.Fit{Rate: 2 * r.number("exploit_rate"), Batch: r.whole("batch"), Steps: r.whole("steps")}
	stop := 0.0
	if r.options["early_stop"] == "on" {
		fit.Stop, stop = 1e-3/2, 2e-3
	}
	rng := rand.New(r.source)
	r.f1 = nn.NewRegressor(shape, fit, r.whole("replay"))
	r.f1.Net.InitUniform(rng)
	if r.model.Policy() == "prb" {
		r.f2 = newConvolved(rng, nn.PhiLen(shape, r.whole("pool")), hidden)
		r.f2.fit = nn.Fit{Adam: true, Rate: r.number("explore_rate"), Decay: 1e-4, Batch: fit.Batch, Steps: fit.Steps, Stop: stop}
		r.f2.kept, r.f2.data.Limit = r.options["moments"] == "kept", r.whole("replay")
	}
}

// estimates returns the start values of the pairs with the contexts x.
func (r *ReleasedPlayer) estimates(x blas32.General) []float64 {
	if r.f1 == nil {
		r.start(x.Cols)
	}
	h := make([]float64, x.Rows)
	for i, f := range r.f1.Net.Forward(&r.tape, x) {
		h[i] = float64(f)
	}
	if r.f2 == nil {
		return h
	}
	weight := r.number("explore_weight")
	if r.rounds >= releasedDecay {
		weight /= math.Sqrt(float64(r.rounds))
	}
	for i, f := range r.f2.forward(r.gradients(x.Rows)) {
		h[i] += weight * (float64(f) - releasedShift)
	}
	return h
}

// gradients returns φ of the rows of the last pass of f1.
func (r *ReleasedPlayer) gradients(rows int) blas32.General {
	r.phi = nn.Resize(r.phi, rows, r.f2.data.Dim)
	r.f1.Net.Phi(&r.tape, r.whole("pool"), r.phi)
	return r.phi
}

// Choose returns the arm with the best score, the first one of equal scores.
func (r *ReleasedPlayer) Choose(ctx context.Context, arms []Pair) (int, error) {
	scores, err := r.Scores(ctx, r.world, arms)
	if err != nil {
		return 0, err
	}
	return slices.Index(scores, slices.Max(scores)), nil
}

// Scores returns the scores of pairs in a world.
func (r *ReleasedPlayer) Scores(ctx context.Context, w model.World, pairs []Pair) ([]float64, error) {
	defer r.networks()()
	var err error
	if r.x, err = r.model.Scorer().AppendContexts(ctx, r.x[:0], w, pairs); err != nil {
		return nil, fmt.Errorf("trial: contexts: %w", err)
	}
	h := r.estimates(nn.NewMatrix(r.x, len(r.x)/len(pairs)))
	walk := r.model.Scorer().Walk()
	if walk.Alpha == 0 {
		return h, nil
	}
	targets := make([]ID, len(pairs))
	for i, p := range pairs {
		targets[i] = p.Target
	}
	v, _, err := w.Walk.Propagate(ctx, walk, startOf(pairs, h, r.number("seed_weight")), targets)
	if err != nil {
		return nil, fmt.Errorf("trial: walk: %w", err)
	}
	return slices.Clone(v), nil
}

// startOf returns a start vector with the values h of the targets, of equal ones the first, and the
// seed weight at each run of equal sources.
func startOf(pairs []Pair, h []float64, seed float64) model.Start {
	at := map[ID]float64{}
	for i := len(pairs) - 1; i >= 0; i-- {
		at[pairs[i].Target] = h[i]
	}
	for i, p := range pairs {
		if i == 0 || pairs[i-1].Source != p.Source {
			at[p.Source] += seed
		}
	}
	var s model.Start
	for u := range at {
		s.Node = append(s.Node, u)
	}
	slices.Sort(s.Node)
	for _, u := range s.Node {
		s.Value = append(s.Value, at[u])
	}
	return s
}

// Learn keeps the samples of a round, and trains the networks if the schedule says so.
func (r *ReleasedPlayer) Learn(ctx context.Context, arms []Pair, chosen int, reward float64) error {
	if err := r.contexts(ctx, arms); err != nil {
		return fmt.Errorf("trial: contexts: %w", err)
	}
	began := time.Now()
	x := nn.NewMatrix(r.x, len(r.x)/len(arms))
	if r.f1 == nil {
		r.start(x.Cols)
	}
	of, link := nn.Row(x, chosen), arms[chosen]
	if r.f2 != nil {
		if reward != 0 || r.rounds >= releasedRounds {
			x, chosen = nn.NewMatrix(of, x.Cols), 0
		}
		f1 := r.f1.Net.Forward(&r.tape, x)[chosen]
		phi := r.gradients(x.Rows)
		for i := range x.Rows {
			target := float64(releasedExtra)
			if i == chosen {
				target = reward - float64(f1) + releasedShift
			}
			r.f2.data.Add(nn.Row(phi, i), target)
		}
	}
	r.f1.Data.Add(of, reward)
	r.rounds++
	if r.rounds <= releasedRounds && r.rounds%10 == 0 || r.rounds%100 == 0 {
		rng := rand.New(r.source)
		r.f1.Train(rng)
		if r.f2 != nil {
			r.f2.train(rng)
		}
	}
	r.parts.Train += time.Since(began)
	if reward == 1 {
		return r.Reveal(ctx, link)
	}
	return nil
}
