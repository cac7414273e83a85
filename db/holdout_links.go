package db

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"kith/db/words"
	"kith/index"
	"kith/model"
)

// hide selects the edges to hide, ascending, and the links to find. The links are these edges
// unless h lists links.
func (s *HoldoutSet) hide(ctx context.Context, h *Holdout, rng *rand.Rand) (pairs [][2]index.ID, err error) {
	ways := 0
	for _, way := range []bool{h.Share != 0, !h.After.IsZero(), h.Links != nil} {
		if way {
			ways++
		}
	}
	tx := s.whole
	found := &pairs
	switch {
	case ways > 1:
		return nil, inputf("a holdout hides a share of the edges, those after a time, or a list, and one of these only")
	case h.Links != nil:
		var links [][2]index.ID
		found = &links
		if pairs, links, err = s.resolveLinks(ctx, h.Links); err == nil && h.Against != nil {
			s.fixed, err = s.resolvePairs(h)
		}
	case !h.After.IsZero():
		pairs, err = tx.edgesFrom(ctx, h.After)
	case !(h.Share > 0 && h.Share < 1):
		err = inputf("a share of %v of the edges: want a number between 0 and 1, exclusive", h.Share)
	default:
		pairs, err = tx.drawHidden(ctx, h.Share, rng)
	}
	if err != nil {
		return nil, err
	}
	s.Hidden = int64(len(pairs))
	s.Wanted = max(s.Hidden, int64(h.Share*float64(s.Edges-tx.snap.Meta.Loops)))
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
func (s *HoldoutSet) resolveLinks(ctx context.Context, list []Edge) (there, links [][2]index.ID, err error) {
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

// fixedPairs are links, and pairs without a link to compare them with, in the order of their lists.
type fixedPairs struct {
	list          []Edge        // the links
	links, others [][2]index.ID // unknownNode stands for a node that the database lacks
	each          int           // number of others for each link; 0 means that all links are compared with all others
}

const unknownNode index.ID = math.MaxUint32

// pairBytes is the memory of a pair while it is scored.
const pairBytes = 64

// resolvePairs resolves the pairs that links are compared with.
func (s *HoldoutSet) resolvePairs(h *Holdout) (*fixedPairs, error) {
	switch {
	case len(h.Among) > 0 || h.For != nil || h.Sample > 0:
		return nil, inputf("links that are compared with a list of pairs are asked for all of them, among these pairs")
	case h.Each < 0 || h.Each > 0 && (len(h.Against)%h.Each != 0 || len(h.Against)/h.Each != len(h.Links)):
		return nil, inputf("%s and %s that are none: want %d for each link",
			words.Count(len(h.Links), "link"), words.Count(len(h.Against), "pair"), h.Each)
	case len(h.Against) == 0:
		return nil, inputf("no pairs that are no links")
	}
	if err := s.whole.db.fitsWork("a comparison with pairs", pairBytes*int64(len(h.Links)+len(h.Against))); err != nil {
		return nil, err
	}
	return &fixedPairs{h.Links, s.pairs(h.Links), s.pairs(h.Against), h.Each}, nil
}

func (s *HoldoutSet) pairs(list []Edge) [][2]index.ID {
	id := func(k Key) index.ID {
		if u, ok := s.whole.find(k); ok {
			return u
		}
		return unknownNode
	}
	all := make([][2]index.ID, len(list))
	for i, e := range list {
		all[i] = [2]index.ID{id(e.Src), id(e.Dst)}
	}
	return all
}

// parts returns the number of questions: one for each link, or one for all.
func (f *fixedPairs) parts() int {
	if f.each == 0 {
		return 1
	}
	return len(f.links)
}

// part returns the links and other pairs of a question.
func (f *fixedPairs) part(i int) (links, others [][2]index.ID) {
	if f.each == 0 {
		return f.links, f.others
	}
	return f.links[i : i+1], f.others[i*f.each : (i+1)*f.each]
}

// askPairs scores the links of a question and the pairs that they are compared with.
func (s *HoldoutSet) askPairs(ctx context.Context, rest *Tx, c *Contender, i int) (out HeldOut, err error) {
	links, others := s.fixed.part(i)
	all := slices.Concat(links, others)
	level := func([]model.Score) {}
	for _, e := range s.fixed.list[i : i+len(links)] {
		out.Hidden = append(out.Hidden, e.Dst)
	}
	if s.fixed.each > 0 {
		out.Source = s.fixed.list[i].Src
		if !s.whole.snap.Meta.Directed && !slices.Contains(links[0][:], unknownNode) {
			all, level = bothEnds(all)
		}
	}
	scores := make([]model.Score, len(all))
	if err := s.scorePairs(ctx, rest, c, all, scores); err != nil {
		return out, err
	}
	level(scores)
	for i, sc := range scores[:len(links)+len(others)] {
		found, exploit := &out.Others, &out.OthersExploit
		if i < len(links) {
			found, exploit = &out.Found, &out.FoundExploit
		}
		*found = append(*found, sc.Score)
		if !math.IsInf(sc.Score, -1) {
			*exploit = append(*exploit, sc.Exploit)
		}
	}
	return out, nil
}

// bothEnds prepares the pairs of an undirected graph, of which the first is a link. It turns the
// pairs that share an end with the link so that they begin there, and appends the link as seen from
// its other end. The returned function makes the scores of pairs that begin at the other end
// comparable with the rest: each keeps its distance from the score of the link as seen from there.
func bothEnds(all [][2]index.ID) ([][2]index.ID, func([]model.Score)) {
	link := all[0]
	for i, p := range all[1:] {
		if p[0] != link[0] && (p[1] == link[0] || p[1] == link[1] && p[0] != link[1]) {
			all[i+1] = [2]index.ID{p[1], p[0]}
		}
	}
	n := len(all)
	all = append(all, [2]index.ID{link[1], link[0]})
	return all, func(scores []model.Score) {
		for i := range n {
			if all[i][0] == link[1] {
				scores[i].Score = scores[i].Score - scores[n].Score + scores[0].Score
			}
		}
	}
}

// scorePairs scores pairs. Pairs that begin at the same node are candidates of one question. Pairs
// with a node that the database lacks score below all others.
func (s *HoldoutSet) scorePairs(ctx context.Context, rest *Tx, c *Contender, all [][2]index.ID, scores []model.Score) error {
	order := make([]int, 0, len(all))
	for i, p := range all {
		if p[0] == unknownNode || p[1] == unknownNode {
			scores[i].Score = math.Inf(-1)
			continue
		}
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(all[i][0], all[j][0]) })
	for len(order) > 0 {
		n, source := 0, all[order[0]][0]
		var targets []any
		for n < len(order) && all[order[n]][0] == source {
			targets = append(targets, s.whole.key(all[order[n]][1]))
			n++
		}
		q, of, err := s.question(ctx, rest, c, source, Keys(targets...))
		if err != nil {
			return err
		}
		for _, i := range order[:n] {
			at, _ := slices.BinarySearch(q.candidates, all[i][1])
			scores[i] = of[at]
		}
		order = order[n:]
	}
	return nil
}
