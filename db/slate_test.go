package db_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// A slate shows different candidates, and each place shows one as often as its propensity says,
// within a binomial interval.
func TestSlateFrequencies(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	draws := size(2_000, 2_000, 50_000)
	g := dbtest.Open(t, inMemory)
	load(t, g, 30)
	type shown struct {
		place  int
		target db.Key
	}
	count, propensity := map[shown]float64{}, map[shown]float64{}
	for range draws / 500 {
		update(t, g, func(tx *db.Tx) error {
			for range 500 {
				d, err := tx.Choose(ctx, db.ChooseOptions{For: 3, Among: db.Keys(9, 10, 11, 5, 25), Places: 3, Explore: db.Explorer{Gamma: 30}, TTL: time.Minute})
				if err != nil {
					return err
				}
				seen := map[db.Key]bool{}
				for k, p := range d.Places {
					count[shown{k, p.Target}]++
					propensity[shown{k, p.Target}] = p.Propensity
					seen[p.Target] = true
				}
				if len(d.Places) != 3 || len(seen) != 3 || d.Places[0].Propensity != offer(d, 0).Propensity {
					t.Fatalf("%+v", d)
				}
			}
			return nil
		})
	}
	sums := make([]float64, 3)
	for s, p := range propensity {
		sums[s.place] += p
		n := float64(draws)
		if sd := math.Sqrt(n * p * (1 - p)); math.Abs(count[s]-n*p) > 4.5*sd {
			t.Errorf("place %d showed %v %v times of %v, with propensity %v", s.place, s.target, count[s], n, p)
		}
	}
	for k, sum := range sums {
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("the propensities of place %d sum to %v", k, sum)
		}
	}
}

// offer returns the offer of the target at a place.
func offer(d db.Decision, k int) db.Offer {
	return d.Offers[slices.IndexFunc(d.Offers, func(o db.Offer) bool { return o.Target == d.Places[k].Target })]
}

// A slate has no more places than candidates, and no more than a limit.
func TestSlateLength(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 80)
	for _, c := range []struct {
		places, candidates, want int
		err                      error
	}{{0, 5, 1, nil}, {1, 5, 1, nil}, {3, 5, 3, nil}, {9, 5, 5, nil}, {50, 60, 50, nil}, {51, 60, 0, db.ErrTooLarge}, {-1, 5, 0, db.ErrInput}} {
		keys := make([]any, c.candidates)
		for i := range keys {
			keys[i] = i + 5
		}
		d, err := g.Choose(ctx, db.ChooseOptions{For: 1, Among: db.Keys(keys...), Places: c.places})
		if !errors.Is(err, c.err) || len(d.Places) != c.want {
			t.Errorf("%d places of %d candidates: %d places, %v", c.places, c.candidates, len(d.Places), err)
		}
	}
}

// rewardsOf returns the rewards of the places of a decision as text; a dash is a place without one.
func rewardsOf(t *testing.T, g *db.DB, id uint64) (s string) {
	t.Helper()
	view(t, g, func(tx *db.Tx) error {
		d, err := tx.Decision(id)
		for _, p := range d.Places {
			if p.Rewarded {
				s += fmt.Sprint(p.Reward, " ")
			} else {
				s += "- "
			}
		}
		return err
	})
	return s
}

