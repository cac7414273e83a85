package model

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/factor"
	"kith/model/internal/graph"
	"kith/model/internal/rules"
	"kith/model/nn"
)

// relational is the part of the default that predicts links of one relation from the edges of all
// relations: a network over the evidence of rules (package rules), trained like a ranker, and
// scores that are added to its output. Its log-odds replace the ranker's in a world that asks for
// one relation. It is immutable.
type relational struct {
	set     *rules.Set
	net     *nn.Network
	bounds  bounds // of the evidence
	weights scoreWeights
	factors *factor.Factors // nil: their weight is 0
	level   level
}

// bounds are the least and the largest value of each column in a training. A value outside counts
// as the nearest one inside, because the network and its level know nothing about others.
type bounds struct{ Least, Most nn.Floats }

func (b bounds) clamp(x []float32) {
	for i, v := range x {
		x[i] = min(max(v, b.Least[i]), b.Most[i])
	}
}

// relationShape is the shape of the mean of a number of networks.
func relationShape(members int) nn.Shape {
	return nn.Shape{In: rules.Len, Hidden: []int{members * rankerWidth}, Bias: true}
}

// answersRelation reports whether a world asks for links of one relation, and the relational part
// answers.
func (s *Scorer) answersRelation(w World) bool {
	return w.Typed != nil && s.Relational() && s.config.timeCol() >= 0
}

// relationContexts builds the context of each pair, one row of t.x each. As in the context of a
// link that a forecast answers alone, the log-odds stand in the column of the forecast, and nothing
// in the columns of the ranker. A forecast adds to them.
func (s *Scorer) relationContexts(ctx context.Context, w World, pairs []Pair, t *scratch) error {
	odds, err := s.relationOdds(ctx, t, w, pairs)
	if err != nil {
		return err
	}
	t.open(w)
	defer t.open(World{})
	t.related = true
	c, col := s.config, s.config.timeCol()
	t.x = nn.Resize(t.x, len(pairs), c.width())
	clear(t.x.Data)
	if c.FeatureLen > 0 {
		if err := c.features(w, pairs, t, t.x); err != nil {
			return err
		}
		for i := range pairs {
			clear(nn.Row(t.x, i)[col:])
		}
	}
	if t.forecast.reads(w) {
		t.forecasts(w, pairs)
		c.addForecast(w, pairs, t, t.x)
	}
	for i := range pairs {
		if t.forecast.reads(w) && t.times.shares[i].Weight == alone {
			continue
		}
		x := &nn.Row(t.x, i)[col]
		if *x += float32(odds[i]); *x == 0 {
			*x = math.SmallestNonzeroFloat32 // 0 stands for no log-odds
		}
	}
	return nil
}

// relationOdds returns the log-odds of pairs by the evidence for the relation that is asked for.
func (s *Scorer) relationOdds(ctx context.Context, t *scratch, w World, pairs []Pair) ([]float64, error) {
	odds := make([]float64, 0, len(pairs))
	for _, run := range graph.BySource(pairs) {
		r := s.belief.relational
		if err := s.readOpinions(ctx, t, w, run, r.weights.of(w.Head)); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		odds = r.appendOdds(odds, t, w, run)
	}
	return odds, nil
}

// appendOdds appends the log-odds of pairs of one source.
func (r *relational) appendOdds(odds []float64, t *scratch, w World, pairs []Pair) []float64 {
	nodes := make([]ID, len(pairs))
	for i, p := range pairs {
		nodes[i] = p.Target
	}
	source := pairs[0].Source
	outputs, known, ok := r.found(w, source, nodes)
	if !ok {
		t.evidence.Open(w.Typed, r.set, source, w.Head)
		outputs, known = r.outputs(t, nodes)
	}
	added, weights := r.added(t, w, source, nodes), r.weights.of(w.Head)
	for i, output := range outputs {
		odds = append(odds, r.level.of(weighted(weights, output, added, i), known))
	}
	return odds
}

// found returns the outputs for nodes and the column of the known targets if Reached has found
// them.
func (r *relational) found(w World, source ID, nodes []ID) (all []float64, known float64, ok bool) {
	f := w.Found
	if f == nil || f.By != r || f.Typed != w.Typed || f.Source != source || f.Head != w.Head {
		return nil, 0, false
	}
	all = make([]float64, len(nodes))
	for i, u := range nodes {
		at, ok := slices.BinarySearch(f.Nodes, u)
		if !ok {
			return nil, 0, false
		}
		all[i] = f.Outputs[at]
	}
	return all, f.Known, true
}

// outputs returns the output of the network for nodes by the evidence on the tape, and the column
// of the known targets of the source.
func (r *relational) outputs(t *scratch, nodes []ID) (all []float64, known float64) {
	for first := 0; first < len(nodes); first += nn.BatchLen {
		batch := nodes[first:min(first+nn.BatchLen, len(nodes))]
		t.ranked = nn.Resize(t.ranked, len(batch), rules.Len)
		for i, u := range batch {
			r.columns(t, u, nn.Row(t.ranked, i))
		}
		known = float64(nn.Row(t.ranked, 0)[rules.KnownColumn])
		for _, f := range r.net.Forward(&t.net, t.ranked) {
			all = append(all, float64(f))
		}
	}
	return all, known
}

