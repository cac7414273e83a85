package db

import (
	"fmt"
	"strings"

	"kith/index"
	"kith/model"
)

// Candidates says which nodes are on offer. The zero value leaves it open.
type Candidates struct {
	kind  candidateKind
	keys  []any
	n     int
	label string
	kinds []string // of PPR and SIMILAR: the labels that its nodes have; nil: any
	seed  uint64
	parts *[2]Candidates // of a union, difference or intersection
}

type candidateKind uint8

const (
	unsaid candidateKind = iota
	byPPR
	byKeys
	byHops
	byLabel
	byAll
	byClass
	bySample
	bySimilarity
	byUnion
	byExcept
	byIntersect
)

// The default sets, of sources with edges and without.
const (
	defaultPPR     = 1000
	defaultSimilar = 1000
)

// Keys are exactly these nodes. They are ranked whether or not they are linked to the source; one
// named twice counts once.
func Keys(keys ...any) Candidates { return Candidates{kind: byKeys, keys: keys} }

// Neighbors are the nodes within n steps of the source that it is not linked to; a directed graph
// is walked along its edges.
func Neighbors(n int) Candidates { return Candidates{kind: byHops, n: n} }

// PPR are the n nodes with the most personalised PageRank as seen from the source, without itself
// and the nodes it is linked to.
func PPR(n int) Candidates { return Candidates{kind: byPPR, n: n} }

// Label are the nodes of a label that the source is not linked to, without itself.
func Label(name string) Candidates { return Candidates{kind: byLabel, label: name} }

// All are all nodes that the source is not linked to, without itself.
func All() Candidates { return Candidates{kind: byAll} }

// Classes are the nodes that stand for the classes of the model (see its option classes), whether or
// not the source is linked to them: what such a model is asked about where nothing else is said.
func Classes() Candidates { return Candidates{kind: byClass} }

// Sample are n nodes drawn at random, each as likely as any other, from those that the source is not
// linked to, without itself; all of these where there are no more. The draw is a function of graph,
// source and seed; seed 0 is that of the database.
func Sample(n int, seed uint64) Candidates { return Candidates{kind: bySample, n: n, seed: seed} }

// Similar are the n nodes that are most like the source, by what the training of the model learned of nodes or, without one, by
// their feature vectors; and where that says nothing of the source, or of too few nodes, those with the most edges that lead to
// them. A node of a kind that a list with labels made gets nodes of the kinds that its kind is linked to. The source and the nodes
// that it is linked to are left out.
func Similar(n int) Candidates { return Candidates{kind: bySimilarity, n: n} }

// Union are the nodes of a, and those of b.
func Union(a, b Candidates) Candidates { return combined(byUnion, a, b) }

// Except are the nodes of a that are not in b. What b leaves out as linked to the source counts as in
// it here: All() except Neighbors(2) are the nodes further away.
func Except(a, b Candidates) Candidates { return combined(byExcept, a, b) }

// Intersect are the nodes of a that are in b too. Those that Keys lists stay whether or not they are
// linked to the source.
func Intersect(a, b Candidates) Candidates { return combined(byIntersect, a, b) }

func combined(kind candidateKind, a, b Candidates) Candidates {
	return Candidates{kind: kind, parts: &[2]Candidates{a, b}}
}

// String says it as the query language does.
func (c Candidates) String() string {
	switch c.kind {
	case byKeys:
		return counted(len(c.keys), "node") + " as listed"
	case byHops:
		return fmt.Sprintf("NEIGHBORS(%d)", c.n)
	case byLabel:
		return fmt.Sprintf("LABEL %s", c.label)
	case byAll:
		return "ALL"
	case byClass:
		return "the classes of the model"
	case bySample:
		return fmt.Sprintf("SAMPLE(%d)", c.n)
	case byUnion:
		return c.joined("UNION")
	case byExcept:
		return c.joined("EXCEPT")
	case byIntersect:
		return c.joined("INTERSECT")
	}
	name := "PPR"
	switch c.kind {
	case bySimilarity:
		name = "SIMILAR"
	case unsaid:
		c.n = defaultPPR
	}
	if c.kinds != nil {
		return fmt.Sprintf("%s(%d) of LABEL %s", name, c.n, strings.Join(c.kinds, " and "))
	}
	return fmt.Sprintf("%s(%d)", name, c.n)
}

// joined writes a combination; the language knows no parentheses, but a reader does.
func (c Candidates) joined(operator string) string {
	right := c.parts[1].String()
	if c.parts[1].parts != nil {
		right = "(" + right + ")"
	}
	return fmt.Sprintf("%v %s %s", c.parts[0], operator, right)
}

// among is c or, where c leaves open what is on offer, the classes of a model that has some, else PPR, or SIMILAR of a source without
// edges that lead on. Where lists told what the source's kind of nodes is linked to, PPR left open and SIMILAR are of these kinds.
func (tx *Tx) among(c Candidates, source index.ID, s *model.Scorer) Candidates {
	v := tx.view()
	to, _ := v.Graph.Out(source)
	switch {
	case c.kind == unsaid && s.Classes() != nil:
		return Classes()
	case c.kind == unsaid && len(to) == 0:
		c = Similar(defaultSimilar)
	case c.kind == unsaid:
		c = PPR(defaultPPR)
	case c.kind != bySimilarity || c.kinds != nil:
		return c
	}
	for _, l := range v.Meta.Labels[v.Label(source)].Partners {
		c.kinds = append(c.kinds, v.Meta.Labels[l].Name)
	}
	return c
}
