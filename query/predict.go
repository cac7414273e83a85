package query

import (
	"slices"

	"kith/db"
	"kith/db/words"
	"kith/query/parse"
)

// predictKinds returns the statements that predict links.
func predictKinds() []kind {
	const scores = ", rank, score (see exploit, explore and ppr), exploit (the estimated reward), explore (estimated gain of trying the link), " +
		"ppr (contribution of the walk over the graph), bound (of the numerical error of score)"
	const certain = "certain (whether no error can change the rank)"
	options := func(parse.Statement, func(string) bool) []option { return predictOptions(&db.Prediction{}) }
	return []kind{
		{
			name: "PREDICT LINKS", access: reads | joins, columns: "source, target" + scores + ", " + certain, more: "label (of the target), degree (of the target)",
			run: does[*parse.Predict]((*run).predict), options: options, plan: (*run).explainPredict,
		},
		{
			name: "PREDICT CLASS", access: reads | joins, columns: "node, class" + scores, more: certain + ", label (of the class), degree (of the class)",
			run: does[*parse.Predict]((*run).predict), options: options, plan: (*run).explainPredict,
		},
		{
			name: "WHY", access: reads | joins, columns: "part (score, input, pagerank or path), name, value, adds, share", options: options,
			run: does[*parse.Why]((*run).why),
		},
	}
}

func (r *run) predict(s *parse.Predict) (*Rows, error) {
	t, err := r.table(s.Where, s.Return)
	if err != nil {
		return nil, err
	}
	top, err := r.top(s.Top, defaultTop)
	if err != nil {
		return nil, err
	}
	rows := t.rows()
	err = r.viewAssuming(s.Assuming, func(tx *db.Tx) error {
		return r.predictions(tx, s, func(p db.Prediction) error {
			if r.full(rows) {
				return nil
			}
			ranking, err := tx.Predict(r.ctx, p)
			if err != nil {
				return err
			}
			if err := r.fits(rows, min(len(ranking.Links), int(top))); err != nil {
				return err
			}
			addLinks(tx, t, rows, ranking, int(top))
			rows.remark(ranking)
			return nil
		})
	})
	return rows, err
}

const defaultTop = 10

// addLinks adds the first most links that satisfy the WHERE clause.
func addLinks(tx *db.Tx, t *table, rows *Rows, r *db.Ranking, most int) {
	lookUp := t.uses("label", "degree")
	for _, l := range r.Links {
		if most == 0 {
			return
		}
		row := []any{r.Source, l.Target, int64(l.Rank), l.Score, l.Exploit, l.Explore, l.PPR, l.Bound, l.Certain, nil, nil}
		if n, err := tx.Node(l.Target); lookUp && err == nil {
			row[9], row[10] = orNil(n.Label), n.Degree
		}
		if t.add(rows, row...) {
			most--
		}
	}
}

// remark adds the notes of a ranking. The note on which model answered is added once for all sources.
func (rows *Rows) remark(r *db.Ranking) {
	if len(rows.Notes) == 0 {
		rows.note("answered by %s", r.AnsweredBy)
	}
	if r.Remark != "" && !slices.Contains(rows.Notes, r.Remark) {
		rows.note("%s", r.Remark)
	}
	switch {
	case r.Candidates == 0 && r.Linked > 0:
		rows.note("node %v has no candidates: it is linked already to the %s of the set", r.Source, words.Count(r.Linked, "node"))
	case r.Candidates == 0:
		rows.note("node %v has no candidates: the set is empty", r.Source)
	}
}

// predictions calls f with a prediction for each source of the statement.
func (r *run) predictions(tx *db.Tx, s *parse.Predict, f func(db.Prediction) error) error {
	version, err := r.version(s.Version)
	if err != nil {
		return err
	}
	p := db.Prediction{Model: r.model(r.using(s, s.Using)), Version: version}
	top, err := r.top(s.Top, 0)
	if err != nil {
		return err
	}
	p.Top = int(top)
	if p.At, err = r.seconds(s.At); err != nil {
		return err
	}
	if s.Where != nil {
		p.Top = -1 // WHERE filters the ranked links, so all of them are ranked
	}
	if err := r.setOptions(s.With, predictOptions(&p)); err != nil {
		return err
	}
	if p.Among, err = r.candidates(tx, s.Among); err != nil {
		return err
	}
	if s.Class {
		p.Among = db.Classes()
	}
	sources := r.spread(s.For)
	keys, err := r.nodes(tx, sources)
	if err != nil {
		return err
	}
	for i, key := range keys {
		p.For = key
		if err := f(p); err != nil {
			return r.positioned(sources[i].Position(), err)
		}
	}
	return nil
}

// predictOptions returns the options of PREDICT and WHY.
func predictOptions(p *db.Prediction) []option {
	var until string
	walk := func(name, accepts, meaning string) option {
		return walkOption(name, accepts, meaning, func(r *run, v parse.Value) error {
			x, err := r.value(v)
			p.Walk = append(p.Walk, db.Option{Name: name, Value: x})
			return err
		})
	}
	seed := option{"seed", "an integer of at least 0", "seed of SAMPLE; the database's by default", func(r *run, o parse.Option) error {
		n, err := r.integer(o.Value, 0, 0)
		r.seed = uint64(n)
		return err
	}}
	stop := wordOption("until", "whether the walk stops as soon as the ranks are certain", &until, "certain", "epsilon")
	setUntil := stop.set
	stop.set = func(r *run, o parse.Option) error {
		err := setUntil(r, o)
		p.UntilCertain = until == "certain"
		return err
	}
	return []option{
		walk("alpha", "a number from 0 to 1", "probability that the walk goes on, in place of the model's"),
		walk("beta", "a number from 0 to 1", "factor of katz for each further edge of a walk; 0.005 by default"),
		cacheOption(&p.NoCache),
		walk("center", "on or off", "whether the values of the walk are centered"),
		epsilonOption(&p.Epsilon),
		walk("length", "an integer from 1 to 20", "number of edges of the longest walks of katz; 5 by default"),
		walk("norm", "row or column", "form of the walk, in place of the model's"),
		seed,
		walk("seed_weight", "a number", "weight of the source in the walk, in place of the model's"),
		stop,
	}
}

// walkOption returns an option of a walk, which set keeps.
func walkOption(name, accepts, meaning string, set func(r *run, v parse.Value) error) option {
	return option{name, accepts, meaning, func(r *run, o parse.Option) error {
		v, err := r.value(o.Value)
		if err != nil {
			return err
		}
		if err := db.CheckWalk(db.Option{Name: name, Value: v}); err != nil {
			return err
		}
		return set(r, o.Value)
	}}
}

// cacheOption returns the option that keeps a walk from using the cache.
func cacheOption(without *bool) option {
	on := true
	o := onOff("cache", "off makes the answer a function of graph, model and statement alone", &on)
	set := o.set
	o.set = func(r *run, o parse.Option) error {
		err := set(r, o)
		*without = !on
		return err
	}
	return o
}

func epsilonOption(to *float64) option {
	return numberOption("epsilon", "a number between 0 and 1, exclusive", "largest error of PageRank, relative to the largest start value "+
		"(with norm = column: times the degree of the node)", func(x float64) bool { return x > 0 && x < 1 }, to)
}
