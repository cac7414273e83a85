package trial_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"kith/cmd/prbench/internal/trial"
	"kith/model"
)

// readEdges reads a SNAP edge list with arbitrary ids and numbers the nodes in order of appearance.
func readEdges(t *testing.T, path string) (g *trial.Graph, edges [][2]trial.ID) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("shared/data is not there: %v", err)
	}
	ids := make(map[string]trial.ID)
	id := func(key string) trial.ID {
		if _, ok := ids[key]; !ok {
			ids[key] = trial.ID(len(ids))
		}
		return ids[key]
	}
	lines := bufio.NewScanner(strings.NewReader(string(b)))
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) == 2 && f[0] != f[1] {
			edges = append(edges, [2]trial.ID{id(f[0]), id(f[1])})
		}
	}
	g = trial.NewGraph(len(ids))
	unique := edges[:0]
	for _, e := range edges {
		if g.Add(e[0], e[1]) {
			unique = append(unique, e)
		}
	}
	return g, unique
}

// question is a held-out edge among candidates that are not linked to its source. Candidate 0 is
// the edge's target.
type question struct {
	source     trial.ID
	candidates []trial.ID
}

// holdOut hides a tenth of the edges and returns n questions about them, with random nodes or nodes
// two hops away as candidates.
func holdOut(g *trial.Graph, edges [][2]trial.ID, n int, twoHops bool) (*trial.Graph, []question) {
	rng := rand.New(rand.NewPCG(5, 5))
	rng.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	hidden := edges[:len(edges)/10]
	rest := g.Without(hidden)
	var asked []question
	for _, e := range hidden {
		if len(asked) == n {
			break
		}
		s, target := e[0], e[1]
		pool := func() []trial.ID { return randomNodes(rng, g.NumNodes(), 150) }
		if twoHops {
			pool = func() []trial.ID { return reach(rest, s) }
		}
		q := question{source: s, candidates: []trial.ID{target}}
		for _, c := range pool() {
			if c != s && c != target && !g.Has(s, c) {
				q.candidates = append(q.candidates, c)
			}
		}
		if len(q.candidates) > 10 {
			asked = append(asked, q)
		}
	}
	return rest, asked
}

func randomNodes(rng *rand.Rand, n, k int) (nodes []trial.ID) {
	for _, u := range rng.Perm(n)[:min(k, n)] {
		nodes = append(nodes, trial.ID(u))
	}
	return nodes
}

func reach(g *trial.Graph, s trial.ID) (nodes []trial.ID) {
	seen := make(map[trial.ID]bool)
	row, _ := g.Out(s)
	for _, u := range row {
		far, _ := g.Out(u)
		for _, c := range far {
			if !seen[c] {
				seen[c] = true
				nodes = append(nodes, c)
			}
		}
	}
	return nodes
}

// meanReciprocalRank returns the mean reciprocal rank of candidate 0. Ties count half.
func meanReciprocalRank(t *testing.T, s *model.Scorer, g *trial.Graph, asked []question) float64 {
	t.Helper()
	w := model.World{Graph: g, Walk: trial.NewWalker(g, 1e-5)}
	sum := 0.0
	for _, q := range asked {
		scores, err := s.Score(context.Background(), w, model.Pairs(q.source, q.candidates))
		if err != nil {
			t.Fatal(err)
		}
		rank := 1.0
		for _, o := range scores[1:] {
			switch {
			case o.Score > scores[0].Score:
				rank++
			case o.Score == scores[0].Score:
				rank += 0.5
			}
		}
		sum += 1 / rank
	}
	return sum / float64(len(asked))
}

func scorer(t *testing.T, policy string) *model.Scorer {
	t.Helper()
	m, err := model.New(model.Spec{Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	return m.Scorer()
}

// ranksHeldOut checks that the learned start finds held-out edges at least as well as simple
// heuristics, up to a tolerance for the sampling of the questions.
func ranksHeldOut(t *testing.T, g *trial.Graph, edges [][2]trial.ID, n int) {
	for _, twoHops := range []bool{false, true} {
		t.Run(fmt.Sprintf("two hops=%v", twoHops), func(t *testing.T) {
			rest, asked := holdOut(g, edges, n, twoHops)
			ours := meanReciprocalRank(t, model.Prior(0, false), rest, asked)
			t.Logf("%d questions: prior %.3f", len(asked), ours)
			for _, policy := range []string{"adamic_adar", "ppr", "common_neighbors"} {
				other := meanReciprocalRank(t, scorer(t, policy), rest, asked)
				t.Logf("%s %.3f", policy, other)
				if ours < other-0.02 {
					t.Errorf("mean reciprocal rank of the prior %.3f, of %s %.3f", ours, policy, other)
				}
			}
		})
	}
}

func TestPriorRanksHeldOutEdges(t *testing.T) {
	for _, name := range []string{"facebook_combined.txt", "CA-GrQc.txt"} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("reads real graphs")
			}
			g, edges := readEdges(t, "../../../../../shared/data/snap/"+name)
			ranksHeldOut(t, g, edges, 60)
		})
	}
}

func TestPriorRanksHeldOutEdgesOfCommunities(t *testing.T) {
	t.Parallel()
	d, err := trial.Generate(trial.Communities{Nodes: 300, Groups: 10, Degree: 12, Inside: 0.8}, 1)
	if err != nil {
		t.Fatal(err)
	}
	g := trial.NewGraph(d.Nodes)
	var edges [][2]trial.ID
	for u, row := range d.Links {
		for _, v := range row {
			if g.Add(trial.ID(u), v) {
				edges = append(edges, [2]trial.ID{trial.ID(u), v})
			}
		}
	}
	ranksHeldOut(t, g, edges, 60)
}
