package query

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"kith/db"
	"kith/db/words"
	"kith/model"
	"kith/query/internal/parse"
)

// decisionActions returns the statements that teach models by rewards.
func decisionActions() []action {
	return []action{
		{
			name: "OBSERVE", access: joins | edits, columns: named("source", "target", "reward", "model", "edge_added"), run: updating((*run).observe),
			options: always(observeOptions),
		},
		{
			name: "CHOOSE LINK", access: edits, columns: []column{
				{"decision", "its number, for REWARD"}, {name: "source"}, {name: "target"},
				{name: "score"}, {"propensity", "probability of the draw"},
				{"policy", "the explorer"}, {name: "graph_version"}, {name: "model_version"},
			}, run: updating((*run).choose),
			options: func(s *parse.Statement, _ func(string) bool) []option {
				return chooseOptions(parse.Explore.Of(s).Value, &db.ChooseOptions{})
			},
		},
		{
			name: "REWARD", access: joins | edits, columns: []column{
				{name: "decision"}, {name: "source"}, {name: "target"}, {name: "reward"},
				{name: "model"}, {"new", "false if the reward was given before"},
				{name: "edge_added"},
			},
			run: updating((*run).reward),
		},
		{
			name: "SHOW DECISIONS", access: reads | joins, run: viewing((*run).showDecisions),
			columns: []column{
				{name: "decision"}, {name: "source"}, {name: "target"}, {"relation", "of the link"}, {name: "propensity"},
				{"policy", "the explorer"}, {name: "model"}, {name: "time"}, {name: "expires"},
				{name: "reward"},
			},
		},
		{name: "DESCRIBE DECISION", access: reads | joins, columns: named("name", "value"), run: viewing((*run).describeDecision)},
	}
}

// observeOptions returns the options of OBSERVE.
func observeOptions(o *db.ObserveOptions) []option {
	return []option{cacheOption("what the model learns", &o.NoCache)}
}

// chooseOptions returns the options of CHOOSE, with the options of the explorer.
func chooseOptions(explorer string, c *db.ChooseOptions) []option {
	parameter := numberOption("gamma", "a number above 0", "how much squarecb prefers candidates with better scores; 10 by default",
		func(x float64) bool { return x > 0 }, &c.Explore.Gamma)
	if explorer == "epsilon_greedy" {
		parameter = numberOption("epsilon", "a number from 0 to 1", "share of the draws among all candidates; 0.1 by default",
			func(x float64) bool { return x >= 0 && x <= 1 }, &c.Explore.Epsilon)
	}
	return []option{cacheOption("the scores", &c.NoCache), parameter, integerOption("seed", "seed of the draw", 1, math.MaxInt64, &c.Seed)}
}

func (r *run) choose(s *parse.Statement) {
	c := db.ChooseOptions{Model: r.model(r.using(s)), Seed: r.seed}
	var err error
	c.Explore, err = model.NewExplorer(parse.Explore.Of(s).Value)
	r.failAt(parse.Explore.In(s), err)
	r.setOptions(parse.With.All(s), chooseOptions(parse.Explore.Of(s).Value, &c))
	c.Relation, c.Inverse = r.askedRelation(s)
	c.TTL, c.At = r.duration(parse.TTL.Of(s)), r.time(parse.At.Of(s))
	c.For, c.Among = r.node(parse.ForNode.Of(s)), r.where(s, r.candidates(parse.Among.Of(s)))
	if r.err != nil {
		return
	}
	d, err := r.tx.Choose(r.ctx, c)
	if r.failAt(parse.ForNode.Of(s), err) {
		return
	}
	r.rows.add(int64(d.ID), d.Source, d.Target, d.Score, d.Propensity, d.Explorer, int64(d.GraphVersion), int64(d.ModelVersion))
	if d.ModelVersion == 0 {
		r.rows.note("scored by policy %s: the reward will teach no model", d.Model)
	} else {
		r.rows.note("scored by model %v version %d", Name(d.Model), d.ModelVersion)
	}
	r.rows.noteMissing(d.Missing)
}

