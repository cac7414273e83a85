package db_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// clock is a clock that tests set.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Unix(1_700_000_000, 0)} }

func (c *clock) options() *db.Options {
	return &db.Options{InMemory: true, Memory: 64 << 20, Now: func() time.Time { return c.now }}
}

func greedy(epsilon float64) db.Explorer {
	return db.Explorer{Name: "epsilon_greedy", Epsilon: epsilon}
}

// A logged propensity is the probability of the choice: the frequency of each candidate is within
// its binomial interval.
func TestPropensityIsFrequency(t *testing.T) {
	t.Parallel()
	ctx, now := context.Background(), newClock()
	draws := size(2_000, 2_000, 100_000)
	for _, e := range []db.Explorer{{Gamma: 30}, greedy(0.5)} {
		g := dbtest.Open(t, now.options())
		load(t, g, 30)
		count, p := map[db.Key]float64{}, map[db.Key]float64{}
		for range draws / 500 {
			now.now = now.now.Add(time.Hour)
			update(t, g, func(tx *db.Tx) error {
				for range 500 {
					d, err := tx.Choose(ctx, db.ChooseOptions{For: 3, Among: db.Keys(9, 10, 11, 5, 25), Explore: e, TTL: time.Minute})
					if err != nil {
						return err
					}
					count[d.Places[0].Target]++
					sum := 0.0
					for _, o := range d.Offers {
						p[o.Target] = o.Propensity
						sum += o.Propensity
					}
					if math.Abs(sum-1) > 1e-12 || d.Places[0].Propensity != p[d.Places[0].Target] {
						t.Fatalf("%+v: propensities sum to %v", d, sum)
					}
				}
				return nil
			})
		}
		for k, p := range p {
			n := float64(draws)
			if sd := math.Sqrt(n * p * (1 - p)); math.Abs(count[k]-n*p) > 4*sd {
				t.Errorf("%v: %v was drawn %v times of %v, with propensity %v", e, k, count[k], n, p)
			}
		}
	}
}

// A decision is stored when Choose returns, with its properties. A draw is a function of seed and
// number.
func TestChoose(t *testing.T) {
	t.Parallel()
	ctx, now, path := context.Background(), newClock(), place(t)
	o := now.options()
	o.InMemory = false
	g := open(t, path, o)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	teach(t, g, 0, 5)
	var made []db.Decision
	for range 8 {
		d, err := g.Choose(ctx, db.ChooseOptions{For: 7, Among: db.Neighbors(3), TTL: time.Hour})
		must(t, err)
		r, err := g.Predict(ctx, db.PredictOptions{For: 7, Among: db.Neighbors(3), NoCache: true, Top: -1})
		must(t, err)
		i := slices.IndexFunc(r.Links, func(l db.Link) bool { return l.Target == d.Places[0].Target })
		if i < 0 || r.Links[i].Score != d.Places[0].Score || d.Model != "m" || d.ModelVersion != 1 || d.Explorer != "squarecb (gamma = 10)" ||
			!d.Time.Equal(now.now) || !d.Expires.Equal(now.now.Add(time.Hour)) || len(d.Offers) != len(r.Links) || d.Places[0].Rewarded {
			t.Errorf("%+v, of %+v", d, r.Links)
		}
		made = append(made, d)
	}
	must(t, g.Check(ctx), g.Close())
	g = dbtest.Reopen(t, path, o)
	view(t, g, func(tx *db.Tx) error {
		i := 0
		for d, err := range tx.Decisions() {
			must(t, err)
			if fmt.Sprint(d) != fmt.Sprint(made[i]) || d.ID != uint64(i+1) {
				t.Errorf("got %+v, want %+v", d, made[i])
			}
			i++
		}
		if i != len(made) {
			t.Errorf("%d decisions of %d", i, len(made))
		}
		return nil
	})
	c := db.ChooseOptions{For: 7, Among: db.Neighbors(3)}
	var drawn []string
	for _, c.Seed = range []uint64{0, 1, 1, 2, 2} {
		wrong := errors.New("wrong")
		wantError(t, "taken back", g.Update(ctx, func(tx *db.Tx) error {
			targets := ""
			for range 20 {
				d, err := tx.Choose(ctx, c)
				must(t, err)
				targets += fmt.Sprint(d.Places[0].Target.Literal(), " ")
			}
			drawn = append(drawn, targets)
			return wrong
		}), wrong)
	}
	if drawn[0] != drawn[1] || drawn[1] != drawn[2] || drawn[3] != drawn[4] || drawn[2] == drawn[3] {
		t.Errorf("seeds 0, 1, 1, 2, 2 drew\n%s", drawn)
	}
}

