package model

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/column"
	"kith/model/internal/graph"
	"kith/model/internal/spectral"
	"kith/model/nn"
)

// A ranker learns to tell a link from the candidates without a link that users ask about. These are
// drawn in three ways, with one choice each: nodes within two steps, nodes with high PageRank, any
// nodes. A link whose target is not in one of the first two sets has no choice there, and more
// candidates in its other choices. No link of a bipartite graph is within two steps.
const (
	choiceKinds = 3
	choiceLen   = 16   // candidates of each kind that are not links
	nearestLen  = 200  // nodes with the highest PageRank that candidates are drawn from
	gathered    = 2000 // nodes among which these are searched
)

// drawing draws choices from a world without some edges.
type drawing struct {
	config   *config
	vectors  *spectral.Vectors // of the world
	rng      *rand.Rand
	whole    Graph
	world    World
	scratch  scratch
	links    [][2]ID
	cold     map[ID]bool // newcomers whose links are also learned as targets
	each     int         // candidates of each kind of a link that has a choice of each
	seen     []uint64    // bit set of nodes that nearbyNodes has met, empty between two calls
	scale    []float32   // scale of the inputs of a belief
	progress *Meter
	out      [][]choice // of each link
}

// drawChoices reads the choices of edges, fold by fold, each from a world without the edges of the
// fold. Each world also lacks all edges of a few nodes, so that a ranker learns to score nodes
// without edges. If an undirected graph has fewer edges than the plan has samples, edges are also
// read from their other ends, as many as samples are left.
//
// drawChoices also returns the vectors of the last fold.
//
// A fold holds a world and the vectors of its nodes. Therefore only as many folds are open at a
// time as processors can read.
func (m *Model) drawChoices(
	ctx context.Context, rng *rand.Rand, g Graph, folds [][][2]ID, plan EdgePlan, nodes *spectral.Plan, without Without,
) (all []choice, last *spectral.Vectors, err error) {
	drawn := 0
	for _, fold := range folds {
		drawn += len(fold)
	}
	back := 0 // edges of a fold that are also read from their other ends
	if !g.Directed() {
		back = max(0, plan.Samples-drawn) / max(1, len(folds))
	}
	for k := 0; k < len(folds); {
		open := make([]*drawing, min(runtime.GOMAXPROCS(0), len(folds)-k))
		for i := range open {
			d := &drawing{
				config: &m.config, rng: rand.New(rand.NewPCG(rng.Uint64(), uint64(k))), whole: g,
				each: plan.Negatives, progress: plan.Progress, scale: m.config.scales(),
			}
			hidden := d.choose(folds[k], back)
			if d.world, err = without(hidden); err != nil {
				return nil, nil, err
			}
			if d.vectors, err = vectorsIn(ctx, rng, nodes, d.world, plan.Progress); err != nil {
				return nil, nil, err
			}
			open[i], last, k = d, d.vectors, k+1
		}
		plan.Progress.Begin(phaseReading)
		if err := nn.TryParallel(ctx, len(open), func(ctx context.Context, i int) error { return open[i].addLinks(ctx) }); err != nil {
			return nil, nil, err
		}
		for _, d := range open {
			all = append(all, slices.Concat(d.out...)...)
		}
		if plan.Progress.Spent() >= 1 {
			break
		}
	}
	plan.Progress.Finish(phaseReading)
	return all, last, nil
}

// choose draws the links of a fold to read, and returns the edges that its world lacks.
func (d *drawing) choose(fold [][2]ID, back int) (hidden [][2]ID) {
	edges, links := newcomers(d.rng, d.whole, len(fold))
	if d.config.Words {
		links = append(links, d.coldLinks(edges, links)...)
	}
	d.links = slices.Concat(fold, reversed(fold[:min(back, len(fold))]), links)
	d.rng.Shuffle(len(d.links), func(i, j int) { d.links[i], d.links[j] = d.links[j], d.links[i] })
	return slices.Concat(fold, edges)
}

// coldLinks returns links to the newcomers, as many as there are links from them. Their words tell
// who will be linked to them.
func (d *drawing) coldLinks(edges, links [][2]ID) (to [][2]ID) {
	d.cold = map[ID]bool{}
	if !d.whole.Directed() {
		to = reversed(links)
	} else {
		newcomer := map[ID]bool{}
		for _, e := range links {
			newcomer[e[0]] = true
		}
		for _, e := range edges {
			if newcomer[e[1]] {
				to = append(to, e)
			}
		}
		d.rng.Shuffle(len(to), func(i, j int) { to[i], to[j] = to[j], to[i] })
		to = to[:min(len(to), len(links))]
	}
	for _, e := range to {
		d.cold[e[1]] = true
	}
	return to
}

