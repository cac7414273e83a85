package query

import (
	"fmt"

	"kith/db"
	"kith/query/parse"
)

func (r *run) evaluateLog(s *parse.EvaluateLog) (*Rows, error) {
	e := db.LogEvaluation{Model: s.Model.Value, Estimator: s.Estimator.Value}
	if err := r.logOptions(&e, s.With); err != nil {
		return nil, err
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
		rows.remarkValue(&v, &e)
		return nil
	})
	return rows, err
}

// logOptions sets the range of rewards if there are any options. If only one end is given, the other is that of the
// range from 0 to 1.
func (r *run) logOptions(e *db.LogEvaluation, options []parse.Option) (err error) {
	if len(options) == 0 {
		return nil
	}
	e.MaxReward = 1
	ends := map[string]*float64{"min_reward": &e.MinReward, "max_reward": &e.MaxReward}
	for _, o := range options {
		end := ends[o.Name]
		if end == nil {
			return unknownOption(o, []string{"max_reward", "min_reward"})
		}
		if *end, err = r.number(o.Value); err != nil {
			return err
		}
	}
	if !(e.MinReward < e.MaxReward) {
		msg := fmt.Sprintf("rewards from %v to %v (accepted: min_reward below max_reward)", e.MinReward, e.MaxReward)
		return &Error{Pos: options[0].Value.Position(), Msg: msg, Err: db.ErrInput}
	}
	return nil
}

// remarkValue notes what limits an estimate from the log, and where it misleads.
func (rows *Rows) remarkValue(v *db.LogValue, e *db.LogEvaluation) {
	where := ""
	switch least, most := v.MinReward, v.MaxReward; {
	case v.Value > most:
		where = fmt.Sprintf("above the largest reward, %v", most)
	case v.Value < least:
		where = fmt.Sprintf("below the smallest reward, %v", least)
	}
	if where != "" {
		rows.note("%s is %s: the importance weights of %s sum to %.4g; see snips, which divides by that sum",
			e.Estimator, where, count(v.Decisions, "decision"), v.Weights)
	}
	if v.Rare > 0 {
		rows.note("in %d of %s the candidate of %s had too small a propensity to tell: low and high allow for any reward there",
			v.Rare, count(v.Decisions, "decision"), v.Model)
	}
	if given := e.MinReward < e.MaxReward; !given && (v.MinReward < 0 || v.MaxReward > 1) {
		rows.note("low and high rest on rewards from %v to %v, as the log has them; min_reward and max_reward say what they can be", v.MinReward, v.MaxReward)
	}
	if v.Open > 0 {
		rows.note("left out: %s without a reward; where nothing came of one, REWARD ... = 0 says so", count(v.Open, "decision"))
	}
	if v.Taught > 0 {
		rows.note("model %s has learned %d of these rewards itself, which flatters it", v.Model, v.Taught)
	}
}
