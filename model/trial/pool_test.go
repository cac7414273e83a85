package trial_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"kith/model"
	"kith/model/trial"
)

// timeless returns a curve without its times.
func timeless(c trial.Curve) trial.Curve {
	c.Time, c.Parts = 0, trial.Parts{}
	return c
}

// For any number of workers every run is bit-identical to the same run alone. Results are in the order of the runs.
func TestParallelIsSerial(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	d := communities(t, 4)
	var runs []trial.Run
	policies := entrants(d, 4, model.Spec{Policy: "prb"}, model.Spec{Policy: "ee_net", Preset: "released"}, model.Spec{Policy: "random"})
	policies[0].Known = 0.1
	for seed := range uint64(2) {
		for _, e := range policies {
			runs = append(runs, trial.Run{Entrant: e, Seed: seed})
		}
	}
	tr := trial.Trial{Data: d, Protocol: trial.Fresh(), Rounds: 60}
	var alone []trial.Curve
	for _, r := range runs {
		one, err := tr.PlayRuns(context.Background(), []trial.Run{r})
		if err != nil {
			t.Fatal(err)
		}
		alone = append(alone, timeless(one.Curves[0]))
	}
	for _, workers := range []int{0, 1, 3, 99} {
		var progress []int
		finished := make(map[string]trial.Curve)
		tr.Workers = workers
		tr.Progress = func(done, total int) {
			if progress = append(progress, done); total != 60*len(runs) {
				t.Fatalf("total %d", total)
			}
		}
		tr.Finished = func(c trial.Curve) { finished[fmt.Sprint(c.Name, c.Seed)] = timeless(c) }
		r, err := tr.PlayRuns(context.Background(), runs)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range r.Curves {
			c = timeless(c)
			if !reflect.DeepEqual(c, alone[i]) || !reflect.DeepEqual(finished[fmt.Sprint(c.Name, c.Seed)], c) {
				t.Errorf("%d workers, run %d: %+v, alone %+v", workers, i, c, alone[i])
			}
		}
		if len(finished) != len(runs) || len(progress) != 60*len(runs) || !slices.IsSorted(progress) {
			t.Errorf("%d workers: %d finished, %d steps of progress", workers, len(finished), len(progress))
		}
	}
}

// waiting is a player that blocks until its context ends.
type waiting struct{ scripted }

func (w *waiting) Choose(ctx context.Context, _ []trial.Pair) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// The error is that of the run that failed, not of the runs that it cancelled. Finished runs have been reported.
func TestOneFailureEndsAll(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	d := communities(t, 0)
	broken := errors.New("disk gone")
	waits := trial.Entrant{Name: "waits", New: func(uint64, []trial.Pair) (trial.Player, error) { return &waiting{}, nil }}
	breaks := trial.Entrant{Name: "breaks", New: func(uint64, []trial.Pair) (trial.Player, error) { return nil, broken }}
	good := (&scripted{rule: first}).entrant("good")
	var finished []string
	tr := trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: 5, Workers: 2, Finished: func(c trial.Curve) { finished = append(finished, c.Name) }}
	_, err := tr.Play(context.Background(), []trial.Entrant{waits, good, breaks, good}, 7)
	if !errors.Is(err, broken) || err.Error() != "trial: breaks, seed 7: disk gone" {
		t.Errorf("error %v", err)
	}
	if !slices.Equal(finished, []string{"good"}) {
		t.Errorf("finished: %v", finished)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := tr.Play(ctx, []trial.Entrant{waits}, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("out of time: %v", err)
	}
}
