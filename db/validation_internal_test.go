package db

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kith/db/internal/hidden"
	"kith/index"
	"kith/model"
)

// clubs returns an edge list of clubs of eight nodes, most of whose members know each other.
func clubs(n int, seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for c := range n {
		for i := range 8 {
			for j := range i {
				if rng.IntN(3) > 0 {
					fmt.Fprintf(&b, "%d %d\n", 8*c+i, 8*c+j)
				}
			}
			fmt.Fprintf(&b, "%d %d\n", 8*c+i, rng.IntN(8*n))
		}
	}
	return b.String()
}

func openClubs(t *testing.T, n int, o *Options) *DB {
	t.Helper()
	g, err := Open("", o)
	must(t, err)
	t.Cleanup(func() { must(t, g.Close()) })
	_, err = g.Load(context.Background(), strings.NewReader(clubs(n, 1)), LoadOptions{})
	must(t, err)
	return g
}

func leftOut(t *testing.T, g *DB) (v *validation, pairs [][2]index.ID) {
	t.Helper()
	must(t, g.View(context.Background(), func(tx *Tx) (err error) {
		if v, _, err = tx.leaveOut(context.Background()); err == nil && v != nil {
			pairs, err = hidden.Lowest(context.Background(), tx.snap.Graph, tx.snap.Meta.Seed, v.share)
		}
		return err
	}))
	return v, pairs
}

// Of the edges of a smaller graph, a larger graph leaves out the same ones or a subset of them.
func TestLeaveOut(t *testing.T) {
	t.Parallel()
	for _, direction := range []Direction{Undirected, Directed} {
		g := openClubs(t, 40, &Options{InMemory: true, Direction: direction})
		v, pairs := leftOut(t, g)
		if n := int(v.rest.snap.Graph.NumEdges()); n+v.edges != 1 && v.edges != len(pairs) || math.Abs(float64(v.edges)/float64(n)-0.11) > 0.03 {
			t.Errorf("%v: %d edges are left out, %d are left", direction, v.edges, n)
		}
		for _, q := range v.questions.All {
			to, _ := v.rest.snap.Graph.Out(q.Source)
			for i, c := range q.Candidates {
				_, still := slices.BinarySearch(to, c)
				pair := [2]index.ID{q.Source, c}
				if direction == Undirected && c < q.Source {
					pair = [2]index.ID{c, q.Source}
				}
				if still || c == q.Source || slices.Contains(pairs, pair) != slices.Contains(q.Found, i) {
					t.Errorf("%v: candidate %d of %d", direction, c, q.Source)
				}
			}
		}
		must(t, g.Update(context.Background(), func(tx *Tx) error {
			for i := range 300 {
				if err := tx.PutEdge(i, fmt.Sprint("new ", i%30)); err != nil {
					return err
				}
			}
			return nil
		}))
		_, more := leftOut(t, g)
		for _, p := range pairs {
			if !slices.Contains(more, p) {
				t.Errorf("%v: %v is not left out any more", direction, p)
			}
		}
		if len(more) <= len(pairs) {
			t.Errorf("%v: %d edges are left out, then %d", direction, len(pairs), len(more))
		}
	}
}

// The reciprocal ranks equal those of a holdout of the same edges with all candidates.
func TestValidationMeasure(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := openClubs(t, 25, &Options{InMemory: true, Memory: 64 << 20})
	v, pairs := leftOut(t, g)
	must(t, g.View(ctx, func(tx *Tx) error {
		o := EvaluateOptions{Contenders: []Contender{{Model: "resource_allocation"}}, Among: []Candidates{Neighbors(2)}}
		for _, p := range pairs {
			o.Links = append(o.Links, Edge{Src: tx.key(p[0]), Dst: tx.key(p[1])})
		}
		for _, q := range v.questions.All {
			o.For = append(o.For, tx.key(q.Source))
		}
		want := map[Key]float64{}
		o.Each = func(_ int, out HeldOut) {
			for _, s := range out.Found {
				rank := 1.0
				for _, o := range out.Others {
					switch {
					case o > s:
						rank++
					case o == s:
						rank += 0.5
					}
				}
				want[out.Source] += 1 / rank
			}
		}
		of, err := tx.Evaluate(ctx, o)
		must(t, err)
		m, err := tx.heuristic("resource_allocation")
		must(t, err)
		sums, err := v.measure(ctx, m.scorer, 0, v.tasks)
		must(t, err)
		for i, q := range v.questions.All {
			if math.Abs(sums[i]-want[tx.key(q.Source)]) > 1e-12 {
				t.Errorf("node %d: %v, want %v", q.Source, sums[i], want[tx.key(q.Source)])
			}
		}
		if links := of.Results[0].Links; v.questions.Links != links {
			t.Errorf("%d links, want %d", v.questions.Links, links)
		}
		return nil
	}))
}

