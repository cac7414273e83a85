package query

import (
	"context"
	"fmt"
	"slices"

	"kith/db"
	"kith/db/words"
	"kith/model"
	"kith/query/internal/parse"
	"kith/query/internal/why"
)

// predictActions returns the statements that predict links.
func predictActions() []action {
	return []action{
		{
			name: "PREDICT LINKS", access: reads | joins,
			columns: columnsOf(linkFields[:shownOfLinks]), more: columnsOf(linkFields[shownOfLinks:]),
			run: viewing((*run).predict), options: always(predictOptions), plan: (*run).explainPredict,
		},
		{
			name: "WHY", access: reads | joins, options: always(whyOptions), run: viewing((*run).why),
			columns: []column{{"because", "a reason in words"}}, more: whyParts, when: "with detail = on",
		},
	}
}

// asked is the question that a ranking answers.
type asked struct {
	*run
	question db.PredictOptions
	source   db.Seeds
}

// linkRow is a link of a ranking, which a row of PREDICT LINKS is about.
type linkRow struct {
	*db.Link
	*asked
	read *db.Node // what target returns, once it was read
}

// target returns the target, or a node without a label and edges if it cannot be read.
func (l *linkRow) target() *db.Node {
	if l.read == nil {
		n, err := l.tx.Node(l.Target)
		if err != nil {
			n = db.Node{}
		}
		l.read = &n
	}
	return l.read
}

// because returns the reason for the link in words. It is computed for the links of an answer only,
// and not if RETURN leaves it out.
func (l *linkRow) because() any {
	e, err := l.tx.Evidence(l.ctx, l.question, l.Target)
	if l.fail(err) {
		return nil
	}
	return why.Because(e, l.source)
}

// shownOfLinks is the number of columns of PREDICT LINKS without RETURN.
const shownOfLinks = 5

// linkFields are the columns of PREDICT LINKS.
var linkFields = []field[*linkRow]{
	{column{name: "source"}, aKey, func(l *linkRow) any { return sourceValue(l.source) }},
	{column{name: "target"}, aKey, func(l *linkRow) any { return l.Target }},
	{column{name: "rank"}, aNumeric, func(l *linkRow) any { return int64(l.Rank) }},
	{
		column{"score", "see exploit, explore and ppr"}, aNumeric,
		func(l *linkRow) any { return l.Score },
	},
	{column{"because", "the strongest reason in words"}, aSentence, (*linkRow).because},
	{
		column{"exploit", "the estimated reward"}, aNumeric,
		func(l *linkRow) any { return l.Exploit },
	},
	{
		column{"explore", "estimated gain of trying the link"}, aNumeric,
		func(l *linkRow) any { return l.Explore },
	},
	{
		column{"ppr", "contribution of the walk over the graph"}, aNumeric,
		func(l *linkRow) any { return l.PPR },
	},
	{
		column{"error", "largest numerical error of score; null if unknown"}, aNumeric,
		func(l *linkRow) any { return l.Error },
	},
	{
		column{"exact", "whether no numerical error can change the rank"}, aFlag,
		func(l *linkRow) any { return l.Exact },
	},
	{column{"label", "of the target"}, aText, func(l *linkRow) any { return orNil(l.target().Label) }},
	{column{"degree", "of the target"}, aNumeric, func(l *linkRow) any { return l.target().Degree }},
}

// linkTable is the table of a PREDICT LINKS.
type linkTable struct {
	*table[*linkRow]
	where filter
}

// linkTable returns the table of a PREDICT LINKS.
func (r *run) linkTable(s *parse.Statement) linkTable {
	fields := append(slices.Clone(linkFields), propertyFields(r, (*linkRow).target)...)
	where := r.split(parse.Where.Of(s), linkColumns())
	return linkTable{newTable(r, fields, shownOfLinks, where.answer, s), where}
}

// linkColumns returns the names of the columns of PREDICT LINKS, apart from properties.
func linkColumns() []string { return columnNames(columnsOf(linkFields)) }

