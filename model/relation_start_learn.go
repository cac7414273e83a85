package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/rules"
	"kith/model/nn"
)

// RelationStartLearner learns a RelationStart from several graphs with equal weight.
type RelationStartLearner struct {
	graphs [][]relationList // the same number of lists for each member
}

// Add reads links of a graph that it hides, up to blendedLists in both directions, as
// TrainRelations does. A graph with few edges adds nothing.
func (l *RelationStartLearner) Add(ctx context.Context, g TypedGraph, seed uint64, without WithoutTyped) error {
	m, err := New(Spec{Seed: seed})
	if err != nil {
		return err
	}
	edges := slices.Collect(g.Edges)
	own := &relationLearner{model: m, rng: rand.New(m.source), without: without}
	hidden, rest := hideEdges(own.rng, g.Nodes, edges)
	if len(hidden) < leastRelations {
		return nil
	}
	part := rules.NewTable(g.Nodes, g.Directed, slices.Values(rest))
	set, err := rules.Mine(ctx, part, seed, func() bool { return true })
	if err != nil {
		return err
	}
	own.hidden = hidden[:min(blendedLists/2, len(hidden))]
	whole := rules.NewTable(g.Nodes, g.Directed, slices.Values(edges))
	if err := own.read(ctx, &relational{set: set}, seed, whole, part); err != nil {
		return err
	}
	own.hidden, own.held = hidden, len(own.lists)/rankerMembers
	if own.held == 0 {
		return nil
	}
	l.graphs = append(l.graphs, own.lists[:rankerMembers*own.held]) // the others get no opinions
	return own.readOpinions(ctx)
}

// Learn returns weights learned from the graphs. The result is deterministic for a plan and graphs.
// Each member of the network learns from all graphs but one in rankerMembers. The weights of the
// scores and the level are fitted to what the members have not learned, so that they suit a graph
// that is unknown. The plan's Decay and ResourceShare have no meaning here.
func (l *RelationStartLearner) Learn(ctx context.Context, plan StartPlan) (*RelationStart, error) {
	if len(l.graphs) < rankerMembers {
		return nil, fmt.Errorf("%w: %d graphs to learn a start of relations from, want %d at least", ErrInput, len(l.graphs), rankerMembers)
	}
	rng := rand.New(rand.NewPCG(plan.Seed, 6))
	r := relational{bounds: l.bound()}
	members := make([]*nn.Network, rankerMembers)
	var unknown []blendList
	var all relationLearner
	for k := range members {
		var known [][]relationList
		var rest []relationList
		for i, lists := range l.graphs {
			if i%rankerMembers == k {
				rest = append(rest, lists...)
			} else {
				known = append(known, lists)
			}
		}
		var err error
		if members[k], err = startMember(ctx, rng, known, plan); err != nil {
			return nil, err
		}
		for i := range rest {
			unknown = append(unknown, blendListOf(&rest[i].ranked, members[k]))
		}
		all.lists = append(all.lists, rest...)
	}
	b := newBlend(unknown, 1+len(addedScores))
	b.choose()
	r.net, r.weights = meanNetwork(members), scoreWeights{All: b.rounded()}
	r.level = all.fitLevel(&r)
	return &RelationStart{r}, nil
}

// bound clamps the columns of all lists to their bounds, which it returns. Peculiar columns are 0.
func (l *RelationStartLearner) bound() bounds {
	var all []choice
	for _, lists := range l.graphs {
		for i := range lists {
			all = append(all, lists[i].ranked)
		}
	}
	b := boundsOf(all)
	for _, col := range rules.Peculiar() {
		b.Least[col], b.Most[col] = 0, 0
	}
	for _, c := range all {
		for i := range c.x.Rows {
			b.clamp(nn.Row(*c.x, i))
		}
	}
	return b
}

// startMember trains one network on as many lists of each graph.
func startMember(ctx context.Context, rng *rand.Rand, graphs [][]relationList, plan StartPlan) (*nn.Network, error) {
	var all []choice
	for i := range blendedLists {
		for _, lists := range graphs {
			list := &lists[i%len(lists)].ranked
			c := dropped(rng, plan.Drop, *list, new(blas32.General))
			c.standsFor = list.standsFor
			all = append(all, c)
		}
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return fitEvidence(ctx, rng, scaleOf(all), all, all[:min(len(all), blendedLists)], plan.Passes, plan.Rate, pace{})
}
