package query

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"kith/db"
	"kith/db/words"
	"kith/model/metric"
	"kith/query/parse"
)

// evaluateHoldout asks each contender for the same hidden links. The evaluated contender comes
// first.
func (r *run) evaluateHoldout(s *parse.Statement) {
	h := r.holdout(s)
	e := evaluation{run: r}
	if s.Value("SPLIT") != nil {
		e.files = &db.LoadOptions{Split: "test", Tables: r.session.Tables}
	}
	e.addContenders(s, &h)
	if e.readSplit(s, &h); r.err != nil {
		return
	}
	var err error
	if e.set, err = r.tx.Holdout(r.ctx, h); r.failAt(hiddenClause(s), err) {
		return
	}
	for i := range e.contenders {
		if r.failAt(s.At("USING"), e.ask(i)) {
			return
		}
		if s.Values("FOR") == nil && s.Value("SAMPLE") == nil {
			e.contenders[i].quality.links += e.set.Unknown // all missed
		}
	}
	e.addRows(s)
}

// evaluation is a statement EVALUATE HOLDOUT or EVALUATE SPLIT being run.
type evaluation struct {
	*run
	set         *db.Holdout
	contenders  []contender     // the evaluated contender comes first
	reliability bool            // add a row for each bin of the calibration
	files       *db.LoadOptions // options for the files of a split; nil without a split
	links       int             // number of links in the file of a split
	unknown     string          // note about links whose nodes the graph lacks; "" means that it lacks no node
}

// contender is a db.Contender with its properties and the quality of its predictions.
type contender struct {
	db.Contender
	name          string
	isProbability bool // exploit is an estimate of the probability of the link
	untrained     bool // whether it is a model that learns and was never trained
	info          db.ContenderInfo
	quality       quality
}

// priorName is the name of the built-in model in answers.
const priorName = "prior"

// addContenders adds the contenders: the model of the statement, the built-in model and resource
// allocation. A model of classes is evaluated alone, because the others have no classes as
// candidates.
func (e *evaluation) addContenders(s *parse.Statement, h *db.HoldoutOptions) {
	c := e.evaluated(s)
	var t db.TrainOptions
	e.setOptions(s.Options("WITH"), e.options(h, &t, c.Spec != nil))
	e.seed = h.Seed
	c.Plan = t.Plan
	c.Plan.Progress = e.trainingProgress()
	e.contenders = []contender{c}
	if e.hasClasses(&c) {
		return
	}
	if c.name != priorName || c.Model != "" {
		e.contenders = append(e.contenders, contender{Contender: db.Contender{Prior: true}, name: priorName, isProbability: true})
	}
	if c.name != resourceAllocation {
		e.contenders = append(e.contenders, contender{Contender: db.Contender{Model: resourceAllocation}, name: resourceAllocation})
	}
}

// resourceAllocation is the heuristic that every evaluation includes, because it is among the best
// ones on most graphs.
const resourceAllocation = "resource_allocation"

// hasClasses reports whether a contender predicts classes.
func (e *evaluation) hasClasses(c *contender) bool {
	m, err := e.tx.Model(c.Model).Info(e.ctx)
	return c.Spec == nil && err == nil && slices.ContainsFunc(m.Options, func(o db.Option) bool { return o.Name == "classes" })
}

// ask measures one of the contenders.
func (e *evaluation) ask(i int) error {
	c := &e.contenders[i]
	c.Progress = func(done, total int) { e.progress("nodes", int64(i*total+done), int64(len(e.contenders)*total)) }
	info, asked, err := e.set.Ask(e.ctx, c.Contender)
	if err != nil {
		return err
	}
	c.info = info
	for out, err := range asked {
		if err != nil {
			return err
		}
		c.quality.add(&out)
	}
	return nil
}