func (r *run) reward(s *parse.Statement) {
	number := parse.Rewarded.Of(s)
	id, reward := uint64(r.integer(number, 1, 0)), r.validReward(parse.Reward.Of(s))
	d := r.decision(number, id)
	if r.err != nil {
		return
	}
	fresh, added := !d.Rewarded, false
	r.failAt(number, r.tx.Reward(r.ctx, id, reward))
	if r.err == nil && fresh && reward == 1 && parse.Insert.Given(s) {
		added = r.insertChosen(number, d)
	}
	r.rows.add(int64(id), d.Source, d.Target, reward, orNil(d.Model), fresh, added)
	if m, err := r.tx.Model(d.Model).Info(r.ctx); err == nil && fresh && d.Model != "" {
		r.rows.remarkFrozen(m)
	}
}

// insertChosen inserts the edge of a decision unless it exists, and reports whether it did. at is
// the place of the decision's number.
func (r *run) insertChosen(at place, d db.Decision) bool {
	for _, end := range []db.Key{d.Source, d.Target} {
		if _, err := r.tx.Node(end); err != nil {
			return !r.failAt(at, fmt.Errorf("%w, of decision %d", err, d.ID))
		}
	}
	source, target := d.Source, d.Target
	if d.Inverse {
		source, target = target, source
	}
	err := r.tx.AddEdge(source, target, db.Via(d.Relation))
	return !errors.Is(err, db.ErrExists) && !r.failAt(at, err)
}

// decision returns the decision with a number. at is the place of the number.
func (r *run) decision(at place, id uint64) (d db.Decision) {
	if r.err == nil {
		var err error
		d, err = r.tx.Decision(id)
		r.failAt(at, err)
	}
	return d
}

// shownDecisions is the number of decisions listed without TOP.
const shownDecisions = 100

func (r *run) showDecisions(s *parse.Statement) {
	top := r.top(parse.Top.Of(s), shownDecisions)
	all := 0
	var last []db.Decision // the latest decisions so far, at most twice as many as are shown
	for d, err := range r.tx.Decisions() {
		if r.fail(cmp.Or(err, r.ctx.Err())) {
			return
		}
		if all++; len(last)-top >= top {
			last = append(last[:0], last[top:]...)
		}
		last = append(last, d)
	}
	for i := len(last) - 1; i >= 0 && len(r.rows.Rows) < top; i-- {
		d := &last[i]
		r.rows.add(int64(d.ID), d.Source, d.Target, orNil(d.Relation), d.Propensity, d.Explorer, orNil(d.Model), moment(d.Time), moment(d.Expires), rewardOf(d))
	}
	if n := all - len(r.rows.Rows); n > 0 {
		r.rows.note("%s left out; TOP n lists more", words.Count(n, "earlier decision"))
	}
}

// moment formats a time in UTC, or returns nil for the zero time.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// rewardOf returns the reward of a decision, or nil before it is given.
func rewardOf(d *db.Decision) any {
	if !d.Rewarded {
		return nil
	}
	return d.Reward
}

func (r *run) describeDecision(s *parse.Statement) {
	d := r.decision(parse.Decision.Of(s), uint64(r.integer(parse.Decision.Of(s), 1, 0)))
	r.rows.add("decision", int64(d.ID))
	r.rows.add("source", d.Source)
	r.rows.add("target", d.Target)
	r.rows.add("relation", orNil(d.Relation))
	if d.Inverse {
		r.rows.add("inverse", true)
	}
	r.rows.add("score", d.Score)
	r.rows.add("propensity", d.Propensity)
	r.rows.add("policy", d.Explorer)
	r.rows.add("model", orNil(d.Model))
	r.rows.add("model version", int64(d.ModelVersion))
	r.rows.add("graph version", int64(d.GraphVersion))
	r.rows.add("time", moment(d.Time))
	r.rows.add("expires", moment(d.Expires))
	r.rows.add("reward", rewardOf(&d))
	for _, o := range d.Offers {
		r.rows.add(fmt.Sprintf("propensity of %v", o.Target.Literal()), o.Propensity)
	}
}
