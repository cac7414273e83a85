package db_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kith/db"
	"kith/db/dbtest"
)

// taught returns a database with two models, of which one was taught n outcomes.
func taught(t *testing.T, n int) *db.DB {
	t.Helper()
	ctx, g := t.Context(), dbtest.Open(t, newClock().options())
	load(t, g, 30)
	for _, name := range []string{"m", "other"} {
		if err := g.Model(name).Create(ctx, db.ModelSpec{Policy: "prb_greedy"}); err != nil {
			t.Fatal(err)
		}
	}
	for begin := 0; begin < n; begin += 50 {
		update(t, g, func(tx *db.Tx) error { return playRounds(t, tx, begin, min(begin+50, n)) })
	}
	return g
}

// playRounds makes decisions and rewards every second one.
func playRounds(t *testing.T, tx *db.Tx, begin, end int) error {
	for i := begin; i < end; i++ {
		name := "m"
		if i%3 == 2 {
			name = "other"
		}
		d, err := tx.Choose(t.Context(), db.ChooseOptions{For: i % 30, Among: db.All(), Model: name, Explore: greedy(0.5), TTL: time.Hour})
		if err != nil {
			return err
		}
		if i%2 == 0 {
			continue
		}
		if err := tx.Reward(t.Context(), d.ID, float64(i%7)/6); err != nil {
			return err
		}
	}
	return nil
}

// The spans and the bins hold every outcome of the model once: their sums are those of the log.
func TestLearning(t *testing.T) {
	t.Parallel()
	notShort(t)
	for _, n := range []int{0, 10, 130, 1300} {
		err := taught(t, n).View(t.Context(), func(tx *db.Tx) error {
			count, sum, predicted := 0, 0.0, 0.0
			for o, err := range tx.Observations() {
				if err != nil {
					return err
				}
				if o.Model == "m" {
					count++
					sum += o.Reward
				}
			}
			for d, err := range tx.Decisions() {
				if err != nil {
					return err
				}
				if d.Model == "m" && d.Places[0].Rewarded {
					predicted += d.Places[0].Score
				}
			}
			l, err := tx.Learning(t.Context(), "m")
			if err != nil {
				return err
			}
			for i, s := range l.Rewards {
				if i < len(l.Rewards)-1 && s.Observations != l.Rewards[0].Observations {
					t.Errorf("%d outcomes: span %d of %d has %d", n, i, len(l.Rewards), s.Observations)
				}
				count -= s.Observations
				sum -= s.Reward * float64(s.Observations)
			}
			if count != 0 || math.Abs(sum) > 1e-9 || len(l.Rewards) > 32 {
				t.Errorf("%d outcomes: %d spans, %d and %g differ", n, len(l.Rewards), count, sum)
			}
			last := math.Inf(-1)
			for _, b := range l.Calibration {
				if b.Links < 1 || b.Predicted <= last {
					t.Errorf("%d outcomes: bin %+v after score %v", n, b, last)
				}
				last = b.Predicted
				predicted -= b.Predicted * float64(b.Links)
			}
			if math.Abs(predicted) > 1e-9 {
				t.Errorf("%d outcomes: predictions differ by %v", n, predicted)
			}
			if _, err := tx.Learning(t.Context(), "nope"); !errors.Is(err, db.ErrNoModel) {
				t.Errorf("no model: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A later question reads only what is new, and its answer is that of the whole log: also when old
// observations have been forgotten, and in a transaction that began earlier.
func TestLearningAgain(t *testing.T) {
	t.Parallel()
	o := newClock().options()
	o.ObservationBytes = 8 << 10
	g := dbtest.Open(t, o)
	load(t, g, 30)
	for _, name := range []string{"m", "other"} {
		if err := g.Model(name).Create(t.Context(), db.ModelSpec{Policy: "prb_greedy"}); err != nil {
			t.Fatal(err)
		}
	}
	forgot := false
	for begin := 0; begin < 600; begin += 40 {
		err := g.View(t.Context(), func(earlier *db.Tx) error {
			update(t, g, func(tx *db.Tx) error { return playRounds(t, tx, begin, begin+40) })
			before := checkRewards(t, earlier)
			if err := g.View(t.Context(), func(tx *db.Tx) error {
				forgot = checkRewards(t, tx) < before || forgot
				return nil
			}); err != nil {
				return err
			}
			checkRewards(t, earlier)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !forgot {
		t.Error("nothing was forgotten")
	}
}

// checkRewards compares the spans of a model with those of its log, and returns the number of
// outcomes.
func checkRewards(t *testing.T, tx *db.Tx) int {
	t.Helper()
	var rewards []float64
	for o, err := range tx.Observations() {
		if err != nil {
			t.Fatal(err)
		}
		if o.Model == "m" {
			rewards = append(rewards, o.Reward)
		}
	}
	length := 1
	for (len(rewards)+length-1)/length > 32 {
		length *= 2
	}
	var want []db.RewardSpan
	for span := range slices.Chunk(rewards, length) {
		sum := 0.0
		for _, r := range span {
			sum += r
		}
		want = append(want, db.RewardSpan{Observations: len(span), Reward: sum / float64(len(span))})
	}
	l, err := tx.Learning(t.Context(), "m")
	if diff := cmp.Diff(want, l.Rewards, cmpopts.EquateApprox(1e-12, 1e-12), cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("%d outcomes, error %v (-want +got):\n%s", len(rewards), err, diff)
	}
	return len(rewards)
}
