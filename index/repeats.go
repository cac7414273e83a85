package index

import (
	"fmt"
	"slices"
)

// Repeats says what becomes of an edge that a bulk load meets more than once, or that is in the graph
// already; of an undirected graph the two directions of an edge are the same one. The time is always the
// latest of the times there are.
type Repeats uint8

const (
	KeepLast     Repeats = iota // the weight is that of the last edge
	SumWeights                  // the weights add up, in 64 bits, in the order in which they came
	CountRepeats                // as SumWeights, each edge gathered having weight 1
	NoRepeats                   // ErrRepeated
)

// repeatNames are the spellings of Repeats.
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
func (r *Repeats) UnmarshalText(b []byte) (err error) {
	*r, err = ParseRepeats(string(b))
	return err
}

// ParseRepeats is the inverse of [Repeats.String].
func ParseRepeats(s string) (Repeats, error) {
	i := slices.Index(repeatNames(), s)
	if i < 0 {
		return KeepLast, fmt.Errorf("index: repeats = %q (accepted: last, sum, count or error)", s)
	}
	return Repeats(i), nil
}

// Tally is what a bulk load met of repeats.
type Tally struct {
	Repeated  int64 // edges gathered that the graph had, or an edge gathered before
	Differing int64 // of these, the ones of another weight or time than the one before
	BothWays  int64 // pairs of two nodes that came in both directions; only of an undirected graph
	Symmetric bool  // all pairs of two nodes came in both directions, as often in one as in the other
}

// combiner makes one edge of those of a pair, which come one after the other.
type combiner struct {
	how      Repeats
	directed bool
	dict     *Dict
	visit    func(Edge) error
	pair     pairEvents
	newest   *newestEvents // nil: events are not gathered

	any    bool    // there is a pair
	last   Edge    // of the pair
	sum    float64 // of its weights
	time   int64   // the latest
	lines  int64   // edges gathered of it
	upward int64   // of those, the ones from the lower to the higher end

	met        Tally
	asymmetric bool // some pair did not come as often in one direction as in the other
	pairs      bool // some pair of two nodes was gathered
}

// take takes the next edge; gathered says that it was not in the graph before.
func (c *combiner) take(e Edge, gathered bool) error {
	same := c.any && e.pair(c.directed) == c.last.pair(c.directed)
	if !same {
		if err := c.flush(); err != nil {
			return err
		}
		c.any, c.sum, c.time, c.lines, c.upward = true, 0, 0, 0, 0
	}
	if same {
		c.met.Repeated++
		if e.Weight != c.last.Weight || e.Time != c.last.Time {
			c.met.Differing++
		}
		if c.how == NoRepeats {
			return c.refuse(e)
		}
	}
	if c.newest != nil {
		c.pair.edges, c.pair.gathered = append(c.pair.edges, e), append(c.pair.gathered, gathered)
	}
	weight := float64(e.Weight)
	if gathered {
		c.lines++
		if e.U < e.V {
			c.upward++
		}
		if c.how == CountRepeats {
			weight = 1
		}
	}
	c.last = e
	c.sum += weight
	c.time = latest(c.time, e.Time)
	return nil
}

// refuse returns the error of an edge that repeats.
func (c *combiner) refuse(e Edge) error {
	where := "comes twice"
	if c.lines == 0 {
		where = "is in the graph already"
	}
	return fmt.Errorf("%w: %v -> %v %s (repeats = error; accepted are last, sum and count too)", ErrRepeated, c.dict.Key(e.U), c.dict.Key(e.V), where)
}

// latest returns the later of two times, either of which may be none: 0.
func latest(s, t int64) int64 {
	switch {
	case s == 0:
		return t
	case t == 0:
		return s
	}
	return max(s, t)
}

// flush hands the edge that the pair has become to visit, if there is a pair.
func (c *combiner) flush() error {
	if !c.any {
		return nil
	}
	if c.newest != nil {
		c.pair.hand(c.newest, c.how)
	}
	e := c.last
	e.Time = c.time
	if c.how == SumWeights || c.how == CountRepeats {
		if e.Weight = float32(c.sum); !ValidWeight(e.Weight) {
			return fmt.Errorf("%w: those of %v -> %v add up to %v", ErrWeight, c.dict.Key(e.U), c.dict.Key(e.V), c.sum)
		}
	}
	if !c.directed {
		if e.U != e.V && c.lines > 0 {
			c.countDirections()
		}
		e.U, e.V = min(e.U, e.V), max(e.U, e.V)
	}
	return c.visit(e)
}

// countDirections counts how the pair was gathered.
func (c *combiner) countDirections() {
	c.pairs = true
	if 0 < c.upward && c.upward < c.lines {
		c.met.BothWays++
	}
	c.asymmetric = c.asymmetric || 2*c.upward != c.lines
}

// tally returns what was met so far.
func (c *combiner) tally() Tally {
	t := c.met
	t.Symmetric = c.pairs && !c.asymmetric
	return t
}
