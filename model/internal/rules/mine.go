package rules

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"kith/model/nn"
)

// Sizes of the samples that rules are mined from, for each head.
const (
	minedPairs    = 300  // linked pairs whose joining paths of one and two edges become bodies
	minedLong     = 100  // of these, pairs whose paths of three edges become bodies
	minedRow      = 400  // neighbours of a pair that paths of two edges are searched over
	minedEnds     = 30   // neighbours of either end that paths of three edges are searched over
	triedSources  = 150  // sources whose targets are counted
	enoughSources = 25   // a body is followed no further once it has led from so many
	enoughTries   = 2e4  // to so many nodes
	judgedSources = 40   // from these, bodies are judged: the ones without a hit are dropped
	judgedShort   = 300  // and so are all but the most confident ones of one or two edges
	judgedLong    = 150  // and of three
	triedShort    = 500  // bodies of one or two edges that are counted, the most frequent ones
	triedLong     = 250  // bodies of three edges
	keptShort     = 200  // rules of one or two edges, the most confident ones
	keptLong      = 100  // rules of three edges
	leastKept     = .003 // confidence of the least confident rule
	drawnPairs    = 200  // pairs that are not linked, whose paths of one and two edges become bodies of rules against links
	triedAgainst  = 100  // such bodies that are counted, the most frequent ones
	keptAgainst   = 20   // such rules, the ones with the largest doubt
	frequent      = 100  // nodes of Set.Frequent
	profiled      = 2000 // targets of a head whose directions make its profile
)

// Mine returns the rules of a graph. They depend on the graph and the seed alone. It mines the
// heads with the most edges first, calls more after each, and mines no more of them when that is
// false.
func Mine(ctx context.Context, t *Table, seed uint64, more func() bool) (*Set, error) {
	s := OnDemand(t, seed)
	heads := slices.Collect(Directions(t))
	slices.SortStableFunc(heads, func(a, b Direction) int { return cmp.Compare(s.heads[b].counts.Edges, s.heads[a].counts.Edges) })
	var ended atomic.Bool
	err := nn.Parallel(ctx, len(heads), func(i int) {
		if ended.Load() {
			return
		}
		if s.of(heads[i]); !more() {
			ended.Store(true)
		}
	})
	s.quarry = nil
	return s, err
}

// OnDemandBytes returns the memory that a set of OnDemand takes, without what it mines.
func OnDemandBytes(nodes, edges int) int64 {
	return Bytes(nodes, edges) + 4*int64(nodes) + 16*int64(edges)
}

// OnDemand returns the set that Mine returns, except that it mines a head when it is asked about
// it. It keeps the graph.
func OnDemand(t *Table, seed uint64) *Set {
	n := 2 * len(t.directed)
	s := &Set{heads: make([]head, n)}
	s.quarry = &quarry{table: t, seed: seed, pairs: t.pairs(), targets: s.count(t), mined: make([]sync.Once, n)}
	return s
}

// quarry is what the heads of a set are mined from.
type quarry struct {
	table   *Table
	seed    uint64
	pairs   [][][2]ID // by relation
	targets [][]ID    // by direction, ascending
	mined   []sync.Once
	miners  sync.Pool // of *miner
}

// mine mines a head, which has its counts.
func (q *quarry) mine(d Direction, h *head) {
	m, ok := q.miners.Get().(*miner)
	if !ok {
		m = &miner{table: q.table, walker: new(walker), support: map[[MaxLen]Direction]int{}, chance: make([]float32, q.table.NumNodes())}
	}
	defer q.miners.Put(m)
	m.head, m.rng = d, rand.New(rand.NewPCG(q.seed, uint64(d)))
	targets, sources := q.targets[d], q.targets[q.table.Inverse(d)]
	clear(m.support)
	m.measure(targets)
	h.rules, h.against = m.mine(q.pairs[d/2], sources), m.mineAgainst(sources, targets)
	m.forget(targets)
	h.profile, h.frequent = q.table.profile(targets), q.table.frequent(targets, q.table.Inverse(d))
}

// pairs returns the linked pairs by relation.
func (t *Table) pairs() [][][2]ID {
	all := make([][][2]ID, len(t.directed))
	for u := range ID(t.NumNodes()) {
		for d, row := range t.Rows(u) {
			for _, v := range row {
				if d%2 == 0 && u != v && (t.directed[d/2] || u < v) {
					all[d/2] = append(all[d/2], [2]ID{u, v})
				}
			}
		}
	}
	return all
}

// count sets the counts of all directions. It returns the targets of each direction, ascending.
func (s *Set) count(t *Table) (targets [][]ID) {
	targets = make([][]ID, len(s.heads))
	for u := range ID(t.NumNodes()) {
		for d, row := range t.Rows(u) {
			s.heads[d].counts.Edges += float64(len(row))
			s.heads[d].counts.Sources++
			targets[t.Inverse(d)] = append(targets[t.Inverse(d)], u)
		}
	}
	return targets
}

