package db

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
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
