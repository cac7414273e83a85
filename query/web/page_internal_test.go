package web

import (
	"bytes"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kith/db"
	"kith/query/internal/draw"
)

// The page is small, and has no script, style or handler outside of its files: the policy of the
// page would refuse them.
func TestAssets(t *testing.T) {
	t.Parallel()
	const most = 150 << 10
	total := 0
	inline := regexp.MustCompile(`<style|<script>|\sstyle=|\son[a-z]+=|javascript:|https?://[^w"]|//cdn`)
	err := fs.WalkDir(assets, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := fs.ReadFile(assets, path)
		total += len(content)
		if found := inline.Find(content); found != nil {
			t.Errorf("%s has %q", path, found)
		}
		if lines := bytes.Count(content, []byte("\n")); lines > 500 {
			t.Errorf("%s has %d lines", path, lines)
		}
		return err
	})
	if err != nil || total > most {
		t.Errorf("the page has %d bytes, want at most %d, error %v", total, most, err)
	}
}

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
		shared   sharedNodes
		directed bool
		want     string
	}{
		{sharedNodes{keys("bob"), 1, false}, false, "dan shares 1 neighbor with ann: bob."},
		{sharedNodes{keys("a", "b", "c"), 7, false}, false, "dan shares 7 neighbors with ann, among them a, b and c."},
		{sharedNodes{keys("a", "b"), 2, true}, false, "dan shares at least 2 neighbors with ann: a and b."},
		{sharedNodes{}, false, "dan shares no neighbor with ann."},
		{sharedNodes{keys("bob"), 1, false}, true, "dan is two steps from ann over 1 node: bob."},
		{sharedNodes{}, true, "dan is not two steps away from ann."},
	} {
		if got := sentences(r, c.shared, c.directed)[0]; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	got := strings.ReplaceAll(strings.Join(sentences(r, sharedNodes{}, false)[1:], "\n"), "\u00a0", " ")
	const want = `dan is number 1 of 12 candidates for ann.
Exploit 0.5: the model expects this link in 50 % of such cases, from what it has learned.
What speaks most for it is the nodes that both are linked to, and then how many links dan has.
Explore 0.1: what trying this link would teach the model, which is unsure about it.
A walker who starts at ann and follows links at random spends 20 % of the time at dan, 75 % of that after coming by way of bob.
Answered by model m version 2.`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	heuristic := &db.Reasons{Prediction: r.Prediction, Link: db.Link{Target: db.Str("dan"), Rank: 1, Score: 2.5, Exploit: 2.5}}
	if all := strings.Join(sentences(heuristic, sharedNodes{}, false), "\n"); strings.Contains(all, "learned") || !strings.Contains(all, "Exploit 2.5: the value that the policy computes") {
		t.Errorf("a heuristic has learned:\n%s", all)
	}
	heuristic.Link = db.Link{Target: db.Str("dan"), Rank: 1, Score: 0.01, PPR: 0.01}
	if all := strings.Join(sentences(heuristic, sharedNodes{}, false), "\n"); strings.Contains(all, "Exploit") || !strings.Contains(all, "PPR 0.01: ") {
		t.Errorf("PageRank has a part that it lacks:\n%s", all)
	}
	r.Paths[0].Mass = 0.002
	if all := strings.Join(sentences(r, sharedNodes{}, false), "\n"); strings.Contains(all, "by way of") {
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

// The curve falls from all nodes to those with the most edges, and is never below one node.
func TestAtLeast(t *testing.T) {
	t.Parallel()
	counts := []db.DegreeCount{{Edges: 0, Nodes: 9}, {Edges: 1, Nodes: 5}, {Edges: 3, Nodes: 4}, {Edges: 1000, Nodes: 2}, {Edges: 1001, Nodes: 1}, {Edges: 1002, Nodes: 14}}
	want := []draw.Point{{X: 0, Y: 35}, {X: 1, Y: 26}, {X: 3, Y: 21}, {X: 1000, Y: 17}, {X: 1002, Y: 14}}
	if diff := cmp.Diff(want, atLeast(counts)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := atLeast(nil); got != nil {
		t.Errorf("without nodes: %v", got)
	}
}
