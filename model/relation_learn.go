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
	"kith/model/internal/graph"
	"kith/model/internal/rules"
	"kith/model/internal/spectral"
	"kith/model/nn"
)

// Sizes of the training of a relational part.
const (
	relationPasses    = 12 // passes over the choices
	relationRate      = 3e-3
	relationLinks     = 4000    // links that are hidden
	relationShare     = 20      // at most one edge in so many is hidden
	relationHard      = 50      // candidates of a choice that evidence ranks high
	relationAny       = 30      // other candidates
	relationFar       = 10      // nodes that no evidence leads to
	relationLevel     = 20      // candidates that the level is fitted to, drawn from all
	relationSkip      = 3       // of the links that no evidence leads to, one in so many is learned
	blendedLists      = 900     // lists at most that the weights of the added scores are fitted to
	factorEdges       = 1250000 // edges of all passes of a factorisation
	leastFactorPasses = 5
	mostFactorPasses  = 20
	leastRelations    = 20 // hidden links without which nothing is learned
)

// TypedEdge is an edge of a relation.
type TypedEdge = rules.Edge

// TypedGraph is what TrainRelations reads: a graph whose relations are directed or not.
type TypedGraph struct {
	Nodes    int
	Directed []bool // by relation
	Edges    iter.Seq[TypedEdge]
}

// WithoutTyped returns the worlds of questions about relations on a graph without the hidden edges:
// a function of the source and the direction of the links. Several goroutines may call it.
type WithoutTyped func(hidden []TypedEdge) (func(ID, graph.Direction) (World, error), error)

// TrainRelations learns how the relations of a graph predict each other: the rules that lead to
// links of a relation, a network that weighs their evidence, which is trained on links that are
// hidden, and how much other scores count beside it. The ranker does not count if without is nil.
// TrainRelations is called after TrainEdges. The model is unchanged if ctx ends, and learns nothing
// if the graph does not fit into the memory of the plan, or has few edges.
func (m *Model) TrainRelations(ctx context.Context, g TypedGraph, plan EdgePlan, without WithoutTyped) error {
	if m.belief == nil || m.belief.ranker == nil {
		return nil
	}
	var edges []rules.Edge
	plan.Memory = cmp.Or(plan.Memory, rankerMemory)
	for e := range g.Edges {
		if edges = append(edges, e); 2*rules.Bytes(g.Nodes, len(edges)) > plan.Memory {
			return nil
		}
	}
	l := &relationLearner{model: m, rng: rand.New(m.source), plan: plan, without: without}
	r, err := l.train(ctx, g, edges)
	if err != nil || r == nil {
		return err
	}
	b := *m.belief
	b.relational, b.frozen = r, nil
	m.belief, m.scorer, m.trained = &b, nil, true
	return nil
}

// relationLearner trains a relational part.
type relationLearner struct {
	model   *Model
	rng     *rand.Rand
	plan    EdgePlan
	without WithoutTyped
	hidden  []rules.Edge
	lists   []relationList
	held    int // number of lists that a member of the network does not learn
}

// relationList is a hidden link among candidates: the answers to a question.
type relationList struct {
	source ID
	head   graph.Direction
	nodes  []ID   // by row
	ranked choice // among promising candidates
	level  choice // among all candidates

	skipped bool // there was no time to ask the ranker
}

// train trains on a graph. It returns nil if too few links can be hidden.
func (l *relationLearner) train(ctx context.Context, g TypedGraph, edges []rules.Edge) (*relational, error) {
	hidden, rest := hideEdges(l.rng, g.Nodes, edges)
	if len(hidden) < leastRelations {
		return nil, nil
	}
	l.hidden = hidden
	whole, part := rules.NewTable(g.Nodes, g.Directed, slices.Values(edges)), rules.NewTable(g.Nodes, g.Directed, slices.Values(rest))
	seed, to := l.rng.Uint64(), l.plan.Progress
	to.Begin(phaseRules)
	set, err := rules.Mine(ctx, part, seed, func() bool {
		to.Step(1)
		return to.Spent() < 1
	})
	if err != nil {
		return nil, err
	}
	to.Finish(phaseRules)
	r := &relational{set: set}
	var vectors *factor.Trainer
	passes, more := factorPasses(len(edges))
	if 2*rules.Bytes(g.Nodes, len(edges))+factor.Bytes(g.Nodes, len(edges)) <= l.plan.Memory {
		vectors = factor.NewTrainer(g.Nodes, 2*len(g.Directed), seed)
		to.Begin(phaseFactors)
		if r.factors, err = factorise(ctx, vectors, part, passes, to); err != nil {
			return nil, err
		}
	}
	to.Begin(phaseEvidence)
	if err := l.read(ctx, r, seed, whole, part); err != nil {
		return nil, err
	}
	to.Finish(phaseEvidence)
	if len(l.lists) < leastRelations {
		return nil, nil
	}
	if err := l.weigh(ctx, r); err != nil {
		return nil, err
	}
	to.Begin(phaseFactors)
	defer to.Finish(phaseFactors)
	if !r.weights.reads(byFactors) {
		r.factors = nil
		return r, nil
	}
	r.factors, err = factorise(ctx, vectors, whole, more, to)
	return r, err
}

