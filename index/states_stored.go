package index

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"kith/index/internal/block"
	"kith/ppr"
)

// StateID identifies a cached PageRank state by its source, form, damping factor and accuracy.
// Undirected graphs keep only column states, which serve both forms. A tracked state belongs to the
// last start vector requested for the source; it is never stored, nor is the state of a part of the
// relations.
type StateID struct {
	Form    ppr.Form
	Alpha   float64
	Source  ID
	Coarse  bool // the error may be coarseFactor times the cache's tolerance
	tracked bool
	via     string // Snapshot.via of the graph
}

// storedState is the stored form of a state: its estimate y. The residual is recomputed for the
// graph on load, so a stored state is exact whatever has changed since.
type storedState struct {
	version uint64 // version of the graph that the state was up to date with
	nodes   []ID
	y       []float32
}

// encode returns the version, the number of nodes, the nodes as differences less one, then the
// values.
func (s *storedState) encode() []byte {
	b := binary.AppendUvarint(nil, s.version)
	b = binary.AppendUvarint(b, uint64(len(s.nodes)))
	next := ID(0)
	for _, u := range s.nodes {
		b = binary.AppendUvarint(b, uint64(u-next))
		next = u + 1
	}
	for _, y := range s.y {
		b = block.AppendFloat32(b, y)
	}
	return b
}

func decodeState(b []byte) (*storedState, error) {
	d := &block.Decoder{B: b}
	s := &storedState{version: d.Uvarint()}
	n := d.Count()
	s.nodes = make([]ID, 0, n)
	for next := uint64(0); n > 0 && d.Err == nil; n-- {
		next += d.Uvarint()
		if next > MaxNodes {
			return nil, fmt.Errorf("%w: node %d of a state", ErrCorrupt, next)
		}
		s.nodes = append(s.nodes, ID(next))
		next++
	}
	s.y = make([]float32, 0, min(len(s.nodes), len(d.B)/4))
	for range s.nodes {
		s.y = append(s.y, d.Float32())
	}
	if slices.ContainsFunc(s.y, notFinite) {
		return nil, fmt.Errorf("%w: a value of a state is not finite", ErrCorrupt)
	}
	return s, d.End()
}

// getState reads a stored state. It returns nil if there is no state of the given version or an
// earlier one.
func getState(r Reader, of StateID, version uint64) (*storedState, error) {
	b, ok, err := getSplit(r, stateKey(of))
	if err != nil || !ok {
		return nil, err
	}
	s, err := decodeState(b)
	if err != nil {
		return nil, fmt.Errorf("state of node %d: %w", of.Source, err)
	}
	if s.version > version {
		return nil, nil
	}
	return s, nil
}

// storeOps is the number of edge operations from which a state is stored: half a millisecond, at
// the 20 ns per edge operation measured on dblp-2010. Loading a state recomputes its residual,
// which costs about 0.8 of computing the state, so there is little to gain, and less for cheaper
// states.
const storeOps = 20_000

// worthStoring reports whether the entry's state is to be stored. The caller holds e.mu.
func (e *entry) worthStoring() bool {
	return e.dirty && e.of.via == "" && e.state.EdgeOps() >= storeOps
}

// Unsaved returns the edge operations that computed the states which a kill would lose.
func (c *States) Unsaved() (ops int) {
	c.locked(func() { ops = c.unsaved })
	return ops
}

// Write writes to w the states that are not in the store and took at least storeOps edge
// operations, until they have taken limit bytes. The states that would be evicted last come first.
func (c *States) Write(w Writer, limit int64) error {
	c.mu.Lock()
	c.unsaved = 0
	entries := append([]*entry(nil), c.queue...)
	slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(b.priority, a.priority) })
	c.mu.Unlock()
	for _, e := range entries {
		n, err := e.write(w)
		if err != nil {
			return err
		}
		if n > 0 {
			c.locked(func() {
				c.stats.Stored++
				c.written += int64(n)
			})
		}
		if limit -= int64(n); limit <= 0 {
			return nil
		}
	}
	return nil
}

// write stores the state of an entry if it is worth storing, and returns its size.
func (e *entry) write(w Writer) (bytes int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.worthStoring() {
		return 0, nil
	}
	nodes, y := e.state.Estimate()
	b := (&storedState{e.version, nodes, y}).encode()
	if err := putSplit(w, stateKey(e.of), b); err != nil {
		return 0, err
	}
	e.dirty = false
	return len(b), nil
}

// CheckStates verifies every stored state of s that r reads: its nodes must be in the graph, and
// its residual, computed from the graph, must be finite.
func (c *States) CheckStates(ctx context.Context, s *Snapshot, r Reader) error {
	for e, err := range scanSplit(r, prefixState, nil) {
		if err := cmp.Or(err, e.err); err != nil {
			return err
		}
		of, ok := parseStateKey(e.Key)
		if !ok {
			return corruptKey(e.Key)
		}
		if err := c.check(ctx, s, of, e.Value); err != nil {
			return fmt.Errorf("%v state of node %d: %w", of.Form, of.Source, err)
		}
	}
	return nil
}

func (c *States) check(ctx context.Context, s *Snapshot, of StateID, b []byte) error {
	stored, err := decodeState(b)
	if err != nil || stored.version > s.Meta.Version {
		// A state of a version that did not become durable is never read.
		return err
	}
	st, err := c.Solve(ctx, func(sv *ppr.Solver) (*ppr.State, error) {
		return sv.Reload(s.Graph, of.Form, of.Alpha, ppr.Unit(of.Source), stored.nodes, stored.y)
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
	SolveOps float64 // edge operations to compute one state: the average over the states in memory
	// Error is the certified L1 error of one state: the average over the states in memory; 0 means
	// unknown.
	Error float64
}

// Price returns the estimated cost of requesting the states of sources on the graph of s. If no
// states are in memory, guess is the number of edge operations per state.
func (c *States) Price(s *Snapshot, form ppr.Form, alpha float64, sources []ID, guess float64) Price {
	c.mu.Lock()
	defer c.mu.Unlock()
	var p Price
	for _, u := range sources {
		if e := c.entries[StateID{Form: form, Alpha: alpha, Source: u, via: s.via}]; e == nil || e.place < 0 {
			p.Missing++
		}
	}
	p.SolveOps = guess
	if n := c.sources.states; n > 0 {
		p.SolveOps, p.Error = c.sources.ops/float64(n), c.sources.error/float64(n)
	}
	return p
}

// Tracked reports whether the source has a tracked state on the graph of s.
func (c *States) Tracked(s *Snapshot, of StateID) bool {
	of.tracked, of.via = true, s.via
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[of]
	return e != nil && e.place >= 0
}

// entryQueue implements heap.Interface with the lowest priority first.
type entryQueue []*entry

func (q entryQueue) Len() int { return len(q) }

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

func stateKey(of StateID) []byte {
	accuracy := uint64(0)
	if of.Coarse {
		accuracy = 1
	}
	return makeKey(prefixState, uint64(of.Form), math.Float64bits(of.Alpha), accuracy, uint64(of.Source))
}

// parseStateKey parses a key made by stateKey.
func parseStateKey(key []byte) (of StateID, ok bool) {
	n, ok := keyNumbers(key)
	if !ok || key[0] != prefixState || n[0] > uint64(ppr.Row) || n[2] > 1 {
		return of, false
	}
	of = StateID{Form: ppr.Form(n[0]), Alpha: math.Float64frombits(n[1]), Coarse: n[2] == 1, Source: ID(n[3])}
	return of, of.Alpha > 0 && of.Alpha < 1
}
