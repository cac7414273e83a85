package query

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"kith/db"
	"kith/db/words"
	"kith/model"
	"kith/query/internal/parse"
)

// evaluateHoldout asks each contender for the same hidden links. The evaluated contender comes
// first.
func (r *run) evaluateHoldout(s *parse.Statement) {
	e := evaluation{run: r, EvaluateOptions: r.holdout(s)}
	if parse.SplitFile.Of(s) != nil {
		e.files = &db.LoadOptions{Split: "test", Tables: r.session.Tables}
	}
	e.addContenders(s)
	if e.readSplit(s); r.err != nil {
		return
	}
	e.Progress = func(done, total int) { r.progress("nodes", int64(done), int64(total)) }
	of, err := r.tx.Evaluate(r.ctx, e.EvaluateOptions)
	at := place(hiddenClause(s))
	if spec := e.Contenders[0].Spec; spec != nil && spec.Validate() != nil {
		at = parse.Using.In(s)
	}
	if !r.failAt(at, err) {
		e.addRows(s, of)
	}
}

// evaluation is a statement EVALUATE HOLDOUT or EVALUATE SPLIT being run.
type evaluation struct {
	*run
	db.EvaluateOptions
	reliability bool            // add a row for each bin of the calibration
	files       *db.LoadOptions // options for the files of a split; nil without a split
	links       int             // number of links in the file of a split
	unknown     string          // note about links whose nodes the graph lacks; "" means that it lacks no node
}

// priorName is the name of the built-in model in answers.
const priorName = "prior"

// resourceAllocation is the heuristic that every evaluation includes, because it is among the best
// ones on most graphs.
const resourceAllocation = "resource_allocation"

// addContenders adds the contenders: the model of the statement, the built-in model and resource
// allocation.
func (e *evaluation) addContenders(s *parse.Statement) {
	c, name, policy := e.evaluated(s)
	var t db.TrainOptions
	e.setOptions(parse.With.All(s), e.options(&t, c.Version == 0 && !slices.Contains(model.Heuristics(), policy)))
	e.seed = e.Seed
	c.Plan = t.Plan
	c.Plan.Progress = e.trainingProgress()
	e.Contenders = []db.Contender{c}
	if name != priorName {
		e.Contenders = append(e.Contenders, db.Contender{Prior: true})
	}
	if name != resourceAllocation {
		e.Contenders = append(e.Contenders, db.Contender{Model: resourceAllocation})
	}
}

// evaluated returns the contender for the evaluated model or policy, its name in answers, and its
// policy. A name that is both denotes the model.
func (r *run) evaluated(s *parse.Statement) (c db.Contender, name, policy string) {
	c.Model, c.Version = r.model(r.using(s)), r.version(parse.Version.Of(s))
	m, err := r.tx.Model(c.Model).Info(r.ctx)
	if err == nil || c.Model == "" {
		return c, cmp.Or(c.Model, m.Name, priorName), m.Policy
	}
	if parse.Version.Of(s) != nil {
		r.fail(err)
	}
	using := parse.Using.Of(s)
	if checkPolicy(using.Value) != nil {
		meant := words.Closest(using.Value, model.Policies())
		if named := (*db.Error)(nil); meant == "" && errors.As(err, &named) {
			meant = named.DidYouMean
		}
		r.fail(&Error{Pos: using.Pos, Msg: fmt.Sprintf("%v is neither a model nor a policy", using), DidYouMean: meant, Err: err})
	}
	return db.Contender{Spec: &db.ModelSpec{Policy: using.Value}}, using.Value, using.Value
}

