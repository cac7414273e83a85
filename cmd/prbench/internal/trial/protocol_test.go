package trial_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"kith/cmd/prbench/internal/trial"
)

func TestProtocolOf(t *testing.T) {
	t.Parallel()
	for _, want := range []trial.Protocol{trial.Paper(), trial.Released(), trial.Fresh()} {
		if got, err := trial.ProtocolOf(want.Name); err != nil || got != want {
			t.Errorf("%s: %+v, %v", want.Name, got, err)
		}
	}
	if _, err := trial.ProtocolOf("papre"); err == nil || !strings.Contains(err.Error(), "paper, released, fresh") {
		t.Errorf("an unknown protocol: %v", err)
	}
}

// listed is data of 40 users and 60 items with 30 pairs listed as links and 200 as non-links. The
// last pair of both lists is the same.
func listed(t *testing.T) *trial.Data {
	t.Helper()
	var links [][2]trial.ID
	var positives, negatives []trial.Pair
	for i := range 30 {
		p := trial.Pair{Source: trial.ID(i), Target: trial.ID(40 + 2*i)}
		links, positives = append(links, [2]trial.ID{p.Source, p.Target}), append(positives, p)
	}
	for i := range 199 {
		negatives = append(negatives, trial.Pair{Source: trial.ID(i % 40), Target: trial.ID(40 + (2*i+1)%60)})
	}
	d, err := trial.NewData(t.Context(), 100, links, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.Bipartite(40)
	d.Positives, d.Negatives = positives, append(negatives, positives[29])
	return d
}

// A round of protocol released has one row of the links and nine different rows of the non-links,
// in random order. The reward is that of the lists.
func TestReleasedDraws(t *testing.T) {
	t.Parallel()
	d := listed(t)
	places, contradicted := make(map[int]bool), false
	p := &scripted{}
	p.rule = func(arms []trial.Pair) int {
		at, links := 0, 0
		for i, a := range arms {
			switch {
			case a == d.Positives[29]:
				contradicted = true
				at, links = i, links+1
			case slices.Contains(d.Positives, a):
				at, links = i, links+1
			case !slices.Contains(d.Negatives, a):
				t.Errorf("%v is in no list", a)
			}
		}
		if len(arms) != 10 || links < 1 || links > 2 {
			t.Errorf("%d arms, %d links", len(arms), links)
		}
		places[at] = true
		return at
	}
	tr := trial.Trial{Data: d, Protocol: trial.Released(), Rounds: 600}
	r, err := tr.Play(context.Background(), []trial.Entrant{p.entrant("p")}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Curves[0]; len(places) != 10 || !contradicted || c.Live != 600 || c.Final() != 600-p.rewards || c.Final() == 0 || c.Final() > 60 {
		t.Errorf("links at %d places, %d live rounds, regret %d, %d rewards", len(places), c.Live, c.Final(), p.rewards)
	}
}

// classes is data of 30 nodes in 3 classes, and one node without a class.
func classes(t *testing.T) *trial.Data {
	t.Helper()
	labels := make([]int, 31)
	for u := range labels {
		labels[u] = u % 3
	}
	labels[30] = -1
	d, err := trial.Classes(labels, 3, make([][]float32, 31))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// shown is a player that chooses its first arm and records the links that it is shown.
type shown struct {
	scripted
	links []trial.Pair
}

func (s *shown) Reveal(_ context.Context, link trial.Pair) error {
	s.links = append(s.links, link)
	return nil
}

func TestClassify(t *testing.T) {
	t.Parallel()
	d := classes(t)
	var last []trial.Pair
	p := &shown{}
	p.rule = func(arms []trial.Pair) int {
		last = arms
		sorted := slices.Sorted(slices.Values(targets(arms)))
		if !slices.Equal(sorted, []trial.ID{31, 32, 33}) || arms[0].Source >= 30 || arms[0].Source != arms[2].Source {
			t.Errorf("arms %v", arms)
		}
		return 0
	}
	for _, reveal := range []bool{true, false} {
		p.links, p.rewards = nil, 0
		protocol := trial.Classify(3)
		protocol.Reveal = reveal
		tr := trial.Trial{Data: d, Protocol: protocol, Rounds: 200}
		r, err := tr.Play(context.Background(), []trial.Entrant{{
			Name: "shown", New: func(uint64, []trial.Pair) (trial.Player, error) { return p, nil },
		}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		missed := r.Curves[0].Final()
		if !reveal {
			if len(p.links) > 0 {
				t.Errorf("%d links were shown", len(p.links))
			}
			continue
		}
		if missed != 200-p.rewards || len(p.links) != missed || missed < 100 || missed > 170 {
			t.Errorf("%d missed, %d shown, %d rewards", missed, len(p.links), p.rewards)
		}
		for _, l := range p.links {
			if l.Target != 31+l.Source%3 {
				t.Errorf("%v is not the class", l)
			}
		}
	}
	if len(last) != 3 {
		t.Errorf("arms %v", last)
	}
}

// A revealed link is known: protocol fresh does not offer it again.
func TestFreshLeavesOutWhatWasShown(t *testing.T) {
	t.Parallel()
	d := classes(t)
	protocol := trial.Classify(3)
	protocol.Fresh = true
	p := &shown{scripted: scripted{rule: first}}
	tr := trial.Trial{Data: d, Protocol: protocol, Rounds: 500}
	r, err := tr.Play(context.Background(), []trial.Entrant{{
		Name: "shown", New: func(uint64, []trial.Pair) (trial.Player, error) { return p, nil },
	}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Curves[0]; c.Live != 30 || c.Final() != 30-p.rewards || len(p.links) != c.Final() {
		t.Errorf("%d live rounds, regret %d, %d shown", c.Live, c.Final(), len(p.links))
	}
}
