package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

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
			name: "CHOOSE", access: edits, columns: []column{
				{"decision", "its number, for REWARD"}, {"place", "from 1"}, {name: "source"}, {name: "target"},
				{name: "score"}, {"propensity", "probability with which the place shows the target"},
				{"policy", "the explorer"}, {name: "graph_version"}, {name: "model_version"},
			}, run: updating((*run).choose),
			options: func(s *parse.Statement, _ func(string) bool) []option {
				return chooseOptions(parse.Explore.Of(s).Value, &db.ChooseOptions{})
			},
		},
		{
			name: "REWARD", access: joins | edits, columns: []column{
				{name: "decision"}, {"place", "from 1"}, {name: "source"}, {name: "target"}, {name: "reward"},
				{name: "model"}, {"new", "false if the reward was given before"},
				{name: "edge_added"},
			},
			run: updating((*run).reward), options: always(rewardOptions),
		},
		{
			name: "SHOW DECISIONS", access: reads | joins, run: viewing((*run).showDecisions),
			columns: []column{
				{name: "decision"}, {"place", "from 1"}, {name: "source"}, {name: "target"}, {"relation", "of the link"}, {name: "propensity"},
				{"policy", "the explorer"}, {name: "model"}, {name: "time"}, {name: "expires"},
				{name: "reward"},
			},
		},
		{
			name: "SHOW FUNNEL", access: reads | joins, run: viewing((*run).showFunnel),
			columns: []column{
				{"day", "of the decisions, the latest of TOP days first; in UTC"}, {name: "model"}, {name: "model_version"}, {name: "decisions"},
				{"shown", "places of the decisions"}, {"rewarded", "places with a reward"}, {"clicked", "places with a reward above 0"},
				{"rate", "clicked, as a share of shown"}, {"reward", "sum of the rewards"},
			},
		},
		{name: "DESCRIBE DECISION", access: reads | joins, columns: named("name", "value"), run: viewing((*run).describeDecision)},
	}
}

// observeOptions returns the options of OBSERVE.
func observeOptions(o *db.ObserveOptions) []option {
	return []option{
		cacheOption("what the model learns", &o.NoCache),
		{"id", "a string", "name of the outcome: the same one again changes nothing", func(r *run, given parse.Option) {
			if o.ID = r.text(given.Value); o.ID == "" {
				r.refuse(given.Value, "id = %s (accepted: a string that is not empty)", words.Value(r.value(given.Value)))
			}
		}},
	}
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
	c.Places = int(r.integer(parse.Chosen.Of(s), 1, 0))
	c.For, c.Among = r.node(parse.ForNode.Of(s)), r.where(s, r.candidates(parse.Among.Of(s)))
	if r.err != nil {
		return
	}
	d, err := r.tx.Choose(r.ctx, c)
	if r.failAt(parse.ForNode.Of(s), err) {
		return
	}
	for k, p := range d.Places {
		r.rows.add(int64(d.ID), int64(k+1), d.Source, p.Target, p.Score, p.Propensity, d.Explorer, int64(d.GraphVersion), int64(d.ModelVersion))
	}
	if d.ModelVersion == 0 {
		r.rows.note("scored by policy %s: the reward will teach no model", d.Model)
	} else {
		r.rows.note("scored by model %v version %d", Name(d.Model), d.ModelVersion)
	}
	r.rows.noteMissing(d.Missing)
}

// rewardOptions returns the options of REWARD.
func rewardOptions(o *db.Examined) []option {
	return []option{wordOption("examined", "the places that were seen, and get the reward 0 if they have none: given is no other place, "+
		"above the places above the last one with a reward above 0, all each place; given by default",
		func(word string) { *o = db.Examined(word) }, string(db.ExaminedGiven), string(db.ExaminedAbove), string(db.ExaminedAll))}
}

func (r *run) reward(s *parse.Statement) {
	number, examined := parse.Rewarded.Of(s), db.ExaminedGiven
	id := uint64(r.integer(number, 1, 0))
	r.setOptions(parse.With.All(s), rewardOptions(&examined))
	before := r.decision(number, id)
	rewards := r.rewards(s, before)
	if r.err != nil {
		return
	}
	places, err := RewardPlaces(r.ctx, r.tx, before, rewards, examined, parse.Insert.Given(s))
	if r.failAt(number, err) {
		return
	}
	fresh := false
	for _, p := range places {
		fresh = fresh || p.New
		r.rows.add(int64(id), int64(p.Place), before.Source, p.Target, p.Reward, orNil(before.Model), p.New, p.EdgeAdded)
	}
	if m, err := r.tx.Model(before.Model).Info(r.ctx); err == nil && fresh && before.Model != "" {
		r.rows.remarkFrozen(m)
	}
}

// rewards returns the rewards of a statement by place. They begin at PLACE, or at the first place.
// For a decision with several places, one reward alone must name its place.
func (r *run) rewards(s *parse.Statement, d db.Decision) map[int]float64 {
	place, given := parse.Place.Of(s), parse.Reward.All(s)
	first, last := int(r.integer(place, 1, 1)), len(d.Places)
	switch {
	case r.err != nil:
	case place == nil && last > 1 && len(given) == 1:
		r.refuse(given[0], "decision %d has %d places: REWARD %d PLACE n = x rewards one, REWARD %d = x, y, ... from the first",
			d.ID, last, d.ID, d.ID)
	case first > last:
		r.refuse(place, "decision %d has %s", d.ID, words.Count(last, "place"))
	case len(given) > last-first+1:
		r.refuse(given[last-first+1], "decision %d has %s", d.ID, words.Count(last, "place"))
	}
	all := map[int]float64{}
	for i, v := range given {
		all[first+i] = r.validReward(v)
	}
	return all
}

