package model

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/graph"
	"kith/model/nn"
)

// Time columns of a pair. The weight of an edge, in units of [weightUnit], is read as the number of
// its events, and its time as the time of the last event. Edges later than World.Now do not count;
// edges without a time are older than all others. Ages are relative to the pace of the graph
// ([paceOf]), so that a column means the same on a stream of seconds and on one of years.
//
// A rank counts from the newest edge; edges with equal times share the smallest of their ranks. A
// decayed count is the sum of 1 / (1 + (age/window)²) over partners. Where a comment says log, the
// column is log1p of the number.
const (
	colSeen        = iota // 1 if there is an edge
	colSeenRank           // 1 / rank of the target among the source's partners
	colSeenLogRank        // log of that rank; for a pair without an edge the rank is the number of partners plus 1
	colSeenWeight         // log of the weight
	colSeenAge            // age of the edge
	colSeenLag            // age of the edge minus the age of the source's newest edge
	colSeenShare          // weight divided by the sum of the weights of the source's edges

	colContactRank    // for an edge in either direction: 1 / rank among the contacts of the source
	colContactLogRank // log of that rank
	colContactAge     // age of the newer of the two edges
	colBack           // 1 if there is a reverse edge; all colBack columns are 0 if edges have no direction
	colBackRank       // 1 / rank of the target among the nodes with an edge to the source
	colBackWeight     // log of the weight of the reverse edge
	colBackAge        // age of the reverse edge
	colBackNewer      // 1 if the reverse edge is newer than the edge or the only one

	colFromNew    // 1 if the source has no edge
	colFromWeight // log of the sum of the weights
	colFromDegree // log of the number of partners
	colFromAge    // age of the newest edge
	colFromAge2   // age of the second newest edge
	colFromLast   // share of the newest edge in the sum of the weights
	colFromFocus  // sum of the squares of the shares of all edges
	colFromHot    // log of decayed counts, one column for each of the first two windows
	_
	colFromInAge    // age of the newest edge to the source, if edges have a direction
	colFromInDegree // log of the number of edges to the source

	colToWeight // log of the sum of the weights of the edges to the target
	colToDegree // log of their number
	colToAge    // age of the newest of them
	colToHot    // log of decayed counts, one column per window
	_
	_
	_
	_
	colToOutWeight // weight, degree and age of the edges out of the target, if edges have a direction
	colToOutDegree
	colToOutAge

	colTwoHops   // log of the recent contacts shared by source and target, each divided by its rank
	colThreeHops // log of the recent paths of three edges, each divided by the rank of its first node
	colThreePer  // these paths divided by the root of the target's degree
	colThreeNow  // log of the paths through the newest partner
	timeLen
)

// Limits of the work per pair.
const (
	hopPartners = 10   // newest partners of the source that paths go through
	hopRow      = 30   // newest entries of each row on a path
	hopDegree   = 1024 // paths do not use a second node with a longer row
	hotRow      = 1024 // number of entries that a decayed count reads of a row; longer rows are sampled
)

// timedRow is a row of a graph with weights and times.
type timedRow struct {
	to     []ID
	weight []float32
	time   []int64
}

func outRow(g Timed, u ID) timedRow {
	to, w := g.Out(u)
	return timedRow{to, w, g.OutTimes(u)}
}

func inRow(g Timed, u ID) timedRow {
	from, w := g.In(u)
	return timedRow{from, w, g.InTimes(u)}
}

// at returns the weight and the time of an entry.
func (r *timedRow) at(i int) (weight float64, time int64) {
	weight = 1
	if r.weight != nil {
		weight = float64(r.weight[i])
	}
	if r.time != nil {
		time = r.time[i]
	}
	return weight, time
}

// clock converts times to ages.
type clock struct {
	now  int64
	pace float64 // seconds
}

// past reports whether a time is known and not later than now.
func (c *clock) past(t int64) bool { return t != 0 && t <= c.now }

// ageless is the age of an edge without a time, or of a missing edge. It is larger than any other
// age.
const ageless = 2