// addLinks draws the choices of all links, or of as many as there is time for. The links of a
// source are read together, but the choices are in the order of the links, which is random.
func (d *drawing) addLinks(ctx context.Context) error {
	d.scratch.open(d.world)
	d.out = make([][]choice, len(d.links))
	for _, group := range bySource(d.links) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := d.add(ctx, group); err != nil {
			return err
		}
		if d.progress.Step(len(group)); d.progress.Spent() >= 1 {
			break
		}
	}
	return nil
}

// bySource divides the indices of links into those of each source.
func bySource(links [][2]ID) (groups [][]int) {
	at := map[ID]int{}
	for i, e := range links {
		k, known := at[e[0]]
		if !known {
			k, groups = len(groups), append(groups, nil)
			at[e[0]] = k
		}
		groups[k] = append(groups[k], i)
	}
	return groups
}

// reversed returns edges with their ends exchanged.
func reversed(edges [][2]ID) [][2]ID {
	out := make([][2]ID, len(edges))
	for i, e := range edges {
		out[i] = [2]ID{e[1], e[0]}
	}
	return out
}

// For every newcomerEvery edges of a fold one node becomes a newcomer: all its edges are hidden. A
// node is skipped if the newcomers' hidden edges would exceed newcomerHidden times the edges of the
// fold. Up to newcomerLinks of its links are learned.
const (
	newcomerEvery  = 20
	newcomerHidden = 2
	newcomerLinks  = 3
)

// newcomers draws nodes that become newcomers. It returns all their edges, and the links of them to
// learn.
func newcomers(rng *rand.Rand, g Graph, fold int) (edges, links [][2]ID) {
	for range fold / newcomerEvery {
		u := ID(rng.IntN(g.NumNodes()))
		out := graph.Out(g, u)
		var in []ID
		if g.Directed() {
			in = graph.In(g, u)
		}
		if len(edges)+len(out)+len(in) > newcomerHidden*fold {
			continue
		}
		for _, k := range nn.Subset(rng, len(out), min(newcomerLinks, len(out))) {
			links = append(links, [2]ID{u, out[k]})
		}
		for _, v := range out {
			edges = append(edges, [2]ID{u, v})
		}
		for _, v := range in {
			edges = append(edges, [2]ID{v, u})
		}
	}
	loop := func(e [2]ID) bool { return e[0] == e[1] }
	return slices.DeleteFunc(edges, loop), slices.DeleteFunc(links, loop)
}

// surroundings holds the nodes that the candidates of a source's links are drawn from, and their
// proximities.
type surroundings struct {
	pool     []ID  // nodes around the source, any nodes for each link, and the targets of the links
	near     int   // number of nodes within two steps, which come first in the pool
	far      int   // number of nodes around the source
	best     []int // indices in the pool of the nodes around the source with the highest PageRank
	to, from []float64
}

