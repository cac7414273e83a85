package rules

import (
	"cmp"
	"slices"

	"kith/model/internal/graph"
)

// found is the evidence for a candidate.
type found struct {
	best           [mostBest]float32 // confidences of its rules, descending
	rules          int
	all, two, long float32         // sums of the evidence of its rules: all, of two edges, of three
	top            [MaxLen]float32 // confidence of its best rule by length
	paths          float32
	noisy          float32   // evidence of its best rules
	against        float32   // sum of the doubts of the rules against it
	doubt          float32   // the largest of these
	alike          constants // what nodes that share a neighbour with the source are linked to
	shared         constants // neighbours that it shares with targets of the source
	rank, rankBy   float32   // PageRank from the source over all relations and over the one asked for
	joined         int       // edges that join it with the source
	mutual         bool      // an edge of the relation leads back from it
	frequency      float32   // edges of the relation that lead to it
	degree         int       // its edges
	profile        float32   // how its relations compare with the relations of targets
}

// constants is evidence of rules with a constant.
type constants struct{ sum, best, mean float32 }

// mostBest is the number of the best rules that are kept for a candidate; the first noisyOr count
// in a noisy-or.
const (
	mostBest = 10
	noisyOr  = 5
)

// push adds a confidence to the best ones.
func (f *found) push(c float32) {
	n := min(f.rules, mostBest)
	if n == mostBest {
		if n--; c <= f.best[n] {
			return
		}
	}
	for ; n > 0 && f.best[n-1] < c; n-- {
		f.best[n] = f.best[n-1]
	}
	f.best[n] = c
}

// Reader gathers evidence for the candidates of a question. It is for one goroutine at a time.
type Reader struct {
	g      graph.Typed
	set    *Set
	source ID
	head   Direction

	nodes    numbering // the candidates
	found    []found   // by number
	gathered int       // candidates that the evidence led to; further ones were added
	degree   int       // edges of the source
	known    int       // targets that the source is linked to
	order    [kinds][]float32
	largest  [kinds]float32
	profile  []float64    // by direction; see readProfile
	common   [Len]float32 // columns that all candidates share

	placeLogs []float32 // see placeLog

	walker        walker
	counts        layer
	union, within pusher
	features      map[feature]int32
	priors        []prior
}

// Open gathers the evidence for a question: which nodes does a direction lead to from a source? The
// nodes that the evidence leads to are the candidates.
func (r *Reader) Open(g graph.Typed, set *Set, source ID, head Direction) {
	r.g, r.set, r.source, r.head = g, set, source, head
	r.nodes.open(g.NumNodes())
	r.found, r.degree, r.known = r.found[:0], len(g.Ends(source)), len(g.Row(source, head))
	r.followRules()
	r.askAlike()
	r.askShared()
	for _, y := range set.frequent(head) {
		if y != source && int(y) < g.NumNodes() {
			r.at(y)
		}
	}
	r.rank()
	r.gathered = len(r.found)
	r.followAgainst()
	r.readProfile()
	r.complete(0)
	r.readJoined()
	r.compare()
	r.readCommon()
}

// Close forgets the graph and the rules.
func (r *Reader) Close() {
	r.g, r.set, r.walker.g = nil, nil, nil
	clear(r.union.rows)
	clear(r.within.rows)
}

// at returns the evidence for a node, which becomes a candidate.
func (r *Reader) at(u ID) *found {
	i := r.nodes.number(u)
	if i == len(r.found) {
		r.found = append(r.found, found{})
	}
	return &r.found[i]
}

// Candidates returns the nodes that evidence leads to.
func (r *Reader) Candidates() []ID { return r.nodes.nodes[:r.gathered] }

// Known returns the number of targets that the source is linked to.
func (r *Reader) Known() int { return r.known }

// Best returns up to n candidates that accept admits, the most promising first.
func (r *Reader) Best(n int, accept func(ID) bool) []ID {
	promise := r.Promise()
	all := make([]int, 0, len(promise))
	for i, u := range r.Candidates() {
		if accept(u) {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(promise[a], promise[b]) })
	best := make([]ID, min(n, len(all)))
	for k := range best {
		best[k] = r.nodes.nodes[all[k]]
	}
	return best
}

// Has reports whether evidence leads to a node.
func (r *Reader) Has(u ID) bool {
	i := r.nodes.find(u)
	return i >= 0 && i < r.gathered
}

// Node returns the node with a number.
func (r *Reader) Node(i int) ID { return r.nodes.nodes[i] }

// Number returns the number of a node for Columns.
func (r *Reader) Number(u ID) int {
	i := r.nodes.number(u)
	if i == len(r.found) {
		r.found = append(r.found, found{rank: r.union.rankOf(u), rankBy: r.within.rankOf(u)})
		r.complete(i)
	}
	return i
}

// mostEnds is the number of ends above which a rule tells nothing.
const mostEnds = 5000

// followRules reads the rules of the head.
func (r *Reader) followRules() {
	rules := r.set.Rules(r.head)
	r.walker.start(r.g, r.source)
	r.walker.each(rules, func(i int, ends *layer) {
		if len(ends.nodes) > mostEnds {
			return
		}
		rule := &rules[i]
		conf := rule.confidences()
		var adds [bins]float32
		for b, c := range conf {
			adds[b] = evidence(c)
		}
		for _, y := range ends.nodes {
			n := ends.of(y)
			if n == 0 {
				continue
			}
			f, b := r.at(y), bin(n)
			f.push(conf[b])
			f.rules++
			f.all += adds[b]
			f.paths += float32(n)
			f.top[rule.Len-1] = max(f.top[rule.Len-1], conf[b])
			switch rule.Len {
			case 2:
				f.two += adds[b]
			case 3:
				f.long += adds[b]
			}
		}
	})
}

