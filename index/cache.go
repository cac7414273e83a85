package index

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"kith/ppr"
)

// States is the cache of PageRank states of single sources, all of one damping factor and one
// tolerance. A state is brought up to the version of whoever asks: repaired from the log, taken
// from the store and pushed on, or computed. Safe for concurrent use; two readers of one state wait
// for each other instead of computing it twice.
//
// The states stay within a budget of bytes. The one to go is the one with the smallest clock + edge
// operations per byte, the clock being that figure of the last one that went (GreedyDual-Size, Cao
// and Irani, USITS 1997).
type States struct {
	alpha  float64
	target ppr.Target
	budget int64
	free   chan *ppr.Solver // bounds the workspaces

	mu      sync.Mutex // protects following fields
	entries map[StateOf]*entry
	queue   entryQueue
	bytes   int64
	clock   float64
	stats   CacheStats
}

// CacheStats counts what the cache did since it was made.
type CacheStats struct {
	Entries   int
	Bytes     int64
	Budget    int64
	Hits      uint64 // the state stood at the version asked for, or nothing near it had changed
	CatchUps  uint64 // repaired from the log
	Loads     uint64 // taken from the store
	Computed  uint64 // computed afresh
	Damaged   uint64 // found in the store but not readable, and so computed afresh
	Evictions uint64
}

// entry is one cached state.
type entry struct {
	of StateOf

	mu      sync.Mutex // allows only one goroutine to bring the state up to date; protects following fields
	state   *ppr.State
	version uint64
	dirty   bool // the store does not have it, and it is worth storing

	// Fields of the queue, under States.mu.
	bytes    int64
	priority float64
	place    int // in the queue, -1: not there
}

// NewStates returns an empty cache of at most budget bytes.
func NewStates(alpha, epsilon float64, budget int64) *States {
	c := &States{
		alpha: alpha, target: ppr.Target{Norm: ppr.MaxNorm, Eps: epsilon}, budget: budget,
		free: make(chan *ppr.Solver, runtime.GOMAXPROCS(0)), entries: map[StateOf]*entry{},
	}
	for range cap(c.free) {
		c.free <- ppr.NewSolver()
	}
	return c
}

// Alpha returns the damping factor of the states.
func (c *States) Alpha() float64 { return c.alpha }

