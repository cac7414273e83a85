package query

import (
	"fmt"
	"math"
	"strings"

	"kith/db"
	"kith/db/words"
	"kith/query/parse"
)

// walkKinds returns the statements about walks and paths.
func walkKinds() []kind {
	return []kind{
		{
			name: "RANK NODES", access: reads | joins, run: does[*parse.Rank]((*run).rank),
			columns: "source, node, rank, score (personalised PageRank), bound (of the error of score), certain (whether no error can change the rank)",
			options: func(parse.Statement, func(string) bool) []option { return rankOptions(&db.Walk{}) },
		},
		{
			name: "PATH", access: reads | joins, columns: "step, node, weight (of the edge that leads there)",
			run: does[*parse.Path]((*run).path),
		},
	}
}

// viewAssuming calls f like view, with edges added to the graph.
func (r *run) viewAssuming(edges []parse.Edge, f func(*db.Tx) error) error {
	return r.view(func(tx *db.Tx) error { return r.assuming(tx, edges, f) })
}

// assuming calls f with a transaction that sees the graph with edges added.
func (r *run) assuming(tx *db.Tx, edges []parse.Edge, f func(*db.Tx) error) error {
	if len(edges) == 0 {
		return f(tx)
	}
	list := make([]db.Edge, len(edges))
	for i, e := range edges {
		var err error
		if list[i], err = r.edge(e); err != nil {
			return r.positioned(e.Pos, err)
		}
	}
	ran := false
	err := tx.Assuming(list, func(tx *db.Tx) error {
		ran = true
		return f(tx)
	})
	if !ran {
		err = r.positioned(edges[0].Pos, err)
	}
	return err
}

func (r *run) rank(s *parse.Rank) (*Rows, error) {
	q, err := r.walk(s)
	if err != nil {
		return nil, err
	}
	rows := r.answer()
	err = r.viewAssuming(s.Assuming, func(tx *db.Tx) error {
		for _, v := range r.spread(s.For) {
			if q.From, err = r.node(tx, v); err != nil {
				return err
			}
			if r.full(rows) {
				continue
			}
			ranks, err := tx.PageRank(r.ctx, q)
			if err != nil {
				return r.positioned(v.Position(), err)
			}
			if err := r.fits(rows, len(ranks.Nodes)); err != nil {
				return err
			}
			for _, n := range ranks.Nodes {
				rows.add(ranks.Source, n.Node, int64(n.Rank), n.Score, n.Bound, n.Certain)
			}
		}
		return nil
	})
	return rows, err
}

// walk resolves the clauses of RANK, except for the source.
func (r *run) walk(s *parse.Rank) (db.Walk, error) {
	top, err := r.top(s.Top, 0)
	q := db.Walk{Top: int(top)}
	if err != nil {
		return q, err
	}
	return q, r.setOptions(s.With, rankOptions(&q))
}

// rankOptions returns the options of RANK NODES.
func rankOptions(q *db.Walk) []option {
	return []option{
		walkOption("alpha", "a number from 0 to 1", "probability that the walk goes on", func(r *run, v parse.Value) (err error) {
			q.Alpha, err = r.number(v)
			return err
		}),
		cacheOption(&q.NoCache),
		epsilonOption(&q.Epsilon),
		walkOption("norm", "row or column", "form of the walk; column by default", func(r *run, v parse.Value) error {
			norm, err := r.value(v)
			q.Row = norm == "row"
			return err
		}),
	}
}

func (r *run) path(s *parse.Path) (*Rows, error) {
	most, err := r.integer(s.Depth, 1, 0)
	if err != nil {
		return nil, err
	}
	rows := r.answer()
	err = r.view(func(tx *db.Tx) error {
		from, err := r.node(tx, s.From)
		if err != nil {
			return err
		}
		to, err := r.node(tx, s.To)
		if err != nil {
			return err
		}
		path, err := tx.Path(r.ctx, from, to, int(most))
		if err != nil {
			return err
		}
		for i, k := range path {
			var weight any
			if i > 0 {
				e, err := tx.Edge(path[i-1], k)
				if err != nil {
					return err
				}
				weight = shortest(e.Weight)
			}
			rows.add(int64(i), k, weight)
		}
		if len(path) == 0 && most > 0 {
			rows.note("no path of at most %s leads from node %v to node %v", words.Count(int(most), "step"), from, to)
		} else if len(path) == 0 {
			rows.note("no path leads from node %v to node %v", from, to)
		}
		return nil
	})
	return rows, err
}

const defaultPaths = 3

func (r *run) why(s *parse.Why) (*Rows, error) {
	paths, err := r.integer(s.Paths, 1, defaultPaths)
	if err != nil {
		return nil, err
	}
	rows := r.answer()
	p := &parse.Predict{Pos: s.Pos, For: []parse.Value{s.Source}, At: s.At, Among: s.Among, Using: s.Using, Version: s.Version, With: s.With}
	err = r.viewAssuming(s.Assuming, func(tx *db.Tx) error {
		return r.predictions(tx, p, func(p db.Prediction) error {
			target, err := r.node(tx, s.Target)
			if err != nil {
				return err
			}
			reasons, err := tx.Why(r.ctx, p, target, int(paths))
			if err != nil {
				return err
			}
			rows.reasons(reasons)
			if reasons.Added {
				rows.remarkAdded(tx, reasons)
			}
			return nil
		})
	})
	return rows, err
}

// reasons adds the rows that explain a score.
func (rows *Rows) reasons(r *db.Reasons) {
	l := r.Link
	rows.add("score", "score", l.Score, nil, nil)
	rows.add("score", "rank", int64(l.Rank), nil, nil)
	rows.add("score", "candidates", int64(r.Candidates), nil, nil)
	rows.add("score", "exploit", l.Exploit, nil, nil)
	rows.add("score", "explore", l.Explore, nil, nil)
	rows.add("score", "ppr", l.PPR, nil, nil)
	rows.add("score", "bound", l.Bound, nil, nil)
	sum := 0.0
	for _, in := range r.Inputs {
		rows.add("input", in.Name, in.Value, nanToNil(in.Adds), nil)
		sum += in.Adds
	}
	if r.AddsTo != "" {
		rows.add("input", "sum: "+r.AddsTo, nil, sum, nil)
	}
	rows.add("pagerank", fmt.Sprintf("of %v seen from %v, alpha %g", l.Target, r.Source, r.Alpha), r.PPR, nil, nil)
	for _, w := range r.Paths {
		keys := make([]string, len(w.Nodes))
		for i, k := range w.Nodes {
			keys[i] = k.String()
		}
		rows.add("path", strings.Join(keys, " -> "), w.Mass, nil, w.Mass/r.PPR)
	}
	rows.remark(&r.Ranking)
}

// remarkAdded notes why PREDICT does not rank the target, which was added to the candidates.
func (rows *Rows) remarkAdded(tx *db.Tx, r *db.Reasons) {
	why := "is not one of its candidates"
	if _, err := tx.Edge(r.Source, r.Link.Target); r.Source == r.Link.Target {
		why = "is the source itself"
	} else if err == nil {
		why = fmt.Sprintf("is linked to node %v already", r.Source)
	}
	rows.note("PREDICT does not rank node %v, which %s; the numbers hold for its candidates and this node", r.Link.Target, why)
}

// nanToNil returns v, or nil if v is NaN.
func nanToNil(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return v
}