// addRows adds the measurements of each contender.
func (e *evaluation) addRows(s *parse.Statement) {
	rows, first := e.rows, &e.contenders[0]
	for i := range e.contenders {
		c := &e.contenders[i]
		c.quality.addRows(rows, c.name)
		if i == 0 {
			c.quality.addReached(rows, c.name)
		}
		if c.isProbability {
			c.quality.addCalibration(rows, c.name, e.reliability && i == 0)
		}
	}
	found := &first.quality
	asked := words.Count(e.set.Sources, "source")
	rows.note("%s; %s with %s to find among %s without a link", e.hiddenNote(), asked, words.Count(found.links, "link"), words.Count(found.others, "candidate"))
	if s.Value("AFTER") != nil {
		rows.note("an edge that was added several times has the last of its times, and is hidden as a whole")
	}
	if e.unknown != "" {
		rows.note("%s", e.unknown)
	}
	rows.note("answered by %s", first.info.AnsweredBy)
	if first.untrained {
		rows.note("model %s was never trained: the numbers are those of its initial weights", parse.Name{Value: first.name})
	}
	rows.remarkGain(e.contenders)
	if first.info.AlreadyLearned {
		rows.note("model %s has been taught before, perhaps by links that are hidden now, so the numbers say little about unknown links; USING a policy makes one that was not", first.info.Model)
	}
}

// remarkGain notes how much better the first contender is than the others.
func (rows *Rows) remarkGain(all []contender) {
	var gains []string
	for i := range all[1:] {
		if of := &all[1+i]; of.quality.reciprocal > 0 {
			gains = append(gains, fmt.Sprintf("%.3g times that of %s", all[0].quality.reciprocal/of.quality.reciprocal, of.name))
		}
	}
	if gains != nil {
		rows.note("mrr of %s is %s", all[0].name, strings.Join(gains, ", "))
	}
}

// holdout resolves the hidden edges, the sources and the candidates.
func (r *run) holdout(s *parse.Statement) db.HoldoutOptions {
	h := db.HoldoutOptions{Seed: r.seed, After: r.time(s.Value("AFTER")), Sample: int(r.integer(s.Value("SAMPLE"), 1, 0))}
	if s.Value("HOLDOUT") != nil {
		h.Share = r.number(s.Value("HOLDOUT"))
	}
	if sources := s.Values("FOR"); sources != nil {
		h.For = r.nodes(sources)
	}
	h.Among = []db.Candidates{r.candidates(s.Among())}
	return h
}

// options returns the options of the evaluation, of the files of a split and, for a policy, of its
// training.
func (e *evaluation) options(h *db.HoldoutOptions, t *db.TrainOptions, policy bool) []option {
	options := []option{
		integerOption("seed", "seed of the draws", 1, math.MaxInt64, &h.Seed),
		onOff("reliability", "add a row for each bin of the calibration; off by default", func(on bool) { e.reliability = on }),
	}
	if e.files != nil {
		options = append(options, edgeOptionsBut(e.files, "max_errors", "repeats", "times")...)
	}
	if policy {
		options = append(options, planOptions(t)...)
	}
	return options
}

// holdoutOptions returns the options of EVALUATE HOLDOUT and EVALUATE SPLIT. Those of a training
// are among them if a policy is evaluated, which is trained first.
func holdoutOptions(s *parse.Statement, isModel func(string) bool) []option {
	e := evaluation{}
	if s.Value("SPLIT") != nil {
		e.files = &db.LoadOptions{}
	}
	name := s.Name("USING").Value
	policy := name != "" && db.CheckPolicy(name) == nil && !slices.Contains(db.Heuristics(), name) && !isModel(name) && s.Value("VERSION") == nil
	return e.options(&db.HoldoutOptions{}, &db.TrainOptions{}, policy)
}

// evaluated returns the contender for the evaluated model or policy. A name that is both denotes
// the model.
func (r *run) evaluated(s *parse.Statement) (c contender) {
	c.Model, c.Version = r.model(r.using(s)), r.version(s.Value("VERSION"))
	m, err := r.tx.Model(c.Model).Info(r.ctx)
	if err == nil || c.Model == "" {
		c.name = cmp.Or(c.Model, m.Name, priorName)
		c.isProbability = err != nil || !slices.Contains(db.Heuristics(), m.Policy)
		c.untrained = err == nil && !m.Trained && c.isProbability
		versions, _ := r.tx.Model(c.Model).Versions(r.ctx) // Holdout reports the error
		for _, v := range versions {
			if v.Number == c.Version {
				c.untrained = !v.Trained && c.isProbability
			}
		}
		return c
	}
	if s.Value("VERSION") != nil {
		r.fail(err)
	}
	name := s.Name("USING")
	if db.CheckPolicy(name.Value) != nil {
		meant := words.Closest(name.Value, db.Policies())
		if named := (*db.Error)(nil); meant == "" && errors.As(err, &named) {
			meant = named.DidYouMean
		}
		r.fail(&Error{Pos: name.Pos, Msg: fmt.Sprintf("%v is neither a model nor a policy", name), DidYouMean: meant, Err: err})
	}
	c.Model, c.Spec = "", &db.ModelSpec{Policy: name.Value}
	c.name, c.isProbability = name.Value, true
	return c
}