// Solve lends f a solver; there are as many as processors.
func (c *States) Solve(ctx context.Context, f func(*ppr.Solver) (*ppr.State, error)) (*ppr.State, error) {
	select {
	case sv := <-c.free:
		defer func() { c.free <- sv }()
		return f(sv)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// At returns the state of a source on the graph of s. r reads the store at the version of s.
func (c *States) At(ctx context.Context, s *Snapshot, r Reader, of StateOf) (*ppr.State, error) {
	if !s.Meta.Directed {
		of.Form = ppr.Column
	}
	e := c.entry(of)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state != nil && e.version > s.Meta.Version {
		return c.rewind(ctx, s, e)
	}
	if err := c.update(ctx, s, r, e); err != nil {
		c.forget(e)
		return nil, err
	}
	c.settle(e)
	return e.state, nil
}

// entry finds or makes the entry of a state.
func (c *States) entry(of StateOf) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[of]
	if e == nil {
		e = &entry{of: of, place: -1}
		c.entries[of] = e
	}
	return e
}

// forget drops an entry that never got a state.
func (c *States) forget(e *entry) {
	if e.state != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[e.of] == e {
		delete(c.entries, e.of)
	}
}

// rewind solves for a reader of an earlier version than the state stands at, and leaves the entry
// as it is.
func (c *States) rewind(ctx context.Context, s *Snapshot, e *entry) (*ppr.State, error) {
	c.count(func(n *CacheStats) { n.Computed++ })
	return c.Solve(ctx, func(sv *ppr.Solver) (*ppr.State, error) {
		return sv.Solve(ctx, s.Graph, e.of.Form, c.alpha, source(e.of.Source), c.target)
	})
}

func source(u ID) ppr.Vector { return ppr.Vector{Node: []ID{u}, Value: []float64{1}} }

// update brings an entry to the version of s.
func (c *States) update(ctx context.Context, s *Snapshot, r Reader, e *entry) error {
	if e.state != nil && e.version == s.Meta.Version {
		c.count(func(n *CacheStats) { n.Hits++ })
		return nil
	}
	if e.state != nil {
		if changes, ok := s.Log.Since(e.version); ok {
			return c.catchUp(ctx, s, e, changes)
		}
	}
	stored, err := c.load(s, r, e)
	if err != nil {
		return err
	}
	st, err := c.Solve(ctx, func(sv *ppr.Solver) (*ppr.State, error) {
		if stored == nil {
			return sv.Solve(ctx, s.Graph, e.of.Form, c.alpha, source(e.of.Source), c.target)
		}
		st, err := sv.Reload(s.Graph, e.of.Form, c.alpha, source(e.of.Source), stored.nodes, stored.y)
		if err != nil {
			return nil, err
		}
		return sv.Refine(ctx, s.Graph, st, c.target)
	})
	if err != nil {
		return err
	}
	e.state, e.version, e.dirty = st, s.Meta.Version, stored == nil || stored.version != s.Meta.Version
	return nil
}

// load reads an entry's state from the store, nil if there is none. A damaged one is as good as
// none: it is a head start, CheckStates reports it, and Write puts a sound one in its place.
func (c *States) load(s *Snapshot, r Reader, e *entry) (*storedState, error) {
	var stored *storedState
	var err error
	if e.state == nil && r != nil {
		stored, err = getState(r, e.of, s.Meta.Version)
	}
	damaged := errors.Is(err, ErrCorrupt)
	if err != nil && !damaged {
		return nil, err
	}
	c.count(func(n *CacheStats) {
		if stored != nil {
			n.Loads++
		} else {
			n.Computed++
		}
		if damaged {
			n.Damaged++
		}
	})
	return stored, nil
}

func (c *States) catchUp(ctx context.Context, s *Snapshot, e *entry, changes []ppr.Change) error {
	var repair ppr.Repair
	st, err := c.Solve(ctx, func(sv *ppr.Solver) (st *ppr.State, err error) {
		st, repair, err = sv.CatchUp(ctx, s.Graph, e.state, changes, c.target)
		return st, err
	})
	if err != nil {
		return err
	}
	c.count(func(n *CacheStats) {
		switch {
		case repair.Fresh:
			n.Computed++
		case repair.Hits == 0:
			n.Hits++
		default:
			n.CatchUps++
		}
	})
	e.dirty = e.dirty || repair.Fresh || repair.Hits > 0
	e.state, e.version = st, s.Meta.Version
	return nil
}

func (c *States) count(f func(*CacheStats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.stats)
}

// settle gives an entry its place in the queue anew and evicts until the budget is kept.
func (c *States) settle(e *entry) {
	bytes := int64(e.state.Bytes())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[e.of] != e {
		return // evicted while it was brought up to date
	}
	c.bytes += bytes - e.bytes
	e.bytes = bytes
	e.priority = c.clock + float64(e.state.EdgeOps())/float64(max(bytes, 1))
	if e.place < 0 {
		heap.Push(&c.queue, e)
	} else {
		heap.Fix(&c.queue, e.place)
	}
	for c.bytes > c.budget && len(c.queue) > 0 {
		gone := heap.Pop(&c.queue).(*entry)
		c.clock = max(c.clock, gone.priority)
		c.bytes -= gone.bytes
		delete(c.entries, gone.of)
		c.stats.Evictions++
	}
}

// Stats returns the counters.
func (c *States) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.stats
	n.Entries, n.Bytes, n.Budget = len(c.queue), c.bytes, c.budget
	return n
}

// storeOps is the price from which on a state is stored: about the edge operations of a
// millisecond, many times what reading it back takes.
const storeOps = 20_000

// Write hands to w the states that the store lacks and that cost enough to be worth it.
func (c *States) Write(w Writer) error {
	c.mu.Lock()
	entries := append([]*entry(nil), c.queue...)
	c.mu.Unlock()
	for _, e := range entries {
		if err := e.write(w); err != nil {
			return err
		}
	}
	return nil
}

func (e *entry) write(w Writer) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.dirty || e.state.EdgeOps() < storeOps {
		return nil
	}
	nodes, y := e.state.Estimate()
	if err := putState(w, e.of, &storedState{e.version, nodes, y}); err != nil {
		return err
	}
	e.dirty = false
	return nil
}

// CheckStates verifies every stored state of s that r reads: its residual, derived from the graph,
// must be finite, and its nodes in the graph.
func (c *States) CheckStates(ctx context.Context, s *Snapshot, r Reader) error {
	for e, err := range scanSplit(r, []byte{prefixState}, nil) {
		if err != nil {
			return err
		}
		of, ok := stateOf(e.Key)
		if !ok {
			return corruptKey(e.Key)
		}
		if err := c.check(ctx, s, of, e.Value); err != nil {
			return fmt.Errorf("%v state of node %d: %w", of.Form, of.Source, err)
		}
	}
	return nil
}

func (c *States) check(ctx context.Context, s *Snapshot, of StateOf, b []byte) error {
	stored, err := decodeState(b)
	if err != nil || stored.version > s.Meta.Version { // ahead of what is durable: never read
		return err
	}
	st, err := c.Solve(ctx, func(sv *ppr.Solver) (*ppr.State, error) {
		return sv.Reload(s.Graph, of.Form, c.alpha, source(of.Source), stored.nodes, stored.y)
	})
	if ctx.Err() != nil {
		return err
	}
	if err == nil && math.IsNaN(st.Bound(ppr.MaxNorm)) {
		err = errors.New("its bound is no number")
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}

// entryQueue is a heap.Interface: the smallest priority first.
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
