package query

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"kith/db"
	"kith/query/parse"
)

// decisionKinds returns the statements that teach models by rewards.
func decisionKinds() []kind {
	return []kind{
		{name: "OBSERVE", access: joins, columns: "source, target, reward, model, edge_added", run: does[*parse.Observe]((*run).observe)},
		{
			name: "CHOOSE LINK", columns: "decision (its number, for REWARD), source, target, score, propensity (probability of the draw), " +
				"policy (the explorer), graph_version, model_version", run: does[*parse.Choose]((*run).choose),
			options: func(s parse.Statement, _ func(string) bool) []option {
				return exploreOptions(s.(*parse.Choose).Explore.Value, &db.Choice{})
			},
		},
		{
			name: "REWARD", access: joins, columns: "decision, source, target, reward, model, new (false if the reward was given before), edge_added",
			run: does[*parse.Reward]((*run).reward),
		},
		{
			name: "SHOW DECISIONS", access: reads | joins, run: does[*parse.Listing]((*run).showDecisions),
			columns: "decision, source, target, propensity, policy (the explorer), model, time, expires, reward",
		},
		{name: "DESCRIBE DECISION", access: reads | joins, columns: "name, value", run: does[*parse.Simple]((*run).describeDecision)},
	}
}

// exploreOptions returns the options of an explorer.
func exploreOptions(explorer string, c *db.Choice) []option {
	parameter := numberOption("gamma", "a number above 0", "how much squarecb prefers candidates with better scores; 10 by default",
		func(x float64) bool { return x > 0 }, &c.Explore.Gamma)
	if explorer == "epsilon_greedy" {
		parameter = numberOption("epsilon", "a number from 0 to 1", "share of the draws among all candidates; 0.1 by default",
			func(x float64) bool { return x >= 0 && x <= 1 }, &c.Explore.Epsilon)
	}
	return []option{parameter, integerOption("seed", "seed of the draw", 1, math.MaxInt64, &c.Seed)}
}

func (r *run) choose(s *parse.Choose) (*Rows, error) {
	c, err := r.choice(s)
	if err != nil {
		return nil, err
	}
	if c.At, err = r.seconds(s.At); err != nil {
		return nil, err
	}
	rows := r.answer()
	err = r.update(func(tx *db.Tx) error {
		source, err := r.node(tx, s.For)
		if err != nil {
			return err
		}
		if c.Among, err = r.candidates(tx, s.Among); err != nil {
			return err
		}
		c.For = source
		d, err := tx.Choose(r.ctx, c)
		if err != nil {
			return r.positioned(s.For.Position(), err)
		}
		rows.add(int64(d.ID), d.Source, d.Target, d.Score, d.Propensity, d.Explorer, int64(d.GraphVersion), int64(d.ModelVersion))
		if d.Model == "" {
			rows.note("scored by the learned start: the reward will teach no model; USING names one")
		} else if d.ModelVersion == 0 {
			rows.note("scored by policy %s: the reward will teach no model", d.Model)
		} else {
			rows.note("scored by model %v version %d", parse.Name{Value: d.Model}, d.ModelVersion)
		}
		return nil
	})
	return rows, err
}

// choice resolves the clauses that need no transaction.
func (r *run) choice(s *parse.Choose) (c db.Choice, err error) {
	c.Model, c.Seed = r.model(r.using(s, s.Using)), r.seed
	if c.Explore, err = db.NewExplorer(s.Explore.Value); err != nil {
		return c, r.positioned(s.Explore.Pos, err)
	}
	if err := r.setOptions(s.With, exploreOptions(s.Explore.Value, &c)); err != nil {
		return c, err
	}
	c.TTL, err = r.duration(s.TTL)
	return c, err
}

func (r *run) reward(s *parse.Reward) (*Rows, error) {
	id, err := r.integer(s.Decision, 1, 0)
	if err != nil {
		return nil, err
	}
	reward, err := r.rewarded(s.Reward)
	if err != nil {
		return nil, err
	}
	rows := r.answer()
	err = r.update(func(tx *db.Tx) error {
		d, err := tx.Decision(uint64(id))
		if err != nil {
			return r.positioned(s.Decision.Position(), err)
		}
		fresh, added := false, false
		if s.Insert {
			fresh, added, err = tx.RewardInsert(uint64(id), reward)
		} else {
			fresh, err = tx.Reward(uint64(id), reward)
		}
		if err != nil {
			return r.positioned(s.Decision.Position(), err)
		}
		rows.add(id, d.Source, d.Target, reward, orNil(d.Model), fresh, added)
		if m, err := tx.Model(d.Model); err == nil && fresh && d.Model != "" {
			rows.remarkFrozen(m)
		}
		return nil
	})
	return rows, err
}

// shownDecisions is the number of decisions listed without TOP.
const shownDecisions = 100

func (r *run) showDecisions(s *parse.Listing) (*Rows, error) {
	top, err := r.top(s.Top, shownDecisions)
	if err != nil {
		return nil, err
	}
	rows := r.answer()
	all := 0
	err = r.view(func(tx *db.Tx) error {
		var last []db.Decision // the latest decisions so far, at most twice as many as are shown
		for d, err := range tx.Decisions() {
			if err = cmp.Or(err, r.ctx.Err()); err != nil {
				return err
			}
			if all++; int64(len(last))-top >= top {
				last = append(last[:0], last[top:]...)
			}
			last = append(last, d)
		}
		for i := len(last) - 1; i >= 0 && int64(len(rows.Rows)) < top; i-- {
			d := &last[i]
			rows.add(int64(d.ID), d.Source, d.Target, d.Propensity, d.Explorer, orNil(d.Model), moment(d.Time), moment(d.Expires), rewardOf(d))
		}
		return nil
	})
	if len(rows.Rows) < all {
		rows.note("%d earlier ones are not shown", all-len(rows.Rows))
	}
	return rows, err
}

// moment formats a time in UTC.
func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// rewardOf returns the reward of a decision, or nil before it is given.
func rewardOf(d *db.Decision) any {
	if !d.Rewarded {
		return nil
	}
	return d.Reward
}

func (r *run) describeDecision(s *parse.Simple) (*Rows, error) {
	id, err := r.integer(s.Value(), 1, 0)
	if err != nil {
		return nil, err
	}
	rows := r.answer()
	err = r.view(func(tx *db.Tx) error {
		d, err := tx.Decision(uint64(id))
		if err != nil {
			return r.positioned(s.Value().Position(), err)
		}
		rows.add("decision", int64(d.ID))
		rows.add("source", d.Source)
		rows.add("target", d.Target)
		rows.add("score", d.Score)
		rows.add("propensity", d.Propensity)
		rows.add("policy", d.Explorer)
		rows.add("model", orNil(d.Model))
		rows.add("model version", int64(d.ModelVersion))
		rows.add("graph version", int64(d.GraphVersion))
		rows.add("time", moment(d.Time))
		rows.add("expires", moment(d.Expires))
		rows.add("reward", rewardOf(&d))
		for _, o := range d.Offers {
			rows.add(fmt.Sprintf("propensity of %v", o.Target), o.Propensity)
		}
		return nil
	})
	return rows, err
}