// addRows adds the measurements of each contender.
func (e *evaluation) addRows(s *parse.Statement, of *db.Evaluation) {
	rows, first := e.rows, &of.Results[0]
	for i := range of.Results {
		c := &of.Results[i]
		rows.addQuality(c)
		if i == 0 {
			rows.addReached(c, of.Sources)
		}
		if c.Probabilities {
			rows.addCalibration(c, e.reliability && i == 0)
		}
	}
	rows.note("%s; %s with %s to find among %s without a link", e.hiddenNote(of), words.Count(of.Sources, "source"),
		words.Count(first.Links, "link"), words.Count(first.Others, "candidate"))
	if parse.After.Of(s) != nil {
		rows.note("an edge that was added several times has the last of its times, and is hidden as a whole")
	}
	if e.unknown != "" {
		rows.note("%s", e.unknown)
	}
	rows.note("answered by %s", first.AnsweredBy)
	rows.remarkGain(of.Results)
	if first.AlreadyLearned {
		rows.note("version %d of model %s may have learned links that are hidden now, so the numbers say little about unknown links; without VERSION a copy of the model is asked that has not",
			first.Version, Name(first.Name))
	}
}

// remarkGain notes how much better the first contender is than all other contenders.
func (rows *Rows) remarkGain(all []db.Result) {
	var gains []string
	for i := range all[1:] {
		if of := &all[1+i]; of.MRR > 0 {
			gains = append(gains, fmt.Sprintf("%.3g times that of %s", all[0].MRR/of.MRR, of.Name))
		}
	}
	if gains != nil {
		rows.note("mrr of %s is %s", all[0].Name, strings.Join(gains, ", "))
	}
}

// holdout resolves the hidden edges, the sources and the candidates.
func (r *run) holdout(s *parse.Statement) db.EvaluateOptions {
	o := db.EvaluateOptions{Seed: r.seed, After: r.time(parse.After.Of(s)), Sample: int(r.integer(parse.Sample.Of(s), 1, 0))}
	if parse.Holdout.Of(s) != nil {
		o.Share = r.number(parse.Holdout.Of(s))
	}
	if sources := parse.ForNode.All(s); sources != nil {
		o.For = r.nodes(sources)
	}
	o.Relation, o.Inverse = r.askedRelation(s)
	o.Among = []db.Candidates{r.where(s, r.candidates(parse.Among.Of(s)))}
	return o
}

// options returns the options of the evaluation, of the files of a split and, for a contender that
// learns, of its training.
func (e *evaluation) options(t *db.TrainOptions, learns bool) []option {
	options := []option{
		integerOption("seed", "seed of the draws", 1, math.MaxInt64, &e.Seed),
		onOff("reliability", "add a row for each bin of the calibration; off by default", func(on bool) { e.reliability = on }),
	}
	if e.files != nil {
		options = append(options, edgeOptionsBut(e.files, "max_errors", "repeats", "times", "relation", "negative", "directed")...)
	}
	if learns {
		options = append(options, planOptions(t)...)
	}
	return options
}

// holdoutOptions returns the options of EVALUATE HOLDOUT and EVALUATE SPLIT. They include the
// options of a training unless a heuristic or a version is evaluated, which learns nothing.
func holdoutOptions(s *parse.Statement, _ func(string) bool) []option {
	e := evaluation{}
	if parse.SplitFile.Of(s) != nil {
		e.files = &db.LoadOptions{}
	}
	return e.options(&db.TrainOptions{}, parse.Version.Of(s) == nil && !slices.Contains(model.Heuristics(), parse.Using.Of(s).Value))
}

// mean returns x, the mean of n numbers, or nil if n is 0.
func mean(x float64, n int) any {
	if n == 0 {
		return nil
	}
	return x
}

// addQuality adds the rows of the quality of a contender.
func (rows *Rows) addQuality(c *db.Result) {
	rows.add(c.Name, "mrr", mean(c.MRR, c.Links), int64(c.Links), "links")
	for _, h := range c.Hits {
		rows.add(c.Name, fmt.Sprintf("hits@%d", h.K), mean(h.Share, c.Links), int64(c.Links), "links")
	}
	rows.add(c.Name, "auc", mean(c.AUC, c.Pairs), int64(c.Pairs), "pairs")
}

