package model

import (
	"cmp"
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/factor"
	"kith/model/internal/rules"
	"kith/model/nn"
)

// Sizes of the training of a relational part.
const (
	relationLinks  = 4000    // links that are hidden
	relationShare  = 20      // at most one edge in so many is hidden
	relationHard   = 50      // candidates of a choice that evidence ranks high
	relationAny    = 30      // other candidates
	relationLevel  = 20      // candidates that the level is fitted to, drawn from all
	relationSkip   = 3       // of the links that no evidence leads to, one in so many is learned
	factorEdges    = 1250000 // edges of all passes of a factorisation
	leastPasses    = 5
	mostPasses     = 20
	leastRelations = 20 // hidden links without which nothing is learned
)

// TypedEdge is an edge of a relation.
type TypedEdge = rules.Edge

// TypedGraph is what TrainRelations reads: a graph whose relations are directed or not.
type TypedGraph struct {
	Nodes    int
	Directed []bool // by relation
	Edges    iter.Seq[TypedEdge]
}

// TrainRelations learns how the relations of a graph predict each other: the rules that lead to
// links of a relation, and a network that weighs their evidence, which is trained on links that are
// hidden. It is called after TrainEdges. The model is unchanged if ctx ends, and learns nothing if
// the graph does not fit into the memory of the plan, or has few edges.
func (m *Model) TrainRelations(ctx context.Context, g TypedGraph, plan EdgePlan) error {
	if m.belief == nil || m.belief.ranker == nil {
		return nil
	}
	var edges []rules.Edge
	memory := int64(cmp.Or(plan.Memory, rankerMemory))
	for e := range g.Edges {
		if edges = append(edges, e); 2*rules.Bytes(g.Nodes, len(edges)) > memory {
			return nil
		}
	}
	rng := rand.New(m.source)
	r, err := trainRelational(ctx, rng, g, edges, memory, plan.Progress)
	if err != nil || r == nil {
		return err
	}
	b := *m.belief
	b.relational, b.frozen = r, nil
	m.belief, m.scorer, m.trained = &b, nil, true
	return nil
}

// trainRelational trains on a graph. It returns nil if too few links can be hidden.
func trainRelational(ctx context.Context, rng *rand.Rand, g TypedGraph, edges []rules.Edge, memory int64, to *Meter) (*relational, error) {
	hidden, rest := hideEdges(rng, g.Nodes, edges)
	if len(hidden) < leastRelations {
		return nil, nil
	}
	whole, part := rules.NewTable(g.Nodes, g.Directed, slices.Values(edges)), rules.NewTable(g.Nodes, g.Directed, slices.Values(rest))
	seed := rng.Uint64()
	to.Begin(phaseRules)
	set, err := rules.Mine(ctx, part, seed, func() { to.Step(1) })
	if err != nil {
		return nil, err
	}
	r := &relational{set: set}
	var vectors *factor.Trainer
	passes, more := factorPasses(len(edges))
	if 2*rules.Bytes(g.Nodes, len(edges))+factor.Bytes(g.Nodes, len(edges)) <= memory {
		vectors = factor.NewTrainer(g.Nodes, 2*len(g.Directed), seed)
		to.Begin(phaseFactors)
		if r.factors, err = factorise(ctx, vectors, part, passes, to); err != nil {
			return nil, err
		}
	}
	to.Begin(phaseEvidence)
	ranked, levelled, err := r.choices(ctx, seed, whole, part, hidden, func() { to.Step(1) })
	if err != nil {
		return nil, err
	}
	to.Begin(phaseRelations)
	held := len(ranked) / heldOut
	train, valid := ranked[:len(ranked)-held], ranked[len(ranked)-held:]
	if held == 0 {
		valid = train
	}
	scale := scaleOf(train)
	r.bounds = boundsOf(ranked)
	from := func() *ranker {
		net := nn.NewNetwork(relationShape(1), nil)
		net.InitUniform(rng)
		scale.leave(net) // its weights are for scaled columns
		return &ranker{net: net}
	}
	if r.net, err = fitMembers(ctx, rng, from, scale, train, valid, rankerPasses, func() { to.Step(1) }); err != nil {
		return nil, err
	}
	r.weights = r.fitWeights(valid)
	r.level = fitLevel(levelled, rules.KnownColumn, r.scores)
	if r.weights[0] == 0 {
		r.factors = nil
		to.Finish(phaseFactors)
		return r, nil
	}
	to.Begin(phaseFactors)
	r.factors, err = factorise(ctx, vectors, whole, more, to)
	return r, err
}

