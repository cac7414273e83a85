package main

import (
	"context"
	"fmt"

	"kith/cmd/prbench/internal/fitted"
	"kith/cmd/prbench/internal/trial"
	"kith/db"
	"kith/model"
)

// policyOrder returns the names of all policies in the order of tables.
func policyOrder() []string { return append(trial.Policies(), fitted.Policies()...) }

// trainee is a policy that is trained on a graph: a model of kith, or a rival that is fitted to the
// whole graph.
type trainee struct {
	model *model.Model
	rival *fitted.Model // not nil: it is the policy, and model is nil
	// player, if not nil, has learned round by round in place of the model.
	player interface {
		Scores(ctx context.Context, w model.World, pairs []model.Pair) ([]float64, error)
	}
}

// learns reports whether the policy learns from the edges of a graph.
func (t trainee) learns() bool { return t.rival != nil || t.model.Learns() }

// reads reports whether the policy reads an option.
func (t trainee) reads(option string) bool {
	if t.rival != nil {
		return t.rival.Reads(option)
	}
	return t.model.Reads(option)
}

// trainEdges trains the policy. The plan is for models of kith.
func (t trainee) trainEdges(ctx context.Context, g model.Graph, plan model.EdgePlan, without model.Without) error {
	if t.rival != nil {
		return t.rival.TrainEdges(ctx, g, without)
	}
	return t.model.TrainEdges(ctx, g, plan, without)
}

// scores returns the scores of pairs with the same source.
func (t trainee) scores(ctx context.Context, w model.World, pairs []model.Pair) (values []float64, err error) {
	switch {
	case t.rival != nil:
		return t.rival.Scores(ctx, w, pairs)
	case t.player != nil:
		return t.player.Scores(ctx, w, pairs)
	}
	all, err := t.model.Scorer().Score(ctx, w, pairs)
	for _, s := range all {
		values = append(values, s.Score)
	}
	return values, err
}

// rivalContender ranks the candidates of an evaluation by a fitted policy, which it trains on the
// graph of the first question.
type rivalContender struct {
	policy string
	seed   uint64

	model  *fitted.Model // nil before the first question
	number map[db.Key]model.ID
	world  model.World
}

func (c *rivalContender) rank(ctx context.Context, rest *db.Tx, source db.Key, candidates []db.Key) ([]float64, error) {
	if c.model == nil {
		if err := c.train(ctx, rest); err != nil {
			return nil, err
		}
	}
	var targets []model.ID
	for _, k := range candidates {
		targets = append(targets, c.number[k])
	}
	return c.model.Scores(ctx, c.world, model.Pairs(c.number[source], targets))
}

func (c *rivalContender) train(ctx context.Context, rest *db.Tx) error {
	g, features, err := c.read(rest)
	if err != nil {
		return err
	}
	length := 0
	for _, f := range features {
		length = max(length, len(f))
	}
	m, err := fitted.New(c.policy, length, c.seed, nil)
	if err != nil {
		return err
	}
	world := func(g *trial.Graph) model.World {
		return model.World{Graph: g, Features: func(u model.ID) []float32 { return features[u] }}
	}
	without := func(hidden [][2]model.ID) (model.World, error) { return world(g.Without(hidden)), nil }
	if err := m.TrainEdges(ctx, g, without); err != nil {
		return fmt.Errorf("%s: %w", c.policy, err)
	}
	c.model, c.world = m, world(g)
	return nil
}

// read copies the graph of a transaction, as an undirected one, and numbers its nodes.
func (c *rivalContender) read(tx *db.Tx) (*trial.Graph, [][]float32, error) {
	c.number = make(map[db.Key]model.ID)
	var features [][]float32
	for n, err := range tx.Nodes() {
		if err != nil {
			return nil, nil, err
		}
		c.number[n.Key] = model.ID(len(features))
		features = append(features, n.Features)
	}
	g := trial.NewGraph(len(features))
	for e, err := range tx.Edges() {
		if err != nil {
			return nil, nil, err
		}
		g.Add(c.number[e.Src], c.number[e.Dst])
	}
	return g, features, nil
}
