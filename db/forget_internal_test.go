package db

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kith/index"
	"kith/model"
)

// forgetter is a database that keeps few observations, or its twin that keeps all.
type forgetter struct {
	*DB
	path string
	o    Options
}

func newForgetter(t testing.TB, bytes int64) *forgetter {
	f := &forgetter{path: filepath.Join(t.TempDir(), "g"), o: Options{NoSync: true, ObservationBytes: bytes}}
	f.open(t)
	var edges strings.Builder
	for i := range 30 {
		fmt.Fprintf(&edges, "%d %d\n%d %d\n", i, (i+1)%30, i, (i*7+3)%30)
	}
	_, err := f.Load(context.Background(), strings.NewReader(edges.String()), LoadOptions{})
	must(t, err, f.Model("often").Create(context.Background(), model.Spec{}), f.Model("seldom").Create(context.Background(), model.Spec{Policy: "prb"}))
	return f
}

func (f *forgetter) open(t testing.TB) {
	t.Helper()
	var err error
	f.DB, err = Open(f.path, &f.o)
	must(t, err)
}

// do executes step i, which is the same for both.
func (f *forgetter) do(t testing.TB, i int) {
	t.Helper()
	ctx, rng := context.Background(), rand.New(rand.NewPCG(uint64(i), 11))
	switch k := rng.IntN(100); {
	case k < 4:
		must(t, f.Check(ctx), f.Close())
		f.open(t)
	case k < 8: // like a kill: only commits are stored
		must(t, f.store.Close())
		f.open(t)
	case k < 10:
		_, err := f.Model("often").Train(ctx, TrainOptions{Log: k == 8, Plan: model.EdgePlan{Samples: 20, Epochs: 1}})
		must(t, err)
	case k < 12:
		if _, err := f.Model("often").Rollback(ctx); !errors.Is(err, ErrInput) {
			must(t, err)
		}
	case k < 14:
		must(t, f.Model("seldom").setFrozen(ctx, k == 12))
	case k == 14:
		must(t, f.compact(ctx))
	case k == 15:
		must(t, f.Model("seldom").Drop(ctx), f.Model("seldom").Create(ctx, model.Spec{Policy: "prb"}))
	default:
		o := ObserveOptions{Source: rng.IntN(30), Target: rng.IntN(30), Reward: float64(rng.IntN(2)), Among: Keys(3, 5, 9), Insert: true, Model: "often"}
		if rng.IntN(20) == 0 {
			o.Model = "seldom"
		}
		must(t, f.Observe(ctx, o))
	}
}

// knows returns what the models have learned.
func (f *forgetter) knows(t testing.TB) (s string) {
	t.Helper()
	for _, name := range []string{"often", "seldom"} {
		r, err := f.Predict(context.Background(), PredictOptions{For: 7, Among: All(), NoCache: true, Top: -1, Model: name})
		must(t, err)
		s += fmt.Sprintf("%+v\n", *r)
	}
	return s
}

// Forgetting observations loses nothing: every model knows the same as its twin, also after a kill.
// The observations stay within their limit.
func TestForget(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const limit = 3 << 10
	steps := 120
	if isLong() {
		steps = 400
	}
	g, twin := newForgetter(t, limit), newForgetter(t, 0)
	largest := int64(0)
	for i := range steps {
		g.do(t, i)
		twin.do(t, i)
		m := g.now.Load().Meta
		largest = max(largest, m.Observed)
		if i%10 == 9 || i < 20 {
			if got, want := g.knows(t), twin.knows(t); got != want {
				t.Fatalf("after step %d:\n%s\nits twin:\n%s", i, got, want)
			}
		}
	}
	if largest > limit+limit/8+1<<10 || g.now.Load().Meta.Forgotten == 0 {
		t.Errorf("%d bytes of observations, the limit is %d; %+v", largest, limit, g.now.Load().Meta)
	}
	if m := twin.now.Load().Meta; m.Forgotten != 0 || m.Observed < 2*largest {
		t.Errorf("the twin forgot: %+v", m)
	}
	r := g.store.Read(g.now.Load().ts)
	n := 0
	for e, err := range r.Scan([]byte{'o'}, nil) {
		must(t, err)
		n += len(e.Value)
	}
	r.Close()
	if int64(n) > 2*limit {
		t.Errorf("%d bytes lie in the store, the limit is %d", n, limit)
	}
	must(t, g.Check(context.Background()), g.Close(), twin.Check(context.Background()), twin.Close())
}

