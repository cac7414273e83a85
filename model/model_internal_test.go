package model

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

func newModel(t testing.TB, policy, preset string, features int, settings ...any) *Model {
	t.Helper()
	spec := Spec{Policy: policy, Preset: preset, FeatureLen: features, Seed: 7}
	for i := 0; i < len(settings); i += 2 {
		if err := spec.Set(settings[i].(string), settings[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	m, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func encode(t testing.TB, m *Model) []byte {
	t.Helper()
	b, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func play(t testing.TB, m *Model, r *rounds, n int) int {
	t.Helper()
	wrong, err := r.play(m, n)
	if err != nil {
		t.Fatal(err)
	}
	return wrong
}

func learners() []string {
	return []string{"prb", "default", "prb_greedy"}
}

// sized returns the size of a test: full with -long, otherwise small.
func sized(full, small int) int {
	if *long {
		return full
	}
	return small
}

// kinds pairs policies with presets: each with each, but without -long only the first one with
// presets other than default.
func kinds(policies []string) (all [][2]string) {
	for _, preset := range Presets() {
		for i, policy := range policies {
			if i == 0 || preset == "default" || *long {
				all = append(all, [2]string{policy, preset})
			}
		}
	}
	return all
}

// Every learning policy fits its samples, in every preset.
func TestLearns(t *testing.T) {
	t.Parallel()
	notShort(t)
	for _, kind := range kinds(learners()) {
		m := newModel(t, kind[0], kind[1], 2, "width", sized(64, 24))
		if before, after := fitError(t, m, 60), fitError(t, m, 240); after > before/2 {
			t.Errorf("%s, preset %s: mean squared error %.4f after 60 outcomes, %.4f after 300", kind[0], kind[1], before, after)
		}
	}
}

// fitError observes n outcomes whose reward is half of a context number. It returns the mean
// squared error of the exploit part before each outcome is learned.
func fitError(t *testing.T, m *Model, n int) (sum float64) {
	t.Helper()
	d := m.config.width()
	for i := range n {
		x := make([]float32, d)
		x[0], x[1] = float32(i%7)/6, 1
		o := Outcome{Contexts: x, Reward: float64(x[0]) / 2}
		e := o.Reward - exploitOf(m, x)
		sum += e * e / float64(n)
		if _, err := m.Observe(o); err != nil {
			t.Fatal(err)
		}
	}
	return sum
}

// exploitOf returns f1 of a context.
func exploitOf(m *Model, x []float32) float64 {
	if m.belief != nil {
		return chance(m.belief, inputsOf(m.belief, Pair{}, x))
	}
	f := m.exploit.Net.Forward(&m.scratch.net, blas32.General{Rows: 1, Cols: len(x), Stride: len(x), Data: x})[0]
	return m.config.offset(x) + float64(f)
}

// The default becomes good at a task that its features determine and in which every second random
// answer is wrong.
func TestDefaultLearnsOnline(t *testing.T) {
	t.Parallel()
	wrong := play(t, newModel(t, "default", "", 3), newRounds(1), 200)
	if guessed := play(t, newModel(t, "random", "", 3), newRounds(1), 200); wrong > guessed/5 {
		t.Errorf("%d of 200 wrong, of a random choice %d", wrong, guessed)
	}
}

// Equal runs end in equal models, for any number of processors.
func TestSameSeedSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, kind := range kinds([]string{"prb", "default"}) {
		var models [][]byte
		for _, processors := range []int{1, 4} {
			runtime.GOMAXPROCS(processors)
			m := newModel(t, kind[0], kind[1], 3, "width", 300, "steps", sized(40, 8))
			play(t, m, newRounds(2), 60)
			models = append(models, encode(t, m))
		}
		if !bytes.Equal(models[0], models[1]) {
			t.Errorf("%s, preset %s: two equal runs ended in different models", kind[0], kind[1])
		}
	}
}

// A decoded model continues exactly as the original.
func TestDecodeContinues(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds(slices.Concat([]string{"prb"}, Policies())) {
		m := newModel(t, kind[0], kind[1], 3, "steps", sized(100, 20), "width", sized(64, 20))
		play(t, m, newRounds(3), 57)
		twin, err := Decode(encode(t, m))
		if err != nil {
			t.Fatalf("%v: %v", kind, err)
		}
		a, b := newRounds(4), newRounds(4)
		play(t, m, a, 60)
		play(t, twin, b, 60)
		if !bytes.Equal(encode(t, m), encode(t, twin)) {
			t.Errorf("%v: the decoded model went another way", kind)
		}
		if !slices.EqualFunc(a.mesh.Succ, b.mesh.Succ, slices.Equal[[]ID]) {
			t.Errorf("%v: the decoded model chose other links", kind)
		}
	}
}

// Observe learns the same from a trimmed outcome, which is as small as possible.
func TestTrim(t *testing.T) {
	t.Parallel()
	for _, kind := range [][2]string{{"prb", "default"}, {"prb", "paper"}, {"default", "default"}} {
		policy, preset := kind[0], kind[1]
		a, b := newModel(t, policy, preset, 2, "steps", 50), newModel(t, policy, preset, 2, "steps", 50)
		d := a.config.width()
		for i := range 120 {
			o := Outcome{Contexts: make([]float32, 4*d), Chosen: i % 4, Reward: float64(i % 2)}
			for j := range o.Contexts {
				o.Contexts[j] = float32((i+3*j)%11) / 11
			}
			trimmed := b.Trim(o)
			if len(trimmed.Contexts) > d {
				t.Fatalf("preset %s, reward %v: %d numbers kept of %d", preset, o.Reward, len(trimmed.Contexts), len(o.Contexts))
			}
			if _, err := a.Observe(o); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Observe(trimmed); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(encode(t, a), encode(t, b)) {
			t.Errorf("%s, preset %s: trimming changed what was learned", policy, preset)
		}
	}
}

func TestObserveRefuses(t *testing.T) {
	t.Parallel()
	m := newModel(t, "prb", "default", 2)
	d := m.config.width()
	before := encode(t, m)
	nan := make([]float32, d)
	nan[1] = float32(math.NaN())
	for _, o := range []Outcome{
		{Contexts: make([]float32, d), Reward: math.NaN()},
		{Contexts: make([]float32, d), Reward: math.Inf(-1)},
		{Contexts: make([]float32, d), Chosen: 1},
		{Contexts: make([]float32, d), Chosen: -1},
		{Contexts: make([]float32, d+1)},
		{Contexts: nan},
		{Contexts: []float32{}},
	} {
		if _, err := m.Observe(o); !errors.Is(err, ErrInput) {
			t.Errorf("Observe(%v) = %v, want ErrInput", o, err)
		}
	}
	if !bytes.Equal(before, encode(t, m)) {
		t.Error("a refused outcome changed the model")
	}
}

// Extremely large rewards do not make the weights infinite or NaN.
func TestDivergence(t *testing.T) {
	t.Parallel()
	m := newModel(t, "prb", "paper", 2)
	for i := range 40 {
		x := []float32{1e18, 1, float32(i), -1e18}
		if _, err := m.Observe(Outcome{Contexts: x, Reward: 1e30}); err != nil {
			t.Fatal(err)
		}
	}
	scores, err := m.Scorer().Score(context.Background(), newMesh(3, false).world(nil), Pairs(0, []ID{1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scores {
		if !nn.Finite(s.Score) {
			t.Errorf("score %v after divergence", s)
		}
	}
	if _, err := Decode(encode(t, m)); err != nil {
		t.Error(err)
	}
}

func TestScorerIsASnapshot(t *testing.T) {
	t.Parallel()
	m, r := newModel(t, "prb", "paper", 3), newRounds(5)
	play(t, m, r, 60)
	s := m.Scorer()
	if s != m.Scorer() {
		t.Error("another scorer although nothing was learned")
	}
	w := r.mesh.without(nil).world(r.feature)
	ask := func() []Score {
		scores, err := s.Score(context.Background(), w, Pairs(0, []ID{1, 2, 20}))
		if err != nil {
			t.Fatal(err)
		}
		return scores
	}
	before := ask()
	play(t, m, r, 60)
	if s == m.Scorer() {
		t.Error("the same scorer although something was learned")
	}
	if after := ask(); !slices.Equal(before, after) {
		t.Errorf("a scorer changed its answer: %v, then %v", before, after)
	}
}

func TestTrainLog(t *testing.T) {
	t.Parallel()
	m, r := newModel(t, "prb", "default", 3), newRounds(6)
	ctx := context.Background()
	if err := m.TrainLog(ctx, 3, nil); !errors.Is(err, ErrInput) {
		t.Errorf("trained on nothing: %v", err)
	}
	play(t, m, r, 5)
	if m.Trained() {
		t.Fatal("trained before its schedule")
	}
	to, finished := meter()
	to.Expect(m.LogPhases(3)...)
	if err := m.TrainLog(ctx, 3, to); err != nil {
		t.Fatal(err)
	}
	if left := finished(); left != 0 || !m.Trained() || m.Scorer().Basis() != "model" {
		t.Errorf("%v are left, trained %v, basis %q", left, m.Trained(), m.Scorer().Basis())
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := m.TrainLog(ended, 3, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("trained although cancelled: %v", err)
	}
	cn := newModel(t, "common_neighbors", "", 0)
	if err := cn.TrainLog(ctx, 1, nil); !errors.Is(err, errNotLearning) {
		t.Errorf("common_neighbors trained: %v", err)
	}
}

// A belief makes a single pass for any number of epochs.
func TestTrainLogOfABelief(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	if err := tried(t, 0).TrainLog(ctx, 3, nil); !errors.Is(err, ErrInput) {
		t.Errorf("trained on nothing: %v", err)
	}
	m := tried(t, 30)
	before, s := encode(t, m), m.Scorer()
	to, finished := meter()
	to.Expect(m.LogPhases(3)...)
	if err := m.TrainLog(ctx, 3, to); err != nil {
		t.Fatal(err)
	}
	left := finished()
	if left != 0 || !bytes.Equal(before, encode(t, m)) || s == m.Scorer() || !Same(s, m.Scorer()) {
		t.Errorf("%v are left; the outcomes again led elsewhere", left)
	}
}

func TestReplayIsBounded(t *testing.T) {
	t.Parallel()
	m := newModel(t, "prb", "default", 0, "replay", 10)
	x := make([]float32, m.config.width())
	for i := range 35 {
		x[0] = float32(i)
		if _, err := m.Observe(Outcome{Contexts: x, Reward: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.exploit.Data.Len(); n != 10 || m.exploit.Data.Row(0)[0] != 25 {
		t.Errorf("%d samples kept, the oldest is %v", n, m.exploit.Data.Row(0)[0])
	}
}