// hitsAt lists the values of K for hits@K.
var hitsAt = [...]int{10, 20, 50, 100}

// quality accumulates how well hidden links are found, node by node.
type quality struct {
	links, reached int                  // number of hidden links, and of those that are candidates
	others         int                  // number of candidates without a link
	pairs          int                  // number of comparisons of a link with a candidate without one
	hits           [len(hitsAt)]float64 // number of links found at each K
	asked          int                  // number of source nodes
	short          [len(hitsAt)]int     // number of nodes with links found among fewer than K other candidates
	reciprocal     float64              // sum of the reciprocal ranks of the links
	ordered        float64              // sum of the AUC over the links that could be compared
	compared       int
	calibrated     metric.Calibration // calibration of exploit
	notProbability bool               // whether some exploit is not between 0 and 1
}

func (q *quality) add(h *db.HeldOut) {
	found, others := float64(len(h.Found)), len(h.Others)
	q.asked++
	q.links += len(h.Hidden)
	q.reached += len(h.Found)
	q.others += others
	q.pairs += len(h.Found) * others
	for i, k := range hitsAt {
		q.hits[i] += found * metric.HitsAt(k, h.Found, h.Others)
		if found > 0 && others < k {
			q.short[i]++
		}
	}
	q.reciprocal += found * metric.MRR(h.Found, h.Others)
	if others > 0 {
		q.ordered += found * metric.AUC(h.Found, h.Others)
		q.compared += len(h.Found)
	}
	q.addEstimates(h.FoundExploit, true)
	q.addEstimates(h.OthersExploit, false)
}

// addEstimates adds the estimated rewards of candidates that are links, or of candidates that are
// not.
func (q *quality) addEstimates(exploit []float64, links bool) {
	for _, p := range exploit {
		if q.notProbability = q.notProbability || !(p >= 0 && p <= 1); q.notProbability {
			return
		}
		q.calibrated.Add(p, links)
	}
}

// mean returns sum / n, or nil if n is 0.
func mean(sum float64, n int) any {
	if n == 0 {
		return nil
	}
	return sum / float64(n)
}

// addRows adds the rows of the quality of a contender.
func (q *quality) addRows(rows *Rows, of any) {
	rows.add(of, "mrr", mean(q.reciprocal, q.links), int64(q.links), "links")
	for i, k := range hitsAt {
		rows.add(of, fmt.Sprintf("hits@%d", k), mean(q.hits[i], q.links), int64(q.links), "links")
	}
	rows.add(of, "auc", mean(q.ordered, q.compared), int64(q.pairs), "pairs")
}

// addReached adds the share of the links that are candidates, and a note on sources with too few
// candidates for hits@K.
func (q *quality) addReached(rows *Rows, of any) {
	rows.add(of, "reached", mean(float64(q.reached), q.links), int64(q.links), "links")
	var short []string
	for i, k := range hitsAt {
		if q.short[i] > 0 {
			short = append(short, fmt.Sprintf("%d of %s at %d", q.short[i], words.Count(q.asked, "node"), k))
		}
	}
	if short != nil {
		rows.note("each candidate that is a link counts for hits@K where its node has fewer than K others: %s", strings.Join(short, ", "))
	}
}

// bins is the number of bins of the calibration.
const bins = 10

// addCalibration adds the expected calibration error of exploit and, if each is set, a row for each
// bin.
func (q *quality) addCalibration(rows *Rows, of any, each bool) {
	if q.notProbability {
		return
	}
	candidates := q.reached + q.others
	rows.add(of, "ece", mean(q.calibrated.Error(bins)*float64(candidates), candidates), int64(candidates), "candidates")
	if !each {
		return
	}
	for _, b := range q.calibrated.Bins(bins) {
		rows.add(of, fmt.Sprintf("links at exploit %.3g", b.Predicted), b.Share, int64(b.Count), "candidates")
	}
}
