package db_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/network"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/testgraph"
	"gonum.org/v1/gonum/graph/topo"

	"kith/db"
	"kith/db/dbtest"
)

// gonumBuilder makes graphs in databases for gonum's own tests. Loops are left out, because in
// these tests a node may have a weight to itself without an edge.
func gonumBuilder(t *testing.T, direction db.Direction) testgraph.Builder {
	return func(nodes []graph.Node, edges []testgraph.WeightedLine, _, _ float64) (
		g graph.Graph, n []graph.Node, e []testgraph.Edge, self, absent float64, ok bool,
	) {
		tx := beginFor(t, dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20, Direction: direction}))
		there := map[int64]graph.Node{}
		add := func(id int64) graph.Node {
			if there[id] == nil {
				must(t, tx.PutNode(db.Node{Key: db.Int(id)}))
				k, err := tx.GonumNode(id)
				must(t, err)
				there[id], n = k, append(n, k)
			}
			return there[id]
		}
		for _, v := range nodes {
			add(v.ID())
		}
		for _, l := range edges {
			from, to, w := l.From().ID(), l.To().ID(), float32(l.Weight())
			if from == to || !(w > 0) {
				return nil, nil, nil, 0, 0, false
			}
			must(t, tx.PutEdge(from, to, db.Weight(w)))
			e = append(e, simple.WeightedEdge{F: add(from), T: add(to), W: float64(w)})
		}
		return tx.Gonum(), n, e, 0, math.Inf(1), true
	}
}

// beginFor begins a transaction that is rolled back when the test ends.
func beginFor(t *testing.T, g *db.DB) *db.Tx {
	t.Helper()
	tx, err := g.Begin(t.Context(), true)
	must(t, err)
	t.Cleanup(func() { must(t, tx.Rollback()) })
	return tx
}

// TestGonum runs gonum's own tests on the graphs.
func TestGonum(t *testing.T) {
	t.Parallel()
	notShort(t)
	for name, direction := range map[string]db.Direction{"undirected": db.Undirected, "directed": db.Directed} {
		t.Run(name, func(t *testing.T) {
			b := gonumBuilder(t, direction)
			t.Run("nodes", func(t *testing.T) { testgraph.ReturnAllNodes(t, b, true) })
			t.Run("edges", func(t *testing.T) { testgraph.ReturnAllWeightedEdges(t, b, true) })
			t.Run("existence", func(t *testing.T) { testgraph.EdgeExistence(t, b, true) })
			t.Run("adjacent", func(t *testing.T) { testgraph.ReturnAdjacentNodes(t, b, true, true) })
			t.Run("weight", func(t *testing.T) { testgraph.Weight(t, b) })
		})
	}
}

// gonumGraph returns a random graph with loops, deleted nodes, and nodes without edges.
func gonumGraph(t *testing.T, direction db.Direction, weight func(r *rand.Rand) float32) *db.DB {
	t.Helper()
	g, r := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20, Direction: direction}), rand.New(rand.NewPCG(3, 1))
	update(t, g, func(tx *db.Tx) error {
		for u := range 60 {
			must(t, tx.PutNode(db.Node{Key: db.Int(int64(u))}))
		}
		for range 90 {
			must(t, tx.PutEdge(r.IntN(55), r.IntN(55), db.Weight(weight(r))))
		}
		for u := range 5 {
			must(t, tx.DeleteNode(u*7))
		}
		return nil
	})
	return g
}

func always1(*rand.Rand) float32 { return 1 }

