package index

import (
	"cmp"
	"fmt"
	"slices"

	"kith/index/internal/spill"
)

// Repeats defines the result for an edge that occurs more than once in a bulk load, or that is in
// the graph already. In an undirected graph the two directions of an edge are the same edge. The
// time of the result is always the latest time.
type Repeats uint8

const (
	KeepLast     Repeats = iota // weight of the last edge
	SumWeights                  // sum of the weights, in 64 bits, in the order of the edges
	CountRepeats                // as SumWeights, but each loaded edge has weight 1
	NoRepeats                   // repeats are ErrRepeated
)

// repeatNames returns the names of the values of Repeats.
func repeatNames() []string { return []string{"last", "sum", "count", "error"} }

// String returns last, sum, count or error.
func (r Repeats) String() string {
	if names := repeatNames(); int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("Repeats(%d)", uint8(r))
}

// MarshalText implements [encoding.TextMarshaler].
func (r Repeats) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (r *Repeats) UnmarshalText(b []byte) error {
	i := slices.Index(repeatNames(), string(b))
	if i < 0 {
		return fmt.Errorf("index: repeats = %q (accepted: last, sum, count or error)", b)
	}
	*r = Repeats(i)
	return nil
}

// Tally counts the repeats in a bulk load.
type Tally struct {
	Repeated  int64 // number of loaded edges that were in the graph or had been loaded before
	Differing int64 // number of repeated edges with another weight or time than the previous edge
	// BothWays is the number of pairs of two nodes loaded in both directions; undirected graphs
	// only.
	BothWays  int64
	Symmetric bool // each pair of two nodes was loaded equally often in both directions
}

// combiner merges the edges of each pair and relation, which must be consecutive, into one edge.
type combiner struct {
	repeats  Repeats
	directed spill.Directions
	key      func(ID) Key // returns the key of a node, for messages
	visit    func(Edge) error
	pair     []pairEdge    // edges of the pair, if events are collected
	newest   *newestEvents // nil if events are not collected

	any    bool    // a pair has been started
	last   Edge    // last edge of the pair
	sum    float64 // sum of the weights of the pair
	time   int64   // latest time of the pair
	loaded int64   // number of loaded edges of the pair
	upward int64   // number of loaded edges that lead from the lower to the higher endpoint

	tally Tally
	pairs bool // some pair of two nodes was loaded
}

// add adds the next edge. loaded reports whether the edge was loaded; otherwise it was in the graph
// before.
func (c *combiner) add(e Edge, loaded bool) error {
	same := c.any && e.Same(&c.last, c.directed)
	if !same {
		if err := c.flush(); err != nil {
			return err
		}
		c.any, c.sum, c.time, c.loaded, c.upward = true, 0, 0, 0, 0
	}
	if same {
		c.tally.Repeated++
		if e.Weight != c.last.Weight || e.Time != c.last.Time {
			c.tally.Differing++
		}
		if c.repeats == NoRepeats {
			return c.refuse(e)
		}
	}
	if c.newest != nil {
		c.pair = append(c.pair, pairEdge{e, loaded})
	}
	weight := float64(e.Weight)
	if loaded {
		c.loaded++
		if e.U < e.V {
			c.upward++
		}
		if c.repeats == CountRepeats {
			weight = 1
		}
	}
	c.last = e
	c.sum += weight
	c.time = latest(c.time, e.Time)
	return nil
}

// refuse returns ErrRepeated for the edge e.
func (c *combiner) refuse(e Edge) error {
	where := "comes twice"
	if c.loaded == 0 {
		where = "is in the graph already"
	}
	return fmt.Errorf("%w: %v -> %v %s (repeats = error; accepted are last, sum and count too)",
		ErrRepeated, c.key(e.U).Literal(), c.key(e.V).Literal(), where)
}

// latest returns the later of two times; 0 means no time.
func latest(s, t int64) int64 {
	switch {
	case s == 0:
		return t
	case t == 0:
		return s
	}
	return max(s, t)
}

