package query

import (
	"fmt"
	"slices"

	"kith/db"
	"kith/query/parse"
)

func (r *run) predict(s *parse.Predict) (*Rows, error) {
	t, err := r.predictTable(s)
	if err != nil {
		return nil, err
	}
	top, err := r.integer(s.Top, 1, defaultTop)
	if err != nil {
		return nil, err
	}
	top = r.most(top)
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

// predictTable returns the columns of PREDICT, filtered and selected by its clauses.
func (r *run) predictTable(s *parse.Predict) (*table, error) {
	columns := []column{
		{"source", aKey}, {"target", aKey}, {"rank", aNumeric}, {"score", aNumeric}, {"exploit", aNumeric}, {"explore", aNumeric},
		{"ppr", aNumeric}, {"bound", aNumeric}, {"certain", aFlag}, {"label", aText}, {"degree", aNumeric},
	}
	show := 9
	if s.Class {
		columns[0].name, columns[1].name, show = "node", "class", 8
	}
	return r.table(columns, show, s.Where, s.Return)
}

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
		rows.note("node %v has no candidates: it is linked already to the %s of the set", r.Source, count(r.Linked, "node"))
	case r.Candidates == 0:
		rows.note("node %v has no candidates: the set is empty", r.Source)
	}
}

// predictions calls f with a prediction for each source of the statement.
func (r *run) predictions(tx *db.Tx, s *parse.Predict, f func(db.Prediction) error) error {
	using := r.using(s, s.Using)
	if err := r.model(tx, using); err != nil {
		return err
	}
	version, err := r.version(tx, using, s.Version)
	if err != nil {
		return err
	}
	p := db.Prediction{Model: using.Value, Version: version}
	top, err := r.integer(s.Top, 1, 0)
	if err != nil {
		return err
	}
	p.Top = int(r.most(top))
	if p.At, err = r.seconds(s.At); err != nil {
		return err
	}
	if s.Where != nil {
		p.Top = -1 // WHERE filters the ranked links, so all of them are ranked
	}
	for _, o := range s.With {
		if err := r.predictOption(&p, o); err != nil {
			return err
		}
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

// predictOption sets one option of PREDICT.
func (r *run) predictOption(p *db.Prediction, o parse.Option) error {
	v, err := r.value(o.Value)
	if err != nil {
		return err
	}
	switch o.Name {
	case "alpha", "beta", "center", "length", "norm", "seed_weight":
		walk := db.Option{Name: o.Name, Value: v}
		if err := db.CheckWalk(walk); err != nil {
			return r.positioned(o.Pos, err)
		}
		p.Walk = append(p.Walk, walk)
	case "epsilon":
		p.Epsilon, err = r.number(o.Value)
		if err == nil && !(p.Epsilon > 0 && p.Epsilon < 1) {
			err = &Error{Pos: o.Pos, Msg: fmt.Sprintf("epsilon = %v (accepted: a number between 0 and 1, exclusive)", p.Epsilon), Err: db.ErrInput}
		}
		return err
	case "cache":
		if v != "on" && v != "off" {
			return &Error{Pos: o.Pos, Msg: fmt.Sprintf("cache = %v (accepted: on or off)", v), Err: db.ErrInput}
		}
		p.NoCache = v == "off"
	case "until":
		if v != "certain" && v != "epsilon" {
			return &Error{Pos: o.Pos, Msg: fmt.Sprintf("until = %v (accepted: certain or epsilon)", v), Err: db.ErrInput}
		}
		p.UntilCertain = v == "certain"
	case "seed":
		seed, err := r.integer(o.Value, 0, 0)
		r.seed = uint64(seed)
		return err
	default:
		return unknownOption(o, []string{"alpha", "beta", "cache", "center", "epsilon", "length", "norm", "seed", "seed_weight", "until"})
	}
	return nil
}
