package db

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kith/index"
)

// openKinds returns a database of users and items, numbered from 10,000 on, where each user is
// linked to some of the items.
func openKinds(t *testing.T, users, items, each int, o *Options) *DB {
	t.Helper()
	g, err := Open("", o)
	must(t, err)
	t.Cleanup(func() { must(t, g.Close()) })
	rng := rand.New(rand.NewPCG(2, 2))
	var b strings.Builder
	for u := range users {
		for range each { // most of them from the items of the user's taste, a fifth
			item := rng.IntN(items)
			if rng.IntN(4) > 0 {
				item = item/5*5 + u%5
			}
			fmt.Fprintf(&b, "%d %d\n", u, 10000+item)
		}
	}
	_, err = g.Load(context.Background(), strings.NewReader(b.String()), LoadOptions{})
	must(t, err)
	return g
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
	for _, direction := range []Direction{Undirected, Directed} {
		clubs := openClubs(t, 40, &Options{InMemory: true, Direction: direction})
		kinds := openKinds(t, 60, 60, 12, &Options{InMemory: true, Direction: direction})
		for name, d := range map[string]*DB{"clubs": clubs, "kinds": kinds} {
			g := d.now.Load().Graph
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
					all, sampled := newNearby(g, hops, 1<<20, 1).of(source, links)
					if sampled || !slices.Equal(all, want) {
						t.Fatalf("%s, %v, %d steps from %d: %v, sampled %v, want %v", name, direction, hops, source, all, sampled, want)
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
	n := newNearby(g, hops, 20, 1)
	some, sampled := n.of(source, links)
	if again, _ := n.of(source, links); !slices.Equal(some, again) {
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
	g := openKinds(t, 400, 40, 60, &Options{InMemory: true}).now.Load().Graph
	layer := make([]index.ID, 0, 400)
	for u := range index.ID(g.NumNodes()) {
		if g.OutLen(u) < 41 {
			layer = append(layer, u)
		}
	}
	n, rng := newNearby(g, 2, 1000, 1), rand.New(rand.NewPCG(1, 1))
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

// In a graph of two kinds of nodes where every source exceeds the limit, all are asked, and the
// figures are like those of a comparison without a limit.
func TestLeaveOutSampled(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := openKinds(t, 200, 200, 40, &Options{InMemory: true, Memory: 64 << 20})
	v, pairs := leftOut(t, g)
	must(t, g.View(ctx, func(tx *Tx) error {
		h, err := tx.heuristic("ppr")
		must(t, err)
		hidden, err := toBeFound(ctx, pairs, false)
		must(t, err)
		mrr := func() float64 {
			sums, err := v.measure(ctx, h.scorer, 0)
			must(t, err)
			return sum(sums) / float64(v.links)
		}
		exact, sources, links := mrr(), len(v.questions), v.links
		reached, err := v.makeQuestions(ctx, tx, hidden, 1000)
		must(t, err)
		if v.sampled != sources || len(v.questions) != sources || v.links != links || reached < links*9/10 {
			t.Errorf("%d of %d sources are sampled, want %d; %d of %d links are candidates", v.sampled, len(v.questions), sources, reached, links)
		}
		if got := mrr(); got < 0.7*exact || got > 1.5*exact || exact == 0 {
			t.Errorf("mrr %v, exact %v", got, exact)
		}
		first := fmt.Sprint(v.questions)
		_, err = v.makeQuestions(ctx, tx, hidden, 1000)
		if must(t, err); fmt.Sprint(v.questions) != first {
			t.Error("the same seed gives other questions")
		}
		return nil
	}))
}

// Without a comparison, it is said why.
func TestSkipped(t *testing.T) {
	t.Parallel()
	var few, star, tree strings.Builder
	for i := range 300 {
		fmt.Fprintln(&star, 0, i+1)
		fmt.Fprintln(&tree, i/2, i+1)
	}
	fmt.Fprintln(&few, "1 2\n2 3\n3 3")
	for _, c := range []struct{ list, want string }{
		{few.String(), "the graph has 2 edges without loops, and a comparison takes 200"},
		{star.String(), "no path of up to three steps is left between the ends of "},
		{tree.String(), "no path of up to three steps is left between the ends of "},
	} {
		g, err := Open("", &Options{InMemory: true, Memory: 64 << 20})
		must(t, err)
		_, err = g.Load(context.Background(), strings.NewReader(c.list), LoadOptions{})
		must(t, err, g.Model("m").Create(context.Background(), ModelSpec{Policy: "prb_greedy"}))
		var training TrainOptions
		training.Plan.Samples, training.Plan.Epochs = 20, 1
		made, err := g.Model("m").Train(context.Background(), training)
		if must(t, err); !strings.HasPrefix(made.Comparison.Skipped, c.want) || made.Held || made.Comparison.Standings != nil {
			t.Errorf("%+v, want %q", made, c.want)
		}
		if text := made.Comparison.String(); text != "no comparison: "+made.Comparison.Skipped {
			t.Errorf("%q", text)
		}
		must(t, g.Close())
	}
}
