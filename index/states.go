package index

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"kith/ppr"
)

// States is a cache of the PageRank states of single sources, all of one tolerance, and of the
// start vectors that are tracked for a source. A state is brought up to the version of the caller:
// it is repaired from the log, loaded from the store and refined, or computed from scratch. States
// is safe for concurrent use. If two readers need the same state, one waits for the other instead
// of computing the state twice.
//
// The states stay within a budget of bytes; see states_evict.go.
type States struct {
	target ppr.Target
	budget int64
	memory int64         // of a solver, see ppr.Solver
	slots  chan struct{} // semaphore that bounds the number of solvers in use
	idle   sync.Pool     // of *ppr.Solver; unused solvers are garbage collected

	mu      sync.Mutex // protects following fields
	entries map[StateID]*entry
	// recentRequests holds a fingerprint of the start nodes that were last requested through
	// Values; see isRepeat.
	recentRequests map[StateID]uint64
	queue          entryQueue
	bytes          int64
	clock          float64
	written        int64 // bytes of states stored since the last Trim
	// unsaved is the number of edge operations of the states computed since the last Write that are
	// worth storing.
	unsaved int
	sources totals // totals of the states of sources in the queue
	stats   CacheStats
}

// CacheStats holds counters of the cache since its creation.
type CacheStats struct {
	Entries int   `json:"states"`
	Bytes   int64 `json:"bytes"`
	Budget  int64 `json:"budget"`
	CacheUse
	// Damaged counts states that were unreadable in the store, and so computed from scratch.
	Damaged   uint64 `json:"damaged"`
	Stored    uint64 `json:"stored"` // written to the store
	Evictions uint64 `json:"evictions"`
}

// CacheUse counts the states that were requested, by how each was obtained.
type CacheUse struct {
	// Hits counts states at the requested version, and states that no change affected.
	Hits     uint64 `json:"hits"`
	CatchUps uint64 `json:"catch_ups"`  // repaired from the log
	Loads    uint64 `json:"loads"`      // loaded from the store, and repaired
	Computed uint64 `json:"recomputes"` // computed from scratch
}

// Origin says how a state was obtained. [CacheUse.Count] counts by it.
type Origin uint8

const (
	fromScratch Origin = iota
	upToDate
	fromLog
	fromStore
)

// Summary returns the counts in words.
func (u CacheUse) Summary() string {
	return fmt.Sprintf("hits %d, repairs %d, loads %d, misses %d", u.Hits, u.CatchUps, u.Loads, u.Computed)
}

// Count counts a state.
func (u *CacheUse) Count(o Origin) {
	*[...]*uint64{fromScratch: &u.Computed, upToDate: &u.Hits, fromLog: &u.CatchUps, fromStore: &u.Loads}[o]++
}

// Cached is a state from the cache.
type Cached struct {
	*ppr.State
	Origin Origin
	// Pristine is set for a state that was computed from scratch on a graph with the same edges:
	// another solve returns the same state, bit for bit. A state that is not pristine differs from
	// it within the bounds of both.
	Pristine bool
}

// entry is one cached state.
type entry struct {
	of StateID

	// mu is held while a goroutine brings the state up to date. It protects following fields.
	mu       sync.Mutex
	state    *ppr.State
	version  uint64
	nodes    int  // number of nodes of the graph at that version
	directed bool // whether the graph was directed then
	pristine bool // see Cached
	dirty    bool // not in the store in this form, and worth storing

	queueItem // protected by States.mu
}

// NewStates returns an empty cache of at most budget bytes, whose solvers take at most memory bytes
// each; 0 means no limit.
func NewStates(epsilon float64, budget, memory int64) *States {
	c := &States{
		target: ppr.Target{Norm: ppr.MaxNorm, Eps: epsilon}, budget: budget, memory: memory,
		slots: make(chan struct{}, runtime.GOMAXPROCS(0)), entries: map[StateID]*entry{}, recentRequests: map[StateID]uint64{},
	}
	return c
}

// WithSolver calls f with a solver. At most GOMAXPROCS solvers are in use at once; WithSolver waits
// for one until ctx is done.
func (c *States) WithSolver(ctx context.Context, f func(*ppr.Solver) error) error {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	sv, _ := c.idle.Get().(*ppr.Solver)
	if sv == nil {
		sv = ppr.NewSolver()
		sv.Memory = c.memory
	}
	defer c.idle.Put(sv)
	return f(sv)
}

// Solve calls f with a solver and returns the state that f computes. A state that does not reach
// its target, because that takes more memory than a solver has or more precision than float64, is a
// result, not an error: its bounds tell how exact the state is.
func (c *States) Solve(ctx context.Context, f func(*ppr.Solver) (*ppr.State, error)) (st *ppr.State, err error) {
	err = c.WithSolver(ctx, func(sv *ppr.Solver) error {
		st, err = f(sv)
		return withoutPrecision(err)
	})
	return st, err
}

// withoutPrecision returns err, or nil for ppr.ErrPrecision.
func withoutPrecision(err error) error {
	if errors.Is(err, ppr.ErrPrecision) {
		return nil
	}
	return err
}

