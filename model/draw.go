package model

import (
	"cmp"
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
// nodes.
const (
	choiceLen  = 24   // candidates of a choice that are not links
	nearestLen = 200  // nodes with the highest PageRank that candidates are drawn from
	gathered   = 2000 // nodes among which these are searched
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
	each     int         // candidates of each kind
	seen     map[ID]bool
	scale    []float32 // scale of the inputs of a belief
	progress *Meter
	out      []choice
}

// drawChoices reads the choices of edges, fold by fold, each from a world without the edges of the
// fold. Each world also lacks all edges of a few nodes, so that a ranker learns to score nodes
// without edges. If an undirected graph has fewer edges than the plan has samples, edges are also
// read from their other ends, as many as samples are left.
//
// A fold holds a world and the vectors of its nodes. Therefore only as many folds are open at a
// time as processors can read.
func (m *Model) drawChoices(
	ctx context.Context, rng *rand.Rand, g Graph, folds [][][2]ID, plan EdgePlan, nodes *spectral.Plan, without Without,
) (all []choice, err error) {
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
				each: plan.Negatives, progress: plan.Progress, seen: map[ID]bool{}, scale: m.config.scales(),
			}
			hidden := d.choose(folds[k], back)
			if d.world, err = without(hidden); err != nil {
				return nil, err
			}
			if d.vectors, err = vectorsIn(ctx, rng, nodes, d.world, plan.Progress); err != nil {
				return nil, err
			}
			open[i], k = d, k+1
		}
		plan.Progress.Begin(phaseReading)
		if err := nn.TryParallel(ctx, len(open), func(ctx context.Context, i int) error { return open[i].addLinks(ctx) }); err != nil {
			return nil, err
		}
		for _, d := range open {
			all = append(all, d.out...)
		}
	}
	plan.Progress.Finish(phaseReading)
	return all, nil
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

// addLinks draws the choices of all links.
func (d *drawing) addLinks(ctx context.Context) error {
	d.scratch.open(d.world)
	for _, e := range d.links {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := d.add(ctx, Pair{Source: e[0], Target: e[1]}); err != nil {
			return err
		}
		d.progress.Step(1)
	}
	return nil
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

// add draws the choices of a link that the world lacks.
func (d *drawing) add(ctx context.Context, link Pair) error {
	near, far := d.nearbyNodes(link.Source)
	pool := append(slices.Clone(far), nonNeighbors(d.rng, d.whole, link.Source, d.each, d.config.Words)...)
	pool = append(pool, link.Target)
	to, from, err := column.Proximities(ctx, d.world, link.Source, pool)
	if err != nil {
		return err
	}
	rest := numbers(len(pool) - 1)        // indices into pool, without the target
	best := slices.Clone(rest[:len(far)]) // indices of the nodes with the highest PageRank
	slices.SortFunc(best, func(a, b int) int { return cmp.Or(cmp.Compare(to[b], to[a]), cmp.Compare(pool[a], pool[b])) })
	best = best[:min(nearestLen, len(best))]
	inBest := len(best) == 0 || to[len(pool)-1] >= to[best[len(best)-1]]

	chosen := []int{len(pool) - 1}
	var all [3]choice
	for k, kind := range [...][]int{rest[:near], best, rest[len(far):]} {
		all[k].from = len(chosen)
		for _, i := range nn.Subset(d.rng, len(kind), min(len(kind), d.each)) {
			chosen = append(chosen, kind[i])
		}
		all[k].to = len(chosen)
	}
	x, err := d.read(link.Source, pool, to, from, chosen)
	if err != nil {
		return err
	}
	links := float64(graph.OutLen(d.whole, link.Source))
	missing := max(1, links/10) // links of the source, if a tenth is missing
	common := nn.Row(*x, 0)[x.Cols-column.StructuralLen+column.ColCommon] > 0
	perCandidate := func(nodes int, c choice) float64 { return float64(nodes) / float64(max(1, c.to-c.from)) / missing }
	all[0].pairsPerCandidate, all[2].pairsPerCandidate = perCandidate(near, all[0]), perCandidate(d.whole.NumNodes(), all[2])
	all[2].poolWeight = 1 / max(1, links)
	for i, use := range []bool{common, inBest, true} {
		if c := all[i]; use && c.to > c.from {
			c.x = x
			d.out = append(d.out, c)
		}
	}
	return nil
}

// read returns the rows of the chosen indices of pool. to and from are the proximities of pool.
func (d *drawing) read(source ID, pool []ID, to, from []float64, chosen []int) (*blas32.General, error) {
	t := &d.scratch
	t.Reset()
	t.vectors = d.vectors
	pairs := make([]Pair, len(chosen))
	for i, k := range chosen {
		pairs[i] = Pair{Source: source, Target: pool[k]}
		t.To, t.From = append(t.To, to[k]), append(t.From, from[k])
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
	clear(d.seen)
	d.seen[source] = true
	g := d.world.Graph
	layer := graph.Out(g, source)
	links := graph.Out(d.whole, source)
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
				if _, linked := slices.BinarySearch(links, v); !d.seen[v] && !linked {
					d.seen[v] = true
					far = append(far, v)
				}
			}
		}
		if step == 2 {
			near = len(far)
		}
		layer = far[begin:]
	}
	return near, far
}
