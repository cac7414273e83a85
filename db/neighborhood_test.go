package db_test

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// randomEdges adds n nodes and m edges drawn at random.
func randomEdges(t testing.TB, g *db.DB, n, m int, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	update(t, g, func(tx *db.Tx) error {
		for range m {
			must(t, tx.PutEdge(random.IntN(n), random.IntN(n), db.Weight(float32(1+random.IntN(3)))))
		}
		return nil
	})
}

// chosen returns the nodes that Neighborhood chooses without predicted links, by its definition:
// again and again the strongest node that a chosen one at a depth below the limit leads to.
func chosen(t testing.TB, tx *db.Tx, center any, depth, most int) (keys []db.Key) {
	t.Helper()
	r, err := tx.PageRank(context.Background(), db.PageRankOptions{From: center, Top: -1, Epsilon: 1e-5})
	must(t, err)
	rank := map[db.Key]float64{}
	for _, n := range r.Nodes {
		rank[n.Node] = n.Score
	}
	start, err := db.KeyOf(center)
	must(t, err)
	keys = []db.Key{start}
	for len(keys) < most {
		var open []db.Key
		for k := range steps(t, tx, start, depth, func(k db.Key) bool { return slices.Contains(keys, k) }) {
			if !slices.Contains(keys, k) {
				open = append(open, k)
			}
		}
		if len(open) == 0 {
			break
		}
		keys = append(keys, slices.MaxFunc(open, func(a, b db.Key) int { return cmp.Compare(rank[a], rank[b]) }))
	}
	return keys
}

// steps returns the number of steps from a node to those within a depth, on paths through nodes
// that pass accepts.
func steps(t testing.TB, tx *db.Tx, from db.Key, depth int, pass func(db.Key) bool) map[db.Key]int {
	t.Helper()
	found, layer := map[db.Key]int{from: 0}, []db.Key{from}
	for d := 1; d <= depth; d++ {
		var next []db.Key
		for _, u := range layer {
			for e, err := range tx.Neighbors(u) {
				must(t, err)
				if _, ok := found[e.Dst]; !ok {
					found[e.Dst] = d
					if pass(e.Dst) {
						next = append(next, e.Dst)
					}
				}
			}
		}
		layer = next
	}
	return found
}

// The nodes are those of the definition, their depths those of a search among them, and the edges
// all between them.
func TestNeighborhood(t *testing.T) {
	t.Parallel()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		g := dbtest.Open(t, &db.Options{InMemory: true, Direction: direction})
		randomEdges(t, g, 80, 130, 7)
		view(t, g, func(tx *db.Tx) error {
			for depth := 1; depth <= 4; depth++ {
				n, err := tx.Neighborhood(context.Background(), db.NeighborhoodOptions{Of: 3, Depth: depth, Most: 25, Edges: 1000, Top: -1})
				must(t, err)
				want := chosen(t, tx, 3, depth, 25)
				drawn := func(k db.Key) bool {
					return slices.ContainsFunc(n.Nodes, func(n db.NeighborhoodNode) bool { return n.Key == k })
				}
				for _, k := range want {
					if !drawn(k) {
						t.Errorf("%v, depth %d: node %v is missing", direction, depth, k)
					}
				}
				far := steps(t, tx, db.Int(3), depth, drawn)
				for i, node := range n.Nodes {
					d, ok := far[node.Key]
					if !ok {
						d = -1
					}
					if node.Depth != d || (i == 0) != (node.Key == n.Center) {
						t.Errorf("%v, depth %d: node %d is %+v, want depth %d", direction, depth, i, node, d)
					}
				}
				checkEdges(t, tx, n, drawn)
			}
			return nil
		})
	}
}

// checkEdges checks that a neighborhood has all edges between its nodes, except loops.
func checkEdges(t *testing.T, tx *db.Tx, n *db.Neighborhood, drawn func(db.Key) bool) {
	t.Helper()
	count := 0
	for e, err := range tx.Edges() {
		must(t, err)
		if e.Src == e.Dst || !drawn(e.Src) || !drawn(e.Dst) {
			continue
		}
		count++
		if !slices.ContainsFunc(n.Edges, func(of db.Edge) bool {
			same := of.Src == e.Src && of.Dst == e.Dst || !n.Directed && of.Src == e.Dst && of.Dst == e.Src
			return same && of.Weight == e.Weight
		}) {
			t.Errorf("edge %v -> %v is missing", e.Src, e.Dst)
		}
	}
	if count != len(n.Edges) || n.EdgesLeft != 0 {
		t.Errorf("%d edges and %d left, want %d and 0", len(n.Edges), n.EdgesLeft, count)
	}
}

