package trial

import (
	"context"
	"fmt"
	"time"

	"kith/model"
)

// Player takes part in a trial. In each round Choose and then Learn is called once.
type Player interface {
	// Choose returns the index of the arm to try as a link. It must not retain arms.
	Choose(ctx context.Context, arms []Pair) (int, error)

	// Learn reports the reward of the chosen arm. A reward of 1 means that the link exists; from
	// then on the player may know it.
	Learn(ctx context.Context, arms []Pair, chosen int, reward float64) error
}

// Revealed is a Player that can be shown a link that it did not choose.
type Revealed interface {
	// Reveal reports an existing link, after Learn has reported that the chosen link does not
	// exist.
	Reveal(ctx context.Context, link Pair) error
}

// modelPlayer is a Player that plays a model on its own graph.
type modelPlayer struct {
	model *model.Model
	graph *Graph
	walk  *timedWalker
	world model.World
	parts Parts

	scores  []model.Score // buffer of a round
	x       []float32     // buffer of contexts
	offered []model.ID    // buffer of targets
}

// accuracy is the certified error of the walks of a model in memory.
const accuracy = 1e-6

// Entry says how a policy plays a model in memory.
type Entry struct {
	Spec     model.Spec // seed apart
	Repaired bool       // walks are repaired by a RepairingWalker from round to round
	OneWay   bool       // walks as in the authors' program: see Walker.OneWay
	Released bool       // networks as in the authors' program: see WithPreset
}

// NewEntrant returns an entrant that plays a model in memory, made from the spec and the seed of
// the run. It has the policy's name and knows the share of links that KnownEdges returns for the
// policy.
func NewEntrant(d *Data, spec model.Spec) Entrant { return Entry{Spec: spec}.Entrant(d) }

// Entrant returns the entrant of an entry.
func (e Entry) Entrant(d *Data) Entrant {
	spec := e.Spec
	return Entrant{Name: spec.Policy, Known: KnownEdges(spec.Policy), New: func(seed uint64, known []Pair) (Player, error) {
		spec.Seed = seed
		m, err := NewModel(spec)
		if err != nil {
			return nil, err
		}
		p := newPlayer(m, d, known, e)
		switch r := rivalOf(spec.Policy); {
		case r.even:
			return evenPlayer{p}, nil
		case r.bonus && e.Released:
			return nil, fmt.Errorf("trial: policy %s has no preset released", r.name)
		case r.bonus:
			return newNeuralPlayer(p, r.name == "neural_ts", seed)
		case e.Released:
			return newReleasedPlayer(p, seed)
		}
		return p, nil
	}}
}

// NewPlayer returns a player of the model in memory. Its graph has the nodes of d, starts with the
// known links, and gains the links that are found or revealed.
func NewPlayer(m *model.Model, d *Data, known []Pair) Player { return newPlayer(m, d, known, Entry{}) }

func newPlayer(m *model.Model, d *Data, known []Pair, e Entry) *modelPlayer {
	g := NewGraph(d.Nodes)
	for _, l := range known {
		g.Add(l.Source, l.Target)
	}
	solving := NewWalker(g, accuracy)
	solving.OneWay = e.OneWay
	w := &timedWalker{Walker: solving}
	if e.Repaired {
		repairing := NewRepairingWalker(g, accuracy)
		repairing.OneWay, w.Walker = e.OneWay, repairing
	}
	p := &modelPlayer{model: m, graph: g, walk: w, world: model.World{Graph: g, Walk: w}}
	if m.FeatureLen() > 0 {
		p.world.Features = d.Feature
	}
	return p
}

// took returns the times of the parts of the rounds so far.
func (p *modelPlayer) took() Parts { return p.parts }

// Choose returns the arm with the best score, the first one of equal scores.
func (p *modelPlayer) Choose(ctx context.Context, arms []Pair) (int, error) {
	defer p.networks()()
	var err error
	if p.scores, err = p.model.Scorer().AppendScores(ctx, p.scores[:0], p.world, arms); err != nil {
		return 0, fmt.Errorf("trial: score: %w", err)
	}
	best := 0
	for i, s := range p.scores {
		if s.Score > p.scores[best].Score {
			best = i
		}
	}
	return best, nil
}

func (p *modelPlayer) Learn(ctx context.Context, arms []Pair, chosen int, reward float64) error {
	if err := p.contexts(ctx, arms); err != nil {
		return fmt.Errorf("trial: contexts: %w", err)
	}
	p.offered = p.offered[:0]
	for _, a := range arms {
		p.offered = append(p.offered, a.Target)
	}
	began := time.Now()
	if _, err := p.model.Observe(model.Outcome{Pair: arms[chosen], Contexts: p.x, Chosen: chosen, Reward: reward, Offered: p.offered}); err != nil {
		return fmt.Errorf("trial: observe: %w", err)
	}
	p.parts.Train += time.Since(began)
	if reward == 1 {
		return p.Reveal(ctx, arms[chosen])
	}
	return nil
}

func (p *modelPlayer) contexts(ctx context.Context, arms []Pair) (err error) {
	defer p.networks()()
	p.x, err = p.model.Scorer().AppendContexts(ctx, p.x[:0], p.world, arms)
	return err
}

// Reveal adds an edge to the graph.
func (p *modelPlayer) Reveal(_ context.Context, link Pair) error {
	p.graph.Add(link.Source, link.Target)
	return nil
}

// networks starts to measure time until the call of its result. Time spent in walks meanwhile is
// counted as Walk.
func (p *modelPlayer) networks() (end func()) {
	began, walked := time.Now(), p.walk.took
	return func() {
		walk := p.walk.took - walked
		p.parts.Walk += walk
		p.parts.Networks += time.Since(began) - walk
	}
}

// timedWalker is a Walker that measures the time of its calls.
type timedWalker struct {
	model.Walker
	took time.Duration
}

func (w *timedWalker) Proximity(ctx context.Context, alpha float64, source ID, at []ID) (to, from []float64, err error) {
	began := time.Now()
	defer func() { w.took += time.Since(began) }()
	return w.Walker.Proximity(ctx, alpha, source, at)
}

func (w *timedWalker) Propagate(ctx context.Context, walk model.Walk, h model.Start, at []ID) (v, bound []float64, err error) {
	began := time.Now()
	defer func() { w.took += time.Since(began) }()
	return w.Walker.Propagate(ctx, walk, h, at)
}
