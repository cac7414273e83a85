package query

import (
	"kith/db"
)

func (r *run) evaluateLog(s *EvaluateLog) (*Rows, error) {
	e := db.LogEvaluation{Model: s.Model.Value, Estimator: s.Estimator.Value, Seed: r.seed}
	for _, o := range s.With {
		n, err := r.integer(o.Value, 1, 0)
		if err != nil {
			return nil, err
		}
		switch o.Name {
		case "seed":
			e.Seed = uint64(n)
		case "resamples":
			e.Resamples = int(n)
		default:
			return nil, unknownOption(o, []string{"resamples", "seed"})
		}
	}
	if err := db.CheckEstimator(e.Estimator); err != nil {
		return nil, r.refused(s.Estimator.Pos, s.Estimator.Value, err, db.Estimators())
	}
	if tell := r.session.Progress; tell != nil {
		e.Progress = func(done, total int) { tell(Progress{"decisions", int64(done), int64(total)}) }
	}
	rows := &Rows{Columns: []string{"model", "estimator", "value", "low", "high", "decisions", "effective", "logged"}}
	err := r.view(func(tx *db.Tx) error {
		if err := r.model(tx, s.Model); err != nil {
			return err
		}
		var err error
		if e.Version, err = r.version(tx, s.Model, s.Version); err != nil {
			return err
		}
		v, err := tx.EvaluateLog(r.ctx, e)
		if err != nil {
			return r.positioned(s.Model.Pos, err)
		}
		rows.add(v.Model, e.Estimator, v.Value, v.Low, v.High, int64(v.Decisions), v.Effective, v.Logged)
		if v.Open > 0 {
			rows.note("left out: %s without a reward; where nothing came of one, REWARD ... = 0 says so", count(v.Open, "decision"))
		}
		if v.Taught > 0 {
			rows.note("model %s has learned %d of these rewards itself, which flatters it", v.Model, v.Taught)
		}
		return nil
	})
	return rows, err
}