// The predicted links are those of a Prediction, and their ends are among the nodes, of which there
// are never too many.
func TestNeighborhoodPredicts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true})
	randomEdges(t, g, 300, 900, 3)
	view(t, g, func(tx *db.Tx) error {
		r, err := tx.Predict(ctx, db.PredictOptions{For: 5, Among: db.Neighbors(2), Top: 12})
		must(t, err)
		for _, most := range []int{13, 40, 200} {
			o := db.NeighborhoodOptions{Of: 5, Most: most, Among: db.Neighbors(2), Top: 12, Edges: 30}
			n, err := tx.Neighborhood(ctx, o)
			must(t, err)
			if !slices.Equal(r.Links, n.Predicted) {
				t.Errorf("links %v, want those of Predict: %v", n.Predicted, r.Links)
			}
			for _, l := range n.Predicted {
				if !slices.ContainsFunc(n.Nodes, func(n db.NeighborhoodNode) bool { return n.Key == l.Target }) {
					t.Errorf("node %v is missing", l.Target)
				}
			}
			if len(n.Nodes) > most || len(n.Edges) > 30 {
				t.Errorf("%d nodes and %d edges, want at most %d and 30", len(n.Nodes), len(n.Edges), most)
			}
			again, err := tx.Neighborhood(ctx, o)
			must(t, err)
			if !reflect.DeepEqual(n, again) {
				t.Errorf("two answers differ:\n%+v\n%+v", n, again)
			}
		}
		return nil
	})
}

// A node with so many edges that the walk reaches none of its neighbors is drawn with some of them.
func TestNeighborhoodOfHub(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Epsilon: 0.1})
	update(t, g, func(tx *db.Tx) error {
		for i := 1; i < 3000; i++ {
			must(t, tx.PutEdge(0, i))
		}
		return nil
	})
	n, err := neighborhood(context.Background(), g, db.NeighborhoodOptions{Of: 0})
	must(t, err)
	if len(n.Nodes) != db.MaxNeighborhood || len(n.Edges) != db.MaxNeighborhood-1 {
		t.Errorf("%d nodes and %d edges", len(n.Nodes), len(n.Edges))
	}
}

// With few edges each node is still joined to the center, and a question ends with its context.
func TestNeighborhoodIsJoined(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true})
	randomEdges(t, g, 150, 900, 5)
	n, err := neighborhood(context.Background(), g, db.NeighborhoodOptions{Of: 1, Depth: 3, Most: 100, Edges: 99, Top: -1})
	must(t, err)
	joined := map[db.Key]bool{n.Center: true}
	for range n.Nodes {
		for _, e := range n.Edges {
			if joined[e.Src] || joined[e.Dst] {
				joined[e.Src], joined[e.Dst] = true, true
			}
		}
	}
	if len(joined) != 100 || len(n.Edges) != 99 || n.EdgesLeft == 0 {
		t.Errorf("%d of %d nodes are joined by %d edges", len(joined), len(n.Nodes), len(n.Edges))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := neighborhood(ctx, g, db.NeighborhoodOptions{Of: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// Nodes without edges, without outgoing ones, and faults.
func TestNeighborhoodOfFew(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Direction: db.Directed})
	update(t, g, func(tx *db.Tx) error {
		must(t, tx.AddNode(db.Node{Key: db.Str("alone")}), tx.PutEdge("a", "sink"), tx.PutEdge("b", "sink"), tx.PutEdge("a", "b"))
		return tx.PutEdge("loop", "loop")
	})
	for _, c := range []struct {
		of           string
		nodes, edges int
	}{{"alone", 1, 0}, {"loop", 1, 0}, {"sink", 3, 3}, {"a", 3, 3}} {
		n, err := neighborhood(ctx, g, db.NeighborhoodOptions{Of: c.of, Top: -1})
		must(t, err)
		if len(n.Nodes) != c.nodes || len(n.Edges) != c.edges || n.Nodes[0].Depth != 0 {
			t.Errorf("%s: %+v", c.of, n)
		}
		if _, err := neighborhood(ctx, g, db.NeighborhoodOptions{Of: c.of}); err != nil {
			t.Errorf("%s: %v", c.of, err)
		}
		if n, err := neighborhood(ctx, g, db.NeighborhoodOptions{Of: c.of, Most: 1}); err != nil || len(n.Nodes) != 1 {
			t.Errorf("%s alone: %+v, %v", c.of, n, err)
		}
	}
	for _, c := range []struct {
		o    db.NeighborhoodOptions
		want error
	}{
		{db.NeighborhoodOptions{Of: "nobody"}, db.ErrNotFound},
		{db.NeighborhoodOptions{Of: "a", Depth: -1}, db.ErrInput},
		{db.NeighborhoodOptions{Of: "a", Most: 201}, db.ErrInput},
		{db.NeighborhoodOptions{Of: "a", Most: 5, Top: 5}, db.ErrInput},
		{db.NeighborhoodOptions{Of: "a", Edges: -1}, db.ErrInput},
		{db.NeighborhoodOptions{Of: "a", Model: "none"}, db.ErrNoModel},
	} {
		if _, err := neighborhood(ctx, g, c.o); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.o, err, c.want)
		}
	}
}

// neighborhood returns a neighborhood in the present version.
func neighborhood(ctx context.Context, g *db.DB, o db.NeighborhoodOptions) (n *db.Neighborhood, err error) {
	err = g.View(ctx, func(tx *db.Tx) error {
		n, err = tx.Neighborhood(ctx, o)
		return err
	})
	return n, err
}