// gonum reads the same graph as the transaction.
func TestGonumReads(t *testing.T) {
	t.Parallel()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		g := gonumGraph(t, direction, func(r *rand.Rand) float32 { return float32(1 + r.IntN(9)) })
		view(t, g, func(tx *db.Tx) error {
			gg := tx.Gonum()
			nodes, edges := tx.Counts()
			all := gg.Nodes()
			if all.Node() != nil || int64(all.Len()) != nodes || len(graph.NodesOf(all)) != int(nodes) || all.Len() != 0 || all.Next() {
				t.Errorf("%d nodes of %d", all.Len(), nodes)
			}
			list := gg.(interface{ WeightedEdges() graph.WeightedEdges }).WeightedEdges()
			for range 2 {
				if list.WeightedEdge() != nil || int64(list.Len()) != edges {
					t.Errorf("%d edges of %d", list.Len(), edges)
				}
				n := int64(0)
				for ; list.Next(); n++ {
					e := list.WeightedEdge()
					want, err := tx.Edge(e.From().(db.GonumNode).Key, e.To().(db.GonumNode).Key)
					w, ok := gg.Weight(e.From().ID(), e.To().ID())
					if err != nil || float64(want.Weight) != e.Weight() || !ok || w != e.Weight() {
						t.Errorf("edge %v: %v, %v; weight %v", e, want, err, w)
					}
				}
				if n != edges {
					t.Errorf("%d edges, want %d", n, edges)
				}
				list.Reset()
			}
			gone, lonely := int64(0), int64(59) // ids are assigned in order
			_, isDirected := gg.(graph.Directed)
			_, isUndirected := gg.(graph.WeightedUndirected)
			if isDirected != (direction == db.Directed) || isUndirected == isDirected {
				t.Errorf("a graph of type %T", gg)
			}
			for _, id := range []int64{gone, -1, 60, 1 << 32} {
				if gg.Node(id) != nil || gg.From(id) != graph.Empty || gg.Edge(id, 1) != nil || gg.HasEdgeBetween(1, id) {
					t.Errorf("there is a node %d", id)
				}
			}
			if gg.Node(lonely).(db.GonumNode).Key != db.Int(59) || gg.From(lonely) != graph.Empty {
				t.Errorf("node %v", gg.Node(lonely))
			}
			return nil
		})
	}
}

// Shortest paths by gonum are as long as those of the database.
func TestGonumPaths(t *testing.T) {
	t.Parallel()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		g := gonumGraph(t, direction, always1)
		view(t, g, func(tx *db.Tx) error {
			source, err := tx.GonumNode(1)
			must(t, err)
			tree := path.DijkstraFrom(source, tx.Gonum())
			for n, err := range tx.Nodes() {
				must(t, err)
				target, err := tx.GonumNode(n.Key)
				must(t, err)
				want := math.Inf(1)
				steps, err := tx.Path(context.Background(), 1, n.Key, 100)
				must(t, err)
				if steps != nil {
					want = float64(len(steps) - 1)
				}
				if _, length := tree.To(target.ID()); length != want {
					t.Errorf("to %v it is %v steps, want %v", n.Key, length, want)
				}
			}
			return nil
		})
	}
}

// The components by gonum are the sets of reachable nodes.
func TestGonumComponents(t *testing.T) {
	t.Parallel()
	g := gonumGraph(t, db.Undirected, always1)
	view(t, g, func(tx *db.Tx) error {
		found := topo.ConnectedComponents(tx.Gonum().(graph.Undirected))
		nodes, _ := tx.Counts()
		for _, c := range found {
			nodes -= int64(len(c))
			reached := map[db.Key]bool{c[0].(db.GonumNode).Key: true}
			for r, err := range tx.Reach(context.Background(), c[0].(db.GonumNode).Key, 100, 0) {
				must(t, err)
				reached[r.Key] = true
			}
			for _, n := range c {
				if !reached[n.(db.GonumNode).Key] || len(reached) != len(c) {
					t.Errorf("component %v, reached %v", c, reached)
				}
			}
		}
		if nodes != 0 {
			t.Errorf("%d nodes are in no component", nodes)
		}
		return nil
	})
}

// gonum's PageRank is the mean of the personalised PageRanks of all nodes, if every node has an
// outgoing edge.
func TestGonumPageRank(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20, Direction: db.Directed})
	const n = 40
	update(t, g, func(tx *db.Tx) error {
		r := rand.New(rand.NewPCG(5, 1))
		for u := range n {
			must(t, tx.PutEdge(u, (u+1)%n), tx.PutEdge(u, r.IntN(n)))
		}
		return nil
	})
	view(t, g, func(tx *db.Tx) error {
		want := network.PageRank(tx.Gonum().(graph.Directed), 0.85, 1e-12)
		got := map[db.Key]float64{}
		for u := range n {
			pr, err := tx.PageRank(context.Background(), db.PageRankOptions{From: u, Top: -1, Epsilon: 1e-10})
			must(t, err)
			for _, node := range pr.Nodes {
				got[node.Node] += node.Score / n
			}
		}
		for u := range n {
			node, err := tx.GonumNode(u)
			must(t, err)
			if w := want[node.ID()]; math.Abs(got[node.Key]-w) > 1e-8 {
				t.Errorf("node %v has %v, want %v", node.Key, got[node.Key], w)
			}
		}
		return nil
	})
}
