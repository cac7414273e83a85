package model_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"kith/model"
)

// work is a computation whose steps take other times than expected.
type work struct {
	name  string
	clock time.Time
	meter *model.Meter
	told  []model.Progress
	at    []time.Time // when told
}

func newWork(name string) *work {
	w := &work{name: name, clock: time.Unix(1e9, 0)}
	w.meter = model.NewMeter(func() time.Time { return w.clock }, func(s model.Progress) {
		w.told, w.at = append(w.told, s), append(w.at, w.clock)
	})
	return w
}

// do does steps of a phase that take a time each.
func (w *work) do(phase string, steps int, each time.Duration) {
	w.meter.Begin(phase)
	for range steps {
		w.clock = w.clock.Add(each)
		w.meter.Step(1)
	}
}

// check checks that the first state precedes all work and has an estimate, that the share never
// falls, that the time left is about right as soon as a third of the time has passed, and that the
// last state is complete.
func (w *work) check(t *testing.T, began time.Time) {
	t.Helper()
	first, last := w.told[0], w.told[len(w.told)-1]
	if !w.at[0].Equal(began) || first.Left <= 0 || first.Done != 0 || first.Doing == "" {
		t.Errorf("%s: first told %+v after %v", w.name, first, w.at[0].Sub(began))
	}
	if last.Done != 1 || last.Left != 0 {
		t.Errorf("%s: last told %+v", w.name, last)
	}
	whole := w.clock.Sub(began)
	for i, s := range w.told[1:] {
		passed, left := w.at[i+1].Sub(began), w.clock.Sub(w.at[i+1])
		if s.Done < w.told[i].Done || s.Left < 0 {
			t.Errorf("%s: %+v after %+v", w.name, s, w.told[i])
		}
		if wrong := (s.Left - left).Abs(); passed > whole/3 && wrong > whole/5 {
			t.Errorf("%s: after %v, %v are left, told %v", w.name, passed, left, s)
		}
	}
}

func TestMeter(t *testing.T) {
	t.Parallel()
	plan := []model.Phase{
		{Name: "hide", Steps: 1, Each: 100 * time.Millisecond},
		{Name: "vectors", Steps: 11, Each: time.Second, Work: "algebra"},
		{Name: "read", Steps: 8000, Each: 2 * time.Millisecond, Work: "graph"},
		{Name: "learn", Steps: 36, Each: 500 * time.Millisecond, Work: "algebra"},
		{Name: "compare", Steps: 1000, Each: time.Millisecond},
	}
	for _, algebra := range []float64{0.3, 1, 4} {
		for _, graph := range []float64{0.3, 1, 6} {
			w := newWork(fmt.Sprintf("algebra x %v, graph x %v", algebra, graph))
			began := w.clock
			times := func(by float64, d time.Duration) time.Duration { return time.Duration(by * float64(d)) }
			w.meter.Expect(plan...)
			w.do("hide", 1, 300*time.Millisecond)
			for range 5 { // folds, two at a time
				w.do("vectors", 2, times(algebra, time.Second))
				w.do("read", 1500, times(graph, 2*time.Millisecond)) // fewer than expected
			}
			w.meter.Finish("read")
			w.do("learn", 36, times(algebra, 500*time.Millisecond))
			w.do("vectors", 1, times(algebra, time.Second))
			w.do("compare", 1000, time.Millisecond)
			w.meter.End()
			w.check(t, began)
		}
	}
}

// Steps that take random times, phases that were not expected, more steps than expected, and no
// plan do no harm.
func TestMeterUnexpected(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	w := newWork("random")
	for range 100 {
		if rng.IntN(10) == 0 {
			w.meter.Expect(model.Phase{Name: "0", Steps: rng.IntN(5) - 1, Each: time.Duration(rng.IntN(1e9))},
				model.Phase{Name: "1", Steps: rng.IntN(5) << rng.IntN(60), Each: time.Second}, model.Phase{Name: "2", Steps: 3})
		}
		name := fmt.Sprint(rng.IntN(4))
		w.do(name, rng.IntN(4), time.Duration(rng.IntN(1e9)))
		w.meter.Finish(name)
	}
	w.meter.End()
	for i, s := range w.told[1:] {
		if s.Done < w.told[i].Done || s.Done > 1 || s.Left < 0 {
			t.Errorf("%+v after %+v", s, w.told[i])
		}
	}
	var none *model.Meter
	if none.Spent() != 0 || !none.Fits() {
		t.Error("no meter has a limit")
	}
	none.Expect(model.Phase{Name: "0"})
	none.Begin("0")
	none.Step(1)
	none.Finish("0")
	none.End()
}

// With a limit, each phase may take a part of the time that is left. What one phase saves or takes
// too much, the others gain or lose.
func TestMeterLimit(t *testing.T) {
	t.Parallel()
	w := newWork("limit")
	began := w.clock
	w.meter.Limit(40 * time.Second)
	w.meter.Expect(
		model.Phase{Name: "read", Steps: 10, Each: time.Second}, model.Phase{Name: "learn", Steps: 20, Each: time.Second},
		model.Phase{Name: "replay", Steps: 50, Each: time.Second})
	for _, c := range []struct {
		phase string
		each  time.Duration
		want  int // steps until the phase should end
	}{
		{"read", time.Second, 5},               // of 40 s, an eighth
		{"learn", 3 * time.Second, 4},          // of 35 s, two sevenths
		{"replay", 500 * time.Millisecond, 46}, // of the 23 s that are left, all
	} {
		steps := 0
		for w.meter.Begin(c.phase); w.meter.Spent() < 1; steps++ {
			if w.meter.Fits() {
				t.Errorf("%s: the rest fits after %d steps", c.phase, steps)
			}
			w.do(c.phase, 1, c.each)
		}
		if steps != c.want {
			t.Errorf("%s: %d steps, want %d", c.phase, steps, c.want)
		}
		w.meter.Finish(c.phase)
	}
	if took := w.clock.Sub(began); took != 40*time.Second {
		t.Errorf("took %v", took)
	}
}