// coarseFactor is the ratio of the error of coarse states to the cache's tolerance.
const coarseFactor = 30

// Target returns the accuracy of a source's state.
func (c *States) Target(of StateID) ppr.Target {
	if of.Coarse {
		return ppr.Target{Norm: c.target.Norm, Eps: coarseFactor * c.target.Eps}
	}
	return c.target
}

// State returns the state of a source on the graph of s. r must read the store at the version of s.
func (c *States) State(ctx context.Context, s *Snapshot, r Reader, of StateID) (Cached, error) {
	return c.ofSource(ctx, s, r, of, false)
}

// PristineState is like State, but returns a pristine state: a cached state that is not pristine is
// replaced by one that is computed from scratch.
func (c *States) PristineState(ctx context.Context, s *Snapshot, r Reader, of StateID) (Cached, error) {
	return c.ofSource(ctx, s, r, of, true)
}

func (c *States) ofSource(ctx context.Context, s *Snapshot, r Reader, of StateID, pristine bool) (Cached, error) {
	if of.via = s.via; !s.Graph.directed {
		of.Form = ppr.Column
	}
	return c.current(ctx, s, r, of, request{ppr.Unit(of.Source), c.Target(of), pristine})
}

// request is what a caller needs: the state of the start vector h, as accurate as target.
type request struct {
	h        ppr.Vector
	target   ppr.Target
	pristine bool // see Cached
}

// current returns the state that is requested on the graph of s, and keeps it under the id of.
func (c *States) current(ctx context.Context, s *Snapshot, r Reader, of StateID, q request) (st Cached, err error) {
	defer c.locked(func() { c.stats.Count(st.Origin) })
	e := c.entry(of)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state != nil && e.version > s.Meta.Version {
		// A reader of an earlier version does not change the entry.
		return c.solve(ctx, s.Graph, of, q)
	}
	st, err = c.update(ctx, s, r, e, q)
	if err != nil {
		c.forget(e)
		return st, err
	}
	e.state, e.version, e.pristine = st.State, s.Meta.Version, st.Pristine
	e.nodes, e.directed = s.Graph.NumNodes(), s.Graph.directed
	if st.Origin == fromScratch && e.worthStoring() {
		c.locked(func() { c.unsaved += e.state.EdgeOps() })
	}
	c.requeue(e)
	return st, nil
}

// entry returns the entry of a state, and creates it if needed.
func (c *States) entry(of StateID) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[of]
	if e == nil {
		e = &entry{of: of, queueItem: queueItem{place: -1}}
		c.entries[of] = e
	}
	return e
}

// forget deletes an entry that never got a state.
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

// solve computes a state from scratch.
func (c *States) solve(ctx context.Context, g *Graph, of StateID, q request) (Cached, error) {
	st, err := c.Solve(ctx, func(sv *ppr.Solver) (*ppr.State, error) {
		return sv.Solve(ctx, g, of.Form, of.Alpha, q.h, q.target)
	})
	return Cached{State: st, Pristine: true}, err
}

// update returns the state of an entry for the version of s and the start vector q.h. A state whose
// start vector is near q.h is repaired for the changes in the graph and in the vector. Otherwise
// the state is loaded from the store and refined, or computed from scratch. A stored state of the
// same edges is computed from scratch as well: that takes little longer, and the state is pristine,
// as it was before it was stored.
func (c *States) update(ctx context.Context, s *Snapshot, r Reader, e *entry, q request) (st Cached, err error) {
	if e.state != nil && e.directed == s.Graph.directed && (!q.pristine || e.pristineAt(s)) {
		if e.version == s.Meta.Version && !e.of.tracked {
			return Cached{e.state, upToDate, e.pristine}, nil
		}
		changes, ok := s.log.changeSet(e.version, s)
		if dh := q.h.Minus(e.state.H()); ok && 2*dh.L1() < q.h.L1() {
			st, err := c.catchUp(ctx, s, e, changes, dh, q.target)
			if !e.of.tracked || !errors.Is(err, ppr.ErrPrecision) {
				// A tracked state that lost its precision is solved below instead: that removes the
				// rounding errors of many repairs.
				return st, withoutPrecision(err)
			}
		}
	}
	stored, err := c.load(s, r, e)
	if err != nil {
		return Cached{}, err
	}
	e.dirty = !e.of.tracked && (stored == nil || stored.version != s.Meta.Version)
	if stored == nil || q.pristine || s.log.unchangedSince(stored.version) {
		return c.solve(ctx, s.Graph, e.of, q)
	}
	st.Origin = fromStore
	st.State, err = c.Solve(ctx, func(sv *ppr.Solver) (*ppr.State, error) {
		st, err := sv.Reload(s.Graph, e.of.Form, e.of.Alpha, q.h, stored.nodes, stored.y)
		if err != nil {
			return nil, err
		}
		return sv.Refine(ctx, s.Graph, st, q.target)
	})
	return st, err
}

// pristineAt reports whether the entry's state is pristine on the graph of s.
func (e *entry) pristineAt(s *Snapshot) bool {
	return e.pristine && s.log.unchangedSince(e.version) && e.nodes == s.Graph.NumNodes()
}