// CHOOSE and REWARD teach the same as OBSERVE ... AMONG, with any policy, also after reopening.
func TestRewardTeachesWhatObserveDoes(t *testing.T) {
	t.Parallel()
	notShort(t)
	ctx := context.Background()
	for _, spec := range []model.Spec{{}, {Policy: "prb"}, {Policy: "common_neighbors"}} {
		paths := []string{place(t), place(t)}
		var told, rewarded *db.DB
		for i, g := range []**db.DB{&told, &rewarded} {
			*g = open(t, paths[i], &db.Options{NoSync: true})
			load(t, *g, 40)
			must(t, (*g).Model("m").Create(ctx, spec))
		}
		for i := range 12 {
			among := db.Keys((i+5)%40, (i+9)%40, (i+14)%40)
			d, err := rewarded.Choose(ctx, db.ChooseOptions{For: i, Among: among, Model: "m"})
			must(t, err)
			x := float64(i % 2)
			must(t, rewarded.Reward(ctx, d.ID, x), rewarded.Reward(ctx, d.ID, x))
			must(t, told.Observe(ctx, db.ObserveOptions{Source: i, Target: d.Places[0].Target, Model: "m", Reward: x, Among: among}))
			d, err = rewarded.Choose(ctx, db.ChooseOptions{For: i, Among: among, Places: 2, Model: "m"})
			must(t, err)
			must(t, rewarded.RewardPlaces(ctx, d.ID, map[int]float64{2: 1}, db.ExaminedAbove))
			for k, p := range d.Places {
				must(t, told.Observe(ctx, db.ObserveOptions{Source: i, Target: p.Target, Model: "m", Reward: float64(k), Among: among}))
			}
		}
		score := func(g *db.DB) (s string) {
			named := asked
			named.Model = "m"
			r, err := g.Predict(ctx, named)
			must(t, err)
			return fmt.Sprint(r.Rounds, r.Links)
		}
		want := score(told)
		if got := score(rewarded); got != want {
			t.Errorf("%v: rewarded\n%s\ntold\n%s", spec, got, want)
		}
		must(t, rewarded.Check(ctx), rewarded.Close(), told.Close())
		rewarded = open(t, paths[1], nil)
		if got := score(rewarded); got != want {
			t.Errorf("%v: reopened\n%s\ntold\n%s", spec, got, want)
		}
		must(t, rewarded.Check(ctx), rewarded.Close())
	}
}

// state returns everything that a rejected reward could have changed.
func state(t *testing.T, g *db.DB) (s string) {
	t.Helper()
	view(t, g, func(tx *db.Tx) error {
		for d, err := range tx.Decisions() {
			must(t, err)
			s += fmt.Sprintln(d)
		}
		s += fmt.Sprintln(tx.Models(), tx.Stats().Version, tx.Stats().Edges)
		return nil
	})
	return s
}