// frequent returns the targets with the longest rows back.
func (t *Table) frequent(targets []ID, back Direction) []ID {
	all := slices.Clone(targets)
	slices.SortStableFunc(all, func(a, b ID) int { return cmp.Compare(len(t.Row(b, back)), len(t.Row(a, back))) })
	return append([]ID(nil), all[:min(frequent, len(all))]...)
}

// profile returns, by direction, the share of some targets that have a row of it.
func (t *Table) profile(targets []ID) []float32 {
	p := make([]float32, 2*len(t.directed))
	n := float32(1)
	for i := 0; i < len(targets); i += 1 + len(targets)/profiled {
		n++
		for d := range t.Rows(targets[i]) {
			p[d]++
		}
	}
	for d := range p {
		p[d] = unpackShare(packShare(p[d] / n))
	}
	return p
}

// miner mines the rules of a head.
type miner struct {
	table   *Table
	head    Direction
	rng     *rand.Rand
	support map[[MaxLen]Direction]int // by body, unused directions -1: pairs that it joins
	seen    map[[MaxLen]Direction]struct{}
	walker  *walker
	chance  []float32 // by node: the share of the head's edges that lead to it
}

// measure sets the chance of the targets of the head.
func (m *miner) measure(targets []ID) {
	edges := float32(0)
	for _, y := range targets {
		m.chance[y] = float32(len(m.table.Row(y, m.table.Inverse(m.head))))
		edges += m.chance[y]
	}
	for _, y := range targets {
		m.chance[y] /= edges
	}
}

// forget clears the chance of targets.
func (m *miner) forget(targets []ID) {
	for _, y := range targets {
		m.chance[y] = 0
	}
}

// mine counts the bodies that join sampled pairs, tries the most frequent ones from sampled
// sources, and keeps the most confident.
func (m *miner) mine(pairs [][2]ID, sources []ID) []Rule {
	m.seen = map[[MaxLen]Direction]struct{}{}
	for i, at := range nn.Subset(m.rng, len(pairs), min(minedPairs, len(pairs))) {
		p := pairs[at]
		if m.head%2 == 1 || !m.table.directed[m.head/2] && m.rng.Uint64()&1 == 1 {
			p[0], p[1] = p[1], p[0]
		}
		m.read(p[0], p[1], i*minedLong/minedPairs != (i+1)*minedLong/minedPairs)
	}
	all := m.candidates()
	slices.SortFunc(all, compareBodies)
	sources = m.shuffled(sources)
	first := min(len(sources), judgedSources)
	m.try(all, sources[:first])
	all = slices.DeleteFunc(all, func(r Rule) bool {
		hits, _ := r.Total()
		return hits < 1
	})
	all = bestRules(all, judgedShort, judgedLong)
	m.try(all, sources[first:min(triedSources, len(sources))])
	all = slices.DeleteFunc(all, func(r Rule) bool {
		return r.Confidence() <= leastKept || !r.supports()
	})
	return append([]Rule(nil), bestRules(all, keptShort, keptLong)...)
}

// bestRules returns the most confident rules of one and two edges and of three, in the order of
// their bodies.
func bestRules(all []Rule, short, long int) []Rule {
	slices.SortStableFunc(all, func(a, b Rule) int { return cmp.Compare(b.Confidence(), a.Confidence()) })
	all = limited(all, short, long)
	slices.SortFunc(all, compareBodies)
	return all
}

// mineAgainst is mine for rules against links. It counts the bodies that join sources with targets
// of the head that they are not linked to.
func (m *miner) mineAgainst(sources, targets []ID) []Rule {
	if len(sources) == 0 {
		return nil
	}
	clear(m.support)
	for range drawnPairs {
		x, y := sources[m.rng.IntN(len(sources))], targets[m.rng.IntN(len(targets))]
		if _, linked := slices.BinarySearch(m.table.Row(x, m.head), y); x != y && !linked {
			m.read(x, y, false)
		}
	}
	all := m.candidates()
	all = all[:min(triedAgainst, len(all))]
	slices.SortFunc(all, compareBodies)
	sources = m.shuffled(sources)
	m.try(all, sources[:min(triedSources, len(sources))])
	all = slices.DeleteFunc(all, func(r Rule) bool { return !r.opposes() })
	slices.SortStableFunc(all, func(a, b Rule) int { return cmp.Compare(b.Doubt(), a.Doubt()) })
	all = all[:min(keptAgainst, len(all))]
	slices.SortFunc(all, compareBodies)
	return append([]Rule(nil), all...)
}