func (r *run) predict(s *parse.Statement) {
	t, top := r.linkTable(s), r.top(parse.Top.Of(s), defaultTop)
	r.rows.Columns = columnNames(columnsOf(t.shown))
	r.assuming(parse.Assuming.All(s), func() {
		if isBatch(s) {
			r.predictEach(s, t, top)
			return
		}
		r.predictions(s, parse.For.All(s), t.where, nil, func(p db.PredictOptions) {
			if r.overLimit() {
				return
			}
			ranking, err := r.tx.Predict(r.ctx, p)
			if r.fail(err) || r.checkMemory(min(len(ranking.Links), top)) {
				return
			}
			r.addLinks(t.table, &asked{r, p, ranking.Source}, ranking, top)
			r.rows.remark(ranking)
		})
	})
	if r.uncertain > 0 && !slices.Contains(r.rows.Columns, "exact") {
		r.rows.note("numerical errors could change the rank of %s (RETURN target, rank, exact)", words.Count(r.uncertain, "link"))
	}
}

const defaultTop = 10

// addLinks adds the first most links that satisfy the WHERE clause.
func (r *run) addLinks(t *table[*linkRow], of *asked, ranking *db.Prediction, most int) {
	for _, l := range ranking.Links {
		if most == 0 {
			return
		}
		if t.add(r.rows, &linkRow{Link: &l, asked: of}) {
			most--
			if !l.Exact && ranking.Remark == "" {
				r.uncertain++
			}
		}
	}
}

// LinkFilter is a condition in the syntax of the WHERE clause of PREDICT LINKS, in a transaction.
type LinkFilter struct {
	Nodes *db.Cond // the part that is about candidates; nil: none
	// Keep reports whether a link of a ranking satisfies the other part. nil: there is none.
	Keep func(*db.Prediction, *db.Link) bool
}

// NewLinkFilter compiles a condition without parameters.
func NewLinkFilter(ctx context.Context, tx *db.Tx, condition string) (f LinkFilter, err error) {
	c, err := parse.ParseCondition(condition)
	if err != nil {
		return f, err
	}
	r := run{session: &Session{}, ctx: ctx, tx: tx}
	where := r.split(c, linkColumns())
	if f.Nodes = where.nodes; where.answer != nil {
		keep := compile(&r, linkFields, where.answer)
		f.Keep = func(ranking *db.Prediction, l *db.Link) bool {
			return keep(&linkRow{Link: l, asked: &asked{run: &r, source: ranking.Source}})
		}
	}
	return f, r.err
}

// sourceValue returns the value of the column source: the key of a node, or the text of a set.
func sourceValue(s db.Seeds) any {
	if len(s) == 1 {
		return s[0].Node
	}
	return s.Literal()
}

// remark adds the notes of a ranking. The note on which model answered is added once for all
// sources.
func (rows *Rows) remark(r *db.Prediction) {
	if len(rows.Notes) == 0 {
		rows.note("answered by %s", r.AnsweredBy)
	}
	rows.noteOnce(r.Remark)
	source := fmt.Sprintf("node %v", r.Source.Literal())
	if len(r.Source) > 1 {
		source = fmt.Sprintf("the source %v", r.Source.Literal())
	}
	switch {
	case r.Candidates == 0 && r.Linked > 0:
		rows.note("%s has no candidates: it is linked already to the %s of the set", source, words.Count(r.Linked, "node"))
	case r.Candidates == 0:
		rows.note("%s has no candidates: the set is empty", source)
	}
	if r.Retrieved > 0 {
		rows.noteOnce(fmt.Sprintf("scored the %d most promising of %s; retrieve = off scores all", r.Retrieved, words.Count(r.Candidates, "candidate")))
	}
	rows.noteMissing(r.Missing)
}

// noteMissing adds a note on a number of listed nodes that the graph does not have.
func (rows *Rows) noteMissing(n int) {
	if n > 0 {
		rows.noteOnce("not in the graph, and ignored: " + words.Count(n, "listed node"))
	}
}

