package db

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"kith/db/words"
	"kith/index"
	"kith/ppr"
)

// Candidates is a set of nodes to rank. The zero value lets the database choose; see
// [PredictOptions].
type Candidates struct {
	kind  candidateKind
	keys  []any
	n     int
	label string
	kinds []string // of PPR and SIMILAR: the labels of the nodes; nil means any
	seed  uint64
	parts *[2]Candidates // of a union, difference or intersection
}

// candidateKind is a kind of set, by its name in the query language.
type candidateKind string

const (
	byDefault    candidateKind = ""
	byPPR        candidateKind = "PPR"
	byKeys       candidateKind = "KEYS"
	byHops       candidateKind = "NEIGHBORS"
	byLabel      candidateKind = "LABEL"
	byAll        candidateKind = "ALL"
	bySample     candidateKind = "SAMPLE"
	bySimilarity candidateKind = "SIMILAR"
	byUnion      candidateKind = "UNION"
	byExcept     candidateKind = "EXCEPT"
	byIntersect  candidateKind = "INTERSECT"
)

// The sizes of the default sets: PPR for sources with edges, SIMILAR for sources without.
const (
	defaultPPR     = 1000
	defaultSimilar = 1000
)

// Keys returns exactly the given nodes. They are ranked whether or not they are linked to the
// source. A repeated node counts once.
func Keys(keys ...any) Candidates { return Candidates{kind: byKeys, keys: keys} }

// Neighbors returns the nodes within n steps of the source that the source is not linked to. In a
// directed graph, steps follow the direction of the edges.
func Neighbors(n int) Candidates { return Candidates{kind: byHops, n: n} }

// PPR returns the n nodes with the highest personalised PageRank as seen from the source, without
// the source and the nodes it is linked to.
func PPR(n int) Candidates { return Candidates{kind: byPPR, n: n} }

// Label returns the nodes of a label, without the source and the nodes it is linked to.
func Label(name string) Candidates { return Candidates{kind: byLabel, label: name} }

// All returns all nodes, without the source and the nodes it is linked to.
func All() Candidates { return Candidates{kind: byAll} }

// Sample returns n nodes drawn uniformly at random from all nodes, without the source and the nodes
// it is linked to; all such nodes if there are fewer than n. The draw is a function of graph,
// source and seed. Seed 0 means the database's seed.
func Sample(n int, seed uint64) Candidates { return Candidates{kind: bySample, n: n, seed: seed} }

// Similar returns the n nodes most similar to the source by what the training of the model learned
// of nodes or, without a training, by their feature vectors. If these do not cover the source, or
// cover too few nodes, the nodes with the most incoming edges follow. If labels come from lists, a
// source gets only nodes of the kinds that its own kind is linked to. The source and the nodes that
// it is linked to are left out.
func Similar(n int) Candidates { return Candidates{kind: bySimilarity, n: n} }

// Union returns the nodes of both sets.
func (c Candidates) Union(other Candidates) Candidates {
	return Candidates{kind: byUnion, parts: &[2]Candidates{c, other}}
}

// Except returns the nodes of c that are not in the other set. Nodes that the other set omits
// because the source is linked to them count as its nodes here: All().Except(Neighbors(2)) are the
// nodes further away. Keys of the other set may be missing in the graph.
func (c Candidates) Except(other Candidates) Candidates {
	return Candidates{kind: byExcept, parts: &[2]Candidates{c, other}}
}

// Intersect returns the nodes of c that are also in the other set. Nodes that Keys lists stay
// whether or not they are linked to the source. Keys of the other set may be missing in the graph.
func (c Candidates) Intersect(other Candidates) Candidates {
	return Candidates{kind: byIntersect, parts: &[2]Candidates{c, other}}
}

// String returns the set in the syntax of the query language, and adds parentheses, which the
// language does not have.
func (c Candidates) String() string {
	switch c.kind {
	case byDefault:
		return PPR(defaultPPR).String()
	case byKeys:
		return words.Count(len(c.keys), "node") + " as listed"
	case byLabel:
		return "LABEL " + c.label
	case byAll:
		return "ALL"
	case byUnion, byExcept, byIntersect:
		right := c.parts[1].String()
		if c.parts[1].parts != nil {
			right = "(" + right + ")"
		}
		return fmt.Sprintf("%v %s %s", c.parts[0], c.kind, right)
	}
	s := fmt.Sprintf("%s(%d)", c.kind, c.n)
	if c.kinds != nil {
		s += " of LABEL " + strings.Join(c.kinds, " and ")
	}
	return s
}