// weigh trains the network on the lists, and fits the weights of the scores and the level.
// The members of the network learn different parts of the lists, so that the scores of each can be
// weighed on the part that it has not learned.
func (l *relationLearner) weigh(ctx context.Context, r *relational) (err error) {
	to := l.plan.Progress
	to.Begin(phaseRelations)
	var all []choice
	for i := range l.lists {
		all = append(all, l.lists[i].ranked)
	}
	scale := scaleOf(all)
	r.bounds = boundsOf(all)
	l.held = len(all) / heldOut
	members := make([]*nn.Network, rankerMembers)
	for k := range members {
		from, end := k*l.held, (k+1)*l.held
		train, valid := slices.Concat(all[:from], all[end:]), all[from:end]
		if l.held == 0 {
			valid = train
		}
		if members[k], err = fitEvidence(ctx, l.rng, scale, train, valid, relationPasses, relationRate, pace{to, k, rankerMembers}); err != nil {
			return err
		}
	}
	to.Finish(phaseRelations)
	r.net = meanNetwork(members)
	to.Begin(phaseWeights)
	if err := l.readOpinions(ctx); err != nil {
		return err
	}
	to.Finish(phaseWeights)
	r.weights = l.fitWeights(members)
	r.level = l.fitLevel(r)
	return nil
}

// fitEvidence trains a member of the network, which has random weights at first, as fitNetwork
// does.
func fitEvidence(ctx context.Context, rng *rand.Rand, scale *columnScale, train, valid []choice, passes int, rate float64, at pace) (*nn.Network, error) {
	net := nn.NewNetwork(relationShape(1), nil)
	net.InitUniform(rng)
	scale.leave(net) // its weights are for scaled columns
	return fitNetwork(ctx, rng, net, scale, train, valid, passes, rate, at)
}

// asked returns the lists that the ranker is asked about: of those that a member has not learned,
// the first ones.
func (l *relationLearner) asked(member int) []relationList {
	from := member * l.held
	return l.lists[from : from+min(l.held, blendedLists/rankerMembers)]
}

// blended returns the lists that the weights of the added scores are fitted to: those that asked
// returns and that there was time for.
func (l *relationLearner) blended(member int) (lists []relationList) {
	for _, list := range l.asked(member) {
		if !list.skipped {
			lists = append(lists, list)
		}
	}
	return lists
}