// A brief comparison asks a scorer that is clearly worse the first quarter of the questions, and
// others all. What the tasks know after the first answers changes no later one.
func TestMeasureRival(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := openClubs(t, 25, &Options{InMemory: true, Memory: 64 << 20})
	v, _ := leftOut(t, g)
	must(t, g.View(ctx, func(tx *Tx) error {
		prior := tx.db.prior(tx.snap.Snapshot)
		own, err := v.measure(ctx, prior, validationEpsilon, v.tasks)
		must(t, err)
		known, err := v.measure(ctx, prior, validationEpsilon, v.tasks)
		must(t, err)
		if !slices.Equal(known, own) {
			t.Error("the second answers are not the first ones")
		}
		better := make([]float64, len(own))
		for i, sum := range own {
			better[i] = sum + 1 + float64(i%3)
		}
		for _, c := range []struct {
			brief   bool
			version []float64
			want    int
		}{{false, better, len(own)}, {true, own, len(own)}, {true, better, max(len(own)/briefPart, leastSources)}} {
			v.brief = c.brief
			sums, err := v.measureRival(ctx, prior, validationEpsilon, c.version)
			must(t, err)
			if !slices.Equal(sums, own[:c.want]) {
				t.Errorf("brief %v: %d of %d questions, want %d", c.brief, len(sums), len(own), c.want)
			}
		}
		if got, want := v.mrr(own[:leastSources]), sum(own[:leastSources]); !(got > 0 && got <= want) {
			t.Errorf("MRR %v of the first %d questions", got, leastSources)
		}
		return nil
	}))
}

// A graph that links two kinds of nodes is asked three steps away.
func TestLeaveOutOfTwoKinds(t *testing.T) {
	t.Parallel()
	g, err := Open("", &Options{InMemory: true, Memory: 64 << 20})
	must(t, err)
	defer func() { must(t, g.Close()) }()
	var b strings.Builder
	rng := rand.New(rand.NewPCG(2, 2))
	for range 600 {
		fmt.Fprintf(&b, "%d %d\n", rng.IntN(50), 100+rng.IntN(50))
	}
	_, err = g.Load(context.Background(), strings.NewReader(b.String()), LoadOptions{})
	must(t, err)
	v, _ := leftOut(t, g)
	found := 0
	for _, q := range v.questions.All {
		found += len(q.Found)
	}
	if found < v.questions.Links*9/10 {
		t.Errorf("%d of %d links are among the candidates", found, v.questions.Links)
	}
}

func TestHeldBecause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, prior, heuristic int // positive means better than the new version, negative worse
		want                     string
	}{
		{0, 0, 0, "[]"}, {0, -1, -1, "[]"}, {1, 0, 0, "[before]"}, {0, 1, 0, "[prior]"}, {0, 1, 1, "[prior heuristic]"}, {-1, 1, 1, "[]"},
	} {
		standing := func(r string, sign int) Standing { return Standing{Role: r, Better: sign > 0, Worse: sign < 0} }
		compared := Comparison{Standings: []Standing{
			{Role: roleNew}, standing(roleBefore, c.before), standing(rolePrior, c.prior), standing(roleHeuristic, c.heuristic),
		}}
		held := compared.Held()
		var roles []string
		for _, s := range held {
			roles = append(roles, s.Role)
		}
		if got := fmt.Sprint(roles); got != c.want {
			t.Errorf("%+v: held because of %s", c, got)
		}
	}
}

