package model

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"kith/model/internal/graph"
	"kith/model/nn"
)

// EdgePlan says how to train from the edges of a graph. Zero fields take the default in brackets.
type EdgePlan struct {
	// Samples is the number of edges drawn as positives, without repetition (2000; policy default: a
	// hundredth of the edges, but 5000 to 8000, within Memory).
	Samples   int
	Negatives int // pairs without an edge for each positive, drawn uniformly (4; policy default: 16 of each of three kinds)
	Folds     int // parts that are hidden in turn (5; policy default: up to 10)
	// Epochs is the number of passes over the samples (10; policy default: 6 for each of its three
	// networks, and up to 12 over fewer than 5000 samples).
	Epochs int
	// Memory is the number of bytes that policy default may take for the vectors of the nodes and,
	// if Samples is 0, for the columns of the samples (512 MB). Vectors that do not fit are left
	// out: see VectorsLeftOut.
	Memory int64
	// Again says that policy default continues from the weights of its last training, from the
	// edges of an earlier version of the graph. It then learns an eighth of the edges in fewer
	// passes, and the vectors of nodes are less exact.
	Again    bool
	Progress *Meter // receives the phases of EdgePhases; may be nil
}

// Without returns the world without the hidden edges. The context of a training edge is read from
// such a world.
type Without func(hidden [][2]ID) (World, error)

// check reports negative fields. It limits the negatives of a positive to the number of nodes.
func (p *EdgePlan) check(g Graph) error {
	for _, field := range [...]struct {
		name  string
		value int64
	}{
		{"samples", int64(p.Samples)}, {"negatives", int64(p.Negatives)}, {"folds", int64(p.Folds)},
		{"epochs", int64(p.Epochs)}, {"memory", p.Memory},
	} {
		if field.value < 0 {
			return optionf("%s = %d (accepted: 1 and more)", field.name, field.value)
		}
	}
	p.Negatives = min(p.Negatives, max(g.NumNodes(), 1))
	return nil
}

// fill sets the zero fields to a given plan's values.
func (p *EdgePlan) fill(by EdgePlan) {
	p.Samples, p.Negatives = cmp.Or(p.Samples, by.Samples), cmp.Or(p.Negatives, by.Negatives)
	p.Folds, p.Epochs = cmp.Or(p.Folds, by.Folds), cmp.Or(p.Epochs, by.Epochs)
}

// drawFolds draws edges of g as planned, in folds of nearly equal size.
func drawFolds(rng *rand.Rand, g Graph, plan EdgePlan) ([][][2]ID, error) {
	edges, err := drawEdges(rng, g, plan.Samples)
	folds := make([][][2]ID, min(plan.Folds, len(edges)))
	for k := range folds {
		folds[k] = edges[k*len(edges)/len(folds) : (k+1)*len(edges)/len(folds)]
	}
	return folds, err
}

// drawEdges draws n edges of g (all if it has fewer), without loops, in random order. It draws an
// undirected edge once, from a random end. It returns ErrInput if there are no edges.
func drawEdges(rng *rand.Rand, g Graph, n int) ([][2]ID, error) {
	edges, loops := countEdges(g)
	total := edges - loops
	if total == 0 {
		return nil, fmt.Errorf("%w: the graph has no edges to train on", ErrInput)
	}
	n = min(n, total)
	numbers := nn.Subset(rng, total, n)
	drawn := make([][2]ID, 0, n)
	at := 0
	eachEdge(g, func(u, v ID) bool {
		if len(drawn) < n && at == numbers[len(drawn)] {
			drawn = append(drawn, [2]ID{u, v})
		}
		at++
		return len(drawn) < n
	})
	rng.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	if !g.Directed() {
		for i, e := range drawn {
			if rng.Uint64()&1 == 1 {
				drawn[i] = [2]ID{e[1], e[0]}
			}
		}
	}
	return drawn, nil
}

// countEdges returns the number of edges and of loops.
func countEdges(g Graph) (edges, loops int) {
	if c, ok := g.(graph.Counted); ok {
		return int(c.NumEdges()), int(c.NumLoops())
	}
	for u := range ID(g.NumNodes()) {
		out := graph.Out(g, u)
		edges += len(out)
		if linked(g, u, u) {
			loops++
		}
	}
	if !g.Directed() {
		edges = (edges + loops) / 2
	}
	return edges, loops
}

// countArcs returns the number of out-neighbours of all nodes.
func countArcs(g Graph) int {
	edges, loops := countEdges(g)
	if g.Directed() {
		return edges
	}
	return 2*edges - loops
}

// eachEdge calls f for every edge except loops until f returns false.
func eachEdge(g Graph, f func(u, v ID) bool) {
	for u := range ID(g.NumNodes()) {
		out, _ := g.Out(u)
		for _, v := range out {
			if v != u && (g.Directed() || u < v) && !f(u, v) {
				return
			}
		}
	}
}

// linked reports whether there is an edge from u to v.
func linked(g Graph, u, v ID) bool {
	_, found := slices.BinarySearch(graph.Out(g, u), v)
	return found
}

// nonNeighbors draws k nodes other than u that u has no edge to, or fewer if u is linked to nearly
// all nodes. With met, it draws only nodes that have edges: to whom the rest will be linked is not
// known yet.
func nonNeighbors(rng *rand.Rand, g Graph, u ID, k int, met bool) []ID {
	var found []ID
	for tries := 20 * k; tries > 0 && len(found) < k; tries-- {
		v := ID(rng.IntN(g.NumNodes()))
		if v != u && !linked(g, u, v) && !(met && graph.OutLen(g, v) == 0 && graph.InLen(g, v) == 0) {
			found = append(found, v)
		}
	}
	return found
}

// Phases of a training.
const (
	phaseVectors   = "computing vectors of nodes"
	phaseReading   = "reading links"
	phaseLearning  = "learning"
	phaseReplaying = "replaying times"
	phaseTimes     = "learning times"
	phaseWeighing  = "weighing times"
	phaseRules     = "mining rules"
	phaseFactors   = "learning vectors"
	phaseEvidence  = "reading evidence"
	phaseRelations = "learning relations"
	phaseWeights   = "weighing scores"
)
