package trial_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"kith/cmd/prbench/internal/trial"
	"kith/model"
)

func communities(t testing.TB, features int) *trial.Data {
	t.Helper()
	c := trial.Communities{Nodes: 200, Groups: 8, Degree: 12, Inside: 0.9, FeatureLen: features, Noise: 0.5}
	d, err := trial.Generate(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// scripted plays by a rule and records the arms of each round.
type scripted struct {
	rule    func(arms []trial.Pair) int
	log     []string
	rewards int
}

func (s *scripted) Choose(_ context.Context, arms []trial.Pair) (int, error) {
	s.log = append(s.log, fmt.Sprint(arms))
	return s.rule(arms), nil
}

func (s *scripted) Learn(_ context.Context, _ []trial.Pair, _ int, reward float64) error {
	s.rewards += int(reward)
	return nil
}

func (s *scripted) entrant(name string) trial.Entrant {
	return trial.Entrant{Name: name, New: func(uint64, []trial.Pair) (trial.Player, error) { return s, nil }}
}

// knows returns a rule that chooses a true link, or the last candidate if no candidate is a link.
func knows(d *trial.Data) func([]trial.Pair) int {
	return func(arms []trial.Pair) int {
		for i, a := range arms {
			if d.Linked(a.Source, a.Target) {
				return i
			}
		}
		return len(arms) - 1
	}
}

func first([]trial.Pair) int { return 0 }

func targets(arms []trial.Pair) (all []trial.ID) {
	for _, a := range arms {
		all = append(all, a.Target)
	}
	return all
}

func TestRegretCounts(t *testing.T) {
	t.Parallel()
	d := communities(t, 0)
	wise, naive := &scripted{rule: knows(d)}, &scripted{rule: first}
	var done, total int
	tr := trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: 50, Progress: func(a, b int) { done, total = a, b }}
	r, err := tr.Play(context.Background(), []trial.Entrant{wise.entrant("wise"), naive.entrant("naive")}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(wise.log, naive.log) {
		t.Error("two players of a seed were asked different questions")
	}
	s := r.Summaries()
	if s[0].Regret != 0 || s[1].Regret != float64(50-naive.rewards) || r.Curves[0].Live != 50 {
		t.Errorf("regrets %v and %v, %d rewards, %d live rounds", s[0].Regret, s[1].Regret, naive.rewards, r.Curves[0].Live)
	}
	if done != 100 || total != 100 {
		t.Errorf("progress ended at %d of %d", done, total)
	}
	if c := r.Curves[1]; len(c.Regret) != 50 || !slices.IsSorted(c.Regret) || c.Final() != c.Regret[49] {
		t.Errorf("curve %v", c.Regret)
	}
}

// Rounds of protocol paper have the numbers of candidates and positives that the protocol defines.
func TestPaperDraws(t *testing.T) {
	t.Parallel()
	d := communities(t, 0)
	p := &scripted{}
	p.rule = func(arms []trial.Pair) int {
		source, candidates := arms[0].Source, targets(arms)
		positives := 0
		for _, c := range candidates {
			if d.Linked(source, c) {
				positives++
			}
		}
		sorted := slices.Sorted(slices.Values(candidates))
		if want := min(10, len(d.Links[source])); positives != want || len(candidates) != 100 ||
			len(slices.Compact(sorted)) != 100 || slices.Contains(candidates, source) {
			t.Errorf("source %d: %d candidates, %d positives, want 100, %d", source, len(candidates), positives, want)
		}
		return 0
	}
	tr := trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: 100}
	if _, err := tr.Play(context.Background(), []trial.Entrant{p.entrant("p")}, 4); err != nil {
		t.Fatal(err)
	}
}

// Protocol fresh does not offer a pair again after it was won. A round without remaining positives
// does not count.
func TestFreshLeavesOutWhatWasWon(t *testing.T) {
	t.Parallel()
	d, err := trial.NewData(t.Context(), 30, [][2]trial.ID{{0, 1}, {1, 2}, {2, 2}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wise := &scripted{rule: knows(d)}
	tr := trial.Trial{Data: d, Protocol: trial.Protocol{Candidates: 5, Positives: 2, Fresh: true}, Rounds: 20}
	r, err := tr.Play(context.Background(), []trial.Entrant{wise.entrant("wise")}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Curves[0]; wise.rewards != 2 || c.Live != 2 || c.Final() != 0 {
		t.Errorf("%d of 2 links won in %d live rounds, regret %d", wise.rewards, c.Live, c.Final())
	}
}

func TestOffered(t *testing.T) {
	t.Parallel()
	d, err := trial.NewData(t.Context(), 30, [][2]trial.ID{{0, 20}, {1, 21}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.Served, d.Offered = []trial.ID{0, 1}, []trial.ID{20, 21, 22, 23}
	p := &scripted{}
	p.rule = func(arms []trial.Pair) int {
		source, candidates := arms[0].Source, targets(arms)
		if source > 1 || slices.Min(candidates) < 20 || len(candidates) != 4 {
			t.Errorf("%d is offered %v", source, candidates)
		}
		return 0
	}
	tr := trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: 10}
	if _, err := tr.Play(context.Background(), []trial.Entrant{p.entrant("p")}, 1); err != nil {
		t.Fatal(err)
	}
}

// The default beats the policies that do not learn. The case without features excludes ppr, which
// is as good on such a small graph.
func TestDefaultBeatsBaselines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		features, rounds int
		rivals           []string
	}{
		{6, 300, []string{"random", "common_neighbors", "ppr"}},
		{0, 500, []string{"random", "common_neighbors"}},
	} {
		d := communities(t, c.features)
		policies := []model.Spec{{Policy: "default"}}
		for _, rival := range c.rivals {
			policies = append(policies, model.Spec{Policy: rival})
		}
		tr := trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: c.rounds}
		r, err := tr.Play(context.Background(), entrants(d, c.features, policies...), 1)
		if err != nil {
			t.Fatal(err)
		}
		all := r.Summaries()
		for _, other := range all[1:] {
			t.Logf("%d features: regret of default %.0f, of %s %.0f", c.features, all[0].Regret, other.Name, other.Regret)
			if all[0].Regret >= other.Regret*0.95 {
				t.Errorf("%d features: the default does not beat %s", c.features, other.Name)
			}
		}
	}
}

func TestSameSeedSameCurve(t *testing.T) {
	t.Parallel()
	d := communities(t, 4)
	tr := trial.Trial{Data: d, Protocol: trial.Fresh(), Rounds: 60}
	var curves [][]int
	for range 2 {
		r, err := tr.Play(context.Background(), entrants(d, 4, model.Spec{Policy: "prb"}), 9)
		if err != nil {
			t.Fatal(err)
		}
		curves = append(curves, r.Curves[0].Regret)
	}
	if !slices.Equal(curves[0], curves[1]) {
		t.Error("two runs of one seed differ")
	}
}

func TestPlayRefuses(t *testing.T) {
	t.Parallel()
	d := communities(t, 0)
	good := []trial.Entrant{(&scripted{rule: first}).entrant("first")}
	wild := []trial.Entrant{(&scripted{rule: func([]trial.Pair) int { return 100 }}).entrant("wild")}
	for name, c := range map[string]struct {
		trial    trial.Trial
		entrants []trial.Entrant
	}{
		"no data":        {trial.Trial{Protocol: trial.Paper(), Rounds: 1}, good},
		"no links":       {trial.Trial{Data: &trial.Data{Nodes: 3}, Protocol: trial.Paper(), Rounds: 1}, good},
		"no rounds":      {trial.Trial{Data: d, Protocol: trial.Paper()}, good},
		"no protocol":    {trial.Trial{Data: d, Rounds: 1}, good},
		"no lists":       {trial.Trial{Data: d, Protocol: trial.Released(), Rounds: 1}, good},
		"no reveal":      {trial.Trial{Data: d, Protocol: trial.Protocol{Candidates: 9, Positives: 1, Reveal: true}, Rounds: 99}, good},
		"knows too much": {trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: 1}, []trial.Entrant{{Known: 1.5, New: good[0].New}}},
		"no entrants":    {trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: 1}, nil},
		"a wild choice":  {trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: 1}, wild},
	} {
		if _, err := c.trial.Play(context.Background(), c.entrants, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tr := trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: 1}
	if _, err := tr.Play(ctx, good, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// BenchmarkRound plays rounds of 100 candidates on a small graph: scoring, learning, training and
// PageRank.
func BenchmarkRound(b *testing.B) {
	d := communities(b, 10)
	for _, spec := range []model.Spec{{Policy: "default"}, {Policy: "prb"}, {Policy: "prb", Preset: "paper"}} {
		b.Run("policy="+spec.Policy+"/preset="+spec.Preset, func(b *testing.B) {
			b.ReportAllocs()
			tr := trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: b.N}
			if _, err := tr.Play(context.Background(), entrants(d, 10, spec), 1); err != nil {
				b.Fatal(err)
			}
		})
	}
}
