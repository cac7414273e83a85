package query

import (
	"time"

	"kith/db"
	"kith/db/words"
	"kith/query/internal/parse"
)

// explain answers with the plan of a statement or, after PROFILE, runs it and answers with the time
// of each step. A plan has steps only where there is a choice to explain.
func (r *run) explain(s *parse.Statement) {
	plan := r.rows
	r.action = actionOf(s.Explained())
	if r.action.plan != nil {
		r.view(func() { r.action.plan(r, s) })
		return
	}
	if s.Form == "PROFILE" {
		start := time.Now()
		r.exec(s.Explained())
		plan.add("all", words.Count(len(r.rows.Rows), "row"), nil, milliseconds(time.Since(start)))
	}
	plan.note("%s always runs in the same way: its plan has no choice to explain", nameOf(s))
	r.rows = plan
}

// explainPredict adds the steps of a PREDICT, with their predicted costs and, after PROFILE, their
// times.
func (r *run) explainPredict(e *parse.Statement) {
	s := e.Explained()
	t := r.linkTable(s)
	r.assuming(parse.Assuming.All(s), func() {
		if isBatch(s) {
			r.explainEach(e, s, t, r.rows)
			return
		}
		r.predictions(s, parse.For.All(s), t.where, nil, func(q db.PredictOptions) {
			var plan []db.Step
			var err error
			if e.Form == "PROFILE" {
				_, plan, err = r.tx.Profile(r.ctx, q)
			} else {
				plan, err = r.tx.Explain(r.ctx, q)
			}
			r.fail(err)
			r.addSteps(t.where.step(plan))
		})
	})
}

// step returns a plan with the step of the conditions on the answer.
func (f filter) step(plan []db.Step) []db.Step {
	if f.answer == nil {
		return plan
	}
	return append(plan, db.Step{Name: "filter", Detail: "the ranked links, in order, until there are enough: WHERE " + f.answer.String()})
}

// addSteps adds the steps of a plan.
func (r *run) addSteps(plan []db.Step) {
	for _, step := range plan {
		row := []any{step.Name, step.Detail, orNil(step.Cost), orNil(step.Took)}
		r.rows.add(row[:len(r.rows.Columns)]...)
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