// mostDoubt is the largest sum of doubts that counts.
const mostDoubt = 10

// followAgainst reads the rules against links of the head. No node becomes a candidate by them.
func (r *Reader) followAgainst() {
	against := r.set.Against(r.head)
	r.walker.start(r.g, r.source)
	r.walker.each(against, func(i int, ends *layer) {
		doubt := against[i].Doubt()
		for _, y := range ends.nodes {
			if at := r.nodes.find(y); at >= 0 && ends.of(y) > 0 {
				f := &r.found[at]
				f.against += doubt
				f.doubt = max(f.doubt, doubt)
			}
		}
	})
}

// Sizes of the samples of askAlike and askShared.
const (
	mostFeatures = 150 // edges of the source
	mostSiblings = 60  // other nodes with such an edge
	mostOwn      = 40  // targets of the source, and edges of each
	mostPriors   = 60  // rules r(c, Y) <- s(Y, d), the most confident ones
	mostLinked   = 500 // targets of a node that count
)

// mostCertain is the largest confidence of a rule with a constant.
const mostCertain = 0.98

// add adds the evidence of one rule.
func (c *constants) add(conf float32) {
	conf = min(conf, mostCertain)
	c.sum += evidence(conf)
	c.best = max(c.best, conf)
	c.mean += conf
}

// askAlike reads the rules head(X, c) <- s(X, d): of the nodes that have an edge to d, as the
// source has, a share is linked to c.
func (r *Reader) askAlike() {
	step, read := max(1, (r.degree+mostFeatures-1)/mostFeatures), 0
	at := 0 // of the next edge
	for s, row := range r.g.Rows(r.source) {
		for ; at < len(row); at += step {
			read++
			r.askSiblings(r.g.Row(row[at], r.g.Inverse(s)))
		}
		at -= len(row)
	}
	for i := range r.found {
		r.found[i].alike.mean /= float32(max(1, read))
	}
}

// askSiblings reads what nodes are linked to that have an edge in common with the source.
func (r *Reader) askSiblings(siblings []ID) {
	if len(siblings) < 2 {
		return
	}
	r.counts.open(r.g.NumNodes())
	asked := float32(0)
	for i := 0; i < len(siblings); i += (len(siblings) + mostSiblings - 1) / mostSiblings {
		if siblings[i] == r.source {
			continue
		}
		row := r.g.Row(siblings[i], r.head)
		if len(row) == 0 {
			continue
		}
		if asked++; len(row) > mostLinked {
			continue
		}
		r.counts.add(row, 1, r.source, r.source)
	}
	for _, y := range r.counts.nodes {
		r.at(y).alike.add(float32(r.counts.of(y)) / (asked + pessimism))
	}
}

type feature struct {
	by Direction
	to ID
}

type prior struct {
	feature
	conf float32
}

// askShared reads the rules head(c, Y) <- s(Y, d): targets of the source have edges to d, and so
// has the candidate.
func (r *Reader) askShared() {
	own := r.g.Row(r.source, r.head)
	if len(own) == 0 {
		return
	}
	step, back := 1+(len(own)-1)/mostOwn, r.g.Inverse(r.head)
	if r.features == nil {
		r.features = map[feature]int32{}
	}
	clear(r.features)
	for i := 0; i < len(own); i += step {
		r.readFeatures(own[i], back)
	}
	r.priors = r.priors[:0]
	for f, n := range r.features {
		if size := len(r.g.Row(f.to, r.g.Inverse(f.by))); size >= 2 && size <= longRow {
			r.priors = append(r.priors, prior{f, float32(int(n)*step) / (float32(size) + pessimism)})
		}
	}
	slices.SortFunc(r.priors, func(a, b prior) int {
		return cmp.Or(cmp.Compare(b.conf, a.conf), cmp.Compare(a.to, b.to), cmp.Compare(a.by, b.by))
	})
	for _, p := range r.priors[:min(mostPriors, len(r.priors))] {
		for _, y := range r.g.Row(p.to, r.g.Inverse(p.by)) {
			if y != r.source {
				r.at(y).shared.add(p.conf)
			}
		}
	}
}

// readFeatures counts the edges of y, apart from the edge to the source.
func (r *Reader) readFeatures(y ID, back Direction) {
	step, at := 1+(len(r.g.Ends(y))-1)/mostOwn, 0
	for s, row := range r.g.Rows(y) {
		for ; at < len(row); at += step {
			if s != back || row[at] != r.source {
				r.features[feature{s, row[at]}]++
			}
		}
		at -= len(row)
	}
}

// Limits of a PageRank of evidence.
const (
	leastRank  = 1e-4 // of a node that becomes a candidate
	mostRanked = 1500 // such nodes
)

// rank reads PageRank. Nodes with much of it become candidates.
func (r *Reader) rank() {
	n, back := r.g.NumNodes(), r.g.Inverse(r.head)
	r.union.run(n, r.source, func(u ID) [2][]ID { return [2][]ID{r.g.Ends(u)} })
	r.within.run(n, r.source, func(u ID) (rows [2][]ID) {
		rows[0] = r.g.Row(u, r.head)
		if back != r.head {
			rows[1] = r.g.Row(u, back)
		}
		return rows
	})
	added := 0
	for i, u := range r.union.nodes {
		p := r.union.of[i].rank
		if u == r.source {
			continue
		}
		if r.nodes.find(u) < 0 {
			if p < leastRank || added == mostRanked {
				continue
			}
			added++
		}
		f := r.at(u)
		f.rank, f.rankBy = p, r.within.rankOf(u)
	}
}
