// Package column computes the columns of a pair that are functions of the graph and of the feature
// vectors: proximity, common neighbours, paths, similarity, and comparisons with nodes around the
// source.
package column

import (
	"context"
	"fmt"
	"math"
	"sort"
	"sync"

	"kith/model/internal/graph"
	"kith/model/nn"
)

// Column describes a number of a pair.
type Column struct {
	Name   string
	Scale  float32 // factor that scales the number to about 1
	Family Family
}

// Overlap describes the common neighbours w of a pair (v, c), on a directed graph the nodes w with
// v→w→c.
type Overlap struct {
	Common   float64 // number of common neighbours
	Adamic   float64 // Σ 1/log(degree of w): Adamic and Adar, Social Networks 25 (2003)
	Resource float64 // Σ 1/degree of w: Zhou, Lü and Zhang, Eur. Phys. J. B 71 (2009)
	square   float64 // Σ 1/degree² of w
}

// overlapOfRows computes the overlap of two given rows, one of each end.
func overlapOfRows(g graph.Graph, p graph.Pair, from, to []graph.ID) (o Overlap) {
	eachCommon(p, from, to, func(w graph.ID) { o.add(overlapAt(g, w)) })
	return o
}

// overlapAt returns the overlap of a pair with the single common neighbour w.
func overlapAt(g graph.Graph, w graph.ID) Overlap {
	d := degree(g, w)
	return Overlap{1, 1 / math.Log(d), 1 / d, 1 / (d * d)}
}

// degree returns the degree of a common neighbour: its number of neighbours, in both directions on
// a directed graph. It is at least 2, also if both ends of the pair are the same node.
func degree(g graph.Graph, w graph.ID) float64 { return float64(max(neighbors(g, w), 2)) }

// eachCommon calls each for the common neighbours of a pair, given a row of each end. The ends are
// none, even if they have loops.
func eachCommon(p graph.Pair, from, to []graph.ID, each func(graph.ID)) {
	Intersect(from, to, func(w graph.ID) {
		if w != p.Source && w != p.Target {
			each(w)
		}
	})
}

func (o *Overlap) add(other Overlap) {
	o.Common += other.Common
	o.Adamic += other.Adamic
	o.Resource += other.Resource
	o.square += other.square
}

func neighbors(g graph.Graph, w graph.ID) int {
	if !g.Directed() {
		return graph.OutLen(g, w)
	}
	return graph.OutLen(g, w) + graph.InLen(g, w)
}

// Intersect calls each for the common nodes of two ascending rows. It searches the longer row
// forward for each node of the shorter one.
func Intersect(a, b []graph.ID, each func(graph.ID)) {
	if len(a) > len(b) {
		a, b = b, a
	}
	for _, w := range a {
		step := 1
		for step < len(b) && b[step-1] < w {
			step *= 2
		}
		near := b[:min(step, len(b))]
		at := sort.Search(len(near), func(i int) bool { return near[i] >= w })
		if at < len(near) && near[at] == w {
			each(w)
		}
		if b = b[at:]; len(b) == 0 {
			return
		}
	}
}

// Columns of the structural block, in order.
const (
	ColTo       = iota // proximity of the candidate seen from the source
	ColFrom            // proximity of the source seen from the candidate
	ColCommon          // log1p of the number of common neighbours
	ColAdamic          // log1p of Adamic-Adar
	ColResource        // log1p of resource allocation
	ColSource          // log1p of the source's out-neighbours
	ColTarget          // log1p of the candidate's in-neighbours
	ColSalton          // common neighbours / sqrt(source's out- × candidate's in-neighbours) (Salton and McGill, 1983)
	ColPaths           // log1p of the paths of three edges, each divided by the root of its first node's neighbours
	ColShare           // proximity of the candidate divided by its number of in-neighbours
	StructuralLen
)

// StructuralColumns describes the columns of the structural block. Degrees get small factors: a
// source's degree is the same for all candidates, and a target's degree grows with its past
// successes, which its success rate describes better.
func StructuralColumns() []Column {
	return []Column{
		ColTo: {"pagerank to", 0.8, Walks}, ColFrom: {"pagerank from", 0.8, Walks}, ColCommon: {"common neighbors", 1, Shared},
		ColAdamic: {"adamic-adar", 1, Shared}, ColResource: {"resource allocation", 1, Shared},
		ColSource: {"source degree", 0.02, General}, ColTarget: {"target degree", 0.02, TargetDegree},
		ColSalton: {"salton", 1, Shared}, ColPaths: {"paths of three", 0.4, Paths}, ColShare: {"pagerank over degree", 0.8, Walks},
	}
}

// ProximityAlpha is the damping of the block's PageRank. It is independent of the policy's own
// walk.
const ProximityAlpha = 0.85

// LogProximity maps a PageRank of 0 to 0 and of 1 to 1, logarithmically above 1e-6.
func LogProximity(p float64) float64 {
	return math.Log1p(max(p, 0)*1e6) / log1pMillion
}

// log1pMillion is log(1 + 1e6).
const log1pMillion = 13.815511557963774

// Reset discards all that was read.
func (t *Reader) Reset() {
	if t.shared != nil { // the proximities are another reader's, too
		t.shared, t.To, t.From, t.targetIn, t.targetOut = nil, nil, nil, nil, nil
	}
	t.To, t.From = t.To[:0], t.From[:0]
	t.own.rivals.valid = false
	t.own.twoHop.forget()
}

