package trial_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"kith/cmd/prbench/internal/trial"
	"kith/model"
)

// timeless returns a curve without its times.
func timeless(c trial.Curve) trial.Curve {
	c.Time, c.Parts = 0, trial.Parts{}
	return c
}

// Every run is bit-identical to the same run alone. Results are in the order of the runs.
func TestRunsAreIndependent(t *testing.T) {
	t.Parallel()
	d := communities(t, 4)
	policies := entrants(d, 4, model.Spec{Policy: "prb"}, model.Spec{Policy: "ee_net", Preset: "paper"}, model.Spec{Policy: "random"})
	policies[0].Known = 0.1
	var progress []int
	tr := trial.Trial{Data: d, Protocol: trial.Fresh(), Rounds: 60, Progress: func(done, total int) {
		if progress = append(progress, done); total != 60*6 {
			t.Fatalf("total %d", total)
		}
	}}
	all, err := tr.Play(context.Background(), policies, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Curves) != 6 || len(progress) != 360 || !slices.IsSorted(progress) {
		t.Errorf("%d runs, %d steps of progress", len(all.Curves), len(progress))
	}
	tr.Progress = nil
	for i, c := range all.Curves {
		alone, err := tr.Play(context.Background(), policies[i%3:i%3+1], uint64(i/3))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(timeless(c), timeless(alone.Curves[0])) {
			t.Errorf("run %d: %+v, alone %+v", i, c, alone.Curves[0])
		}
	}
}

// waiting is a player that blocks until its context ends.
type waiting struct{ scripted }

func (w *waiting) Choose(ctx context.Context, _ []trial.Pair) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// The error names the run that failed, and ends all runs.
func TestOneFailureEndsAll(t *testing.T) {
	t.Parallel()
	d := communities(t, 0)
	broken := errors.New("disk gone")
	waits := trial.Entrant{Name: "waits", New: func(uint64, []trial.Pair) (trial.Player, error) { return &waiting{}, nil }}
	breaks := trial.Entrant{Name: "breaks", New: func(uint64, []trial.Pair) (trial.Player, error) { return nil, broken }}
	good := (&scripted{rule: first}).entrant("good")
	tr := trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: 5}
	_, err := tr.Play(context.Background(), []trial.Entrant{good, breaks, waits}, 7)
	if !errors.Is(err, broken) || err.Error() != "trial: breaks, seed 7: disk gone" {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := tr.Play(ctx, []trial.Entrant{waits}, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("out of time: %v", err)
	}
}
