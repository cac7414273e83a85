package model

import (
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kith/model/internal/rules"
	"kith/model/nn"
)

// RelationStart are the weights of the relational part of an untrained model: of networks that were
// trained on other graphs.
type RelationStart struct{ part relational } // without rules and factors

// learnedRelations holds the weights that parseRelationStart reads, after comments that say how they
// were learned.
//
//go:embed relation_weights.txt
var learnedRelations string

// startEvidence is the version of the columns of the evidence. It changes with their meaning, scale
// or order.
const startEvidence = 1

// String returns the weights in base64.
func (s *RelationStart) String() string {
	p, l := &s.part, s.part.level
	all := slices.Concat([]float32{startEvidence}, p.net.Theta, p.bounds.Least, p.bounds.Most,
		nn.Narrow(p.weights.All), nn.Narrow([]float64{l.Slope, l.Degree, l.Shift}))
	return base64.StdEncoding.EncodeToString(nn.PackFloats(all))
}

// parseRelationStart decodes the result of RelationStart.String, which may follow comments, lines
// that begin with #. It returns an error for weights of a different version of the columns.
func parseRelationStart(text string) (*RelationStart, error) {
	for strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("a start of relations: %w", err)
	}
	shape := relationShape(rankerMembers)
	all := make([]float32, 1+shape.Params()+2*rules.Len+1+len(addedScores)+3)
	if len(packed) != 4*len(all) || !nn.UnpackFloats(all, packed) || all[0] != startEvidence {
		return nil, errors.New("a start of relations does not fit")
	}
	all = all[1:]
	take := func(n int) (part []float32) {
		part, all = all[:n:n], all[n:]
		return part
	}
	p := relational{net: nn.NewNetwork(shape, take(shape.Params())), bounds: bounds{take(rules.Len), take(rules.Len)}}
	for _, w := range take(1 + len(addedScores)) {
		p.weights.All = append(p.weights.All, float64(w))
	}
	p.level = level{float64(all[0]), float64(all[1]), float64(all[2])}
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
