package pagerank

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"

	"kith/cmd/prbench/internal/benchfmt"
	"kith/index"
)

// chunk is the number of inserts in a sample. A single insert takes hardly longer than reading the
// clock.
const chunk = 100

// insert measures inserting edges in memory while states are cached: with an edit for each edge,
// with an edit for many edges, and as a commit without a store does.
func (s *subject) insert(ctx context.Context) error {
	for _, cached := range []int{0, 10_000} {
		w := warm{subject: s, count: cached, eps: benchEps}
		for _, c := range []struct {
			by   string
			size int // number of edges in an edit
		}{{"edit", 1}, {"edit", 1000}, {"commit", 1}} {
			if !(change{kind: "insert", edges: chunk * s.queries}).fits(s) {
				continue
			}
			l := s.line("Insert", "by="+c.by, fmt.Sprintf("edges=%d", c.size), fmt.Sprintf("cached=%d", cached))
			err := s.print(l, func() error {
				if err := w.up(ctx); err != nil {
					return err
				}
				s.snap.Graph.Survey()
				err := s.inserts(l, c.by, c.size)
				runtime.KeepAlive(w.cache)
				l.Add(float64(w.cache.Stats().Bytes), "cached-B")
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// inserts measures the samples of a line.
func (s *subject) inserts(l *benchfmt.Line, by string, size int) error {
	l.Per = max(chunk, size)
	edges := s.newEdges(s.random(), max(1, s.queries*chunk/l.Per)*l.Per)
	g, snap := s.snap.Graph, s.snap
	runtime.GC()
	for ; len(edges) > 0; edges = edges[l.Per:] {
		if err := l.Time(func() (err error) {
			if by == "commit" {
				snap, err = committed(snap, edges[:l.Per])
				return err
			}
			g = edited(g, edges[:l.Per], size)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// edited returns g with edges inserted, size of them in each edit.
func edited(g *index.Graph, edges []index.Edge, size int) *index.Graph {
	for ; len(edges) > 0; edges = edges[size:] {
		edit := g.Edit()
		for _, e := range edges[:size] {
			edit.Set(index.Edge{Ends: index.Ends{U: e.U, V: e.V}, Weight: 1})
		}
		g = edit.Graph()
	}
	return g
}

// committed returns snap with edges inserted, each in a batch of its own.
func committed(snap *index.Snapshot, edges []index.Edge) (*index.Snapshot, error) {
	store := memoryStore{}
	for _, e := range edges {
		b := snap.Begin()
		if _, err := b.SetEdge(index.Edge{Ends: index.Ends{U: e.U, V: e.V}, Weight: 1}); err != nil {
			return nil, err
		}
		if err := b.Write(store, index.Commit{}); err != nil {
			return nil, err
		}
		snap = b.Snapshot()
	}
	return snap, nil
}

// newEdges draws n different edges that are not in the graph.
func (s *subject) newEdges(r *rand.Rand, n int) (edges []index.Edge) {
	drawn := map[[2]index.ID]bool{}
	for len(edges) < n {
		u, v, ok := s.pick(r, s.snap.Graph, change{kind: "insert"}, nil)
		if pair := [2]index.ID{min(u, v), max(u, v)}; ok && !drawn[pair] {
			drawn[pair] = true
			edges = append(edges, index.Edge{Ends: index.Ends{U: u, V: v}, Weight: 1})
		}
	}
	return edges
}
