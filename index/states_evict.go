package index

import (
	"bytes"
	"container/heap"
	"math"

	"kith/ppr"
)

// Eviction follows GreedyDual-Size (Cao and Irani, USITS 1997): evict the state with the lowest
// priority, which is clock + edge operations per byte when the state was last used, and advance the
// clock to that priority.

// queueItem is an entry's position in the queue and its contribution to the sums.
type queueItem struct {
	bytes    int64
	ops      float64 // edge operations to compute the state
	error    float64 // certified L1 error of the state; 0 means unknown
	priority float64
	place    int // index in the queue; -1 if not in it
}

// totals holds totals over states of the cache's tolerance.
type totals struct {
	states     int
	ops, error float64
}

// requeue updates the position of an entry in the queue and evicts entries until the cache is
// within the budget.
func (c *States) requeue(e *entry) {
	bytes, bound := int64(e.state.Bytes()), e.state.Bound(ppr.L1)
	if math.IsInf(bound, 1) {
		bound = 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[e.of] != e {
		return // evicted while it was being updated
	}
	c.account(e, -1)
	e.bytes, e.ops, e.error = bytes, float64(e.state.EdgeOps()), bound
	e.priority = c.clock + e.ops/float64(max(bytes, 1))
	c.account(e, 1)
	if e.place < 0 {
		heap.Push(&c.queue, e)
	} else {
		heap.Fix(&c.queue, e.place)
	}
	for c.bytes > c.budget && len(c.queue) > 0 {
		gone := heap.Pop(&c.queue).(*entry)
		c.clock = max(c.clock, gone.priority)
		c.account(gone, -1)
		delete(c.entries, gone.of)
		c.stats.Evictions++
	}
}

// account adds the entry to the sums if sign is 1, or subtracts it if sign is -1.
func (c *States) account(e *entry, sign int) {
	c.bytes += int64(sign) * e.bytes
	if !e.of.tracked && !e.of.Coarse && e.bytes > 0 {
		c.sources.states += sign
		c.sources.ops += float64(sign) * e.ops
		c.sources.error += float64(sign) * e.error
	}
}

// Price is the estimated cost of the states of some sources, for a query planner.
type Price struct {
	Missing  int     // number of states not in memory
	SolveOps float64 // edge operations to compute one state: the average of those in memory
	Error    float64 // certified L1 error of one state: the average of those in memory; 0 means unknown
}

// Price returns the estimated cost of requesting the states of sources. If no states are in memory,
// guess is the number of edge operations per state.
func (c *States) Price(form ppr.Form, alpha float64, sources []ID, guess float64) Price {
	c.mu.Lock()
	defer c.mu.Unlock()
	var p Price
	for _, u := range sources {
		if e := c.entries[StateID{Form: form, Alpha: alpha, Source: u}]; e == nil || e.place < 0 {
			p.Missing++
		}
	}
	p.SolveOps = guess
	if n := c.sources.states; n > 0 {
		p.SolveOps, p.Error = c.sources.ops/float64(n), c.sources.error/float64(n)
	}
	return p
}

// Tracked reports whether the source has a tracked state.
func (c *States) Tracked(of StateID) bool {
	of.tracked = true
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[of]
	return e != nil && e.place >= 0
}

// entryQueue implements heap.Interface with the lowest priority first.
type entryQueue []*entry

func (q entryQueue) Len() int           { return len(q) }
func (q entryQueue) Less(i, j int) bool { return q[i].priority < q[j].priority }
func (q entryQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}
func (q *entryQueue) Push(x any) {
	e := x.(*entry)
	e.place = len(*q)
	*q = append(*q, e)
}
func (q *entryQueue) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	e.place = -1
	return e
}

// TrimIfDue calls Trim if states of an eighth of the budget were stored since the last Trim.
func (c *States) TrimIfDue(r Reader, w Writer) error {
	c.mu.Lock()
	due := c.written > c.budget/8
	c.mu.Unlock()
	if !due {
		return nil
	}
	return c.Trim(r, w)
}

// Trim deletes stored states that are not in memory, in key order, until the stored states are
// within the budget. States in memory are kept: they were requested since the cache was created, so
// they are more likely to be requested again.
func (c *States) Trim(r Reader, w Writer) error {
	c.mu.Lock()
	c.written = 0
	c.mu.Unlock()
	excess := -c.budget
	for e, err := range r.Scan([]byte{prefixState}, nil) {
		if err != nil {
			return err
		}
		excess += int64(len(e.Value))
	}
	if excess <= 0 {
		return nil
	}
	var last []byte // key of the last state that was deleted
	for e, err := range r.Scan([]byte{prefixState}, nil) {
		if err != nil {
			return err
		}
		key, _, ok := splitKey(e.Key)
		switch same := ok && bytes.Equal(key, last); {
		case !same && excess <= 0:
			return nil
		case !ok || !same && c.holds(key):
			continue
		}
		last = bytes.Clone(key)
		excess -= int64(len(e.Value))
		if err := w.Delete(bytes.Clone(e.Key)); err != nil {
			return err
		}
	}
	return nil
}

// holds reports whether the state with a stored key is in memory.
func (c *States) holds(key []byte) bool {
	of, ok := parseStateKey(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	return ok && c.entries[of] != nil
}
