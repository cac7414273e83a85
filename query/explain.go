package query

import (
	"time"

	"kith/db"
	"kith/db/words"
	"kith/query/parse"
)

// explain answers with the plan of a statement or, after PROFILE, runs it and answers with the time of each step. A plan
// has steps only where there is a choice to explain.
func (r *run) explain(s *parse.Explain) (*Rows, error) {
	rows := r.answer()
	r.kind = kindOf(s.Statement)
	if r.kind.plan != nil {
		return rows, r.kind.plan(r, rows, s)
	}
	if s.Profile {
		start := time.Now()
		answer, err := r.exec(s.Statement)
		if err != nil {
			return nil, err
		}
		rows.add("all", words.Count(len(answer.Rows), "row"), nil, milliseconds(time.Since(start)))
	}
	rows.note("%s always runs in the same way: its plan has no choice to explain", verb(s))
	return rows, nil
}

// explainPredict adds the steps of a PREDICT, with their predicted costs and, after PROFILE, their times.
func (r *run) explainPredict(rows *Rows, e *parse.Explain) error {
	s := e.Statement.(*parse.Predict)
	if _, err := r.table(s.Where, s.Return); err != nil {
		return err
	}
	return r.viewAssuming(s.Assuming, func(tx *db.Tx) error {
		return r.predictions(tx, s, func(q db.Prediction) error {
			var plan []db.Step
			var err error
			if e.Profile {
				_, plan, err = tx.Profile(r.ctx, q)
			} else {
				plan, err = tx.Explain(r.ctx, q)
			}
			if s.Where != nil {
				plan = append(plan, db.Step{Name: "filter", Detail: "the ranked links, in order, until there are enough: WHERE " + s.Where.String()})
			}
			for _, step := range plan {
				row := []any{step.Name, step.Detail, orNil(step.Cost), orNil(step.Took)}
				rows.add(row[:len(rows.Columns)]...)
			}
			return err
		})
	})
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
