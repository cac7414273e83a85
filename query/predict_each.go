package query

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"kith/db"
	"kith/db/words"
	"kith/query/internal/parse"
)

// isBatch reports whether a statement predicts the links of all nodes, or of all nodes with a
// label.
func isBatch(s *parse.Statement) bool {
	return s.Form == "PREDICT LINKS" && (parse.All.Given(s) || parse.Label.Given(s))
}

// predictEach predicts the links of many nodes. It adds the first top links of each, or the best of
// all.
func (r *run) predictEach(s *parse.Statement, t linkTable, top int) {
	add, done, without, tied := r.addLinks, int64(0), 0, 0
	best := &bestLinks{run: r, top: top, directed: r.directed(s)}
	if !parse.Each.Given(s) {
		add = best.add
	}
	question := r.prediction(s, t.where)
	questions, total := r.batch(s, question)
	if r.err != nil {
		return
	}
	for ranking, err := range r.tx.PredictEach(r.ctx, questions) {
		if r.failAt(parse.For.In(s), err) || r.overLimit() || r.checkMemory(min(len(ranking.Links), top)+len(best.rows)) {
			return
		}
		p := question
		p.For = ranking.Source
		add(t.table, &asked{r, p, ranking.Source}, ranking, top)
		if len(ranking.Links) == 0 {
			without++
		}
		if ranking.Tied {
			tied++
			ranking.Remark = ""
		}
		ranking.Candidates = max(ranking.Candidates, 1) // a single note counts the nodes without candidates
		r.rows.remark(ranking)
		done++
		r.progress("nodes", done, total)
	}
	best.finish(t.table)
	if without > 0 {
		r.rows.note("%s of %d have no candidates", words.Count(without, "node"), done)
	}
	if tied > 0 {
		r.rows.note("all links of %s have equal scores, and are in the order in which the nodes were added", words.Count(tied, "node"))
	}
}

// directed reports whether the links that a statement asks for have a direction.
func (r *run) directed(s *parse.Statement) bool {
	name, _ := r.askedRelation(s)
	all, err := r.tx.Relations()
	r.fail(err)
	for _, n := range all {
		if n.Name == name && name != "" {
			return n.Directed
		}
	}
	return r.tx.Stats().Directed
}

// batch returns a question about each source of a statement that isBatch, and their number.
func (r *run) batch(s *parse.Statement, p db.PredictOptions) (questions iter.Seq[db.PredictOptions], total int64) {
	label := r.label(parse.Label.Of(s))
	keys, err := r.tx.Keys(label, 0)
	if r.failAt(parse.Label.In(s), err) {
		return nil, 0
	}
	total, _ = r.tx.Counts()
	for _, l := range r.tx.Stats().Labels {
		if l.Name == label && label != "" {
			total = l.Nodes
		}
	}
	return func(yield func(db.PredictOptions) bool) {
		for k := range keys {
			p := p
			p.For = k
			if !yield(p) {
				return
			}
		}
	}, total
}

// bestLinks collects the best links of all sources. Of equal scores, the first source has the first
// link. A pair of an undirected graph counts once, with the better of its two scores.
type bestLinks struct {
	*run
	top      int
	directed bool
	rows     []scoredRow
}

// scoredRow is a link of the answer, with both ends.
type scoredRow struct {
	*linkRow
	ends [2]db.Key
	sure bool // the rank is exact, or a remark says why it is not
}

// spare is the number of rows that bestLinks holds in addition to twice the number of TOP.
const spare = 1000

// add adds the links of a source that may be among the best.
func (b *bestLinks) add(t *table[*linkRow], of *asked, ranking *db.Prediction, top int) {
	own := 0
	for _, l := range ranking.Links {
		if own == top {
			break
		}
		if row := (&linkRow{Link: &l, asked: of}); t.keeps(row) {
			own++
			b.rows = append(b.rows, scoredRow{row, [2]db.Key{of.source[0].Node, l.Target}, l.Exact || ranking.Remark != ""})
		}
	}
	if len(b.rows) > 2*top+spare {
		b.cut()
	}
}

// cut drops all rows but the best. A row that is dropped cannot be missed later: as many pairs are
// better, or are as good and came first, and the score of a pair only grows.
func (b *bestLinks) cut() {
	slices.SortStableFunc(b.rows, func(a, b scoredRow) int { return cmp.Compare(b.Score, a.Score) })
	if !b.directed {
		seen := map[[2]db.Key]bool{}
		b.rows = slices.DeleteFunc(b.rows, func(r scoredRow) bool {
			seen[r.ends] = true
			return r.ends[0] != r.ends[1] && seen[[2]db.Key{r.ends[1], r.ends[0]}]
		})
	}
	clear(b.rows[min(b.top, len(b.rows)):]) // frees the rows
	b.rows = b.rows[:min(b.top, len(b.rows))]
}

// finish adds the best rows to the answer.
func (b *bestLinks) finish(t *table[*linkRow]) {
	b.cut()
	for _, row := range b.rows {
		b.run.rows.add(t.row(row.linkRow)...)
		if !row.sure {
			b.uncertain++
		}
	}
}

// explainEach adds the steps of a statement that isBatch. EXPLAIN shows the plan of the first
// source, PROFILE the time of all.
func (r *run) explainEach(e, s *parse.Statement, t linkTable, plan *Rows) {
	questions, total := r.batch(s, r.prediction(s, t.where))
	if r.err != nil {
		return
	}
	top := fmt.Sprintf("the best %d of all", r.top(parse.Top.Of(s), defaultTop))
	if parse.Each.Given(s) {
		top = fmt.Sprintf("the best %d of each", r.top(parse.Top.Of(s), defaultTop))
	}
	sources := db.Step{Name: "sources", Detail: fmt.Sprintf(
		"%s, in the order in which they were added, on all processors; PageRank from scratch", words.Count(total, "node"))}
	links := db.Step{Name: "links", Detail: top}
	steps := []db.Step{sources, links}
	if e.Form == "PROFILE" {
		began, answer := time.Now(), &Rows{}
		r.rows = answer
		r.predictEach(s, t, r.top(parse.Top.Of(s), defaultTop))
		r.rows = plan
		steps[0].Took = milliseconds(time.Since(began))
		steps[1].Detail += ": " + words.Count(len(answer.Rows), "row")
	} else {
		for q := range questions {
			q.NoCache = true
			first, err := r.tx.Explain(r.ctx, q)
			r.failAt(parse.For.In(s), err)
			steps = append(append(steps[:1], t.where.step(first)...), links)
			break
		}
	}
	r.addSteps(steps)
}
