package db

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"kith/db/words"
	"kith/index"
)

// hide selects the edges to hide, ascending, and the links to find. The links are these edges
// unless o lists links.
func (s *holdout) hide(ctx context.Context, o *EvaluateOptions, rng *rand.Rand) (pairs [][2]index.ID, err error) {
	ways := 0
	for _, way := range []bool{o.Share != 0, !o.After.IsZero(), o.Links != nil} {
		if way {
			ways++
		}
	}
	tx := s.whole
	found := &pairs
	switch {
	case ways > 1:
		return nil, inputf("a holdout hides a share of the edges, those after a time, or a list, and one of these only")
	case o.Links != nil:
		var links [][2]index.ID
		found = &links
		pairs, links, err = s.resolveLinks(ctx, o.Links)
	case !o.After.IsZero():
		pairs, err = tx.edgesFrom(ctx, o.After)
	case !(o.Share > 0 && o.Share < 1):
		err = inputf("a share of %v of the edges: want a number between 0 and 1, exclusive", o.Share)
	default:
		pairs, err = tx.drawHidden(ctx, o.Share, rng)
	}
	if err != nil {
		return nil, err
	}
	s.Hidden = int64(len(pairs))
	s.Wanted = max(s.Hidden, int64(o.Share*float64(s.Edges-tx.snap.Meta.Loops)))
	s.hidden, err = toBeFound(ctx, *found, tx.snap.Meta.Directed)
	return pairs, err
}

// edgesFrom returns the edges whose time is t or later, without loops.
func (tx *Tx) edgesFrom(ctx context.Context, t time.Time) (pairs [][2]index.ID, err error) {
	first := t.Unix()
	if t.Nanosecond() > 0 {
		first++ // times of edges are whole seconds
	}
	var latest int64
	left := 0
	pairs, err = tx.selectEdges(ctx, func(e index.Edge) bool {
		latest = max(latest, e.Time)
		if e.Time == 0 || e.Time < first {
			left++
			return false
		}
		return true
	})
	switch {
	case err != nil:
		return nil, err
	case len(pairs) == 0 && latest == 0:
		return nil, inputf("no edge of the graph has a time after 1970")
	case len(pairs) == 0:
		return nil, inputf("no edge has a time from %d on, the latest has %d", first, latest)
	case left == 0:
		return nil, inputf("all edges have a time from %d on: none would be left", first)
	}
	return pairs, nil
}

// resolveLinks returns the listed links that the graph has, ascending, and all links to find, each
// once. Both exclude loops. It counts links with a node that the database lacks in s.Unknown.
func (s *holdout) resolveLinks(ctx context.Context, list []Edge) (there, links [][2]index.ID, err error) {
	tx := s.whole
	for i, e := range list {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		u, known := tx.find(e.Src)
		v, both := tx.find(e.Dst)
		if !known || !both {
			s.Unknown++
			continue
		}
		if u > v && !tx.snap.Meta.Directed {
			u, v = v, u
		}
		if u != v {
			links = append(links, [2]index.ID{u, v})
		}
	}
	if len(links) == 0 {
		return nil, nil, inputf("none of the %s joins two nodes of the graph", words.Count(len(list), "link"))
	}
	if !tx.snap.Meta.Directed {
		s.Unknown *= 2
	}
	slices.SortFunc(links, ascending)
	links = slices.Compact(links)
	for _, p := range links {
		if _, ok := tx.snap.Graph.Edge(p[0], p[1]); ok {
			there = append(there, p)
		}
	}
	return there, links, nil
}
