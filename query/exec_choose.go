package query

import (
	"cmp"
	"fmt"
	"time"

	"kith/db"
	"kith/query/parse"
)

func (r *run) choose(s *parse.Choose) (*Rows, error) {
	c, err := r.choice(s)
	if err != nil {
		return nil, err
	}
	if c.At, err = r.seconds(s.At); err != nil {
		return nil, err
	}
	rows := &Rows{Columns: []string{
		"decision", "source", "target", "score", "propensity", "policy", "graph_version", "model_version",
	}}
	err = r.update(func(tx *db.Tx) error {
		if err := r.model(tx, r.using(s, s.Using)); err != nil {
			return err
		}
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
	c.Model, c.Seed = r.using(s, s.Using).Value, r.seed
	if c.Explore, err = db.NewExplorer(s.Explore.Value); err != nil {
		return c, r.refused(s.Explore.Pos, s.Explore.Value, err, db.Explorers())
	}
	fields := map[string]*float64{"gamma": &c.Explore.Gamma}
	if c.Explore.Name == "epsilon_greedy" {
		fields = map[string]*float64{"epsilon": &c.Explore.Epsilon}
	}
	for _, o := range s.With {
		if err := r.exploreOption(&c, fields, o); err != nil {
			return c, err
		}
	}
	c.TTL, err = r.duration(s.TTL)
	return c, err
}

// exploreOption sets the seed or a field of the explorer.
func (r *run) exploreOption(c *db.Choice, fields map[string]*float64, o parse.Option) error {
	if o.Name == "seed" {
		seed, err := r.integer(o.Value, 1, 0)
		c.Seed = uint64(seed)
		return err
	}
	f := fields[o.Name]
	if f == nil {
		names := []string{"seed"}
		for name := range fields {
			names = append(names, name)
		}
		return unknownOption(o, names)
	}
	x, err := r.number(o.Value)
	if err != nil {
		return err
	}
	if o.Name == "gamma" && x == 0 { // 0 means the default in db
		return &Error{Pos: o.Value.Position(), Msg: "gamma = 0 (accepted: a number above 0)", Err: db.ErrInput}
	}
	*f = x
	if err := db.CheckExplorer(c.Explore); err != nil {
		return r.positioned(o.Value.Position(), err)
	}
	return nil
}

// duration returns a duration above 0, given as a number of seconds, a string or a time.Duration. It returns 0 if v is
// nil.
func (r *run) duration(v parse.Value) (time.Duration, error) {
	if v == nil {
		return 0, nil
	}
	x, err := r.value(v)
	if err != nil {
		return 0, err
	}
	const most = int64(200 * 365 * 24 * time.Hour / time.Second)
	var d time.Duration
	switch x := x.(type) {
	case time.Duration:
		d = x
	case string:
		d, err = ParseDuration(x)
	default:
		var seconds int64
		if seconds, err = r.integer(v, 1, 0); err != nil {
			return 0, err
		}
		d = time.Duration(min(seconds, most)) * time.Second
	}
	if err != nil || d <= 0 {
		return 0, &Error{Pos: v.Position(), Msg: fmt.Sprintf("%v is not a duration above 0 (accepted: seconds, or a string like '90s', '24h' or '7d')", x), Err: db.ErrInput}
	}
	return d, nil
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
	rows := &Rows{Columns: []string{"decision", "source", "target", "reward", "model", "new", "edge_added"}}
	err = r.update(func(tx *db.Tx) error {
		d, err := tx.Decision(uint64(id))
		if err != nil {
			return r.positioned(s.Decision.Position(), err)
		}
		fresh, err := tx.Reward(uint64(id), reward)
		if err != nil {
			return r.positioned(s.Decision.Position(), err)
		}
		_, edges := tx.Counts()
		if s.Insert && fresh && reward == 1 {
			if err := link(tx, d); err != nil {
				return r.positioned(s.Decision.Position(), err)
			}
		}
		_, now := tx.Counts()
		rows.add(id, d.Source, d.Target, reward, name(d.Model), fresh, now > edges)
		if m, err := tx.Model(d.Model); err == nil && fresh && d.Model != "" {
			rows.remarkFrozen(m)
		}
		return nil
	})
	return rows, err
}

// link adds the edge of a decision unless it exists.
func link(tx *db.Tx, d db.Decision) error {
	for _, k := range []db.Key{d.Source, d.Target} {
		if !tx.Has(k) {
			return fmt.Errorf("%w: node %v of decision %d", db.ErrNotFound, k, d.ID)
		}
	}
	if _, err := tx.Edge(d.Source, d.Target); err == nil {
		return nil
	}
	return tx.AddEdge(d.Source, d.Target, 1)
}

// name returns s, or nil if s is empty.
func name(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// shownDecisions is the number of decisions listed without TOP.
const shownDecisions = 100

func (r *run) showDecisions(s *parse.ShowDecisions) (*Rows, error) {
	top, err := r.integer(s.Top, 1, shownDecisions)
	if err != nil {
		return nil, err
	}
	top = r.most(top)
	rows := &Rows{Columns: []string{"decision", "source", "target", "propensity", "policy", "model", "time", "expires", "reward"}}
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
			rows.add(int64(d.ID), d.Source, d.Target, d.Propensity, d.Explorer, name(d.Model), moment(d.Time), moment(d.Expires), rewardOf(d))
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

// rewardOf returns the reward of a decision, or nil if it has none yet.
func rewardOf(d *db.Decision) any {
	if !d.Rewarded {
		return nil
	}
	return d.Reward
}

func (r *run) describeDecision(s *parse.DescribeDecision) (*Rows, error) {
	id, err := r.integer(s.Decision, 1, 0)
	if err != nil {
		return nil, err
	}
	rows := &Rows{Columns: []string{"name", "value"}}
	err = r.view(func(tx *db.Tx) error {
		d, err := tx.Decision(uint64(id))
		if err != nil {
			return r.positioned(s.Decision.Position(), err)
		}
		rows.add("decision", int64(d.ID))
		rows.add("source", d.Source)
		rows.add("target", d.Target)
		rows.add("score", d.Score)
		rows.add("propensity", d.Propensity)
		rows.add("policy", d.Explorer)
		rows.add("model", name(d.Model))
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
