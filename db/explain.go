package db

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"kith/db/internal/candidate"
	"kith/db/internal/walk"
	"kith/db/internal/wire"
	"kith/db/words"
	"kith/index"
	"kith/model"
	"kith/ppr"
)

// How a question is answered.
//
// A request is resolved to candidates. The model's scorer computes their contexts from the snapshot
// (features and present structure) and estimates their rewards, and a walk over the graph spreads
// the estimates: v = αPv + (1-α)h. The walk is certified: Link.Error covers its numerical
// error, and Link.Exact says that no such error could change the rank.
//
// PageRank comes from cached states, which are repaired when edges have changed: coarse ones of 30
// times the database's epsilon for contexts, others for candidates of PPR and for the walk. With
// NoCache it is computed from scratch, so the answer is a function of graph, model, request and
// Options.Memory, bit for bit, and trainings read the graph in this way. A walk that would take
// more memory than an answer has ends early, and its bounds say how far it came. A state that was
// computed on a graph with the same edges gives the same contexts and candidates, bit for bit.
// After a repair, and when it was loaded from the store, the PageRank of node j in an undirected
// graph differs from the result of a solve by at most 60 epsilon times the degree of j, counted in
// units of the mean weight of the source's edges. No rank is Exact if contexts or candidates came
// from such a state, and contexts make Error infinite; with UntilExact they are computed from
// scratch then. Without a model, and before a model's first training, the estimate is a fixed prior
// over the structure. Prediction.AnsweredBy names the model that was used.
//
// [Tx.PredictEach] answers many questions on all processors, in their order and with NoCache,
// within the memory of a single answer. It answers PREDICT LINKS FOR ALL and kith score.
//
// A question may be about a weighted set of nodes, [Seeds], as one source: [Tx.PageRank] starts its
// walk at the nodes by weight, and Predict scores a link as if a node of the set, drawn by weight,
// made it. All scores are then weighted means of the scores that the nodes alone would give the
// same candidates, since estimates are averaged and a walk is linear, so no model is asked anything
// that it was not trained for, and [Tx.Why] shows what each node adds. Generated candidates are
// nodes near any of the nodes; nodes that any of them is linked to are left out.
//
// A training takes a quarter of Options.Memory, whatever the size of the graph: the columns of its
// samples and the vectors of the nodes. Where both do not fit, it draws fewer samples and leaves
// the vectors out (ModelInfo.VectorsLeftOut). It reads all edges once to draw samples and once to
// leave some out. Where a graph is too large to be copied without the edges that are hidden, their
// nodes' rows are changed instead: short ones are copied, long ones lose these edges whenever they
// are read.
//
// [DB.Evaluate] measures how good predictions are: it hides edges, and asks contenders for them on
// the graph without them. All contenders rank the same nodes among the same candidates.

// Step is a step of a plan.
type Step struct {
	Name   string  `json:"step"`
	Detail string  `json:"detail"`
	Cost   float64 `json:"cost_ms"` // predicted, in milliseconds; 0 means not predicted
	Took   float64 `json:"took_ms"` // in milliseconds; 0 in a plan
}

// Explain describes how Predict would answer. It finds the candidates and scores none.
func (tx *Tx) Explain(ctx context.Context, p PredictOptions) ([]Step, error) {
	q, err := tx.prepare(ctx, p)
	if err != nil {
		return nil, err
	}
	return tx.steps(q, &p, q.estimates()), nil
}