// columns writes the evidence for a node to x.
func (r *relational) columns(t *scratch, u ID, x []float32) {
	t.evidence.Columns(t.evidence.Number(u), x)
	r.bounds.clamp(x)
}

// estimateByRelation estimates pairs.
func (s *Scorer) estimateByRelation(ctx context.Context, t *scratch, w World, pairs []Pair, scores []Score) error {
	if err := s.relationContexts(ctx, w, pairs, t); err != nil {
		return err
	}
	all := t.x
	return nn.InBatches(ctx, len(pairs), func(first, end int) error {
		t.x = nn.Rows(all, first, end)
		s.believe(t, w, pairs, first, scores[first:end])
		t.x = all
		return nil
	})
}

// Reached returns up to n nodes that the evidence for links of a relation leads to and that accept
// admits, the ones that the network finds most likely, the likeliest first. It returns nil if the
// world asks for no relation, or the model has learned none.
func (s *Scorer) Reached(w World, source ID, n int, accept func(ID) bool) []ID {
	if !s.answersRelation(w) {
		return nil
	}
	t := s.scratch()
	defer s.release(t)
	r := s.belief.relational
	t.evidence.Open(w.Typed, r.set, source, w.Head)
	nodes := slices.Sorted(slices.Values(t.evidence.Best(max(n, mostJudged), accept)))
	outputs, known := r.outputs(t, nodes)
	if w.Found != nil {
		*w.Found = Found{By: r, Typed: w.Typed, Source: source, Head: w.Head, Nodes: nodes, Outputs: outputs, Known: known}
	}
	places := nn.Numbers(len(nodes))
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(outputs[b], outputs[a]) })
	likely := make([]ID, min(n, len(nodes)))
	for i := range likely {
		likely[i] = nodes[places[i]]
	}
	return likely
}

// mostJudged is the number of nodes, the most promising ones, among which the network chooses the
// likely ones.
const mostJudged = 1000

// Relational reports whether the model has learned relations.
func (s *Scorer) Relational() bool { return s.belief != nil && s.belief.relational != nil }

func (r *relational) bytes() int {
	if r == nil {
		return 0
	}
	weights := (1 + len(addedScores)) * (1 + len(r.weights.Each))
	return r.set.Bytes() + r.factors.Bytes() + 4*len(r.net.Theta) + 8*(rules.Len+weights)
}

// renamed returns the part for a graph in which nodes and relations have other numbers.
func (r *relational) renamed(to func(ID) (ID, bool), relation func(int) (int, bool)) *relational {
	if r == nil {
		return nil
	}
	relations := 0
	for i := range r.set.Relations() {
		if n, ok := relation(i); ok {
			relations = max(relations, n+1)
		}
	}
	direction := func(d rules.Direction) (rules.Direction, bool) {
		n, ok := relation(int(d / 2))
		return 2*rules.Direction(n) + d%2, ok
	}
	out := *r
	out.set, out.factors = r.set.Renamed(relations, to, direction), r.factors.Renamed(to, direction)
	out.weights = r.weights.renamed(2*relations, direction)
	return &out
}

// relationalDocument is the stored form.
type relationalDocument struct {
	Rules   []byte
	Weights nn.Floats
	Bounds  bounds
	Scores  scoreWeights
	Factors *factor.Document `msgpack:",omitempty"`
	Level   level
}

func (r *relational) document() *relationalDocument {
	d := &relationalDocument{Rules: r.set.Marshal(), Weights: r.net.Theta, Bounds: r.bounds, Scores: r.weights, Level: r.level}
	if r.factors != nil {
		d.Factors = r.factors.Document()
	}
	return d
}

func (d *relationalDocument) relational() (*relational, error) {
	set, err := rules.Unmarshal(d.Rules)
	if err != nil {
		return nil, err
	}
	shape := relationShape(rankerMembers)
	if len(d.Weights) != shape.Params() || !nn.Finite(d.Weights...) || !nn.Finite(d.Level.Slope, d.Level.Degree, d.Level.Shift) {
		return nil, errors.New("the weights of relations do not fit")
	}
	if len(d.Bounds.Least) != rules.Len || len(d.Bounds.Most) != rules.Len || !nn.Finite(d.Bounds.Least...) || !nn.Finite(d.Bounds.Most...) {
		return nil, errors.New("the bounds of evidence do not fit")
	}
	if !d.Scores.valid() {
		return nil, errors.New("the weights of scores do not fit")
	}
	r := &relational{set: set, net: nn.NewNetwork(shape, d.Weights), bounds: d.Bounds, weights: d.Scores, level: d.Level}
	if d.Factors != nil {
		r.factors, err = d.Factors.Factors()
	}
	return r, err
}