// checkSize returns ErrInput for a set that requests no nodes or no steps.
func (c Candidates) checkSize() error {
	of := map[candidateKind]string{byPPR: "node", bySample: "node", bySimilarity: "node", byHops: "step"}[c.kind]
	if of == "" || c.n >= 1 {
		return nil
	}
	return inputf("%s(%d): want at least 1 %s", c.kind, c.n, of)
}

// among returns c, or the default set if c is the zero value: PPR, or SIMILAR for sources without
// outgoing edges. If lists defined which kinds the kinds of the sources are linked to, SIMILAR and
// the default PPR are limited to these kinds.
func (tx *Tx) among(c Candidates, start ppr.Vector) Candidates {
	v := tx.view()
	linked := func(source index.ID) bool {
		to, _ := v.Graph.Out(source)
		return len(to) > 0
	}
	switch {
	case c.kind == byDefault && !slices.ContainsFunc(start.Node, linked):
		c = Similar(defaultSimilar)
	case c.kind == byDefault:
		c = PPR(defaultPPR)
	case c.kind != bySimilarity || c.kinds != nil:
		return c
	}
	for _, source := range start.Node {
		partners := v.Meta.Labels[v.Label(source)].Partners
		if len(partners) == 0 { // any kind
			c.kinds = nil
			break
		}
		for _, l := range partners {
			if name := v.Meta.Labels[l].Name; !slices.Contains(c.kinds, name) {
				c.kinds = append(c.kinds, name)
			}
		}
	}
	return c
}

// nearby finds the nodes at a given number of steps.
type nearby struct {
	graph *index.Graph
	hops  int
	limit int // number of entries that a step may read; a step with more reads about as many, drawn at random
	seed  uint64
	seen  []bool // all false between two calls
}

func newNearby(g *index.Graph, hops, limit int, seed uint64) *nearby {
	return &nearby{graph: g, hops: hops, limit: limit, seed: seed, seen: make([]bool, g.NumNodes())}
}

// of returns the nodes whose shortest path from the source has n.hops steps, ascending. If sampled
// is true, a step had more entries than the limit. The nodes are then the ends of the paths that
// were read, and the given links for which leadsTo finds a path.
func (n *nearby) of(source index.ID, links []index.ID) (nodes []index.ID, sampled bool) {
	rng := rand.New(rand.NewPCG(n.seed, uint64(source)))
	all := []index.ID{source}
	n.seen[source] = true
	defer func() {
		for _, u := range all {
			n.seen[u] = false
		}
	}()
	from := 0
	for range n.hops {
		layer := all[from:]
		from = len(all)
		every := n.interval(layer)
		sampled = sampled || every > 1
		for w := range n.entries(layer, every, rng) {
			if !n.seen[w] {
				n.seen[w] = true
				all = append(all, w)
			}
		}
	}
	nodes = slices.Clone(all[from:])
	if sampled {
		left := n.limit
		for _, to := range links {
			if !n.seen[to] && n.leadsTo(source, to, &left) {
				nodes = append(nodes, to)
			}
		}
	}
	slices.Sort(nodes)
	return nodes, sampled
}

// interval returns how far apart the entries of the rows of a layer are that are read: 1 means all.
func (n *nearby) interval(layer []index.ID) int {
	entries := 0
	for _, u := range layer {
		entries += n.graph.OutLen(u)
	}
	return max(1, (entries+n.limit-1)/n.limit)
}

// entries yields one of every so many entries of the rows of a layer, on average, at random
// distances: rows of equal lengths would always give the same of their entries at equal distances.
func (n *nearby) entries(layer []index.ID, every int, rng *rand.Rand) func(yield func(index.ID) bool) {
	distance := func() int {
		if every == 1 {
			return 1
		}
		return 1 + rng.IntN(2*every-1)
	}
	return func(yield func(index.ID) bool) {
		next := distance() - 1 // counted from the start of the row
		for _, u := range layer {
			if length := n.graph.OutLen(u); next >= length {
				next -= length
				continue
			}
			row, _ := n.graph.Out(u)
			for ; next < len(row); next += distance() {
				if !yield(row[next]) {
					return
				}
			}
			next -= len(row)
		}
	}
}

// leadsTo reports whether the shortest path from the source to another node has n.hops steps. It
// reads backwards, and gives up when it has read the entries that are left.
func (n *nearby) leadsTo(source, target index.ID, left *int) bool {
	first, _ := n.graph.Out(source)
	layer := []index.ID{target}
	for steps := 2; steps <= n.hops; steps++ {
		var before []index.ID
		for _, u := range layer {
			row, _ := n.graph.In(u)
			for _, w := range row {
				if *left--; *left < 0 {
					return false
				}
				if _, reached := slices.BinarySearch(first, w); reached {
					return steps == n.hops
				}
			}
			before = append(before, row...)
		}
		layer = before
	}
	return false
}
