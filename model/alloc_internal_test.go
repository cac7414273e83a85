package model

import (
	"context"
	"testing"
)

// still is a walker that returns zeros without allocating.
type still struct{ zero []float64 }

func (s still) Proximity(context.Context, float64, ID, []ID) (to, from []float64, err error) {
	return s.zero, s.zero, nil
}

func (s still) Propagate(context.Context, Walk, Start, []ID) (v, bound []float64, err error) {
	return s.zero, s.zero, nil
}

// stillWorld is a world of n nodes with feature vectors that never allocates.
func stillWorld(n, features int) World {
	vectors := make([][]float32, n)
	for u := range vectors {
		for j := range features {
			vectors[u] = append(vectors[u], float32((u+3)*(j+1)%11)-5)
		}
	}
	return World{
		Graph:    newMesh(n, false),
		Features: func(u ID) []float32 { return vectors[u] },
		Walk:     still{make([]float64, n-1)},
	}
}

// round plays rounds with reused buffers.
type round struct {
	model    *Model
	world    World
	pairs    []Pair
	scores   []Score
	contexts []float32
	played   int
}

func (r *round) play(t testing.TB) {
	ctx, s, err := context.Background(), r.model.Scorer(), error(nil)
	if r.scores, err = s.AppendScores(ctx, r.scores[:0], r.world, r.pairs); err != nil {
		t.Fatal(err)
	}
	if r.contexts, err = s.AppendContexts(ctx, r.contexts[:0], r.world, r.pairs); err != nil {
		t.Fatal(err)
	}
	r.played++
	o := Outcome{Contexts: r.contexts, Chosen: r.played % len(r.pairs), Reward: float64(r.played % 2)}
	if _, err := r.model.Observe(o); err != nil {
		t.Fatal(err)
	}
}

func newRound(t testing.TB, policy, preset string, candidates int, settings ...any) *round {
	targets := make([]ID, candidates)
	for i := range targets {
		targets[i] = ID(i + 1)
	}
	m := newModel(t, policy, preset, 10, settings...)
	return &round{model: m, world: stillWorld(candidates+1, 10), pairs: Pairs(0, targets)}
}

// A round allocates only the next Scorer and the samples that are kept.
func TestRoundAllocates(t *testing.T) {
	notShort(t)
	if raceDetector {
		t.Skip("the race detector has pools forget what they hold")
	}
	for _, preset := range []string{"paper", "default"} {
		for _, policy := range []string{"prb", "prb_greedy"} {
			r := newRound(t, policy, preset, 20, "steps", 10)
			for range 1100 {
				r.play(t)
			}
			if got := testing.AllocsPerRun(80, func() { r.play(t) }); got > 2 {
				t.Errorf("%s, %s: %v allocations a round", preset, policy, got)
			}
		}
	}
}

// Scoring does not allocate with the structural block either.
func TestScoringAllocates(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector has pools forget what they hold")
	}
	ctx := context.Background()
	for _, policy := range []string{"default", "prb"} {
		for _, features := range []int{0, 10} {
			r := newRound(t, policy, "default", 20)
			r.model = newModel(t, policy, "default", features)
			for range 60 {
				r.play(t)
			}
			s := r.model.Scorer()
			got := testing.AllocsPerRun(50, func() {
				var err error
				if r.scores, err = s.AppendScores(ctx, r.scores[:0], r.world, r.pairs); err != nil {
					t.Fatal(err)
				}
				if r.contexts, err = s.AppendContexts(ctx, r.contexts[:0], r.world, r.pairs); err != nil {
					t.Fatal(err)
				}
			})
			if got > 0 {
				t.Errorf("%s, %d features: %v allocations", policy, features, got)
			}
		}
	}
}

func BenchmarkRound(b *testing.B) {
	for _, preset := range Presets() {
		b.Run(preset, func(b *testing.B) {
			r := newRound(b, "prb", preset, 100)
			b.ReportAllocs()
			for b.Loop() {
				r.play(b)
			}
		})
	}
}
