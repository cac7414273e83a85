package candidate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"kith/index"
)

// graph returns a graph with the given edges.
func graph(t *testing.T, directed bool, edges [][2]int64) *index.Graph {
	t.Helper()
	b := index.New(index.Meta{Directed: directed}).Begin()
	for _, e := range edges {
		var ends [2]index.ID
		for i, key := range e {
			id, _, err := b.AddNode(index.Int(key))
			if err != nil {
				t.Fatal(err)
			}
			ends[i] = id
		}
		if _, err := b.SetEdge(index.Edge{Ends: index.Ends{U: ends[0], V: ends[1]}, Weight: 1}); err != nil {
			t.Fatal(err)
		}
	}
	return b.Snapshot().Graph
}

// clubs returns the edges of clubs of eight nodes, most of whose members know each other.
func clubs(n int64) (edges [][2]int64) {
	rng := rand.New(rand.NewPCG(1, 1))
	for c := range n {
		for i := range int64(8) {
			for j := range i {
				if rng.IntN(3) > 0 {
					edges = append(edges, [2]int64{8*c + i, 8*c + j})
				}
			}
			edges = append(edges, [2]int64{8*c + i, rng.Int64N(8 * n)})
		}
	}
	return edges
}

// kinds returns the edges of users to some of the items, which are numbered from 10,000 on.
func kinds(users, items, each int64) (edges [][2]int64) {
	rng := rand.New(rand.NewPCG(2, 2))
	for u := range users {
		for range each { // most of them from the items of the user's taste, a fifth
			item := rng.Int64N(items)
			if rng.IntN(4) > 0 {
				item = item/5*5 + u%5
			}
			edges = append(edges, [2]int64{u, 10000 + item})
		}
	}
	return edges
}

// distances returns the number of steps from a node to each other node, by breadth-first search.
func distances(g *index.Graph, source index.ID) map[index.ID]int {
	at := map[index.ID]int{source: 0}
	for queue := []index.ID{source}; len(queue) > 0; queue = queue[1:] {
		to, _ := g.Out(queue[0])
		for _, w := range to {
			if _, seen := at[w]; !seen {
				at[w] = at[queue[0]] + 1
				queue = append(queue, w)
			}
		}
	}
	return at
}

// Below the limit all nodes at the distance are found. Above it some of them are, and all given
// links at that distance.
func TestNearby(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		for name, g := range map[string]*index.Graph{"clubs": graph(t, directed, clubs(40)), "kinds": graph(t, directed, kinds(60, 60, 12))} {
			for _, hops := range []int{2, 3} {
				for source := range index.ID(g.NumNodes()) {
					var want, links []index.ID
					from := distances(g, source)
					for u := range index.ID(g.NumNodes()) {
						if from[u] == hops {
							want = append(want, u)
						}
						if from[u] != 1 && u%7 == 0 && u != source {
							links = append(links, u)
						}
					}
					all, sampled := NewNearby(g, hops, 1<<20, 1).Of(source, links)
					if sampled || !slices.Equal(all, want) {
						t.Fatalf("%s, directed %v, %d steps from %d: %v, sampled %v, want %v", name, directed, hops, source, all, sampled, want)
					}
					checkSample(t, g, hops, source, links, from)
				}
			}
		}
	}
}

// checkSample checks the nodes that are found with a low limit. leadsTo may read as many entries as
// there are.
func checkSample(t *testing.T, g *index.Graph, hops int, source index.ID, links []index.ID, from map[index.ID]int) {
	t.Helper()
	n := NewNearby(g, hops, 20, 1)
	some, sampled := n.Of(source, links)
	if again, _ := n.Of(source, links); !slices.Equal(some, again) {
		t.Fatalf("%d steps from %d: %v, then %v", hops, source, some, again)
	}
	for _, u := range some { // a node with a shorter path may be found, if that was not read
		if from[u] < 2 || from[u] > hops || !sampled && from[u] != hops {
			t.Fatalf("%d is %d steps from %d, not %d", u, from[u], source, hops)
		}
	}
	for _, u := range links {
		left := 1 << 20
		if got := n.leadsTo(source, u, &left); got != (from[u] == hops) {
			t.Fatalf("%d steps from %d to %d: %v", from[u], source, u, got)
		}
		left = 3
		if n.leadsTo(source, u, &left); left < -1 {
			t.Fatalf("%d entries too many are read", -left)
		}
	}
}

// The entries that a step reads are about as many as the limit, wherever they are in their rows.
func TestNearbyReadsEvenly(t *testing.T) {
	t.Parallel()
	g := graph(t, false, kinds(400, 40, 60))
	layer := make([]index.ID, 0, 400)
	for u := range index.ID(g.NumNodes()) {
		if g.OutLen(u) < 41 {
			layer = append(layer, u)
		}
	}
	n, rng := NewNearby(g, 2, 1000, 1), rand.New(rand.NewPCG(1, 1))
	every, total := n.interval(layer), 0
	times := map[index.ID]int{}
	for range 100 {
		for u := range n.entries(layer, every, rng) {
			times[u]++
			total++
		}
	}
	if every < 5 || total > 110*1000 || total < 50*1000 {
		t.Errorf("%d entries are read, one of %d, want 1000", total/100, every)
	}
	for u, k := range times {
		want := float64(100*g.InLen(u)) / float64(every)
		if float64(k) < 0.8*want || float64(k) > 1.2*want {
			t.Errorf("%d of %d entries of node %d are read, want %.0f", k, 100*g.InLen(u), u, want)
		}
	}
}