// age returns a quarter of the logarithm of an age in units of the pace, clamped.
func (c *clock) age(t int64) float64 {
	if !c.past(t) {
		return ageless
	}
	a := math.Log((float64(c.now-t)+1)/(c.pace+1)) / 4
	return min(max(a, -4), ageless-0.25)
}

// The first window of decayed counts is firstWindow times the pace. Each further window is eight
// times as long as the one before.
const (
	windows     = 5
	firstWindow = 1. / 512
)

// decay adds the share of an event to the decayed count of each window.
func (c *clock) decay(t int64, counts *[windows]float64) {
	x := float64(c.now-t) / (firstWindow * (c.pace + 1))
	x *= x
	for k := range counts {
		counts[k] += 1 / (1 + x)
		x /= 64
	}
}

// The pace and the unit of weight are estimated from at least paceNodes and less than 2 paceNodes
// nodes (from all nodes of a smaller graph), and from the first paceRow entries of each row.
const (
	paceNodes = 256
	paceRow   = 64
)

// sampleOf yields nodes in equal steps. The set changes only when the number of nodes doubles.
func sampleOf(g Timed) iter.Seq[ID] {
	step := 1
	for g.NumNodes()/step >= 2*paceNodes {
		step *= 2
	}
	return func(yield func(ID) bool) {
		for u := 0; u < g.NumNodes() && yield(ID(u)); u += step {
		}
	}
}

// paceOf returns the pace of a graph in seconds: the geometric mean, over nodes, of the mean gap
// between the times of a node's edges. It is a day if no node has two times.
func paceOf(g Timed) float64 {
	sum, n := 0.0, 0
	for u := range sampleOf(g) {
		first, last, k := timeSpan(g.OutTimes(u))
		if k == 0 && g.Directed() {
			first, last, k = timeSpan(g.InTimes(u))
		}
		if k >= 2 {
			sum += math.Log1p(float64(last-first) / float64(k-1))
			n++
		}
	}
	if n == 0 {
		return 86400
	}
	return math.Expm1(sum / float64(n))
}

// Keys of what a graph keeps.
type (
	paceKey struct{}
	unitKey struct{}
)

// paced returns a world with its pace, which is then computed once for all its pairs.
func paced(w World) World {
	if g, timed := w.Graph.(Timed); timed && w.Now != 0 && w.Pace == 0 {
		w.Pace = graph.Kept(g, paceKey{}, func() float64 { return paceOf(g) })
	}
	return w
}

// clockOf returns the clock of a world with times.
func clockOf(w World) clock { return clock{w.Now, paced(w).Pace} }

// weightUnit returns the unit of weight of a graph: one node in 32 has an edge that is not heavier.
// It is 1 where weights count events, because many pairs have had one event, and it follows a
// common factor of all weights. It reads the same entries as [paceOf].
func weightUnit(g Timed) float64 {
	var light []float64
	for u := range sampleOf(g) {
		r := outRow(g, u)
		if len(r.to) == 0 && g.Directed() {
			r = inRow(g, u)
		}
		switch n := min(len(r.to), paceRow); {
		case n == 0:
		case r.weight == nil:
			light = append(light, 1)
		default:
			light = append(light, float64(slices.Min(r.weight[:n])))
		}
	}
	if len(light) == 0 {
		return 1
	}
	slices.Sort(light)
	return light[len(light)/32]
}

// timeSpan returns the first and the last of the times of a row, and their number.
func timeSpan(times []int64) (first, last int64, n int) {
	first = math.MaxInt64
	for _, t := range times[:min(len(times), paceRow)] {
		if t != 0 {
			first, last, n = min(first, t), max(last, t), n+1
		}
	}
	return first, last, n
}

// contact is a node that the source has an edge to or from.
type contact struct {
	node   ID
	time   int64 // time of the newer edge; 0: unknown
	rank   int   // counted from 1
	weight float64
}

