package model

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/column"
	"kith/model/nn"
)

// Input is one number that contributes to the estimate of a pair.
type Input struct {
	Name  string
	Value float64
	Adds  float64 // its term in the sum that AddsTo names; NaN if there is no such sum
	Tells string  // its description for people: see [column.Family.Words]
}

// Inputs returns the entries of a pair's context by name, and what each entry adds: to the log-odds
// of the link for a belief, to the estimate itself if the prior is used in place of a network. It
// returns nil if the policy does not learn.
func (s *Scorer) Inputs(ctx context.Context, w World, p Pair) ([]Input, error) {
	x, err := s.AppendContexts(ctx, nil, w, []Pair{p})
	if err != nil || len(x) == 0 {
		return nil, err
	}
	columns := s.config.contextColumns()
	if s.belief != nil {
		return s.belief.explain(s.config, p, x, columns), nil
	}
	all, first := make([]Input, len(x)), len(x)-column.StructuralLen
	for i, v := range x {
		all[i] = Input{Name: columns[i].Name, Value: float64(v), Tells: columns[i].Family.Words()}
		switch {
		case s.AddsTo() == "":
			all[i].Adds = math.NaN()
		case i >= first:
			all[i].Adds = priorWeights[i-first] * float64(v)
		}
	}
	return all, nil
}

// AddsTo names the sum of Input.Adds: "log-odds" of the link for a belief, "exploit" for the prior,
// and "" otherwise.
func (s *Scorer) AddsTo() string {
	switch {
	case s.belief != nil:
		return "log-odds"
	case s.policy.learns && s.exploit == nil && s.config.Prior:
		return "exploit"
	}
	return ""
}

// explain returns the inputs of a pair with context x: its context, the history of the target, a
// constant, and the ranker's log-odds. A network of ReLUs is linear around each input, so the
// ranker's log-odds are divided among the columns by their slopes there. The remainder is the
// network's own constant.
func (p *posterior) explain(c *config, pair Pair, x []float32, columns []column.Column) []Input {
	t := &scratch{x: nn.NewMatrix(x, len(x))}
	z := nn.Resize(blas32.General{}, 1, len(p.mean))
	p.inputs(c, t, []Pair{pair}, z)
	columns = append(columns, historyColumns()...)
	all := make([]Input, len(p.mean))
	for i, v := range z.Data {
		value := float64(v)
		if i < len(x) {
			value = float64(x[i])
		}
		all[i] = Input{columns[i].Name, value, float64(p.mean[i]) * float64(v), columns[i].Family.Words()}
	}
	if p.ranker != nil && !c.forecast(x) {
		last, first := len(all)-1, len(x)-c.rankLen()
		for i, slope := range p.ranker.slopes(&t.net, t.ranked) {
			share := float64(p.mean[last]) * slope * float64(z.Data[first+i])
			all[first+i].Adds += share
			all[last].Adds -= share
		}
	}
	return all
}
