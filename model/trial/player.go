package trial

import (
	"context"
	"fmt"
	"time"

	"kith/model"
)

// Player takes part in a trial. For each round it is asked once and told once.
type Player interface {
	// Choose returns the index of the arm to try as a link. It must not keep arms.
	Choose(ctx context.Context, arms []Pair) (int, error)

	// Learn tells what came of it. A reward of 1 means that the link exists; from now on the player may know it.
	Learn(ctx context.Context, arms []Pair, chosen int, reward float64) error
}

// Revealed is a Player that can be shown a link that it did not choose.
type Revealed interface {
	// Reveal tells that the link exists, after Learn told that the one chosen does not.
	Reveal(ctx context.Context, link Pair) error
}

// memory plays a model on a graph of its own.
type memory struct {
	model *model.Model
	graph *Graph
	walk  *timedWalker
	world model.World
	parts Parts

	scores  []model.Score // memory of a round
	x       []float32     // likewise: contexts
	offered []model.ID    // likewise: targets
}

// accuracy is the certified error of the walks of a model in memory.
const accuracy = 1e-6

// NewPlayer plays the model in memory, on a graph of d's nodes that begins with the links known and gains those that
// are won or revealed.
func NewPlayer(m *model.Model, d *Data, known []Pair) Player {
	g := NewGraph(d.Nodes)
	for _, l := range known {
		g.Add(l.Source, l.Target)
	}
	w := &timedWalker{Walker: NewWalker(g, accuracy)}
	p := &memory{model: m, graph: g, walk: w, world: model.World{Graph: g, Walk: w}}
	if m.FeatureLen() > 0 {
		p.world.Features = d.Feature
	}
	return p
}

// Choose picks the best score, the first of equals.
func (p *memory) Choose(ctx context.Context, arms []Pair) (int, error) {
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

func (p *memory) Learn(ctx context.Context, arms []Pair, chosen int, reward float64) error {
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

func (p *memory) contexts(ctx context.Context, arms []Pair) (err error) {
	defer p.networks()()
	p.x, err = p.model.Scorer().AppendContexts(ctx, p.x[:0], p.world, arms)
	return err
}

// Reveal adds an edge to the graph.
func (p *memory) Reveal(_ context.Context, link Pair) error {
	p.graph.Add(link.Source, link.Target)
	return nil
}

// networks measures the time to the call of its result; what walks took meanwhile counts for them.
func (p *memory) networks() (end func()) {
	began, walked := time.Now(), p.walk.took
	return func() {
		walk := p.walk.took - walked
		p.parts.Walk += walk
		p.parts.Networks += time.Since(began) - walk
	}
}

// timedWalker is a Walker that measures the time of its answers.
type timedWalker struct {
	*Walker
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
