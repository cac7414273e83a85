package model

import (
	_ "embed"

	"kith/model/internal/rules"
	"kith/model/nn"
)

// RelationStart are the weights of the relational part of an untrained model: of networks that were
// trained on other graphs.
type RelationStart struct{ part relational } // without rules and factors

// learnedRelations holds the weights that parseRelationStart reads, after comments that say how
// they were learned.
//
//go:embed relation_weights.txt
var learnedRelations string

// startEvidence is the version of the columns of the evidence. It changes with their meaning, scale
// or order.
const startEvidence = 1

// String returns the weights in base64.
func (s *RelationStart) String() string {
	p := &s.part
	return packStart(startEvidence, p.net.Theta, p.bounds.Least, p.bounds.Most, nn.Narrow(p.weights.All), p.level.numbers())
}

// parseRelationStart decodes the result of RelationStart.String, as parseStart does.
func parseRelationStart(text string) (*RelationStart, error) {
	shape, scores := relationShape(rankerMembers), 1+len(addedScores)
	all, err := unpackStart(text, startEvidence, shape.Params()+2*rules.Len+scores+levelLen)
	if err != nil {
		return nil, err
	}
	take := func(n int) (part []float32) {
		part, all = all[:n:n], all[n:]
		return part
	}
	p := relational{net: nn.NewNetwork(shape, take(shape.Params())), bounds: bounds{take(rules.Len), take(rules.Len)}}
	for _, w := range take(scores) {
		p.weights.All = append(p.weights.All, float64(w))
	}
	p.level = levelFrom(all)
	return &RelationStart{p}, nil
}

// OnRules returns a scorer that answers as s does, but questions about links of one relation of a
// graph by its rules, which it mines when a relation is first asked for, and by weights that were
// learned on other graphs. It returns s if s has learned relations or has no relational part, or if
// the graph needs more than the given memory, in bytes.
func (s *Scorer) OnRules(g TypedGraph, memory int64) *Scorer {
	if s.belief == nil || s.belief.ranker == nil || s.Relational() || s.config.timeCol() < 0 {
		return s
	}
	start, err := parseRelationStart(learnedRelations)
	if err != nil {
		return s
	}
	edges := 0
	for range g.Edges {
		if edges++; rules.OnDemandBytes(g.Nodes, edges) > memory {
			return s
		}
	}
	r, b, on := start.part, *s.belief, *s
	r.set = rules.OnDemand(rules.NewTable(g.Nodes, g.Directed, g.Edges), 1)
	b.relational = &r
	on.belief = &b
	return &on
}
