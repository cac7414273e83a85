package query

import (
	"fmt"

	"kith/db"
	"kith/db/words"
	"kith/query/internal/parse"
)

// evaluateActions returns the statements that measure models.
func evaluateActions() []action {
	measured := []column{
		{name: "model"},
		{"metric", "mrr, hits@10, hits@20, hits@50, hits@100, auc, reached or ece"},
		{name: "value"}, {name: "count"}, {"of", "what is counted"},
	}
	return []action{
		{name: "EVALUATE HOLDOUT", access: reads | joins | lasts, columns: measured, run: viewing((*run).evaluateHoldout), options: holdoutOptions},
		{name: "EVALUATE SPLIT", access: joins | lasts, columns: measured, run: viewing((*run).evaluateHoldout), options: holdoutOptions},
		{
			name: "EVALUATE LOG", access: reads | joins | lasts, run: viewing((*run).evaluateLog),
			columns: []column{
				{name: "model"}, {name: "estimator"}, {"value", "the estimated mean reward of a decision, the sum over its places"},
				{name: "low"}, {"high", "they contain the true value with 95 %"},
				{"decisions", "number of decisions"},
				{"effective", "number of decisions of the model itself that would be as informative"},
				{"logged", "the reward earned"},
			},
			options: always(logOptions),
		},
	}
}

func (r *run) evaluateLog(s *parse.Statement) {
	e := db.EvaluateLogOptions{Model: r.model(parse.Evaluated.Of(s)), Version: r.version(parse.Version.Of(s)), Estimator: parse.Using.Of(s).Value}
	r.setRewards(&e, parse.With.All(s))
	r.refer("estimator", parse.Using.Of(s))
	e.Progress = r.progressOf("decisions")
	v, err := r.tx.EvaluateLog(r.ctx, e)
	if r.failAt(parse.Evaluated.In(s), err) {
		return
	}
	r.rows.add(v.Model, e.Estimator, v.Value, v.Low, v.High, int64(v.Decisions), v.Effective, v.Logged)
	r.rows.remarkValue(&v, &e)
}

// logOptions returns the options of EVALUATE LOG.
func logOptions(e *db.EvaluateLogOptions) []option {
	any := func(float64) bool { return true }
	return []option{
		numberOption("min_reward", "a number", "smallest possible reward; 0 by default", any, &e.MinReward),
		numberOption("max_reward", "a number", "largest possible reward; 1 by default", any, &e.MaxReward),
	}
}

// setRewards sets the range of rewards if there are any options. An end that is not given is 0 or
// 1.
func (r *run) setRewards(e *db.EvaluateLogOptions, options []parse.Option) {
	if len(options) == 0 {
		return
	}
	e.MaxReward = 1
	r.setOptions(options, logOptions(e))
	if !(e.MinReward < e.MaxReward) {
		r.refuse(options[0].Value, "rewards from %v to %v (accepted: min_reward below max_reward)", e.MinReward, e.MaxReward)
	}
}

// remarkValue notes what limits an estimate from the log, and where it misleads.
func (rows *Rows) remarkValue(v *db.LogEvaluation, e *db.EvaluateLogOptions) {
	where := ""
	switch least, most := min(v.MinReward, v.MinReward*float64(v.Places)), max(v.MaxReward, v.MaxReward*float64(v.Places)); {
	case v.Value > most:
		where = fmt.Sprintf("above the largest reward, %v", most)
	case v.Value < least:
		where = fmt.Sprintf("below the smallest reward, %v", least)
	}
	if where != "" {
		rows.note("%s is %s: the importance weights of %s sum to %.4g; see snips, which divides by that sum",
			e.Estimator, where, words.Count(v.Decisions, "decision"), v.Weights)
	}
	if v.Rare > 0 {
		rows.note("in %d of %s the candidate of %s had too small a propensity to tell: low and high allow for any reward there",
			v.Rare, words.Count(v.Decisions, "decision"), v.Model)
	}
	if given := e.MinReward < e.MaxReward; !given && (v.MinReward < 0 || v.MaxReward > 1) {
		rows.note("low and high assume rewards from %v to %v, as in the log; min_reward and max_reward set another range", v.MinReward, v.MaxReward)
	}
	if v.Open > 0 {
		rows.note("%s without a reward are left out; REWARD ... = 0 records that a decision came to nothing", words.Count(v.Open, "decision"))
	}
	if v.AlreadyLearned > 0 {
		rows.note("model %s has learned %d of these rewards itself, which flatters it", v.Model, v.AlreadyLearned)
	}
}
