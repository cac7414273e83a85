package db_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/db"
)

// online is a graph of communities whose links a model has to find, round by round.
type online struct {
	linked   [200][200]bool
	features [200][]float32
}

// newOnline makes a graph in which most links stay within one of five communities, which the
// features tell.
func newOnline() *online {
	o, rng := &online{}, rand.New(rand.NewPCG(1, 1))
	for u := range o.linked {
		o.features[u] = make([]float32, 8)
		for i := range o.features[u] {
			o.features[u][i] = float32(0.1 * rng.NormFloat64())
		}
		o.features[u][u%5]++
		for range 6 {
			v := rng.IntN(200)
			if rng.IntN(10) > 0 {
				v += (u - v) % 5
			}
			if v = (v + 200) % 200; v != u {
				o.linked[u][v], o.linked[v][u] = true, true
			}
		}
	}
	return o
}

// round draws a source, and 20 candidates with up to two that it is linked to.
func (o *online) round(rng *rand.Rand) (source int, candidates []any) {
	source, links := rng.IntN(200), 0
	for _, v := range rng.Perm(200) {
		is := o.linked[source][v]
		if v == source || is && links == 2 || !is && len(candidates)-links == 18 {
			continue
		}
		if candidates = append(candidates, v); is {
			links++
		}
	}
	return source, candidates
}

// play lets a model choose a candidate in each round and learn whether it is linked. It returns the
// number of rounds in which another candidate was linked. A database with a path is reopened
// halfway.
func (o *online) play(t *testing.T, policy, path string, rounds int) (regret int) {
	t.Helper()
	ctx, rng := context.Background(), rand.New(rand.NewPCG(2, 2))
	opened := func() *db.DB { return open(t, path, &db.Options{InMemory: path == "", NoSync: path != ""}) }
	g := opened()
	update(t, g, func(tx *db.Tx) (err error) {
		for u, f := range o.features {
			must(t, tx.AddNode(db.Node{Key: db.Int(int64(u)), Features: f}))
		}
		return nil
	})
	must(t, g.Model("m").Create(ctx, db.ModelSpec{Policy: policy, Seed: 1}))
	for n := range rounds {
		if n == rounds/2 && path != "" {
			must(t, g.Close())
			g = opened()
		}
		source, among := o.round(rng)
		r, err := g.Predict(ctx, db.PredictOptions{For: source, Among: db.Keys(among...), Model: "m", Top: 1, NoCache: true})
		must(t, err)
		target, _ := r.Links[0].Target.Int()
		reward := 0.0
		switch {
		case o.linked[source][target]:
			reward = 1
		case slices.ContainsFunc(among, func(v any) bool { return o.linked[source][v.(int)] }):
			regret++
		}
		must(t, g.Observe(ctx, db.ObserveOptions{
			Source: source, Target: target, Model: "m", Among: db.Keys(among...), Reward: reward, Insert: true,
		}))
	}
	must(t, g.Check(ctx), g.Close())
	t.Logf("%s: regret %d of %d rounds", policy, regret, rounds)
	return regret
}

// In an online run on communities the default learns, and a second run with a restart gives the
// same result.
func TestOnline(t *testing.T) {
	t.Parallel()
	notShort(t)
	o, rounds := newOnline(), size(300, 300, 600)
	learned := o.play(t, "default", "", rounds)
	if again := o.play(t, "default", place(t), rounds); again != learned {
		t.Errorf("over a restart the regret is %d, otherwise %d", again, learned)
	}
	for _, policy := range []string{"common_neighbors", "ppr"} {
		if other := o.play(t, policy, "", rounds); learned >= other {
			t.Errorf("default ends with regret %d, %s with %d", learned, policy, other)
		}
	}
}
