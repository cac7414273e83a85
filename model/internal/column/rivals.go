package column

import (
	"math"
	"slices"

	"kith/model/internal/graph"
)

// rivals holds the nodes two edges away from a source. Nodes that the source has no edge to are the
// rivals of every candidate, whatever the candidates of a question. Nodes that are also neighbours
// of the source show what its links look like.
type rivals struct {
	source       graph.ID
	valid        bool                   // the data describes source
	open         [NumMeasures]histogram // rivals by each measure
	linked       [NumMeasures]histogram // neighbours of the source by each measure
	most         flow                   // maximum of each number over the rivals
	neighborRank [NumMeasures]float64
	closed       float64 // share of the source's neighbours that are also two edges away, with a prior of 1/4
	mutual       float64 // see mutual; 0 on an undirected graph
	resource     float64 // resource allocation of the source, summed over all other nodes
}

// Measures, in order.
const (
	ByResource = iota
	ByAdamic
	ByEven
	ByDegree
	NumMeasures
)

// measures returns the value of each measure for a node with flow f and in in-neighbours.
func measures(f flow, in float64) [NumMeasures]float64 {
	return [NumMeasures]float64{ByResource: f.Resource, ByAdamic: f.Adamic, ByEven: f.degreeWeighted, ByDegree: in}
}

// read computes the rivals of the source of s, unless it has just computed them.
func (r *rivals) read(g graph.Graph, s *TwoHop, logs *halfLogs) {
	if r.valid && r.source == s.source {
		return
	}
	r.source, r.valid, r.most = s.source, true, flow{}
	for k := range NumMeasures {
		r.open[k].clear()
		r.linked[k].clear()
	}
	out := s.out
	closed := 0
	for i, u := range s.Node {
		f := s.flow[i]
		if _, there := slices.BinarySearch(out, u); there {
			closed++
			addMeasures(&r.linked, measures(withoutEdge(g, u, f)))
			continue
		}
		addMeasures(&r.open, measures(f, float64(graph.InLen(g, u))))
		r.most.Common = max(r.most.Common, f.Common)
		r.most.Adamic = max(r.most.Adamic, f.Adamic)
		r.most.Resource = max(r.most.Resource, f.Resource)
	}
	for k := range NumMeasures {
		r.open[k].sum()
		r.linked[k].sum()
	}
	r.closed = float64(closed+1) / float64(len(out)+4)
	r.resource = s.resource
	r.mutual = 0
	if g.Directed() {
		r.mutual = mutual(g, s.source, out, graph.In(g, s.source))
	}
	r.neighborRanks(g, s, logs)
}

// addMeasures adds the value of each measure to its histogram.
func addMeasures(to *[NumMeasures]histogram, v [NumMeasures]float64) {
	for k := range to {
		to[k].add(v[k])
	}
}

// withoutEdge returns the flow to a neighbour of the source and the number of its in-neighbours
// without the edge between them.
func withoutEdge(g graph.Graph, u graph.ID, f flow) (flow, float64) {
	in := graph.InLen(g, u) - 1
	if !g.Directed() {
		f.degreeWeighted = f.Weight / math.Sqrt(float64(max(1, in)))
	}
	return f, float64(in)
}

// maxRanked is the approximate maximum number of neighbours whose ranks are averaged. A larger
// neighbourhood is sampled at equal distances.
const maxRanked = 64

// neighborRanks computes the mean, over neighbours of the source, of log1p of the number of rivals
// above the neighbour. Two random rivals are added as a prior.
func (r *rivals) neighborRanks(g graph.Graph, s *TwoHop, logs *halfLogs) {
	out := s.out
	const before = 2
	random := max(0, logs.log1p(r.open[0].len())-1)
	for k := range r.neighborRank {
		r.neighborRank[k] = before * random
	}
	n := float64(before)
	for i := 0; i < len(out); i += max(1, len(out)/maxRanked) {
		if out[i] == s.source {
			continue
		}
		n++
		for k, v := range measures(withoutEdge(g, out[i], s.To(out[i]))) {
			r.neighborRank[k] += logs.log1p(r.open[k].above(v))
		}
	}
	for k := range r.neighborRank {
		r.neighborRank[k] /= n
	}
}

