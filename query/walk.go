package query

import (
	"cmp"
	"fmt"
	"strings"

	"kith/db"
	"kith/db/words"
	"kith/query/internal/parse"
	"kith/query/internal/why"
)

// walkActions returns the statements about walks and paths.
func walkActions() []action {
	return []action{
		{
			name: "RANK NODES", access: reads | joins, run: viewing((*run).rank),
			columns: []column{
				{name: "source"}, {name: "node"}, {name: "rank"},
				{"score", "personalised PageRank"}, {"error", "largest numerical error of score"},
				{"exact", "whether no numerical error can change the rank"},
			},
			options: always(func(q *db.PageRankOptions) []option {
				return append(rankOptions(q), weightsOption(new(map[string]float64)))
			}),
		},
		{name: "PATH", access: reads | joins, columns: []column{
			{name: "step"}, {name: "node"}, {"weight", "of the edge that leads there"},
		}, run: viewing((*run).path)},
	}
}

// via calls f with a transaction that sees the edges of some relations, with factors of their
// weights; nil means all, and 1 each.
func (r *run) via(relations []parse.Name, weights map[string]float64, f func()) {
	if relations == nil && weights == nil {
		f()
		return
	}
	p := db.Part{Relations: r.relations(relations), Weights: weights}
	if relations == nil {
		all, err := r.tx.Relations()
		r.fail(err)
		for _, n := range all {
			p.Relations = append(p.Relations, n.Name)
		}
	}
	if r.err == nil {
		r.fail(r.tx.Via(p, func(tx *db.Tx) error { return r.in(tx, f) }))
	}
}

// assuming calls f with a transaction that sees the graph with edges added.
func (r *run) assuming(edges []parse.Edge, f func()) {
	if len(edges) == 0 {
		f()
		return
	}
	list := make([]db.Edge, len(edges))
	for i, e := range edges {
		list[i] = r.edge(e)
	}
	if r.err == nil {
		err := r.tx.Assuming(list, func(tx *db.Tx) error { return r.in(tx, f) })
		r.failAt(edges[0], err)
	}
}

func (r *run) rank(s *parse.Statement) {
	q := db.PageRankOptions{Top: r.top(parse.Top.Of(s), 0)}
	var weights map[string]float64
	r.setOptions(parse.With.All(s), append(rankOptions(&q), weightsOption(&weights)))
	r.assuming(parse.Assuming.All(s), func() {
		r.via(parse.Via.All(s), weights, func() { r.rankFrom(s, q) })
	})
}

// rankFrom ranks nodes for each source of a statement.
func (r *run) rankFrom(s *parse.Statement, q db.PageRankOptions) {
	for _, source := range r.sources(parse.For.All(s)) {
		if r.fail(r.ctx.Err()) || r.overLimit() {
			return
		}
		q.From = source.of
		ranks, err := r.tx.PageRank(r.ctx, q)
		if r.failAt(source, err) || r.checkMemory(len(ranks.Nodes)) {
			return
		}
		for _, n := range ranks.Nodes {
			r.rows.add(sourceValue(ranks.Source), n.Node, int64(n.Rank), n.Score, n.Error, n.Exact)
		}
	}
}

// rankOptions returns the options of RANK NODES.
func rankOptions(q *db.PageRankOptions) []option {
	epsilon := epsilonOption(&q.Epsilon)
	epsilon.meaning += fmt.Sprintf("; %g by default", rankEpsilon)
	return []option{
		walkOption("alpha", "a number from 0 to 1", "probability that the walk goes on", func(r *run, v parse.Value) { q.Alpha = r.number(v) }),
		cacheOption("the answer", &q.NoCache),
		epsilon,
		walkOption("norm", "row or column", "form of the walk; column by default", func(r *run, v parse.Value) { q.Row = r.value(v) == "row" }),
		wordOption("until", "whether the walk stops before epsilon as soon as the ranks are exact; exact by default, epsilon if that is given",
			func(word string) {
				if q.UntilExact = word == "exact"; word == "epsilon" {
					q.Epsilon = cmp.Or(q.Epsilon, rankEpsilon)
				}
			}, "exact", "epsilon"),
	}
}

// rankEpsilon is the error down to which RANK refines values by default, as in
// [db.PageRankOptions].
const rankEpsilon = 1e-12

func (r *run) path(s *parse.Statement) {
	most, from, to := int(r.integer(parse.Depth.Of(s), 1, 0)), r.node(parse.From.Of(s)), r.node(parse.To.Of(s))
	if r.err != nil {
		return
	}
	var path []db.Key
	r.via(parse.Via.All(s), nil, func() {
		var err error
		path, err = r.tx.Path(r.ctx, from, to, most)
		r.fail(err)
		for i, k := range path {
			var weight any
			if i > 0 {
				weight = shortest(r.linkWeight(path[i-1], k))
			}
			r.rows.add(int64(i), k, weight)
		}
	})
	if r.err != nil {
		return
	}
	if len(path) == 0 && most > 0 {
		r.rows.note("no path of at most %s leads from node %v to node %v", words.Count(most, "step"), from.Literal(), to.Literal())
	} else if len(path) == 0 {
		r.rows.note("no path leads from node %v to node %v", from.Literal(), to.Literal())
	}
}

