package index

import (
	"context"
	"errors"
	"math"

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
		dh := minus(h, e.state.H())
		if ok && 2*mass(dh) < mass(h) {
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

// minus is a - b.
func minus(a, b ppr.Vector) (d ppr.Vector) {
	for i, j := 0, 0; i < len(a.Node) || j < len(b.Node); {
		var u ID
		var x float64
		switch {
		case j == len(b.Node) || i < len(a.Node) && a.Node[i] < b.Node[j]:
			u, x, i = a.Node[i], a.Value[i], i+1
		case i == len(a.Node) || b.Node[j] < a.Node[i]:
			u, x, j = b.Node[j], -b.Value[j], j+1
		default:
			u, x, i, j = a.Node[i], a.Value[i]-b.Value[j], i+1, j+1
		}
		if x != 0 {
			d.Node, d.Value = append(d.Node, u), append(d.Value, x)
		}
	}
	return d
}

// mass is the L1 norm of h.
func mass(h ppr.Vector) (sum float64) {
	for _, x := range h.Value {
		sum += math.Abs(x)
	}
	return sum
}
