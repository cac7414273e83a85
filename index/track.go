package index

import (
	"context"
	"errors"

	"kith/ppr"
)

// Track returns the state of the start vector h, asked for on behalf of of.Source: the one that was
// last asked for, moved on by what changed in the graph and in h, if there is one and h is near.
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
			if !errors.Is(err, ppr.ErrPrecision) { // what rounding took in a long life, a solve gives back
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

// move brings a tracked state to the version of s and the start vector that differs by dh.
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