// linkWeight returns the weight of the edges of all relations from src to dst.
func (r *run) linkWeight(src, dst db.Key) float32 {
	e, err := r.tx.Joined(src, dst)
	r.fail(err)
	return e.Weight
}

const defaultPaths = 3

// whyParts are the columns of WHY with detail = on.
var whyParts = []column{
	{"part", "reason, score, source, rule, because, word, input, pagerank or path"}, {name: "name"}, {name: "value"}, {name: "adds"}, {name: "share"},
}

// detailOption returns the option of WHY that asks for the parts of a score.
func detailOption(to *bool) option {
	return onOff("detail", "on adds the parts of the score, the model's inputs and the paths", func(on bool) { *to = on })
}

// whyOptions returns the options of WHY.
func whyOptions(p *db.PredictOptions) []option {
	return append(predictOptions(p), detailOption(new(bool)))
}

func (r *run) why(s *parse.Statement) {
	detail := false
	paths := int(r.integer(parse.Paths.Of(s), 1, defaultPaths))
	r.assuming(parse.Assuming.All(s), func() {
		target := r.target(s)
		r.predictions(s, parse.Why.All(s), r.split(parse.Where.Of(s), nil), []option{detailOption(&detail)}, func(p db.PredictOptions) {
			reasons, err := r.tx.Why(r.ctx, p, target, paths)
			if r.fail(err) {
				return
			}
			sentences := why.Sentences(reasons)
			if detail {
				r.rows.Columns = columnNames(whyParts)
				r.rows.reasons(reasons, sentences)
			} else {
				for _, s := range sentences {
					r.rows.add(s)
				}
			}
			r.rows.remark(&reasons.Prediction)
			if reasons.Added {
				r.rows.remarkAdded(r.tx, &p, reasons)
			}
		})
	})
}

// reasons adds the sentences and the parts that explain a score.
func (rows *Rows) reasons(r *db.Reasons, sentences []string) {
	l := r.Link
	for _, s := range sentences {
		rows.add("reason", s, nil, nil, nil)
	}
	rows.add("score", "score", l.Score, nil, nil)
	rows.add("score", "rank", int64(l.Rank), nil, nil)
	rows.add("score", "candidates", int64(r.Candidates), nil, nil)
	rows.add("score", "exploit", l.Exploit, nil, nil)
	rows.add("score", "explore", l.Explore, nil, nil)
	rows.add("score", "ppr", l.PPR, nil, nil)
	rows.add("score", "error", l.Error, nil, nil)
	for _, s := range r.Sources {
		rows.add("source", s.Node.Literal(), s.Score, s.Weight*s.Score, s.Weight)
	}
	for _, rule := range r.Rules {
		kind := "rule"
		if rule.Against() {
			kind = "rule against"
		}
		rows.add(kind, rule.String(), rule.Confidence, nil, nil)
		for _, path := range rule.Paths {
			rows.add("because", rule.Edges(path), nil, nil, nil)
		}
		if more := rule.Count - len(rule.Paths); more > 0 && len(rule.Paths) > 0 {
			rows.add("because", fmt.Sprintf("and %s more", words.Count(more, "path")), nil, nil, nil)
		}
	}
	for _, w := range r.Words {
		rows.add("word", w.String(), nil, nil, nil)
	}
	sum := 0.0
	for _, in := range r.Inputs {
		rows.add("input", in.Name, in.Value, in.Adds, nil)
		sum += in.Adds
	}
	if r.AddsTo != "" {
		rows.add("input", "sum: "+r.AddsTo, nil, sum, nil)
	}
	rows.add("pagerank", fmt.Sprintf("of %v seen from %v, alpha %g", l.Target.Literal(), r.Source.Literal(), r.Alpha), r.PPR, nil, nil)
	for _, w := range r.Paths {
		keys := make([]string, len(w.Nodes))
		for i, k := range w.Nodes {
			keys[i] = k.Literal()
		}
		rows.add("path", strings.Join(keys, " -> "), w.Mass, nil, w.Mass/r.PPR)
	}
}

// remarkAdded notes why PREDICT does not rank the target, which was added to the candidates.
func (rows *Rows) remarkAdded(tx *db.Tx, p *db.PredictOptions, r *db.Reasons) {
	linked := func(source, target db.Key) bool {
		if p.Relation == "" {
			_, err := tx.Joined(source, target)
			return err == nil
		}
		if p.Inverse {
			source, target = target, source
		}
		_, err := tx.Edge(source, target, db.Via(p.Relation))
		return err == nil
	}
	why := "is not one of its candidates"
	for _, seed := range r.Source {
		if seed.Node == r.Link.Target {
			why = "is the source itself"
			break
		}
		if linked(seed.Node, r.Link.Target) {
			why = fmt.Sprintf("is linked to node %v already", seed.Node.Literal())
		}
	}
	rows.note("PREDICT does not rank node %v, which %s; the numbers hold for its candidates and this node", r.Link.Target.Literal(), why)
}