// flush passes the merged edge of the current pair, if any, to visit.
func (c *combiner) flush() error {
	if !c.any {
		return nil
	}
	if c.newest != nil {
		c.newest.addPair(c.pair, c.repeats)
		c.pair = c.pair[:0]
	}
	e := c.last
	e.Time = c.time
	if c.repeats == SumWeights || c.repeats == CountRepeats {
		if e.Weight = float32(c.sum); !ValidWeight(e.Weight) {
			return fmt.Errorf("%w: those of %v -> %v add up to %v", ErrWeight, c.key(e.U).Literal(), c.key(e.V).Literal(), c.sum)
		}
	}
	if !c.directed[e.Relation] {
		if e.U != e.V && c.loaded > 0 {
			c.countDirections()
		}
		e.U, e.V = min(e.U, e.V), max(e.U, e.V)
	}
	return c.visit(e)
}

// countDirections counts the directions in which the pair was loaded.
func (c *combiner) countDirections() {
	if 0 < c.upward && c.upward < c.loaded {
		c.tally.BothWays++
	}
	c.tally.Symmetric = 2*c.upward == c.loaded && (c.tally.Symmetric || !c.pairs)
	c.pairs = true
}

// newestEvents collects the maxEvents events of a bulk load with the latest times.
type newestEvents struct {
	list   []rankedEvent
	oldest *rankedEvent // later events than this are enough; nil if there are fewer than maxEvents
}

// rankedEvent is an event with its index among the events of its pair of nodes.
type rankedEvent struct {
	Event
	rank int
}

func (e *rankedEvent) order(o *rankedEvent) int {
	return cmp.Or(cmp.Compare(e.Time, o.Time),
		cmp.Compare(min(e.U, e.V), min(o.U, o.V)), cmp.Compare(max(e.U, e.V), max(o.U, o.V)),
		cmp.Compare(e.Relation, o.Relation), cmp.Compare(e.rank, o.rank))
}

func (n *newestEvents) add(e rankedEvent) {
	if n.oldest != nil && e.order(n.oldest) < 0 {
		return
	}
	if n.list = append(n.list, e); len(n.list) >= 2*maxEvents {
		n.drop()
		oldest := n.list[0]
		n.oldest = &oldest
	}
}

// drop sorts the events by time and drops the oldest ones.
func (n *newestEvents) drop() {
	slices.SortFunc(n.list, func(a, b rankedEvent) int { return a.order(&b) })
	n.list = append(n.list[:0], n.list[max(0, len(n.list)-maxEvents):]...)
}

// sorted returns the events ordered by time.
func (n *newestEvents) sorted() []Event {
	n.drop()
	events := make([]Event, len(n.list))
	for i := range events {
		events[i] = n.list[i].Event
	}
	return events
}

// pairEdge is an edge of a pair of nodes in a bulk load; loaded is false for an edge that was in
// the graph before.
type pairEdge struct {
	Edge
	loaded bool
}

// addPair adds the events of a pair, whose edges are in the order of addition. Each event has the
// edge as the earlier events have left it.
func (n *newestEvents) addPair(edges []pairEdge, how Repeats) {
	if !slices.ContainsFunc(edges, func(e pairEdge) bool { return e.Time != 0 }) {
		return
	}
	slices.SortStableFunc(edges, func(a, b pairEdge) int { return cmp.Compare(a.Time, b.Time) })
	sum, before, last := 0.0, float32(0), int64(0)
	for rank, e := range edges {
		if e.loaded && how == CountRepeats {
			e.Weight = 1
		}
		sum += float64(e.Weight)
		if how == SumWeights || how == CountRepeats {
			e.Weight = float32(sum)
		}
		if e.loaded && e.Time != 0 && ValidWeight(e.Weight) {
			n.add(rankedEvent{Event{Edge: e.Edge, Before: before, Last: last}, rank})
		}
		before, last = e.Weight, latest(last, e.Time)
	}
}