// add draws the choices of links of one source that the world lacks, given their indices.
func (d *drawing) add(ctx context.Context, links []int) error {
	source := d.links[links[0]][0]
	near, far := d.nearbyNodes(source)
	s := surroundings{pool: far, near: near, far: len(far)}
	begin := []int{len(s.pool)} // of the nodes that are drawn for each link
	for range links {
		s.pool = append(s.pool, nonNeighbors(d.rng, d.whole, source, d.share(1), d.config.Words)...)
		begin = append(begin, len(s.pool))
	}
	for _, l := range links {
		s.pool = append(s.pool, d.links[l][1])
	}
	var err error
	if s.to, s.from, err = column.Proximities(ctx, d.world, source, s.pool); err != nil {
		return err
	}
	s.findBest()
	d.scratch.Reset()
	for i, l := range links {
		target := len(s.pool) - len(links) + i
		if d.out[l], err = d.choices(source, &s, target, begin[i], begin[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// findBest finds the nodes around the source with the highest PageRank, the highest first.
func (s *surroundings) findBest() {
	for _, i := range nn.Largest(nn.Narrow(s.to[:s.far]), nearestLen, -1) {
		s.best = append(s.best, int(i))
	}
}

// share returns the number of candidates in each choice of a link that has a number of choices.
func (d *drawing) share(choices int) int { return choiceKinds * d.each / max(choices, 2) }

// choices draws the choices of a link, given the index of its target in the pool. The nodes
// pool[begin:end] are any nodes that were drawn for it.
func (d *drawing) choices(source ID, s *surroundings, target, begin, end int) (out []choice, err error) {
	near, best := 0, 0
	if d.scratch.Common(d.world.Graph, Pair{Source: source, Target: s.pool[target]}) {
		near = s.near
	}
	if n := len(s.best); n > 0 && s.to[target] >= s.to[s.best[n-1]] {
		best = n
	}
	kinds := [choiceKinds]struct {
		nodes int             // 0: the link has no such choice
		index func(i int) int // of the i-th node in the pool
	}{
		{near, func(i int) int { return i }},
		{best, func(i int) int { return s.best[i] }},
		{end - begin, func(i int) int { return begin + i }},
	}
	choices := 0
	for _, kind := range kinds {
		choices += min(kind.nodes, 1)
	}
	chosen := []int{target}
	var all [choiceKinds]choice
	for k, kind := range kinds {
		all[k].from = len(chosen)
		for _, i := range nn.Subset(d.rng, kind.nodes, min(kind.nodes, d.share(choices))) {
			chosen = append(chosen, kind.index(i))
		}
		all[k].to = len(chosen)
	}
	x, err := d.read(source, s, chosen)
	if err != nil {
		return nil, err
	}
	links := float64(graph.OutLen(d.whole, source))
	missing := max(1, links/10) // links of the source, if a tenth is missing
	perCandidate := func(nodes int, c choice) float64 { return float64(nodes) / float64(max(1, c.to-c.from)) / missing }
	all[0].pairsPerCandidate, all[2].pairsPerCandidate = perCandidate(near, all[0]), perCandidate(d.whole.NumNodes(), all[2])
	all[2].poolWeight = 1 / max(1, links)
	for _, c := range all {
		if c.to > c.from {
			c.x = x
			out = append(out, c)
		}
	}
	return out, nil
}

// read returns the rows of the chosen indices of the pool. It keeps what it has read around the
// source for the next call.
func (d *drawing) read(source ID, s *surroundings, chosen []int) (*blas32.General, error) {
	t := &d.scratch
	t.vectors = d.vectors
	t.To, t.From = t.To[:0], t.From[:0]
	pairs := make([]Pair, len(chosen))
	for i, k := range chosen {
		pairs[i] = Pair{Source: source, Target: s.pool[k]}
		t.To, t.From = append(t.To, s.to[k]), append(t.From, s.from[k])
	}
	t.x = nn.Resize(t.x, len(pairs), d.config.width())
	if err := d.config.batch(d.world, pairs, 0, len(pairs), t, t.x); err != nil {
		return nil, err
	}
	x := nn.Resize(blas32.General{}, len(pairs), d.config.rankLen())
	for i := range pairs {
		d.config.rankInput(nn.Row(t.x, i), d.scale, nn.Row(x, i))
	}
	return &x, nil
}

// nearbyNodes gathers nodes that the source has no edge to, by increasing number of steps and in
// random order within a step. The first near of far are within two steps. For a source with many
// neighbours only some of them are visited.
func (d *drawing) nearbyNodes(source ID) (near int, far []ID) {
	g := d.world.Graph
	if d.seen == nil {
		d.seen = make([]uint64, d.whole.NumNodes()/64+1)
	}
	links := graph.Out(d.whole, source)
	set := func(v ID) { d.seen[v/64] |= 1 << (v % 64) }
	set(source)
	for _, v := range links {
		set(v)
	}
	layer := graph.Out(g, source)
	left := column.MaxPaths
	for step := 2; step <= 3; step++ {
		layer = slices.Clone(layer)
		d.rng.Shuffle(len(layer), func(i, j int) { layer[i], layer[j] = layer[j], layer[i] })
		begin := len(far)
		for _, u := range layer {
			if left -= graph.OutLen(g, u); left < 0 || step > 2 && len(far) > gathered {
				break
			}
			for _, v := range graph.Out(g, u) {
				if d.seen[v/64]&(1<<(v%64)) == 0 {
					set(v)
					far = append(far, v)
				}
			}
		}
		if step == 2 {
			near = len(far)
		}
		layer = far[begin:]
	}
	for _, nodes := range [][]ID{{source}, links, far} {
		for _, v := range nodes {
			d.seen[v/64] = 0
		}
	}
	return near, far
}