// Profile answers as Predict does, and returns the time that each step took, and how states were
// obtained.
func (tx *Tx) Profile(ctx context.Context, p PredictOptions) (*Prediction, []Step, error) {
	start := time.Now()
	q, err := tx.prepare(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	found := time.Now()
	if err := q.retrieve(ctx, &p); err != nil {
		return nil, nil, err
	}
	chosen := time.Now()
	scores, err := q.score(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	scored := time.Now()
	r := q.rank(tx, &p, scores)
	steps := append(tx.steps(q, &p, q.walk.Plan), Step{Name: "cache", Detail: "not used"})
	if q.walk.Reader != nil {
		steps[len(steps)-1].Detail = q.walk.Use.Summary()
	}
	took := map[string]time.Duration{
		"candidates": found.Sub(start),
		"retrieve":   chosen.Sub(found),
		"score":      scored.Sub(chosen) - q.walk.Took,
		"walk":       q.walk.Took,
		"rank":       time.Since(scored),
	}
	for i := range steps {
		steps[i].Took = float64(took[steps[i].Name]) / float64(time.Millisecond)
	}
	return r, steps, nil
}

// estimates predicts the strategies of the walk before the start values are known, as if they were
// all 1.
func (q *question) estimates() []walk.Estimate {
	if q.scorer.Walk().Alpha == 0 {
		return nil
	}
	t := &walk.Task{Source: q.start.Node[0], At: q.candidates}
	t.Form, t.Alpha = walk.Parameters(q.scorer.Walk())
	t.Start.Node = candidate.Union(q.candidates, q.start.Node)
	t.Start.Value = slices.Repeat([]float64{1}, len(t.Start.Node))
	return q.walk.Estimates(t)
}

func (tx *Tx) steps(q *question, p *PredictOptions, plan []walk.Estimate) []Step {
	n := q.ranking.Candidates
	candidates := fmt.Sprintf("%v: %s", q.among, words.Count(n, "node"))
	if q.ranking.Linked > 0 {
		candidates += fmt.Sprintf(", %d more are linked already and left out", q.ranking.Linked)
	}
	if q.ranking.Missing > 0 {
		candidates += fmt.Sprintf(", %d listed are not in the graph", q.ranking.Missing)
	}
	of := q.ranking.AnsweredBy
	if r := q.ranking; r.ModelVersion != 0 {
		of = fmt.Sprintf("%s version %d, %s observed", r.Model, r.ModelVersion, words.Count(r.Rounds, "round"))
	}
	w := Step{Name: "walk", Detail: "none"}
	if len(plan) > 0 {
		parts := append([]string{q.walk.Describe(plan)}, q.options("alpha", "norm", "seed_weight")...)
		w.Detail, w.Cost = strings.Join(append(parts, fmt.Sprintf("epsilon %g", q.walk.Tolerance())), "; "), plan[0].Ms
	}
	score := append([]string{q.scorer.Basis()}, q.options("preset", "blocks", "normalize")...)
	steps := []Step{
		{Name: "source", Detail: tx.describeSource(q)},
		{Name: "candidates", Detail: candidates},
		{Name: "model", Detail: of},
	}
	if few := cmp.Or(q.ranking.Retrieved, q.retrieves(p)); few > 0 {
		steps = append(steps, Step{Name: "retrieve", Detail: fmt.Sprintf("the most promising %d of %d", few, n)})
		n = few
	}
	return append(steps,
		Step{Name: "score", Detail: strings.Join(score, ", ")},
		w,
		Step{Name: "rank", Detail: fmt.Sprintf("the best %d of %d", p.top(n), n)},
	)
}

// describeSource describes the source node or nodes of a question.
func (tx *Tx) describeSource(q *question) string {
	edges, what := 0, "node"
	for _, id := range q.start.Node {
		to, _ := tx.view().Graph.Out(id)
		edges += len(to)
	}
	if n := len(q.start.Node); n > 1 {
		what = words.Count(n, "node")
	}
	return fmt.Sprintf("%s %v, %s, graph version %d", what, q.ranking.Source.Literal(), words.Count(edges, "edge"), tx.view().Meta.Version)
}

// options returns the options of the scorer that have the given names, with their values.
func (q *question) options(names ...string) (all []string) {
	for name, value := range q.scorer.Options() {
		if slices.Contains(names, name) {
			all = append(all, fmt.Sprintf("%s %v", name, value))
		}
	}
	return all
}

// Reasons explains the score of a link.
type Reasons struct {
	Prediction         // answer to the prediction
	Link       Link    `json:"link"`    // the link with its score and the parts of that
	Added      bool    `json:"added"`   // the target was not a candidate of the prediction, and was added
	Sources    []Share `json:"sources"` // of a set of sources: what each node contributes to the score; empty for one node
	Evidence
	Inputs []Input `json:"inputs"`   // model inputs for the pair and their contributions; empty for a heuristic and for a set
	AddsTo string  `json:"adds_to"`  // meaning of the sum of Input.Adds: "log-odds" of the link, "exploit", or "" if there is no such sum
	PPR    float64 `json:"pagerank"` // personalised PageRank of the target as seen from the source
	Alpha  float64 `json:"alpha"`    // damping factor of PPR
	Paths  []Path  `json:"paths"`    // paths that carry most of PPR, in descending order
	Unseen float64 `json:"unseen"`   // upper bound of the mass of any path that is not in Paths
}

// Evidence is what speaks for a link in terms of the graph: rules that lead to it, nodes that join
// its ends, and words that they share.
type Evidence struct {
	Common Common   `json:"common"` // nodes between the ends
	Rules  []Reason `json:"rules"`  // the most confident rules that lead to the target, for a model that has learned the relation; empty for a set
	Words  []Word   `json:"words"`  // words of the target's properties that its source or nodes linked to that have too, for a model that reads words; empty for a set
}

// Common are the nodes on paths of two edges, of any relation, from a source, or from any node of a
// set, to a target: in an undirected graph, their common neighbours.
type Common struct {
	Count int   `json:"count"`
	Nodes []Key `json:"nodes"`         // the first of them, at most 3
	More  bool  `json:"more,omitzero"` // there may be more: a node has more edges than were read
	// Directed says that the database is directed, so that the nodes are on paths that lead from the
	// source to the target.
	Directed bool `json:"directed,omitzero"`
}

// Evidence returns what speaks for a link from the source of p to a target, which need not be a
// candidate. It ranks nothing: it reads a limited number of edges of the two ends, so it is cheap
// for each link of an answer. It returns a single rule with a single path if one speaks for the
// link, and words only if there is neither a rule nor a node between the ends. [Tx.Why] returns
// all. It returns the errors of Predict, and ErrNotFound for a missing target.
func (tx *Tx) Evidence(ctx context.Context, p PredictOptions, target any) (*Evidence, error) {
	id, err := tx.id(target)
	if err != nil {
		return nil, err
	}
	q, err := tx.resolve(ctx, p)
	if err != nil {
		return nil, err
	}
	e := &Evidence{Common: tx.common(q, id), Rules: []Reason{}, Words: []Word{}}
	if len(q.start.Node) > 1 {
		return e, nil
	}
	for _, r := range tx.reasons(q, id, 1, 1) {
		if !r.Against() {
			e.Rules = append(e.Rules, r)
		}
	}
	if len(e.Rules) == 0 && e.Common.Count == 0 && q.scorer.Words() {
		e.Words = q.about.sharedWords(q.start.Node[0], id)
	}
	return e, nil
}

// Sizes of a Common.
const (
	shownCommon = 3
	readCommon  = 10000 // edges that are read of each end
)

// common returns the nodes between the source of a question and a target. Rows ascend, so where
// one is cut, all common nodes up to its last node are found.
func (tx *Tx) common(q *question, target index.ID) Common {
	g := tx.view().Graph
	near, far := g.OutHead, g.InHead
	if q.about.inverse {
		near, far = far, near
	}
	c := Common{Nodes: []Key{}, Directed: tx.meta().Directed}
	each := max(1, readCommon/len(q.start.Node))
	var from []index.ID
	for _, id := range q.start.Node {
		row := near(id, each, nil)
		c.More = c.More || len(row) == each
		from = candidate.Union(from, row)
	}
	to := far(target, readCommon, nil)
	c.More = c.More || len(to) == readCommon
	for i, j := 0, 0; i < len(from) && j < len(to); {
		switch id := from[i]; {
		case id < to[j]:
			i++
		case id > to[j]:
			j++
		default:
			i, j = i+1, j+1
			if id == target || slices.Contains(q.start.Node, id) {
				continue
			}
			if c.Count++; len(c.Nodes) < shownCommon {
				c.Nodes = append(c.Nodes, tx.key(id))
			}
		}
	}
	return c
}

// Rule is a rule that a training learned: where a path along Body leads from a source to a target,
// the source is linked to the target by an edge of a relation, with probability Confidence. Of
// Tries targets that paths from a sample of sources led to, Hits were linked to. Chance is what
// Confidence would be if nodes were targets as often as they are for all sources.
type Rule struct {
	Relation   string     `json:"relation"`
	Inverse    bool       `json:"inverse,omitzero"` // the path leads from the target of the link to its source
	Body       []RuleStep `json:"body"`
	Confidence float64    `json:"confidence"`
	Chance     float64    `json:"chance"`
	Hits       int        `json:"hits"`
	Tries      int        `json:"tries"`
}

// RuleStep is an edge of the body of a rule.
type RuleStep struct {
	Relation string `json:"relation"`
	Inverse  bool   `json:"inverse,omitzero"` // the path goes against the edge
}

// MarshalJSON implements [json.Marshaler].
func (r Rule) MarshalJSON() ([]byte, error) { return wire.Object(r) }

// Against reports whether the rule speaks against the links that it leads to.
func (r Rule) Against() bool { return r.Confidence < r.Chance }

// String returns the rule as people read it, likes(X, Y) <- follows(X, Z), likes(Z, Y), with "-"
// for the relation without a name.
func (r Rule) String() string {
	path := append([]string{"X", "Z", "W"}[:len(r.Body)], "Y")
	if r.Inverse { // the path begins at the target of the head
		path[0], path[len(r.Body)] = "Y", "X"
	}
	atom := func(relation, from, to string) string {
		return fmt.Sprintf("%s(%s, %s)", cmp.Or(relation, "-"), from, to)
	}
	return atom(r.Relation, "X", "Y") + " <- " + r.body(path, atom)
}

// body writes the edges of a path.
func (r Rule) body(path []string, atom func(relation, from, to string) string) string {
	var all []string
	for i, s := range r.Body {
		from, to := path[i], path[i+1]
		if s.Inverse {
			from, to = to, from
		}
		all = append(all, atom(s.Relation, from, to))
	}
	return strings.Join(all, ", ")
}

// Reason is a rule that leads from the source of a link to its target along Count paths.
type Reason struct {
	Rule
	Count int     `json:"count"`
	Paths [][]Key `json:"paths"` // the nodes of some of the paths, both ends included
}

// MarshalJSON implements [json.Marshaler].
func (r Reason) MarshalJSON() ([]byte, error) { return wire.Object(r) }

// Edges returns the edges of a path of Paths as statements write them: 'ann' -[follows]-> 'bob',
// 'bob' -[likes]-> 'p7'.
func (r Reason) Edges(path []Key) string {
	nodes := make([]string, len(path))
	for i, k := range path {
		nodes[i] = k.Literal()
	}
	return r.body(nodes, func(relation, from, to string) string {
		if relation == "" {
			return from + " -> " + to
		}
		return fmt.Sprintf("%s -[%s]-> %s", from, relation, to)
	})
}

// Rules returns the rules by which a model predicts links of a relation, the most confident first;
// none if it has learned no relations. The built-in model mines them when it is first asked for a
// relation. Inverse asks for the rules that lead from the targets to the sources. Model and version
// are those of [PredictOptions]. It returns ErrNotFound for a missing relation, and ErrNoModel for
// a missing model or version.
func (tx *Tx) Rules(relation string, inverse bool, name string, version int) ([]Rule, error) {
	if tx.ended {
		return nil, ErrClosed
	}
	m, err := tx.model(name, version)
	if err != nil {
		return nil, err
	}
	on, err := tx.about(relation, inverse)
	if err != nil || on.head == nil {
		return nil, err
	}
	var all []Rule
	for _, r := range on.scorer(m, false).Rules(*on.head) {
		all = append(all, tx.rule(&r))
	}
	return all, nil
}

// rule returns a rule with the names of its relations.
func (tx *Tx) rule(r *model.Rule) Rule {
	name := func(d int32) string { return tx.meta().Relations[d/2].Name }
	out := Rule{Relation: name(r.Head), Inverse: r.Head%2 == 1, Confidence: r.Confidence, Chance: r.Chance, Hits: r.Hits, Tries: r.Tries}
	for _, d := range r.Body {
		out.Body = append(out.Body, RuleStep{name(d), d%2 == 1})
	}
	return out
}

// Word is a word of a property of the target of a link: a value, an element of a list, a word of a
// text, or the range that a number or a time is in.
type Word struct {
	Property string `json:"property"`
	Word     string `json:"word"`
	Source   bool   `json:"source"` // the source has the word, too
	Links    int    `json:"links"`  // number of the nodes that the source is linked to that have it
	Of       int    `json:"of"`     // number of these nodes that were read, at most 128
}

// MarshalJSON implements [json.Marshaler].
func (w Word) MarshalJSON() ([]byte, error) { return wire.Object(w) }

// String returns the word as people read it: tags 'go': both have it.
func (w Word) String() string {
	text := w.Property + " " + Str(w.Word).Literal() + ": "
	switch linked := fmt.Sprintf("%d of %s of the source", w.Links, words.Count(w.Of, "link")); {
	case w.Source && w.Links > 0:
		return text + "both have it, and " + linked
	case w.Source:
		return text + "both have it"
	default:
		return text + linked
	}
}

// Sizes of what Why shows of rules and words.
const (
	shownRules = 5
	shownPaths = 3 // of each rule
	shownWords = 5
	readLinks  = 128 // links of the source whose words are read, the first ones
)

// sharedWords returns the words of a target that speak for a link from the source, which is one
// node, those of most of its links first.
func (tx *Tx) sharedWords(source, target index.ID) []Word {
	v, all := tx.view(), []Word{}
	if !v.HasWords() {
		return all
	}
	type word struct{ property, word string }
	at := map[word]int{}
	v.EachWord(target, func(property, text string) {
		if _, known := at[word{property, text}]; !known {
			at[word{property, text}] = len(all)
			all = append(all, Word{Property: property, Word: text})
		}
	})
	each := func(id index.ID, f func(*Word)) {
		seen := map[int]bool{}
		v.EachWord(id, func(property, text string) {
			if i, has := at[word{property, text}]; has && !seen[i] {
				seen[i] = true
				f(&all[i])
			}
		})
	}
	each(source, func(w *Word) { w.Source = true })
	near, _ := v.Graph.Out(source)
	near = slices.DeleteFunc(slices.Clone(near[:min(len(near), readLinks)]), func(id index.ID) bool { return id == target })
	for _, id := range near {
		each(id, func(w *Word) { w.Links++ })
	}
	all = slices.DeleteFunc(all, func(w Word) bool { return !w.Source && w.Links == 0 })
	slices.SortStableFunc(all, func(a, b Word) int { return cmp.Compare(b.Links, a.Links) })
	for i := range all {
		all[i].Of = len(near)
	}
	return all[:min(len(all), shownWords)]
}

// reasons returns the most confident rules that lead from the source of a question, which is one
// node, to a target, and as many that speak most against it, with some paths each.
func (tx *Tx) reasons(q *question, target index.ID, rules, paths int) []Reason {
	all := []Reason{}
	pair := model.Pair{Source: q.start.Node[0], Target: target}
	for _, found := range q.scorer.Reasons(q.walk.World(), pair, rules, paths) {
		r := Reason{Rule: tx.rule(&found.Rule), Count: found.Count}
		for _, nodes := range found.Paths {
			var path []Key
			for _, id := range nodes {
				path = append(path, tx.key(id))
			}
			r.Paths = append(r.Paths, path)
		}
		all = append(all, r)
	}
	return all
}

// Share is the part of a score that one node of a set of sources contributes: Weight times Score.
// The parts sum to the score.
type Share struct {
	Node   Key     `json:"node"`
	Weight float64 `json:"weight"`
	Score  float64 `json:"score"` // score that the node alone gives the link, among the same candidates
}

// Input is one number on which the estimate of a link depends.
type Input struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Adds  float64 `json:"adds"` // its term of the sum that gives the estimate; NaN if the estimate is not such a sum
	// Tells says what it tells of the link, to people who know no model, where {source} and
	// {target} stand for the ends. It is the same for inputs that mean much the same, and "" for
	// one that does not depend on the link.
	Tells string `json:"tells"`
}

// MarshalJSON implements [json.Marshaler].
func (i Input) MarshalJSON() ([]byte, error) { return wire.Object(i) }

// Path is a path without repeated nodes and its contribution to PageRank: the probability that a
// walk follows the path and ends at its end.
type Path struct {
	Nodes []Key   `json:"nodes"` // including both ends
	Mass  float64 `json:"mass"`
}

// Why explains the score of a link: the score that Predict gives it, with the same candidates. A
// target that is not a candidate is added, and Reasons.Added is set. paths is the number of paths
// to find.
func (tx *Tx) Why(ctx context.Context, p PredictOptions, target any, paths int) (*Reasons, error) {
	id, err := tx.id(target)
	if err != nil {
		return nil, err
	}
	q, err := tx.prepare(ctx, p)
	if err != nil {
		return nil, err
	}
	_, ok := slices.BinarySearch(q.candidates, id)
	if !ok {
		p.Among = q.among.Union(Keys(target))
		if q, err = tx.prepare(ctx, p); err != nil {
			return nil, err
		}
	}
	scores, err := q.score(ctx, tx)
	if err != nil {
		return nil, err
	}
	r := &Reasons{Sources: []Share{}, Inputs: []Input{}, Paths: []Path{}, Added: !ok, AddsTo: q.scorer.AddsTo(), Alpha: tx.view().Meta.Alpha}
	all := q.links(tx, scores, len(scores))
	r.Prediction, r.Link = *q.rank(tx, &p, scores), all[slices.IndexFunc(all, func(l Link) bool { return l.Target == tx.key(id) })]
	r.Evidence = Evidence{Common: tx.common(q, id), Rules: []Reason{}, Words: []Word{}}
	if len(q.start.Node) > 1 {
		r.Sources, err = tx.shares(ctx, q, id)
	} else {
		if r.Rules = tx.reasons(q, id, shownRules, shownPaths); q.scorer.Words() {
			r.Words = q.about.sharedWords(q.start.Node[0], id)
		}
		r.Inputs, err = tx.inputs(ctx, q, id)
	}
	if err != nil {
		return nil, err
	}
	var found []walk.Path
	r.PPR, found, r.Unseen, err = q.walk.Paths(ctx, r.Alpha, q.start, id, paths)
	for _, f := range found {
		p := Path{Mass: f.Mass}
		for _, id := range f.Nodes {
			p.Nodes = append(p.Nodes, tx.key(id))
		}
		r.Paths = append(r.Paths, p)
	}
	return r, err
}

// shares returns what the nodes of a set contribute to the score of a candidate.
func (tx *Tx) shares(ctx context.Context, q *question, target index.ID) ([]Share, error) {
	shares := make([]Share, len(q.start.Node))
	at, _ := slices.BinarySearch(q.candidates, target)
	for i, id := range q.start.Node {
		alone := question{start: ppr.Unit(id), candidates: q.candidates, scorer: q.scorer, walk: q.walk}
		scores, err := alone.score(ctx, tx)
		if err != nil {
			return nil, err
		}
		shares[i] = Share{tx.key(id), q.start.Value[i], scores[at].Score}
	}
	return shares, nil
}

// inputs returns the model's inputs for a pair of the source, which is one node, and a target.
func (tx *Tx) inputs(ctx context.Context, q *question, target index.ID) ([]Input, error) {
	all, err := q.scorer.Inputs(ctx, q.walk.World(), model.Pair{Source: q.start.Node[0], Target: target})
	inputs := make([]Input, len(all))
	for i, in := range all {
		inputs[i] = Input(in)
	}
	return inputs, tx.withNodeKey(err)
}