// history is the working memory for the time columns of one source's targets.
type history struct {
	clock
	g        Timed
	unit     float64 // of weights
	source   ID
	slot     []uint32 // for each node: 1 + the first row of x whose target it is; 0: no row
	out, in  []contact
	contacts []contact // nodes with an edge to or from the source
	near     []ID      // scratch: nodes of entries of a row
	far      []ID
	keptOut  keptRows
	keptIn   keptRows
	hop      [][3]float64 // for each row: common, shared, shared through the newest partner
}

// columns fills the time columns of each pair in its row of x, from column col on. The columns are
// 0 if the graph has no times or w.Now is 0. Pairs of the same source should be adjacent.
func (h *history) columns(w World, pairs []Pair, x blas32.General, col int) {
	for i := range pairs {
		clear(nn.Row(x, i)[col : col+timeLen])
	}
	g, timed := w.Graph.(Timed)
	if !timed || w.Now == 0 || len(pairs) == 0 {
		return
	}
	unit := graph.Kept(g, unitKey{}, func() float64 { return weightUnit(g) })
	h.g, h.clock, h.unit = g, clockOf(w), unit
	for first, run := range graph.BySource(pairs) {
		h.fill(run, func(i int) []float32 { return nn.Row(x, first+i)[col : col+timeLen] })
	}
	h.g = nil
}

// fill fills the rows of pairs with a common source.
func (h *history) fill(pairs []Pair, row func(i int) []float32) {
	h.source = pairs[0].Source
	h.begin(pairs)
	from := h.ofSource()
	for i, p := range pairs {
		x := row(i)
		if int(h.slot[p.Target]) != i+1 {
			continue // the target occurred before
		}
		copy(x, from[:])
		x[colSeenLogRank] = log1p(len(h.out) + 1)
		x[colContactLogRank] = log1p(len(h.contacts) + 1)
		x[colSeenAge], x[colContactAge], x[colBackAge] = ageless, ageless, ageless
		h.ofTarget(p.Target, x)
		h.hops(i, x)
	}
	h.pairs(row)
	for i, p := range pairs {
		if k := int(h.slot[p.Target]) - 1; k < i {
			copy(row(i), row(k))
		}
	}
	for _, p := range pairs {
		h.slot[p.Target] = 0
	}
}

// begin finds the contacts of the source and the paths to its targets.
func (h *history) begin(pairs []Pair) {
	if n := h.g.NumNodes(); len(h.slot) < n {
		h.slot = make([]uint32, n+n/8)
	}
	for i, p := range pairs {
		if h.slot[p.Target] == 0 {
			h.slot[p.Target] = uint32(i + 1)
		}
	}
	h.out = h.newestFirst(h.out[:0], outRow(h.g, h.source))
	h.in, h.contacts = h.in[:0], append(h.contacts[:0], h.out...)
	if h.g.Directed() {
		h.in = h.newestFirst(h.in, inRow(h.g, h.source))
		h.contacts = either(h.contacts, h.in)
	}
	h.hop = slices.Grow(h.hop[:0], len(pairs))[:len(pairs)]
	clear(h.hop)
	h.walk()
}

// newestFirst appends the entries of a row with their ranks, newest first.
func (h *history) newestFirst(dst []contact, r timedRow) []contact {
	for i, v := range r.to {
		w, t := r.at(i)
		if t <= h.now {
			dst = append(dst, contact{node: v, time: t, weight: w})
		}
	}
	return ranked(dst)
}

// ranked sorts contacts by time, newest first, and ranks them.
func ranked(all []contact) []contact {
	slices.SortFunc(all, func(a, b contact) int { return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.node, b.node)) })
	for i := range all {
		all[i].rank = i + 1
		if i > 0 && all[i].time == all[i-1].time {
			all[i].rank = all[i-1].rank
		}
	}
	return all
}

// either merges contacts of both directions, keeps the newer time of each node, and ranks them.
func either(all, more []contact) []contact {
	all = append(all, more...)
	slices.SortFunc(all, func(a, b contact) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(b.time, a.time)) })
	return ranked(slices.CompactFunc(all, func(a, b contact) bool { return a.node == b.node }))
}

