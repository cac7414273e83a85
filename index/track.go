package index

import (
	"context"
	"errors"

	"kith/ppr"
)

// Values returns the values and their bounds at some nodes for the start vector h of of.Source. The state is kept
// only from the second request with the same start nodes on, because laying out a state takes about as long as
// solving; see [States.Track].
func (c *States) Values(
	ctx context.Context, s *Snapshot, of StateOf, h ppr.Vector, t ppr.Target, at []ID,
) (v, bound []float64, err error) {
	if !c.recurs(s, of, h) {
		c.count(func(n *CacheStats) { n.Computed++ })
		return c.Read(ctx, s.Graph, of, h, t, at)
	}
	st, err := c.Track(ctx, s, of, h, t)
	if st == nil {
		return nil, nil, err
	}
	v, bound = make([]float64, len(at)), make([]float64, len(at))
	for i, j := range at {
		v[i], bound[i] = st.Value(s.Graph, j)
	}
	return v, bound, err
}

// Read solves for a start vector and returns its values and their bounds at some nodes, without keeping a state.
func (c *States) Read(ctx context.Context, g ppr.Graph, of StateOf, h ppr.Vector, t ppr.Target, at []ID) (v, bound []float64, err error) {
	err = c.Lend(ctx, func(sv *ppr.Solver) (err error) {
		v, bound, err = sv.Values(ctx, g, of.Form, of.Alpha, h, t, at)
		return err
	})
	return v, bound, err
}

// maxQuestions is the maximum number of start vectors remembered in questions; they take less than a megabyte.
const maxQuestions = 1 << 14

// recurs reports whether the last request for the source had the same start nodes, or the source has a tracked
// state that is near h.
func (c *States) recurs(s *Snapshot, of StateOf, h ppr.Vector) bool {
	of.tracked = true
	question := fingerprint(h.Node)
	c.mu.Lock()
	e, same := c.entries[of], c.questions[of] == question
	if len(c.questions) >= maxQuestions {
		clear(c.questions)
	}
	c.questions[of] = question
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

// Track returns the state of the start vector h of of.Source. If the source has a tracked state and h is near the
// start vector of that state, the state is updated for the changes in the graph and in h. Otherwise it is computed
// from scratch.
func (c *States) Track(ctx context.Context, s *Snapshot, of StateOf, h ppr.Vector, t ppr.Target) (*ppr.State, error) {
	of.tracked = true
	e := c.entry(of)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state != nil && e.version <= s.Meta.Version {
		changes, ok := s.Log.Set(e.version)
		dh := h.Minus(e.state.H())
		if ok && 2*dh.L1() < h.L1() {
			st, err := c.move(ctx, s, e, changes, dh, t)
			if !errors.Is(err, ppr.ErrPrecision) { // rounding errors of a long life; a solve from scratch removes them
				return st, err
			}
		}
	}
	c.count(func(n *CacheStats) { n.Computed++ })
	st, err := c.Solve(ctx, func(sv *ppr.Solver) (*ppr.State, error) {
		return sv.Solve(ctx, s.Graph, of.Form, of.Alpha, h, t)
	})
	switch {
	case err != nil:
		c.forget(e)
	case e.state == nil || e.version <= s.Meta.Version:
		e.state, e.version = st, s.Meta.Version
		c.settle(e)
	}
	return st, err
}

// move updates a tracked state to the version of s and to a start vector that differs by dh.
func (c *States) move(ctx context.Context, s *Snapshot, e *entry, changes *ppr.ChangeSet, dh ppr.Vector, t ppr.Target) (*ppr.State, error) {
	var repair ppr.Repair
	st, err := c.Solve(ctx, func(sv *ppr.Solver) (st *ppr.State, err error) {
		st, repair, err = sv.Update(ctx, s.Graph, e.state, changes, dh, t)
		return st, err
	})
	if err != nil {
		return nil, err
	}
	c.countRepair(repair)
	e.state, e.version = st, s.Meta.Version
	c.settle(e)
	return st, nil
}