// A training learns what was observed while it ran, even if that is more than is kept.
func TestForgetDuringATraining(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var knows [2]string
	for i, limit := range []int64{4 << 10, 0} {
		g := newForgetter(t, limit)
		observed, kept := 0, int64(0)
		clock := time.Unix(0, 0) // so that the training tells as often as its twin
		second := func() time.Time {
			clock = clock.Add(time.Second)
			return clock
		}
		plan := model.EdgePlan{Samples: 20, Epochs: 3, Progress: model.NewMeter(second, func(model.Progress) {
			for range 20 {
				must(t, g.Observe(ctx, ObserveOptions{Source: observed % 30, Target: 11, Reward: float64(observed % 2), Among: Keys(3, 5), Model: "often"}))
				observed++
			}
			kept = g.now.Load().Meta.Observed
		})}
		for range 30 {
			must(t, g.Observe(ctx, ObserveOptions{Source: 1, Target: 2, Reward: 1, Model: "often"}))
		}
		_, err := g.Model("often").Train(ctx, TrainOptions{Plan: plan})
		must(t, err)
		if observed == 0 || limit > 0 && kept < 2*limit {
			t.Errorf("%d observations during the training, %d bytes kept", observed, kept)
		}
		must(t, g.Observe(ctx, ObserveOptions{Source: 1, Target: 2, Reward: 1, Model: "often"}))
		if m := g.now.Load().Meta; limit > 0 && m.Observed > 2*limit {
			t.Errorf("after the training %d bytes are kept", m.Observed)
		}
		knows[i] = g.knows(t)
		must(t, g.Check(ctx), g.Close())
	}
	if knows[0] != knows[1] {
		t.Errorf("it learned\n%s\nits twin\n%s", knows[0], knows[1])
	}
}

// Check detects missing and surplus observations, and a model that has not learned what is
// forgotten.
func TestCheckOfObservations(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for what, damage := range map[string]func(*forgetter, *index.Meta, index.Reader, index.Writer) error{
		"counted as": func(_ *forgetter, m *index.Meta, r index.Reader, w index.Writer) error {
			return (&index.Meta{Forgotten: m.Version, Kept: m.Version}).DropForgotten(r, w, m.Version-1)
		},
		"are forgotten": func(_ *forgetter, m *index.Meta, r index.Reader, w index.Writer) error {
			for name, doc := range index.Models(r) {
				doc.Entry.At = 0
				if err := index.PutModel(w, name, doc.Entry); err != nil {
					return err
				}
			}
			return nil
		},
		"observation of version": func(f *forgetter, m *index.Meta, _ index.Reader, w index.Writer) error {
			return f.now.Load().Begin().PutObservation(w, "", []byte("no observation"))
		},
	} {
		g := newForgetter(t, 2<<10)
		for i := range 40 {
			must(t, g.Observe(ctx, ObserveOptions{Source: i % 30, Target: 11, Reward: float64(i % 2), Among: Keys(3, 5), Model: "often"}))
		}
		must(t, g.Check(ctx))
		s := g.now.Load()
		r := g.store.Read(s.ts)
		must(t, g.store.Commit(s.ts+1, func(w index.Writer) error { return damage(g, &s.Meta, r, w) }))
		r.Close()
		g.publish(&snapshot{s.Snapshot, s.models, s.ts + 1})
		if err := g.Check(ctx); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
		must(t, g.store.Close())
	}
}

// Check finds a lost id of an observation, and a repair records it again and keeps the variables.
func TestRepairOfObservationIDs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := newForgetter(t, 1<<20)
	o := ObserveOptions{Source: 1, Target: 11, Reward: 1, Model: "often", ID: "click 17"}
	must(t, g.Observe(ctx, o), g.Update(ctx, func(tx *Tx) error { return tx.Set("position", []byte("1")) }))
	s := g.now.Load()
	r := g.store.Read(s.ts)
	must(t, g.store.Commit(s.ts+1, func(w index.Writer) error {
		return errors.Join(index.DeleteObservationIDs(r, w), s.WriteMeta(w))
	}))
	r.Close()
	must(t, g.store.Close())
	g.open(t)
	if err := g.Check(ctx); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "the id of an observation") {
		t.Errorf("Check of a lost id: %v", err)
	}
	must(t, g.store.Close())
	if _, err := Repair(ctx, g.path, &g.o, RepairOptions{}); err != nil {
		t.Fatal(err)
	}
	g.open(t)
	must(t, g.Check(ctx), g.Observe(ctx, o), g.View(ctx, func(tx *Tx) error {
		value, err := tx.Get("position")
		m, failed := tx.Model("often").Info(ctx)
		if string(value) != "1" || m.Rounds != 1 {
			t.Errorf("after a repair, the position is %q and the model has learned %d outcomes", value, m.Rounds)
		}
		return errors.Join(err, failed)
	}), g.Close())
}
