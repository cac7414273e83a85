package db

import (
	"fmt"
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
// it is linked to; all of these if there are fewer than n. The draw is a function of graph, source
// and seed. Seed 0 means the database's seed.
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

// checkSize returns ErrInput for a set of nodes or steps of which none is requested.
func (c Candidates) checkSize() error {
	of := map[candidateKind]string{byPPR: "node", bySample: "node", bySimilarity: "node", byHops: "step"}[c.kind]
	if of == "" || c.n >= 1 {
		return nil
	}
	return inputf("%s(%d): want at least 1 %s", c.kind, c.n, of)
}

// among returns c, or the default set if c is the zero value: PPR, or SIMILAR for sources without outgoing edges. If lists defined which
// kinds the kinds of the sources are linked to, SIMILAR and the default PPR are limited to these
// kinds.
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
