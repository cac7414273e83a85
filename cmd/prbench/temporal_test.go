package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kith/db/edgelist"
	"kith/model"
)

// made returns a stream of sources 0 to 9 and targets 10 to 29. Half of the events repeat the last
// event of their source, and one in five has the time of the event before.
func made(events int) *stream {
	rng := rand.New(rand.NewPCG(5, 1))
	last := make(map[int64]int64)
	var edges []edgelist.Edge
	time := int64(0)
	for range events {
		u := rng.Int64N(10)
		v, known := last[u]
		if !known || rng.IntN(2) == 0 {
			v = 10 + rng.Int64N(20)
		}
		last[u] = v
		if rng.IntN(5) > 0 {
			time += 1 + rng.Int64N(100)
		}
		edges = append(edges, edgelist.Edge{
			Src: edgelist.Token{Int: u, IsInt: true}, Dst: edgelist.Token{Int: v, IsInt: true}, Time: time,
		})
	}
	return newStream("made", edges)
}

func playTemporal(t *testing.T, s *stream, protocol, part string, f forecaster) temporalScore {
	t.Helper()
	r, err := temporalSettings{Protocol: protocol, Part: part, Sample: 40, Seed: 1}.play(t.Context(), s, f, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Ranks by pair recency equal those computed from the definition.
func TestTemporalRanks(t *testing.T) {
	t.Parallel()
	s := made(400)
	b, _ := rowOf(baselines(), "pair_node_recency")
	got := playTemporal(t, s, "all", partTest, b.make(s))
	from, to := s.span(partTest)
	sum := 0.0
	for _, e := range s.events[from:to] {
		latest := func(v model.ID, ofSource bool) (at int64) {
			for _, o := range s.events {
				if o.time < e.time && o.Target == v && (!ofSource || o.Source == e.Source) {
					at = o.time
				}
			}
			return at
		}
		happens := func(v model.ID) bool {
			return slices.Contains(s.events, event{model.Pair{Source: e.Source, Target: v}, e.time})
		}
		before := func(v, w model.ID) bool {
			if a, b := latest(v, true), latest(w, true); a != b {
				return a > b
			}
			return latest(v, true) == 0 && latest(v, false) > latest(w, false)
		}
		rank := 1.0
		for _, v := range s.targets {
			switch {
			case happens(v):
			case before(v, e.Target):
				rank++
			case !before(e.Target, v):
				rank += 0.5
			}
		}
		sum += 1 / rank
	}
	if want := sum / float64(to-from); math.Abs(got.Value-want) > 1e-12 {
		t.Errorf("mean reciprocal rank %v, want %v", got.Value, want)
	}
	n := 0
	for k := range kinds {
		n += got.Events[k]
	}
	if n != to-from {
		t.Errorf("%d questions, want %d", n, to-from)
	}
}

// The last target of a source is the best guess, and every policy completes every protocol.
func TestTemporalPolicies(t *testing.T) {
	s := made(200)
	for _, policy := range append(namesOf(baselines()), "common_neighbors", "default", "default/frozen", "pair_net") {
		for _, protocol := range namesOf(temporalProtocols()) {
			slow := policy == "pair_net" || testing.Short() && strings.HasPrefix(policy, "default")
			if slow && protocol != "historical" && protocol != "ap-inductive" {
				continue
			}
			f, err := temporalSettings{Policy: policy}.forecaster(s)
			if err != nil {
				t.Fatal(err)
			}
			r := playTemporal(t, s, protocol, partValid, f)
			if !(r.Value > 0 && r.Value <= 1) || !(r.Rounds > 0) {
				t.Errorf("%s, %s: %+v", policy, protocol, r)
			}
		}
	}
}

// Two players with the same seed have the same results, and a frozen model learns nothing after the
// questions begin.
func TestTemporalLearner(t *testing.T) {
	t.Parallel()
	s := made(200)
	var scores [2]temporalScore
	for i := range scores {
		m, err := model.New(model.Spec{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		l := newLearner(s, trainee{model: m}, true, 1)
		scores[i] = playTemporal(t, s, "all", partTest, l)
		scores[i].Rounds = 0
		before := m.Scorer()
		if err := l.see(context.Background(), s.events[:1]); err != nil || !model.Same(before, m.Scorer()) || !m.Trained() {
			t.Errorf("a frozen model learns: %v", err)
		}
	}
	if scores[0] != scores[1] {
		t.Errorf("%+v and %+v", scores[0], scores[1])
	}
}

func TestAveragePrecision(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		links, others []float64
		want          float64
	}{
		{[]float64{3, 2}, []float64{1, 0}, 1},
		{[]float64{1}, []float64{2}, 0.5},
		{[]float64{1, 1}, []float64{1, 1}, 0.5},
		{[]float64{4, 2}, []float64{3, 1}, 0.5 + 0.5*2/3},
	} {
		var all []judged
		for _, v := range test.others {
			all = append(all, judged{v, false})
		}
		for _, v := range test.links {
			all = append(all, judged{v, true})
		}
		if got := averagePrecision(all); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%v above %v: %v, want %v", test.links, test.others, got, test.want)
		}
	}
}

// Historical negatives are earlier pairs without an event in the batch of questions. Inductive
// negatives first occurred after the training.
func TestTemporalNegatives(t *testing.T) {
	t.Parallel()
	s := made(1000)
	from := s.until(0.70)
	d := newNegativeSampler(s, from, 1)
	for i := 0; i < len(s.events); i = s.moment(i) {
		if i >= from {
			d.startBatch()
			for _, first := range []int{0, from} {
				p := d.edge(s.events[i], first)
				if p.Source == s.events[i].Source {
					continue // the negative may be random
				}
				if at, known := d.first[p]; !known || at < first || d.batch[p] {
					t.Fatalf("event %d: %v of event %d, from %d on", i, p, at, first)
				}
			}
		}
		d.see(s.events[i:s.moment(i)])
	}
}

// The results of baselines on tgbl-wiki-v2 equal those of its leaderboard and of
// ../shared/QUALITY.md.
func TestTemporalBoard(t *testing.T) {
	name := "../../../shared/data/temporal/tgbl-wiki.txt.gz"
	slow(t)
	if _, err := os.Stat(name); err != nil {
		t.Skip("needs ../shared/data")
	}
	s, err := readStream(name, edgelist.SrcDstTime)
	if err != nil {
		t.Fatal(err)
	}
	for policy, want := range map[string]string{"edgebank": "0.4947", "pair_recency": "0.8172", "pair_node_recency": "0.8206"} {
		b, _ := rowOf(baselines(), policy)
		if got := fmt.Sprintf("%.4f", playTemporal(t, s, "all", partTest, b.make(s)).Value); got != want {
			t.Errorf("%s: %s, want %s", policy, got, want)
		}
	}
}

func TestReadStream(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "few.v1.txt")
	for text, want := range map[string]string{"1 2 3\n": "20 are needed", "1 2 x\n": "line 1"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readStream(name, edgelist.SrcDstTime); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := os.WriteFile(name, []byte(strings.Repeat("a b 7\nb a 0\n", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := readStream(name, edgelist.SrcDstTime)
	if err != nil || s.name != "few" || s.nodes != 2 || s.bipartite() || s.events[0].time != 1 || s.events[19].time != 8 {
		t.Errorf("%+v, %v", s, err)
	}
}