// addReached adds the share of the links that are candidates, and a note on sources with too few
// candidates for hits@K.
func (rows *Rows) addReached(c *db.Result, sources int) {
	rows.add(c.Name, "reached", mean(float64(c.Reached)/float64(max(c.Links, 1)), c.Links), int64(c.Links), "links")
	var short []string
	for _, h := range c.Hits {
		if h.Short > 0 {
			short = append(short, fmt.Sprintf("%d of %s at %d", h.Short, words.Count(sources, "node"), h.K))
		}
	}
	if short != nil {
		rows.note("each candidate that is a link counts for hits@K where its node has fewer than K others: %s", strings.Join(short, ", "))
	}
}

// addCalibration adds the expected calibration error of exploit and, if each is set, a row for each
// bin.
func (rows *Rows) addCalibration(c *db.Result, each bool) {
	candidates := c.Reached + c.Others
	rows.add(c.Name, "ece", mean(c.ECE, candidates), int64(candidates), "candidates")
	if !each {
		return
	}
	for _, b := range c.Bins {
		rows.add(c.Name, fmt.Sprintf("links at exploit %.3g", b.Predicted), b.Share, int64(b.Count), "candidates")
	}
}

// hiddenClause returns the clause that says which edges are hidden.
func hiddenClause(s *parse.Statement) parse.Value {
	switch {
	case parse.SplitFile.Of(s) != nil:
		return parse.SplitFile.Of(s)
	case parse.After.Of(s) != nil:
		return parse.After.Of(s)
	}
	return parse.Holdout.Of(s)
}

// hiddenNote returns the note on which edges are hidden.
func (e *evaluation) hiddenNote(of *db.Evaluation) string {
	note := fmt.Sprintf("%d of %d edges are hidden", of.Hidden, of.Edges)
	if of.Wanted > of.Hidden {
		note += fmt.Sprintf(", as many as fit into the memory, instead of %d", of.Wanted)
	}
	if e.files != nil {
		note = fmt.Sprintf("%s has %s; %s", e.files.Name, words.Count(e.links, "link"), note)
	}
	return note
}

// readSplit reads the files of a split.
func (e *evaluation) readSplit(s *parse.Statement) {
	if parse.SplitFile.Of(s) == nil {
		return
	}
	e.Links = e.pairs(parse.SplitFile.Of(s))
	e.links, e.files.Name = len(e.Links), e.text(parse.SplitFile.Of(s))
	as := "count as missed"
	if parse.ForNode.All(s) != nil || parse.Sample.Of(s) != nil {
		as = "are left out"
	}
	e.noteUnknown(e.Links, as)
}

// pairs reads a file of links.
func (e *evaluation) pairs(file parse.Value) (pairs []db.Edge) {
	o := *e.files
	o.Name = e.text(file)
	if info, err := os.Stat(o.Name); e.err == nil && err == nil && info.IsDir() {
		pairs, notes, err := e.session.DB.FolderPairs(e.ctx, os.DirFS(o.Name), o)
		e.rows.noteList(notes)
		e.failIn(file, err)
		return pairs
	}
	e.readFile(file, func(f io.Reader) error {
		list, notes, err := e.session.DB.Pairs(e.ctx, f, o)
		e.rows.noteList(notes)
		pairs = list
		return err
	})
	return pairs
}

// noteUnknown notes how many links have a node that the graph lacks; as says how they are counted.
func (e *evaluation) noteUnknown(links []db.Edge, as string) {
	n := 0
	var first db.Edge
	for _, l := range links {
		if e.tx.Has(l.Src) && e.tx.Has(l.Dst) {
			continue
		}
		if n++; n == 1 {
			first = l
		}
	}
	if n > 0 {
		e.unknown = fmt.Sprintf("the graph lacks a node of %s, the first of them %v -> %v: they %s", words.Count(n, "link"), first.Src.Literal(), first.Dst.Literal(), as)
	}
}