// mutual is the share of the neighbours of u on a directed graph that it has arcs both to and from,
// as far as they are in the given parts of its rows.
func mutual(g graph.Graph, u graph.ID, out, in []graph.ID) float64 {
	both := 0
	Intersect(out, in, func(graph.ID) { both++ })
	return float64(both) / float64(max(1, neighbors(g, u)-both))
}

// rivals fills the columns that compare the candidate with the rivals and the neighbours of the
// source.
func (l *PairStats) rivals(r *rivals, logs *halfLogs, x []float32) {
	links := r.linked[0].len()
	for k, v := range measures(l.flow, l.in) {
		x[TopRank+k] = float32(logs.log1p(r.open[k].above(v)))
		x[TopAbove+k] = float32(math.Log((r.linked[k].above(v) + 0.5) / (links + 1)))
		x[TopNeighborRank+k] = float32(r.neighborRank[k])
	}
	x[TopMostCommon] = float32(l.flow.Common / max(r.most.Common, 1))
	x[TopMostAdamic] = float32(l.flow.Adamic / max(r.most.Adamic, ResourceFloor))
	x[TopMostResource] = float32(l.flow.Resource / max(r.most.Resource, ResourceFloor))
	x[TopRivals], x[TopClosed] = float32(logs.log1p(r.open[0].len())), float32(r.closed)
	x[TopMutual] = float32(r.mutual)
}

// halfLogs caches math.Log1p at 0, 1/2, 1, 3/2 and so on. An entry that is not computed yet is 0.
type halfLogs []float64

// maxHalves bounds the length of halfLogs.
const maxHalves = 1 << 13

// log1p returns math.Log1p(x).
func (t *halfLogs) log1p(x float64) float64 {
	i := int(min(2*x, maxHalves))
	if i < 0 || i == maxHalves || float64(i) != 2*x {
		return math.Log1p(x)
	}
	if i >= len(*t) {
		*t = append(*t, make([]float64, i+1-len(*t))...)
	}
	v := (*t)[i]
	if v == 0 {
		v = math.Log1p(x)
		(*t)[i] = v
	}
	return v
}

// histogram is a histogram of numbers on a logarithmic scale with 64 buckets per octave. It is
// ready for use after clear.
type histogram struct {
	count    [buckets + 1]float32 // after sum: how many numbers are in the bucket or above
	low, top int                  // lowest and highest bucket with a number; all others hold 0
}

const (
	buckets      = 48 * 64
	bottomBucket = (127 - 24) * 64 // bucket of 2^-24, from the exponent and the first digits of a float32
)

// Bucket returns the bucket of a number. Small numbers are in the lowest bucket.
func Bucket(x float64) int {
	return min(max(int(math.Float32bits(float32(max(x, 0)))>>17)-bottomBucket, 0), buckets-1)
}

// clear removes all numbers.
func (l *histogram) clear() {
	if l.low <= l.top {
		clear(l.count[l.low : l.top+1])
	}
	l.low, l.top = buckets, -1
}

// add adds a number.
func (l *histogram) add(x float64) {
	i := Bucket(x)
	l.count[i]++
	l.low, l.top = min(l.low, i), max(l.top, i)
}

// sum accumulates the counts. No number may be added afterwards.
func (l *histogram) sum() {
	sum := float32(0)
	for i := l.top; i >= l.low; i-- {
		sum += l.count[i]
		l.count[i] = sum
	}
}

// len returns how many numbers were added. Call sum first.
func (l *histogram) len() float64 { return float64(l.count[l.low]) }

// above returns how many numbers are above x. Call sum first. Numbers in the same bucket as x count
// half.
func (l *histogram) above(x float64) float64 {
	i := Bucket(x)
	if i < l.low {
		return l.len()
	}
	return float64(l.count[i]+l.count[i+1]) / 2
}