func TestRewardRefuses(t *testing.T) {
	t.Parallel()
	ctx, now := context.Background(), newClock()
	g := dbtest.Open(t, now.options())
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	choose := func(ttl time.Duration) uint64 {
		t.Helper()
		d, err := g.Choose(ctx, db.ChooseOptions{For: 7, Model: "m", TTL: ttl})
		must(t, err)
		return d.ID
	}
	short, long, paid := choose(time.Minute), choose(time.Hour), choose(time.Hour)
	must(t, g.Reward(ctx, paid, 0.5))
	now.now = now.now.Add(time.Minute)
	before := state(t, g)
	for what, c := range map[string]struct {
		id     uint64
		reward float64
		want   error
	}{
		"none":           {0, 1, db.ErrNoDecision},
		"not yet made":   {4, 1, db.ErrNoDecision},
		"expired":        {short, 1, db.ErrExpired},
		"another reward": {paid, 1, db.ErrRewarded},
		"same reward":    {paid, 0.5, nil},
		"NaN":            {long, math.NaN(), db.ErrInput},
		"large":          {long, 1e300, db.ErrInput},
	} {
		if err := g.Reward(ctx, c.id, c.reward); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", what, err, c.want)
		}
		if after := state(t, g); after != before {
			t.Errorf("%s changed\n%s\nto\n%s", what, before, after)
		}
	}
	must(t, g.Reward(ctx, long, 1))
	wantError(t, "expired and removed", g.Reward(ctx, short, 1), db.ErrExpired)
	now.now = now.now.Add(time.Hour)
	wantError(t, "rewarded and expired", g.Reward(ctx, paid, 0.5), db.ErrExpired)
	for what, c := range map[string]struct {
		c    db.ChooseOptions
		want error
	}{
		"source":     {db.ChooseOptions{For: "x"}, db.ErrNotFound},
		"model":      {db.ChooseOptions{For: 7, Model: "x"}, db.ErrNoModel},
		"explorer":   {db.ChooseOptions{For: 7, Explore: db.Explorer{Name: "ucb"}}, db.ErrInput},
		"gamma":      {db.ChooseOptions{For: 7, Explore: db.Explorer{Gamma: -1}}, db.ErrInput},
		"TTL":        {db.ChooseOptions{For: 7, TTL: -1}, db.ErrInput},
		"candidates": {db.ChooseOptions{For: 7, Among: db.Keys()}, db.ErrInput},
	} {
		_, err := g.Choose(ctx, c.c)
		wantError(t, what, err, c.want)
	}
}

// Decisions do not pile up: later commits delete the expired ones.
func TestDecisionsExpire(t *testing.T) {
	t.Parallel()
	ctx, now := context.Background(), newClock()
	g := dbtest.Open(t, now.options())
	load(t, g, 40)
	for i := range 300 {
		now.now = now.now.Add(time.Second)
		_, err := g.Choose(ctx, db.ChooseOptions{For: i % 40, TTL: time.Duration(1+i%10) * time.Second})
		must(t, err)
	}
	kept := 0
	for _, line := range dump(t, g) {
		if line[0] == 'd' {
			kept++
		}
	}
	if kept > 10 {
		t.Errorf("%d of 300 decisions are kept, at most 10 have not expired", kept)
	}
	must(t, g.Check(ctx))
}

// A model that replaces another does not learn the rewards of the other's decisions.
func TestRewardOfAnotherModel(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	d, err := g.Choose(ctx, db.ChooseOptions{For: 7, Model: "m"})
	must(t, err)
	must(t, g.Model("m").Drop(ctx), g.Model("m").Create(ctx, model.Spec{Policy: "prb"}))
	must(t, g.Reward(ctx, d.ID, 1))
	view(t, g, func(tx *db.Tx) error {
		m, err := tx.Model("m").Info(ctx)
		if got, _ := tx.Decision(d.ID); m.Rounds != 0 || !got.Places[0].Rewarded {
			t.Errorf("%+v, %+v", m, got)
		}
		return err
	})
}

// Of concurrent rewards, exactly one is accepted.
func TestRewardsAtOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{Memory: 64 << 20})
	load(t, g, 40)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	for range 5 {
		d, err := g.Choose(ctx, db.ChooseOptions{For: 7, Model: "m"})
		must(t, err)
		var all sync.WaitGroup
		taken := make(chan float64, 8)
		for x := range 8 {
			all.Go(func() {
				switch err := g.Reward(ctx, d.ID, float64(x)); {
				case err == nil:
					taken <- float64(x)
				case !errors.Is(err, db.ErrRewarded):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(taken) != 1 {
			t.Errorf("%d rewards were taken", len(taken))
		}
	}
	view(t, g, func(tx *db.Tx) error {
		if m, _ := tx.Model("m").Info(ctx); m.Rounds != 5 {
			t.Errorf("%d rounds", m.Rounds)
		}
		return nil
	})
}

// The largest TTL does not overflow.
func TestLongTTL(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, newClock().options())
	load(t, g, 30)
	d, err := g.Choose(ctx, db.ChooseOptions{For: 3, Among: db.Keys(5, 6), TTL: math.MaxInt64})
	must(t, err, g.Reward(ctx, d.ID, 1))
	if !d.Expires.After(d.Time.AddDate(200, 0, 0)) {
		t.Errorf("made %v, expires %v", d.Time, d.Expires)
	}
}