// factorPasses returns the numbers of passes of a factorisation of a graph: over the edges that are
// not hidden, and then over all edges.
func factorPasses(edges int) (part, all int) {
	n := min(max(factorEdges/max(edges, 1), leastPasses), mostPasses)
	return n, max(1, n/4)
}

// factorise learns the edges of a graph for a number of passes.
func factorise(ctx context.Context, t *factor.Trainer, g *rules.Table, passes int, to *Meter) (*factor.Factors, error) {
	var all []factor.Question
	for u := range ID(g.NumNodes()) {
		for d, row := range g.Rows(u) {
			for _, v := range row {
				all = append(all, factor.Question{Source: u, Target: v, By: d})
			}
		}
	}
	for range passes {
		if err := t.Pass(ctx, all); err != nil {
			return nil, err
		}
		to.Step(1)
	}
	return t.Factors(), nil
}

// scores returns the scores of the link of a choice and of its candidates.
func (r *relational) scores(p *choiceShard, c *choice) []float64 {
	p.forward(r.net, nil, []choice{*c}, []int{0})
	for k, by := range r.weights {
		all := c.added[k]
		p.score[0] += by * all[c.link]
		for i := range c.to - c.from {
			p.score[1+i] += by * all[c.from+i]
		}
	}
	return p.score
}

// boundsOf returns the bounds of the columns of choices.
func boundsOf(all []choice) bounds {
	b := bounds{slices.Clone(nn.Row(*all[0].x, 0)), slices.Clone(nn.Row(*all[0].x, 0))}
	for _, c := range all {
		for i := range c.x.Rows {
			for j, v := range nn.Row(*c.x, i) {
				b.Least[j], b.Most[j] = min(b.Least[j], v), max(b.Most[j], v)
			}
		}
	}
	return b
}

// hideEdges draws edges to hide in random order, and returns the others. Both ends of a hidden edge
// keep another one.
func hideEdges(rng *rand.Rand, nodes int, edges []rules.Edge) (hidden, rest []rules.Edge) {
	degree := make([]int32, nodes)
	for _, e := range edges {
		degree[e.U]++
		degree[e.V]++
	}
	out := make([]bool, len(edges))
	for _, i := range rng.Perm(len(edges)) {
		if len(hidden) == min(relationLinks, len(edges)/relationShare) {
			break
		}
		e := edges[i]
		if e.U == e.V || degree[e.U] < 2 || degree[e.V] < 2 {
			continue
		}
		degree[e.U]--
		degree[e.V]--
		hidden, out[i] = append(hidden, e), true
	}
	for i, e := range edges {
		if !out[i] {
			rest = append(rest, e)
		}
	}
	return hidden, rest
}