// Rewards of places may come one after the other. A click model gives the reward 0 to places that
// have none. A wrong reward changes nothing.
func TestRewardPlaces(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := place(t)
	g := open(t, path, nil)
	load(t, g, 30)
	must(t, g.Model("m").Create(ctx, model.Spec{}))
	type step struct {
		rewards  map[int]float64
		examined db.Examined
		err      error
		want     string
		rounds   int
	}
	rounds := 0
	for _, steps := range [][]step{
		{
			{map[int]float64{2: 1}, db.ExaminedGiven, nil, "- 1 - - ", 1},
			{map[int]float64{2: 1}, db.ExaminedGiven, nil, "- 1 - - ", 0},
			{map[int]float64{1: 0.5, 2: 0}, db.ExaminedGiven, db.ErrRewarded, "- 1 - - ", 0},
			{map[int]float64{1: 0.5, 5: 1}, db.ExaminedGiven, db.ErrInput, "- 1 - - ", 0},
			{map[int]float64{0: 1}, db.ExaminedGiven, db.ErrInput, "- 1 - - ", 0},
			{map[int]float64{1: math.Inf(1)}, db.ExaminedGiven, db.ErrInput, "- 1 - - ", 0},
			{map[int]float64{1: 1}, "some", db.ErrInput, "- 1 - - ", 0},
			{map[int]float64{1: 1}, "", db.ErrInput, "- 1 - - ", 0},
			{nil, db.ExaminedGiven, nil, "- 1 - - ", 0},
			{nil, db.ExaminedAbove, nil, "0 1 - - ", 1},
			{map[int]float64{4: 2}, db.ExaminedAbove, nil, "0 1 0 2 ", 2},
		},
		{
			{map[int]float64{3: 0}, db.ExaminedAbove, nil, "- - 0 - ", 1},
			{map[int]float64{1: 1}, db.ExaminedAll, nil, "1 0 0 0 ", 3},
			{map[int]float64{2: 1}, db.ExaminedAll, db.ErrRewarded, "1 0 0 0 ", 0},
		},
	} {
		d, err := g.Choose(ctx, db.ChooseOptions{For: 7, Among: db.Keys(12, 13, 14, 15, 16), Places: 4, Model: "m"})
		must(t, err)
		wantError(t, "a reward that names no place", g.Reward(ctx, d.ID, 1), db.ErrInput)
		for i, s := range steps {
			err := g.RewardPlaces(ctx, d.ID, s.rewards, s.examined)
			if got := rewardsOf(t, g, d.ID); !errors.Is(err, s.err) || got != s.want {
				t.Errorf("step %d: rewards %v, want %v; %v", i, got, s.want, err)
			}
			rounds += s.rounds
		}
	}
	check := func() {
		t.Helper()
		info, err := g.Model("m").Info(ctx)
		if err != nil || info.Rounds != rounds {
			t.Errorf("the model has learned %d rewards of %d (%v)", info.Rounds, rounds, err)
		}
		if one, two := rewardsOf(t, g, 1), rewardsOf(t, g, 2); one != "0 1 0 2 " || two != "1 0 0 0 " {
			t.Errorf("rewards %s and %s", one, two)
		}
		must(t, g.Check(ctx))
	}
	check()
	must(t, g.Close())
	g = dbtest.Reopen(t, path, nil)
	check()
}

// The value of slates is estimated from the slates of a different policy. The evaluated policy
// shows the best by common neighbours, which earn 0.8 at the first place and half of that at the
// second.
func TestEvaluateLogOfSlates(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	load(t, g, 60)
	must(t, g.Model("near").Create(ctx, model.Spec{Policy: "common_neighbors"}))
	rng := rand.New(rand.NewPCG(1, 2))
	const first, second, others = 0.8, 0.4, 0.1
	update(t, g, func(tx *db.Tx) error {
		for i := range 600 {
			u := i % 60
			among := db.Keys((u+2)%60, (u+3)%60, (u+25)%60, (u+31)%60)
			best, err := tx.Predict(ctx, db.PredictOptions{For: u, Among: among, Model: "near", Top: -1})
			must(t, err)
			d, err := tx.Choose(ctx, db.ChooseOptions{For: u, Among: among, Places: 2, Model: "near", Explore: greedy(0.6)})
			must(t, err)
			rewards := map[int]float64{}
			for k, p := range d.Places {
				likely := []float64{first, second}[k]
				if p.Target != best.Links[k].Target {
					likely = others
				}
				rewards[k+1] = 0
				if rng.Float64() < likely {
					rewards[k+1] = 1
				}
			}
			must(t, tx.RewardPlaces(ctx, d.ID, rewards, db.ExaminedGiven))
		}
		return nil
	})
	for _, name := range model.Estimators() {
		v, err := g.EvaluateLog(ctx, db.EvaluateLogOptions{Model: "near", Estimator: name})
		must(t, err)
		if truth := first + second; v.Low > truth || v.High < truth || math.Abs(v.Value-truth) > 0.15 || v.High-v.Low > 0.6 ||
			v.Decisions != 600 || v.Places != 2 || v.Logged > v.Low {
			t.Errorf("%s: %+v, the truth is %v", name, v, truth)
		}
	}
	learning := func(tx *db.Tx) error {
		l, err := tx.Learning(ctx, "near")
		links := 0
		for _, b := range l.Calibration {
			links += b.Links
		}
		if links != 1200 {
			t.Errorf("the calibration has %d links", links)
		}
		return err
	}
	view(t, g, learning)
}