// ofSource returns a row with the columns of the source.
func (h *history) ofSource() (x [timeLen]float32) {
	total, squares, hot := 0.0, 0.0, [windows]float64{}
	for _, c := range h.out {
		total += c.weight
		squares += c.weight * c.weight
		if c.time != 0 {
			h.decay(c.time, &hot)
		}
	}
	for k := range 2 {
		x[colFromHot+k] = log1p(hot[k])
	}
	x[colFromAge], x[colFromAge2], x[colFromInAge] = ageless, ageless, ageless
	if len(h.out) == 0 {
		x[colFromNew] = 1
	} else {
		x[colFromAge] = float32(h.age(h.out[0].time))
		x[colFromLast] = float32(h.out[0].weight / total)
		x[colFromFocus] = float32(squares / (total * total))
		if len(h.out) > 1 {
			x[colFromAge2] = float32(h.age(h.out[1].time))
		}
	}
	x[colFromWeight], x[colFromDegree] = log1p(total/h.unit), log1p(len(h.out))
	if len(h.in) > 0 {
		x[colFromInAge] = float32(h.age(h.in[0].time))
	}
	x[colFromInDegree] = log1p(len(h.in))
	return x
}

// ofTarget fills the columns of a target.
func (h *history) ofTarget(c ID, x []float32) {
	in := h.recent(inRow(h.g, c))
	copy(x[colToWeight:], in[:])
	x[colToOutAge] = ageless
	if h.g.Directed() {
		out := h.recent(outRow(h.g, c))
		copy(x[colToOutWeight:], out[:3])
	}
}

// recent returns the columns colToWeight to colToHot of a row. It samples a long row at equal
// steps, but always finds its newest entry.
func (h *history) recent(r timedRow) (x [3 + windows]float32) {
	var newest int64
	for _, t := range r.time {
		if t > newest && t <= h.now {
			newest = t
		}
	}
	step := 1 + len(r.to)/(hotRow+1)
	hot, weight, n := [windows]float64{}, 0.0, 0.0
	for i := 0; i < len(r.to); i += step {
		w, t := r.at(i)
		if t > h.now {
			continue
		}
		weight += w
		n++
		if t != 0 {
			h.decay(t, &hot)
		}
	}
	by := float64(step)
	x[0], x[1], x[2] = log1p(weight*by/h.unit), log1p(n*by), float32(h.age(newest))
	for k := range hot {
		x[3+k] = log1p(hot[k] * by)
	}
	return x
}

// pairs fills the columns of pairs that have an edge.
func (h *history) pairs(row func(i int) []float32) {
	total := 0.0
	for _, c := range h.out {
		total += c.weight
	}
	h.each(h.out, row, func(c contact, x []float32) {
		x[colSeen], x[colSeenRank], x[colSeenLogRank] = 1, float32(1/float64(c.rank)), log1p(c.rank)
		x[colSeenWeight], x[colSeenShare] = log1p(c.weight/h.unit), float32(c.weight/total)
		age := h.age(c.time)
		x[colSeenAge], x[colSeenLag] = float32(age), float32(age-h.age(h.out[0].time))
	})
	h.each(h.contacts, row, func(c contact, x []float32) {
		x[colContactRank], x[colContactLogRank], x[colContactAge] = float32(1/float64(c.rank)), log1p(c.rank), float32(h.age(c.time))
	})
	h.each(h.in, row, func(c contact, x []float32) {
		x[colBack], x[colBackRank] = 1, float32(1/float64(c.rank))
		x[colBackWeight], x[colBackAge] = log1p(c.weight/h.unit), float32(h.age(c.time))
		if x[colBackAge] < x[colSeenAge] {
			x[colBackNewer] = 1
		}
	})
}

// each calls fill for the contacts that are targets, with their rows.
func (h *history) each(contacts []contact, row func(i int) []float32, fill func(contact, []float32)) {
	for _, c := range contacts {
		if k := h.slot[c.node]; k > 0 {
			fill(c, row(int(k)-1))
		}
	}
}

// log1p returns log(1 + n) as a number of a column.
func log1p[T int | float64](n T) float32 { return float32(math.Log1p(float64(n))) }