// choices reads the choices of hidden edges in both directions: among promising candidates,
// and among all that evidence leads to.
func (r *relational) choices(
	ctx context.Context, seed uint64, whole, part *rules.Table, hidden []rules.Edge, done func(),
) (ranked, levelled []choice, err error) {
	ranked, levelled = make([]choice, 2*len(hidden)), make([]choice, 2*len(hidden))
	scratches := newScratches()
	err = nn.Parallel(ctx, len(ranked), func(i int) {
		defer done()
		e := hidden[i/2]
		d := rules.Direction(2 * e.Relation)
		if i%2 == 1 {
			d, e.U, e.V = whole.Inverse(d), e.V, e.U
		}
		t := scratches.Get().(*scratch)
		defer scratches.Put(t)
		t.evidence.Open(part, r.set, e.U, d)
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		if !t.evidence.Has(e.V) && rng.IntN(relationSkip) > 0 {
			return
		}
		w := World{Typed: part, Head: d}
		ranked[i], levelled[i] = r.choice(rng, t, w, Pair{Source: e.U, Target: e.V}, whole.Row(e.U, d))
	})
	empty := func(c choice) bool { return c.to == c.from }
	return slices.DeleteFunc(ranked, empty), slices.DeleteFunc(levelled, empty), err
}

// choice reads the choices of a link of a source that is linked to some nodes. A candidate that is
// drawn from the others stands for several: without this, a network would learn that the candidates
// that evidence ranks high, which are all there, are seldom links.
func (r *relational) choice(rng *rand.Rand, t *scratch, w World, link Pair, linked []ID) (ranked, levelled choice) {
	candidates, promise := t.evidence.Candidates(), t.evidence.Promise()
	var pool []int
	for i, u := range candidates {
		if _, ok := slices.BinarySearch(linked, u); u != link.Target && !ok {
			pool = append(pool, i)
		}
	}
	slices.SortStableFunc(pool, func(a, b int) int { return cmp.Compare(promise[a], promise[b]) })
	hard := min(relationHard, len(pool))
	chosen := append([]int{t.evidence.Number(link.Target)}, pool[:hard]...)
	for _, k := range nn.Subset(rng, len(pool)-hard, min(relationAny, len(pool)-hard)) {
		chosen = append(chosen, pool[hard+k])
	}
	ranked.standsFor = make([]float64, len(chosen)-1)
	for k := hard; k < len(ranked.standsFor); k++ {
		ranked.standsFor[k] = math.Log(float64(len(pool)-hard) / float64(len(ranked.standsFor)-hard))
	}
	ranked.from, ranked.to, levelled.from = 1, len(chosen), len(chosen)
	for _, k := range nn.Subset(rng, len(pool), min(relationLevel, len(pool))) {
		chosen = append(chosen, pool[k])
	}
	levelled.to = len(chosen)
	missing := max(1, float64(len(linked))/heldOut)
	levelled.pairsPerCandidate = float64(len(pool)) / float64(max(1, levelled.to-levelled.from)) / missing
	x, nodes := nn.Resize(blas32.General{}, len(chosen), rules.Len), make([]ID, len(chosen))
	for i, k := range chosen {
		t.evidence.Columns(k, nn.Row(x, i))
		nodes[i] = t.evidence.Node(k)
	}
	ranked.x, levelled.x = &x, &x
	for _, a := range addedScores {
		scores := make([]float64, len(nodes))
		a.read(r, t, w, link.Source, nodes, scores)
		ranked.added = append(ranked.added, scores)
	}
	levelled.added = ranked.added
	return ranked, levelled
}

// RelationPhases returns the phases of TrainRelations on a graph with the given numbers of
// relations and edges.
func (m *Model) RelationPhases(relations, edges int) []Phase {
	if m.belief == nil || m.belief.ranker == nil {
		return nil
	}
	part, all := factorPasses(edges)
	links := 2 * min(relationLinks, edges/relationShare)
	return []Phase{
		{Name: phaseRules, Steps: 2 * relations, Each: onAll(headTime), Work: workGraph},
		{Name: phaseFactors, Steps: part + all, Each: onAll(time.Duration(edges) * factorTime), Work: workAlgebra},
		{Name: phaseEvidence, Steps: links, Each: onAll(evidenceTime), Work: workGraph},
		{Name: phaseRelations, Steps: rankerMembers * rankerPasses, Each: onAll(time.Duration(links) * 2 * choiceTime), Work: workAlgebra},
	}
}