// RewardedPlace is a place of a decision that got a reward.
type RewardedPlace struct {
	Place     int     `json:"place" means:"from 1"`
	Target    db.Key  `json:"target"`
	Reward    float64 `json:"reward"`
	New       bool    `json:"new" means:"false if the reward was given before"`
	EdgeAdded bool    `json:"edge_added"`
}

// RewardPlaces gives rewards to places of a decision, as [db.Tx.RewardPlaces] does and returns its
// errors, and with insert adds the links whose reward is 1. It returns the places of rewards, and
// those that got the reward 0 because they were examined.
func RewardPlaces(ctx context.Context, tx *db.Tx, d db.Decision, rewards map[int]float64, examined db.Examined, insert bool) ([]RewardedPlace, error) {
	if err := tx.RewardPlaces(ctx, d.ID, rewards, examined); err != nil {
		return nil, err
	}
	after, err := tx.Decision(d.ID)
	if err != nil {
		return nil, err
	}
	all := []RewardedPlace{}
	for k, p := range after.Places {
		_, given := rewards[k+1]
		place := RewardedPlace{Place: k + 1, Target: p.Target, Reward: p.Reward, New: p.Rewarded && !d.Places[k].Rewarded}
		if !given && !place.New {
			continue
		}
		if place.New && p.Reward == 1 && insert {
			if place.EdgeAdded, err = insertChosen(tx, d, p.Target); err != nil {
				return nil, err
			}
		}
		all = append(all, place)
	}
	return all, nil
}

// insertChosen inserts the edge of a decision to a target unless it exists, and reports whether it
// did.
func insertChosen(tx *db.Tx, d db.Decision, target db.Key) (added bool, err error) {
	for _, end := range []db.Key{d.Source, target} {
		if _, err := tx.Node(end); err != nil {
			return false, fmt.Errorf("%w, of decision %d", err, d.ID)
		}
	}
	from, to := d.Source, target
	if d.Inverse {
		from, to = target, d.Source
	}
	err = tx.AddEdge(from, to, db.Via(d.Relation))
	if errors.Is(err, db.ErrExists) {
		return false, nil
	}
	return err == nil, err
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
	shown := 0
	for i := len(last) - 1; i >= 0 && shown < top; i-- {
		d := &last[i]
		for k, p := range d.Places {
			r.rows.add(int64(d.ID), int64(k+1), d.Source, p.Target, orNil(d.Relation), p.Propensity, d.Explorer, orNil(d.Model), r.moment(d.Time), r.moment(d.Expires), rewardOf(p))
		}
		shown++
	}
	if n := all - shown; n > 0 {
		r.rows.note("%s left out; TOP n lists more", words.Count(n, "earlier decision"))
	}
}

// shownDays is the number of days that SHOW FUNNEL counts without TOP.
const shownDays = 30

func (r *run) showFunnel(s *parse.Statement) {
	days := r.top(parse.Top.Of(s), shownDays)
	if r.err != nil {
		return
	}
	funnels, err := r.tx.Funnels(r.ctx, days)
	if r.fail(err) {
		return
	}
	for _, f := range funnels {
		r.rows.add(r.moment(f.Day), orNil(f.Model), int64(f.ModelVersion), int64(f.Decisions), int64(f.Shown), int64(f.Rewarded), int64(f.Clicked),
			float64(f.Clicked)/float64(f.Shown), f.Reward)
	}
}

// rewardOf returns the reward of a place, or nil before it is given.
func rewardOf(p db.Place) any {
	if !p.Rewarded {
		return nil
	}
	return p.Reward
}

func (r *run) describeDecision(s *parse.Statement) {
	d := r.decision(parse.Decision.Of(s), uint64(r.integer(parse.Decision.Of(s), 1, 0)))
	r.rows.add("decision", int64(d.ID))
	r.rows.add("source", d.Source)
	r.rows.add("relation", orNil(d.Relation))
	if d.Inverse {
		r.rows.add("inverse", true)
	}
	r.rows.add("policy", d.Explorer)
	r.rows.add("model", orNil(d.Model))
	r.rows.add("model version", int64(d.ModelVersion))
	r.rows.add("graph version", int64(d.GraphVersion))
	r.rows.add("time", r.moment(d.Time))
	r.rows.add("expires", r.moment(d.Expires))
	for k, p := range d.Places {
		at := ""
		if len(d.Places) > 1 {
			at = fmt.Sprintf(" at place %d", k+1)
		}
		r.rows.add("target"+at, p.Target)
		r.rows.add("score"+at, p.Score)
		r.rows.add("propensity"+at, p.Propensity)
		r.rows.add("reward"+at, rewardOf(p))
	}
	for _, o := range d.Offers {
		r.rows.add(fmt.Sprintf("propensity of %v", o.Target.Literal()), o.Propensity)
	}
}
