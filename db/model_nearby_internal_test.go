package db

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kith/db/internal/hidden"
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
		links, err := hidden.ToBeFound(ctx, pairs, false)
		must(t, err)
		mrr := func() float64 {
			sums, err := v.measure(ctx, h.scorer, 0, v.tasks)
			must(t, err)
			return sum(sums) / float64(v.questions.Links)
		}
		exact, before := mrr(), v.questions
		v.questions, err = hidden.NewQuestions(ctx, tx.snap.Graph, v.rest.snap.Graph, links, tx.snap.Meta.Seed, 1000)
		must(t, err)
		if q := &v.questions; q.Sampled != len(before.All) || len(q.All) != len(before.All) || q.Links != before.Links || q.Reached < q.Links*9/10 {
			t.Errorf("%d of %d sources are sampled, want %d; %d of %d links are candidates", q.Sampled, len(q.All), len(before.All), q.Reached, q.Links)
		}
		if got := mrr(); got < 0.7*exact || got > 1.5*exact || exact == 0 {
			t.Errorf("mrr %v, exact %v", got, exact)
		}
		first := fmt.Sprint(v.questions)
		again, err := hidden.NewQuestions(ctx, tx.snap.Graph, v.rest.snap.Graph, links, tx.snap.Meta.Seed, 1000)
		if must(t, err); fmt.Sprint(again) != first {
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