// shuffled returns nodes in random order.
func (m *miner) shuffled(nodes []ID) []ID {
	all := slices.Clone(nodes)
	m.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// read counts the bodies that join x with y.
func (m *miner) read(x, y ID, long bool) {
	clear(m.seen)
	t := m.table
	for _, a := range t.between(x, y) {
		if a.by != m.head {
			m.seen[[MaxLen]Direction{a.by, -1, -1}] = struct{}{}
		}
	}
	m.readTwo(x, y)
	if long {
		m.readThree(x, y)
	}
	for body := range m.seen {
		m.support[body]++
	}
}

// readTwo finds the bodies of two edges. It searches over the neighbours of the end that has fewer.
func (m *miner) readTwo(x, y ID) {
	t := m.table
	a, b := x, y
	if len(t.arcs(a)) > len(t.arcs(b)) {
		a, b = b, a
	}
	near := t.arcs(a)
	step := max(1, len(near)/minedRow)
	for i := m.rng.IntN(step); i < len(near); i += step {
		z := near[i].to
		if z == x || z == y {
			continue
		}
		for _, next := range t.between(z, b) {
			first, last := near[i].by, next.by
			if a == y {
				first, last = t.Inverse(last), t.Inverse(first)
			}
			m.seen[[MaxLen]Direction{first, last, -1}] = struct{}{}
		}
	}
}

// readThree finds bodies of three edges, over a sample of the neighbours of both ends.
func (m *miner) readThree(x, y ID) {
	t := m.table
	from, to := t.arcs(x), t.arcs(y)
	drawn := func(all []arc, i int) arc {
		if len(all) > minedEnds {
			i = m.rng.IntN(len(all))
		}
		return all[i]
	}
	for i := range min(minedEnds, len(from)) {
		a := drawn(from, i)
		if a.to == x || a.to == y {
			continue
		}
		for j := range min(minedEnds, len(to)) {
			b := drawn(to, j)
			if b.to == x || b.to == y || b.to == a.to {
				continue
			}
			for _, middle := range t.between(a.to, b.to) {
				m.seen[[MaxLen]Direction{a.by, middle.by, t.Inverse(b.by)}] = struct{}{}
			}
		}
	}
}

// candidates returns rules with the bodies that join at least two pairs, the most frequent ones.
func (m *miner) candidates() []Rule {
	type counted struct {
		body  [MaxLen]Direction
		pairs int
	}
	var all []counted
	for body, n := range m.support {
		if n >= 2 {
			all = append(all, counted{body, n})
		}
	}
	slices.SortFunc(all, func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.pairs, a.pairs), slices.Compare(a.body[:], b.body[:]))
	})
	rules := make([]Rule, len(all))
	for i, c := range all {
		r := Rule{Body: c.body}
		for r.Len < MaxLen && c.body[r.Len] >= 0 {
			r.Len++
		}
		for k := r.Len; k < MaxLen; k++ {
			r.Body[k] = 0
		}
		rules[i] = r
	}
	return limited(rules, triedShort, triedLong)
}

// limited returns the first rules of one and two edges and the first ones of three.
func limited(all []Rule, short, long int) []Rule {
	return slices.DeleteFunc(all, func(r Rule) bool {
		if r.Len == MaxLen {
			long--
			return long < 0
		}
		short--
		return short < 0
	})
}

// try counts where the bodies lead from a sample of the sources.
func (m *miner) try(all []Rule, sources []ID) {
	from := make([]int, len(all)) // sources from which each body leads somewhere
	for _, x := range sources {
		linked := m.table.Row(x, m.head)
		m.walker.start(m.table, x)
		for i := range all {
			r := &all[i]
			if _, tries := r.Total(); tries >= enoughTries && from[i] >= enoughSources {
				continue
			}
			if ends := m.walker.follow(r.path()); len(ends.nodes) > 0 {
				r.count(ends, linked, m.chance)
				from[i]++
			}
		}
	}
}

// count counts the ends of the paths from a source, and the ones among the nodes that it is linked
// to. chance has the share of edges that lead to each node.
func (r *Rule) count(ends *layer, linked []ID, chance []float32) {
	var tries [bins]uint32
	share := float32(0)
	for _, y := range ends.nodes {
		if n := ends.of(y); n > 0 {
			tries[bin(n)]++
			share += chance[y]
		}
	}
	r.Chance += float32(len(linked)) * share
	for b, n := range tries {
		r.Tries[b] += n
	}
	if len(linked) < len(ends.nodes) {
		for _, y := range linked {
			if n := ends.of(y); n > 0 {
				r.Hits[bin(n)]++
			}
		}
		return
	}
	for _, y := range ends.nodes {
		if n := ends.of(y); n > 0 {
			if _, hit := slices.BinarySearch(linked, y); hit {
				r.Hits[bin(n)]++
			}
		}
	}
}