// load reads an entry's state from the store. It returns nil if no state is stored or it is
// damaged: stored states only save time, CheckStates reports damage, and Write replaces the damaged
// state.
func (c *States) load(s *Snapshot, r Reader, e *entry) (*storedState, error) {
	var stored *storedState
	var err error
	if e.state == nil && r != nil && !e.of.tracked && e.of.via == "" {
		stored, err = getState(r, e.of, s.Meta.Version)
	}
	damaged := errors.Is(err, ErrCorrupt)
	if err != nil && !damaged {
		return nil, err
	}
	if damaged {
		c.locked(func() { c.stats.Damaged++ })
	}
	return stored, nil
}

// catchUp returns the state of an entry after the changes of the graph and of its start vector.
// With ppr.ErrPrecision it returns the state that was reached.
func (c *States) catchUp(
	ctx context.Context, s *Snapshot, e *entry, changes *ppr.ChangeSet, dh ppr.Vector, t ppr.Target,
) (got Cached, err error) {
	var r ppr.Repair
	err = c.WithSolver(ctx, func(sv *ppr.Solver) (err error) {
		got.State, r, err = sv.CatchUp(ctx, s.Graph, e.state, changes, dh, t)
		return err
	})
	switch {
	case withoutPrecision(err) != nil:
		return Cached{}, err
	case r.Fresh:
		got.Origin, got.Pristine = fromScratch, true
	case got.State == e.state:
		got.Origin, got.Pristine = upToDate, e.pristineAt(s)
	default:
		got.Origin = fromLog
	}
	e.dirty = !e.of.tracked && (e.dirty || got.State != e.state)
	return got, err
}

// locked calls f while it holds the lock.
func (c *States) locked(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// Stats returns the counters.
func (c *States) Stats() (n CacheStats) {
	c.locked(func() {
		n = c.stats
		n.Entries, n.Bytes, n.Budget = len(c.queue), c.bytes, c.budget
	})
	return n
}

// Values returns the values and their bounds at some nodes for the start vector h of of.Source. The
// state is kept only from the second request with the same start nodes on, because laying out a
// state takes about as long as solving; see States.update.
func (c *States) Values(
	ctx context.Context, s *Snapshot, of StateID, h ppr.Vector, t ppr.Target, at []ID,
) (v, bound []float64, from Origin, err error) {
	if !c.isRepeat(s, of, h) {
		c.locked(func() { c.stats.Computed++ })
		v, bound, err = c.Read(ctx, s.Graph, of, h, t, at)
		return v, bound, fromScratch, err
	}
	of.tracked, of.via = true, s.via
	st, err := c.current(ctx, s, nil, of, request{h: h, target: t})
	if err != nil {
		return nil, nil, fromScratch, err
	}
	v, bound = st.Values(s.Graph, at)
	return v, bound, st.Origin, err
}

// Read solves for a start vector and returns its values and their bounds at some nodes, without
// keeping a state. Like Solve, it also returns values that miss the target.
func (c *States) Read(
	ctx context.Context, g ppr.Graph, of StateID, h ppr.Vector, t ppr.Target, at []ID,
) (v, bound []float64, err error) {
	err = c.WithSolver(ctx, func(sv *ppr.Solver) (err error) {
		v, bound, err = sv.Values(ctx, g, of.Form, of.Alpha, h, t, at)
		return withoutPrecision(err)
	})
	return v, bound, err
}

// Estimates is Read without the bounds, which takes little time for nodes whose value is 0.
func (c *States) Estimates(
	ctx context.Context, g ppr.Graph, of StateID, h ppr.Vector, t ppr.Target, at []ID,
) (v []float64, err error) {
	err = c.WithSolver(ctx, func(sv *ppr.Solver) (err error) {
		v, err = sv.Estimates(ctx, g, of.Form, of.Alpha, h, t, at)
		return withoutPrecision(err)
	})
	return v, err
}

// maxRecentRequests is the maximum number of start vectors in recentRequests; they take less than a
// megabyte.
const maxRecentRequests = 1 << 14

// isRepeat reports whether the last request for the source had the same start nodes, or the source
// has a tracked state that is near h.
func (c *States) isRepeat(s *Snapshot, of StateID, h ppr.Vector) bool {
	of.tracked, of.via = true, s.via
	question := fingerprint(h.Node)
	c.mu.Lock()
	e, same := c.entries[of], c.recentRequests[of] == question
	if len(c.recentRequests) >= maxRecentRequests {
		clear(c.recentRequests)
	}
	c.recentRequests[of] = question
	c.mu.Unlock()
	return same || e != nil && e.near(s, h)
}

// fingerprint returns a hash of a list of nodes (FNV-1a).
func fingerprint(nodes []ID) uint64 {
	sum := uint64(14695981039346656037)
	for _, u := range nodes {
		sum = (sum ^ uint64(u)) * 1099511628211
	}
	return sum
}

// near reports whether the entry has a state that can be moved to h at the version of s.
func (e *entry) near(s *Snapshot, h ppr.Vector) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state != nil && e.version <= s.Meta.Version && 2*h.Minus(e.state.H()).L1() < h.L1()
}