// A training compares the new version with others, and does not deploy a worse version.
func TestTrainCompares(t *testing.T) {
	t.Parallel()
	slowInternal(t)
	ctx := context.Background()
	g := openClubs(t, 40, &Options{InMemory: true, Memory: 64 << 20})
	poor := model.Spec{Policy: "prb"} // with a large explore_weight, it ranks by what would be new
	must(t, poor.Set("explore_weight", 1000.0), g.Model("good").Create(ctx, model.Spec{}), g.Model("poor").Create(ctx, poor))
	roles := func(m Training) string {
		var all []string
		for _, s := range m.Comparison.Standings {
			all = append(all, s.Role)
		}
		return fmt.Sprint(all)
	}
	short := model.EdgePlan{Samples: 50, Epochs: 1}
	first, err := g.Model("poor").Train(ctx, TrainOptions{Plan: short})
	must(t, err)
	if best, _ := first.Comparison.Standing(roleHeuristic); !first.Held || first.Version != 2 || !best.Better || best.Worse || roles(first) != "[new prior heuristic]" {
		t.Errorf("poor: %+v", first)
	}
	must(t, g.View(ctx, func(tx *Tx) error {
		m, err := tx.Model("poor").Info(ctx)
		if m.Version != 1 {
			t.Errorf("version %d is deployed", m.Version)
		}
		return err
	}))
	forced, err := g.Model("poor").Train(ctx, TrainOptions{Plan: short, Deploy: DeployAlways})
	must(t, err)
	if forced.Held || forced.Version != 3 || !forced.Answers {
		t.Errorf("forced: %+v", forced)
	}
	again, err := g.Model("poor").Train(ctx, TrainOptions{Plan: short, Deploy: DeployNever})
	must(t, err)
	if before, _ := again.Comparison.Standing(roleBefore); !again.Held || before.Trained || before.Name != "version 3" || roles(again) != "[new before prior heuristic]" {
		t.Errorf("again: %+v", again)
	}
	good, err := g.Model("good").Train(ctx, TrainOptions{})
	must(t, err)
	if good.Comparison.Hidden < 50 || good.Comparison.Sources < 50 || good.Comparison.Standings[0].MRR < 0.2 {
		t.Errorf("good: %+v", good)
	}
	must(t, g.Observe(ctx, ObserveOptions{Source: 1, Target: 9, Model: "good", Reward: 1}))
	told, err := g.Model("good").Train(ctx, TrainOptions{Log: true})
	must(t, err)
	if told.Held || roles(told) != "[]" {
		t.Errorf("from the log: %+v", told)
	}
	last, err := g.Model("good").Train(ctx, TrainOptions{})
	must(t, err)
	if before, _ := last.Comparison.Standing(roleBefore); !before.Trained || !last.Comparison.Standings[0].Trained {
		t.Errorf("after an outcome and a training from the log: %+v", last)
	}
	must(t, g.Check(ctx))
}

// If memory is short for a second graph, the edges are hidden by an overlay instead, with the same
// result.
func TestLeaveOutInLittleMemory(t *testing.T) {
	t.Parallel()
	g := openClubs(t, 40, &Options{InMemory: true, Memory: 64 << 20})
	v, _ := leftOut(t, g)
	g.opts.Memory = 1 << 10
	w, _ := leftOut(t, g)
	if fmt.Sprint(v.questions.All) != fmt.Sprint(w.questions.All) || v.edges != w.edges {
		t.Error("other questions")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := g.View(context.Background(), func(tx *Tx) error {
		_, _, err := tx.leaveOut(ctx)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A training reads the same from a copy of the graph as, with little memory, from changed rows.
func TestWorldsWithout(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, direction := range []Direction{Undirected, Directed} {
		g := openClubs(t, 40, &Options{InMemory: true, Direction: direction})
		v, pairs := leftOut(t, g)
		read := func(memory int64) (text string) {
			must(t, g.View(ctx, func(tx *Tx) error {
				before := g.opts.Memory
				g.opts.Memory = memory
				defer func() { g.opts.Memory = before }()
				w, err := tx.worldsWithout(ctx)(pairs)
				if err != nil {
					return err
				}
				for _, q := range v.questions.All[:10] {
					out, _ := w.Graph.Out(q.Source)
					to, from, err := w.Walk.Proximity(ctx, 0.85, q.Source, q.Candidates)
					text += fmt.Sprintln(out, to, from, err)
				}
				return nil
			}))
			return text
		}
		if copied, changed := read(1<<30), read(16<<10); copied != changed {
			t.Errorf("%v: a copy has\n%s\nchanged rows have\n%s", direction, copied, changed)
		}
	}
}
