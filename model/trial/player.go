package trial

import (
	"context"
	"fmt"

	"kith/model"
)

// Player takes part in a trial. For each round it is asked once and told once.
type Player interface {
	// Choose returns the index of the arm to try as a link. It must not keep arms.
	Choose(ctx context.Context, arms []Pair) (int, error)

	// Learn tells what came of it. A reward of 1 means that the link exists; from now on the player may know it.
	Learn(ctx context.Context, arms []Pair, chosen int, reward float64) error
}

// memory plays a model on a graph of its own.
type memory struct {
	model *model.Model
	graph *Graph
	walk  *Walker
	world model.World
}

// accuracy is the certified error of the walks of a model in memory.
const accuracy = 1e-6

// NewPlayer plays the model in memory, on a graph of d's nodes that begins without edges and gains those that are won.
func NewPlayer(m *model.Model, d *Data) Player {
	g := NewGraph(d.Nodes)
	w := NewWalker(g, accuracy)
	p := &memory{model: m, graph: g, walk: w, world: model.World{Graph: g, Walk: w}}
	if m.FeatureLen() > 0 {
		p.world.Features = d.Feature
	}
	return p
}

// Choose picks the best score, the first of equals.
func (p *memory) Choose(ctx context.Context, arms []Pair) (int, error) {
	scores, err := p.model.Scorer().Score(ctx, p.world, arms)
	if err != nil {
		return 0, fmt.Errorf("trial: score: %w", err)
	}
	best := 0
	for i, s := range scores {
		if s.Score > scores[best].Score {
			best = i
		}
	}
	return best, nil
}

func (p *memory) Learn(ctx context.Context, arms []Pair, chosen int, reward float64) error {
	x, err := p.model.Scorer().Contexts(ctx, p.world, arms)
	if err != nil {
		return fmt.Errorf("trial: contexts: %w", err)
	}
	if _, err := p.model.Observe(model.Outcome{Pair: arms[chosen], Contexts: x, Chosen: chosen, Reward: reward}); err != nil {
		return fmt.Errorf("trial: observe: %w", err)
	}
	if reward == 1 && p.graph.Add(arms[chosen].Source, arms[chosen].Target) {
		p.walk.Changed()
	}
	return nil
}