// noteOnce adds a note unless it is empty or there already.
func (rows *Rows) noteOnce(text string) {
	if text != "" && !slices.Contains(rows.Notes, text) {
		rows.note("%s", text)
	}
}

// predictions calls f with a prediction for each source of a PREDICT or WHY, until there is an
// error. more are options of the statement that do not concern the prediction.
func (r *run) predictions(s *parse.Statement, sources []parse.Node, where filter, more []option, f func(db.PredictOptions)) {
	p := r.prediction(s, where, more...)
	for _, source := range r.sources(sources) {
		if r.fail(r.ctx.Err()) {
			return
		}
		p.For = source.of
		f(p)
		r.err = r.withPosition(source, r.err)
	}
}

// prediction returns what a PREDICT or WHY asks about each source. where is its WHERE clause.
func (r *run) prediction(s *parse.Statement, where filter, more ...option) db.PredictOptions {
	p := db.PredictOptions{Model: r.model(r.using(s)), Version: r.version(parse.Version.Of(s))}
	p.Top, p.At = r.top(parse.Top.Of(s), 0), r.time(parse.At.Of(s))
	if where.answer != nil {
		p.Top = -1 // it filters the ranked links, so all of them are ranked
	}
	r.setOptions(parse.With.All(s), append(predictOptions(&p), more...))
	p.Among = where.of(r.candidates(parse.Among.Of(s)))
	p.Relation, p.Inverse = r.askedRelation(s)
	return p
}

// predictOptions returns the options of PREDICT and WHY.
func predictOptions(p *db.PredictOptions) []option {
	walk := func(name, accepts, meaning string) option {
		return walkOption(name, accepts, meaning, func(r *run, v parse.Value) {
			p.Walk = append(p.Walk, db.Option{Name: name, Value: r.value(v)})
		})
	}
	seed := option{"seed", "an integer of at least 0", "seed of SAMPLE; the database's by default", func(r *run, o parse.Option) {
		r.seed = uint64(r.integer(o.Value, 0, 0))
	}}
	return []option{
		walk("alpha", "a number from 0 to 1", "probability that the walk goes on, in place of the model's"),
		walk("beta", "a number from 0 to 1", "factor of katz for each further edge of a walk; 0.005 by default"),
		cacheOption("the answer", &p.NoCache),
		walk("center", "on or off", "whether the values of the walk are centered"),
		epsilonOption(&p.Epsilon),
		walk("length", "an integer from 1 to 20", "number of edges of the longest walks of katz; 5 by default"),
		walk("norm", "row or column", "form of the walk, in place of the model's"),
		onOff("retrieve", "off scores all candidates, and not the most promising of many", func(on bool) { p.RankAll = !on }),
		weightsOption(&p.RelationWeights),
		seed,
		walk("seed_weight", "a number", "weight of the source in the walk, in place of the model's"),
		wordOption("until", "whether the walk stops as soon as the ranks are exact",
			func(word string) { p.UntilExact = word == "exact" }, "exact", "epsilon"),
	}
}

// walkOption returns an option of a walk, which set keeps.
func walkOption(name, accepts, meaning string, set func(r *run, v parse.Value)) option {
	return option{name, accepts, meaning, func(r *run, o parse.Option) {
		r.fail(model.CheckWalk(name, r.single(o, accepts)))
		set(r, o.Value)
	}}
}

// cacheOption returns the option that keeps a walk from using the cache. The walk results in
// what.
func cacheOption(what string, without *bool) option {
	return onOff("cache", "off makes "+what+" a function of graph, model and statement alone", func(on bool) { *without = !on })
}

func epsilonOption(to *float64) option {
	return numberOption("epsilon", "a number between 0 and 1, exclusive", "largest error of PageRank, relative to the largest start value "+
		"(with norm = column: times the degree of the node, in units of the mean weight of the sources' edges)",
		func(x float64) bool { return x > 0 && x < 1 }, to)
}