// ReadProximities stores the proximities of the pairs in both directions. If there are more than
// one batch of pairs, it meanwhile reads the graph around the first source and, with rivals, the
// rivals of its candidates.
func (t *Reader) ReadProximities(ctx context.Context, w graph.World, pairs []graph.Pair, rivals bool) error {
	t.Reset()
	if len(pairs) > nn.BatchLen {
		var reading sync.WaitGroup
		defer reading.Wait()
		reading.Go(func() {
			if s := t.surroundings(w.Graph, pairs[0].Source); rivals {
				s.rivals.read(w.Graph, &s.twoHop, &t.logs)
			}
		})
	}
	for _, run := range graph.BySource(pairs) {
		to, from, err := Proximities(ctx, w, run[0].Source, t.Targets(run))
		if err != nil {
			return err
		}
		t.To, t.From = append(t.To, to...), append(t.From, from...)
	}
	return nil
}

// Proximities returns the PageRank of nodes seen from a source (to) and of the source seen from
// them (from).
func Proximities(ctx context.Context, w graph.World, source graph.ID, at []graph.ID) (to, from []float64, err error) {
	to, from, err = w.Walk.Proximity(ctx, ProximityAlpha, source, at)
	if err == nil && (len(to) != len(at) || len(from) != len(at)) {
		err = fmt.Errorf("%w: %d and %d proximities of %d candidates", graph.ErrInput, len(to), len(from), len(at))
	}
	return to, from, err
}

// PairStats holds the data of a pair that the graph blocks are computed from.
type PairStats struct {
	Overlap
	flow                            // from source to candidate, within the limit of TwoHop
	paths, weightedPaths float64    // sums over the paths of three edges, with inner nodes w and u: of 1/sqrt(d(w)), and of 1/sqrt(d(w) d(u))
	Walks                float64    // as weightedPaths, with the walks that return to the source; -1: not all were followed
	to, from             float64    // proximities
	out, in              float64    // numbers of neighbours out of the source and into the candidate
	ends                 []graph.ID // the candidate's first in-neighbours, at most MaxEnds
}

// Reader reads the graph around the pairs of a question. It remembers what it read of the last
// source.
type Reader struct {
	own    surroundings
	shared *surroundings // what another reader has read, if there is one; this reader does not change it
	logs   halfLogs
	To     []float64  // proximity of each target seen from its source
	From   []float64  // proximity of each source seen from its target
	at     []graph.ID // nodes whose walk values are requested

	targetIn, targetOut []graph.ID // buffers for the rows of a target; nil: see Share
}

// surroundings holds the data that a Reader has read about a source.
type surroundings struct {
	twoHop TwoHop // nodes two edges from the source
	rivals rivals // rivals of the source's candidates
}

// Share makes t use the proximities and the surroundings that another reader has read. t then reads
// the rows of targets past the graph's cache, because the rows of many targets would evict all
// others.
func (t *Reader) Share(from *Reader) {
	t.shared, t.To, t.From = &from.own, from.To, from.From
	t.targetIn, t.targetOut = make([]graph.ID, 0, MaxEnds), make([]graph.ID, 0, MaxEnds)
}

// surroundings returns the data about a source, and reads it first if necessary.
func (t *Reader) surroundings(g graph.Graph, source graph.ID) *surroundings {
	if s := t.shared; s != nil && s.twoHop.valid && s.twoHop.source == source {
		return s
	}
	t.own.twoHop.Read(g, source)
	return &t.own
}

// PairStats reads the graph around the i-th pair. ReadProximities must have read its proximities.
func (t *Reader) PairStats(g graph.Graph, pairs []graph.Pair, i int) PairStats {
	p := pairs[i]
	s := &t.surroundings(g, p.Source).twoHop
	ends := graph.InHead(g, p.Target, MaxEnds, t.targetIn)
	l := PairStats{
		Overlap: s.overlap(g, p.Target, ends), flow: s.To(p.Target), to: t.To[i], from: t.From[i],
		out: float64(len(s.out)), in: float64(graph.InLen(g, p.Target)), ends: ends,
	}
	l.paths, l.weightedPaths = s.Paths(p.Target, ends)
	l.Walks = -1
	if s.whole && len(ends) == int(l.in) {
		l.Walks = l.weightedPaths + s.Returning(p.Target, ends)
	}
	return l
}

// Common reports whether a pair has common neighbours.
func (t *Reader) Common(g graph.Graph, p graph.Pair) bool {
	s := &t.surroundings(g, p.Source).twoHop
	return s.overlap(g, p.Target, graph.InHead(g, p.Target, MaxEnds, t.targetIn)).Common > 0
}

// Structural fills the structural block of a pair.
func (t *Reader) Structural(l *PairStats, x []float32) {
	logs := &t.logs
	for col, v := range [StructuralLen]float64{
		ColTo:       LogProximity(l.to),
		ColFrom:     LogProximity(l.from),
		ColCommon:   logs.log1p(l.Overlap.Common),
		ColAdamic:   math.Log1p(l.Overlap.Adamic),
		ColResource: math.Log1p(l.Overlap.Resource),
		ColSource:   logs.log1p(l.out),
		ColTarget:   logs.log1p(l.in),
		ColSalton:   l.Overlap.Common / math.Sqrt(max(1, l.out*l.in)),
		ColPaths:    math.Log1p(l.paths),
		ColShare:    LogProximity(l.to / max(1, l.in)),
	} {
		x[col] = float32(v)
	}
}

// Targets returns the targets of the pairs. The result is valid until the next call.
func (t *Reader) Targets(pairs []graph.Pair) []graph.ID {
	t.at = t.at[:0]
	for _, p := range pairs {
		t.at = append(t.at, p.Target)
	}
	return t.at
}