// relationInputs is Inputs where the relational part answers: the evidence in place of its
// log-odds, and what else the belief reads.
func (s *Scorer) relationInputs(ctx context.Context, w World, p Pair) ([]Input, error) {
	pair := []Pair{p}
	w.Found = nil // the evidence itself is read
	if err := checkPairs(w, pair); err != nil {
		return nil, err
	}
	t := s.scratch()
	defer s.release(t)
	if err := s.relationContexts(ctx, w, pair, t); err != nil {
		return nil, err
	}
	r, evidence := s.belief.relational, make([]float32, rules.Len)
	r.columns(t, p.Target, evidence)
	output, slopes := r.slopes(&t.net, evidence)
	added, weights := r.added(t, w, p.Source, []ID{p.Target}), r.weights.of(w.Head)
	odds := r.level.of(weighted(weights, output, added, 0), float64(evidence[rules.KnownColumn]))
	z := nn.Resize(blas32.General{}, 1, len(s.belief.mean))
	s.belief.inputs(s.config, t, pair, z)

	x, col := nn.Row(t.x, 0), s.config.timeCol()
	weight := float64(s.belief.mean[col] * s.belief.scale[col])
	perScore := weight * r.level.Slope
	var all []Input
	rest := weight * odds
	for i, name := range rules.Names() {
		adds := perScore * weights[0] * slopes[i] * float64(evidence[i])
		all = append(all, Input{name, float64(evidence[i]), adds, rules.Tells(i)})
		rest -= adds
	}
	for k, a := range added {
		if a != nil {
			adds := perScore * weights[1+k] * a[0]
			all = append(all, Input{addedScores[k].name, a[0], adds, addedScores[k].tells})
			rest -= adds
		}
	}
	columns := append(s.config.contextColumns(), historyColumns()...)
	for i, v := range z.Data[:len(z.Data)-1] {
		value, adds := float64(v), float64(s.belief.mean[i])*float64(v)
		if i < len(x) {
			value = float64(x[i])
		}
		if i == col {
			value, adds = value-odds, adds-weight*odds // of a forecast
		}
		if i < col || i >= len(x) || adds != 0 {
			all = append(all, Input{columns[i].Name, value, adds, columns[i].Family.Words()})
		}
	}
	return append(all, Input{columns[len(columns)-1].Name, odds, rest, ""}), nil
}

// slopes returns the output of the network for the columns x, and its derivatives with respect to
// the columns.
func (r *relational) slopes(t *nn.Tape, x []float32) (output float64, slopes []float64) {
	output = float64(r.net.Forward(t, nn.NewMatrix(x, len(x)))[0])
	r.net.Backward(t, t.RepeatOne(1))
	for _, v := range r.net.InputGradient(t, blas32.General{}).Data {
		slopes = append(slopes, float64(v))
	}
	return output, slopes
}

// Rule is a rule that a training learned: a path along Body from a source leads to a target of Head
// with probability Confidence. Of Tries targets that such paths led to from a sample of sources,
// Hits were linked to. Chance is what Confidence would be if nodes were targets as often as they
// are for all sources. A rule with more chance than confidence speaks against its targets.
type Rule struct {
	Head        graph.Direction
	Body        []graph.Direction
	Confidence  float64
	Chance      float64
	Hits, Tries int
}

// Reason is a rule that leads from a source to a target along Count paths, and the nodes of some of
// these, both ends included.
type Reason struct {
	Rule
	Count int
	Paths [][]ID
}

// ruleOf returns a rule in its public form.
func ruleOf(head graph.Direction, r *rules.Rule) Rule {
	hits, tries := r.Total()
	return Rule{head, slices.Clone(r.Body[:r.Len]), r.Confidence(), r.ByChance(), int(hits), int(tries)}
}

// Rules returns the rules that the model has learned for links of a direction, the most confident
// first.
func (s *Scorer) Rules(head graph.Direction) (all []Rule) {
	if !s.Relational() {
		return nil
	}
	set := s.belief.relational.set
	learned := slices.Concat(set.Rules(head), set.Against(head))
	for i := range learned {
		all = append(all, ruleOf(head, &learned[i]))
	}
	slices.SortStableFunc(all, func(a, b Rule) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return all
}

// Reasons returns the n most confident rules that lead from the source of a pair to its target, and
// the n rules that speak most against it, with up to the given number of paths each. It returns nil
// if the world asks for no relation, or the model has learned none.
func (s *Scorer) Reasons(w World, p Pair, n, paths int) (all []Reason) {
	if !s.answersRelation(w) {
		return nil
	}
	for _, r := range s.belief.relational.set.Reasons(w.Typed, p.Source, p.Target, w.Head, n, paths) {
		all = append(all, Reason{ruleOf(w.Head, &r.Rule), r.Count, r.Paths})
	}
	return all
}
