package why

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kith/db"
)

// Sentences say what a score is made of, to people who know neither the model nor PageRank.
func TestSentences(t *testing.T) {
	t.Parallel()
	keys := func(names ...string) (all []db.Key) {
		for _, n := range names {
			all = append(all, db.Str(n))
		}
		return all
	}
	r := &db.Reasons{
		Prediction: db.Prediction{Source: db.Seeds{{Node: db.Str("ann"), Weight: 1}}, Candidates: 12, AnsweredBy: "model m version 2"},
		Link:       db.Link{Target: db.Str("dan"), Rank: 1, Score: 0.6, Exploit: 0.5, Explore: 0.1},
		AddsTo:     "log-odds",
		Inputs: []db.Input{
			{Tells: "the nodes that both are linked to", Adds: 1}, {Tells: "the nodes that both are linked to", Adds: 0.5},
			{Tells: "how many links {target} has", Adds: 0.7}, {Tells: "random walks", Adds: -3}, {Adds: 9},
		},
		PPR: 0.2, Paths: []db.Path{{Nodes: keys("ann", "bob", "dan"), Mass: 0.15}},
	}
	for _, c := range []struct {
		common db.Common
		want   string
	}{
		{db.Common{Nodes: keys("bob"), Count: 1}, "dan shares 1 neighbour with ann: bob."},
		{db.Common{Nodes: keys("a", "b", "c"), Count: 7}, "dan shares 7 neighbours with ann, among them a, b and c."},
		{db.Common{Nodes: keys("a", "b"), Count: 2, More: true}, "dan shares at least 2 neighbours with ann: a and b."},
		{db.Common{}, "dan shares no neighbour with ann."},
		{db.Common{Nodes: keys("bob"), Count: 1, Directed: true}, "dan is two steps from ann over 1 node: bob."},
		{db.Common{Directed: true}, "dan is not two steps away from ann."},
	} {
		r.Common = c.common
		if got := Sentences(r)[0]; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	got := strings.ReplaceAll(strings.Join(Sentences(r)[1:], "\n"), "\u00a0", " ")
	const want = `dan is number 1 of 12 candidates for ann.
Exploit 0.5: the model expects this link in 50 % of such cases, from what it has learned.
What speaks most for it is the nodes that both are linked to, and then how many links dan has.
Explore 0.1: what trying this link would teach the model, which is unsure about it.
A walker who starts at ann and follows links at random spends 20 % of the time at dan, 75 % of that after coming by way of bob.`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	heuristic := &db.Reasons{Prediction: r.Prediction, Link: db.Link{Target: db.Str("dan"), Rank: 1, Score: 2.5, Exploit: 2.5}}
	if all := strings.Join(Sentences(heuristic), "\n"); strings.Contains(all, "learned") || !strings.Contains(all, "Exploit 2.5: the value that the policy computes") {
		t.Errorf("a heuristic has learned:\n%s", all)
	}
	heuristic.Link = db.Link{Target: db.Str("dan"), Rank: 1, Score: 0.01, PPR: 0.01}
	if all := strings.Join(Sentences(heuristic), "\n"); strings.Contains(all, "Exploit") || !strings.Contains(all, "PPR 0.01: ") {
		t.Errorf("PageRank has a part that it lacks:\n%s", all)
	}
	r.Paths[0].Mass = 0.002
	if all := strings.Join(Sentences(r), "\n"); strings.Contains(all, "by way of") {
		t.Errorf("a path of few walkers is named:\n%s", all)
	}
	for name, want := range map[string]string{"ann": "ann", "\u202eleft": "\u2068\u202eleft\u2069", strings.Repeat("é", 61): strings.Repeat("é", 59) + "…"} {
		if got := plain(db.Str(name)); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	for x, want := range map[float64]string{1: "100", 0.9999: "more than 99", 0.0951: "9.5", 0.00099: "0.099", 1e-7: "less than 0.001", 0.1: "10"} {
		if got := percent(x); got != want+"\u00a0%" {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
}