// readOpinions reads the scores of the ranker for the lists that are blended, from worlds without
// the hidden edges.
func (l *relationLearner) readOpinions(ctx context.Context) error {
	if l.without == nil || l.held == 0 {
		return nil
	}
	worlds, err := l.without(l.hidden)
	if err != nil {
		return err
	}
	vectors, err := l.vectors(ctx, worlds)
	if err != nil {
		return err
	}
	every := slices.Repeat([]float64{1}, 1+views)
	s := l.model.Scorer()
	for k := range rankerMembers {
		all := l.asked(k)
		err := nn.TryParallel(ctx, len(all), func(ctx context.Context, i int) error {
			list := &all[i]
			defer l.plan.Progress.Step(1)
			if list.skipped = l.plan.Progress.Spent() >= 1; list.skipped {
				return nil
			}
			w, err := worlds(list.source, list.head)
			if err != nil {
				return err
			}
			t := s.scratch()
			defer s.release(t)
			t.vectors = vectors
			if err := s.readOpinions(ctx, t, w, Pairs(list.source, list.nodes), every); err != nil {
				return err
			}
			for v, odds := range t.opinions {
				copy(list.ranked.added[v], odds)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// vectors returns the vectors of nodes on the graph of all relations without the hidden edges.
func (l *relationLearner) vectors(ctx context.Context, worlds func(ID, graph.Direction) (World, error)) (*spectral.Vectors, error) {
	w, err := worlds(l.lists[0].source, l.lists[0].head)
	if err != nil || l.model.belief.vectors == nil || w.Whole == nil {
		return nil, err
	}
	nodes, _, err := l.model.config.planVectors(ctx, *w.Whole, l.plan.Memory)
	if err != nil {
		return nil, err
	}
	return vectorsIn(ctx, l.rng, nodes, *w.Whole, nil)
}

// fitLevel fits the level of a part to the lists that are blended, or to all if none are.
func (l *relationLearner) fitLevel(r *relational) level {
	lists := l.lists
	if l.held > 0 {
		lists = nil
		for k := range rankerMembers {
			lists = append(lists, l.blended(k)...)
		}
	}
	var all []choice
	heads := map[*blas32.General]graph.Direction{}
	for i := range lists {
		all = append(all, lists[i].level)
		heads[lists[i].level.x] = lists[i].head
	}
	return fitLevel(all, rules.KnownColumn, func(p *choiceShard, c *choice) []float64 {
		p.forward(r.net, nil, []choice{*c}, []int{0})
		weights := r.weights.of(heads[c.x])
		p.score[0] = weighted(weights, p.score[0], c.added, c.link)
		for i, output := range p.score[1:] {
			p.score[1+i] = weighted(weights, output, c.added, c.from+i)
		}
		return p.score
	})
}

// factorPasses returns the numbers of passes of a factorisation of a graph: over the edges that are
// not hidden, and then over all edges.
func factorPasses(edges int) (part, all int) {
	n := min(max(factorEdges/max(edges, 1), leastFactorPasses), mostFactorPasses)
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
		if to.Step(1); to.Spent() >= 1 {
			break
		}
	}
	return t.Factors(), nil
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

// read reads the lists of hidden edges in both directions, among the candidates that evidence leads
// to.
func (l *relationLearner) read(ctx context.Context, r *relational, seed uint64, whole, part *rules.Table) error {
	lists := make([]relationList, 2*len(l.hidden))
	scratches := newScratches()
	err := nn.Parallel(ctx, len(lists), func(i int) {
		defer l.plan.Progress.Step(1)
		if l.plan.Progress.Spent() >= 1 {
			return
		}
		e := l.hidden[i/2]
		d := graph.Direction(2 * e.Relation)
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
		lists[i] = r.list(rng, t, w, Pair{Source: e.U, Target: e.V}, whole.Row(e.U, d))
	})
	l.lists = slices.DeleteFunc(lists, func(l relationList) bool { return l.ranked.to <= l.ranked.from })
	return err
}

// list reads the list of a link of a source that is linked to some nodes. A candidate that is drawn
// from the others stands for several: without this, a network would learn that the candidates that
// evidence ranks high, which are all there, are seldom links. Some candidates stand for the nodes
// that no evidence leads to: without them, a network would not know how far below the others they
// are.
func (r *relational) list(rng *rand.Rand, t *scratch, w World, link Pair, linked []ID) relationList {
	list := relationList{source: link.Source, head: w.Head}
	ranked, levelled := &list.ranked, &list.level
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
	drawn := len(chosen) - 1 - hard
	chosen = append(chosen, t.farFrom(rng, w, link, linked)...)
	far := len(chosen) - 1 - hard - drawn
	ranked.standsFor = make([]float64, len(chosen)-1)
	for k := range ranked.standsFor[hard:] {
		by := float64(len(pool)-hard) / float64(drawn)
		if k >= drawn {
			by = float64(w.Typed.NumNodes()-len(candidates)) / float64(far)
		}
		ranked.standsFor[hard+k] = math.Log(by)
	}
	ranked.from, ranked.to, levelled.from = 1, len(chosen), len(chosen)
	for _, k := range nn.Subset(rng, len(pool), min(relationLevel, len(pool))) {
		chosen = append(chosen, pool[k])
	}
	levelled.to = len(chosen)
	missing := max(1, float64(len(linked))/heldOut)
	levelled.pairsPerCandidate = float64(len(pool)) / float64(max(1, levelled.to-levelled.from)) / missing
	x := nn.Resize(blas32.General{}, len(chosen), rules.Len)
	list.nodes = make([]ID, len(chosen))
	for i, k := range chosen {
		t.evidence.Columns(k, nn.Row(x, i))
		list.nodes[i] = t.evidence.Node(k)
	}
	ranked.x, levelled.x = &x, &x
	for _, a := range addedScores {
		scores := make([]float64, len(list.nodes))
		a.read(r, t, w, link.Source, list.nodes, scores)
		ranked.added = append(ranked.added, scores)
	}
	levelled.added = ranked.added
	return list
}

// farFrom draws nodes that the evidence on the tape does not lead to and that are no links, and
// returns their numbers.
func (t *scratch) farFrom(rng *rand.Rand, w World, link Pair, linked []ID) (numbers []int) {
	for range relationFar {
		u := ID(rng.IntN(w.Typed.NumNodes()))
		if _, ok := slices.BinarySearch(linked, u); !ok && u != link.Source && u != link.Target && !t.evidence.Has(u) {
			numbers = append(numbers, t.evidence.Number(u))
		}
	}
	return numbers
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
		{Name: phaseRelations, Steps: rankerMembers * relationPasses, Each: onAll(time.Duration(links) * listTime), Work: workAlgebra},
		{Name: phaseWeights, Steps: rankerMembers * min(links/heldOut, blendedLists/rankerMembers), Each: onAll(opinionTime), Work: workGraph},
	}
}
