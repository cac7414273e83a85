package db_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// On every graph the first 20 ranks of at least 9 in 10 nodes are certain at the default epsilon.
// With -v the test shows the share at other values.
func TestFirstRanksAreCertain(t *testing.T) {
	t.Parallel()
	notShort(t)
	for _, c := range []struct {
		file      string
		direction db.Direction
		long      bool
	}{
		{"snap/facebook_combined.txt", db.Undirected, true}, {"snap/CA-GrQc.txt", db.Undirected, false},
		{"snap/wiki-Vote.txt", db.Undirected, true}, {"snap/wiki-Vote.txt", db.Directed, false},
		{"cora/raw/edge.csv.gz", db.Undirected, false}, {"citeseer/raw/edge.csv.gz", db.Undirected, true},
		{"snap/email-Enron.txt.gz", db.Undirected, true}, {"snap/soc-Epinions1.txt.gz", db.Directed, true},
		{"law/dblp-2010.edges.txt.gz", db.Undirected, true}, {"law/cnr-2000.arcs.txt.gz", db.Undirected, true},
		{"law/cnr-2000.arcs.txt.gz", db.Directed, true},
	} {
		t.Run(fmt.Sprint(c.file, " ", c.direction), func(t *testing.T) {
			if c.long {
				slow(t)
			}
			if testing.Short() && c.file != "snap/CA-GrQc.txt" {
				t.Skip("one graph with -short")
			}
			f := shared(t, c.file)
			g := dbtest.Open(t, &db.Options{InMemory: true, Direction: c.direction, Memory: 2 << 30})
			_, err := g.Load(context.Background(), f, db.LoadOptions{Name: c.file})
			must(t, err)
			if share := certain(t, g, db.PageRankOptions{Top: 20}); share < 0.9 {
				t.Errorf("the first 20 ranks of %.0f %% are certain", 100*share)
			}
			for _, epsilon := range []float64{1e-6, 1e-8, 1e-10, 1e-12} {
				if testing.Verbose() {
					t.Logf("epsilon %.0e: %.0f %%", epsilon, 100*certain(t, g, db.PageRankOptions{Top: 20, Epsilon: epsilon, UntilExact: true}))
				}
			}
		})
	}
}

// certain returns the share of the nodes, of 40 drawn ones with edges, whose ranks are all certain.
func certain(t *testing.T, g *db.DB, q db.PageRankOptions) (share float64) {
	t.Helper()
	const sample = 40
	view(t, g, func(tx *db.Tx) error {
		var nodes []db.Key
		for n, err := range tx.Nodes() {
			must(t, err)
			if n.Edges > 0 {
				nodes = append(nodes, n.Key)
			}
		}
		rng := rand.New(rand.NewPCG(1, 1))
		for range sample {
			q.From = nodes[rng.IntN(len(nodes))]
			r, err := tx.PageRank(context.Background(), q)
			must(t, err)
			if !slices.ContainsFunc(r.Nodes, func(n db.RankedNode) bool { return !n.Exact }) {
				share += 1.0 / sample
			}
		}
		return nil
	})
	return share
}
