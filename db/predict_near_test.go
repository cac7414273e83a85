package db_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"kith/db"
	"kith/db/dbtest"
)

// meshed returns a graph with random edges of several relations: some join the same nodes, some are
// loops, some have weights. With blocks, a relation excludes links.
func meshed(t testing.TB, direction db.Direction, blocks bool, seed uint64) *db.DB {
	const nodes = 40
	g := dbtest.Open(t, &db.Options{InMemory: true, Direction: direction})
	rng := rand.New(rand.NewPCG(seed, 1))
	update(t, g, func(tx *db.Tx) error {
		err := errors.Join(tx.AddRelation(db.Relation{Name: "likes"}), tx.AddRelation(db.Relation{Name: "follows", Directed: direction == db.Directed}))
		via := []string{"likes", "follows", ""}
		if blocks {
			err = errors.Join(err, tx.AddRelation(db.Relation{Name: "blocks", Directed: true, Exclude: true}))
			via = append(via, "blocks")
		}
		for range 90 {
			how := []db.EdgeOption{db.Weight(float32(1 + rng.IntN(3)))}
			if name := via[rng.IntN(len(via))]; name != "" {
				how = append(how, db.Via(name))
			}
			err = errors.Join(err, tx.PutEdge(rng.IntN(nodes), rng.IntN(nodes), how...))
		}
		return err
	})
	return g
}

// checkNear compares each answer with that of Profile, which scores every candidate.
func checkNear(t *testing.T, tx *db.Tx, p db.PredictOptions) {
	t.Helper()
	ctx := context.Background()
	for r, err := range tx.PredictEach(ctx, aboutAll(t, tx, p)) {
		must(t, err)
		alone := p
		alone.For, alone.NoCache = r.Source[0].Node, true
		want, _, err := tx.Profile(ctx, alone)
		if must(t, err); text(t, r) != text(t, want) {
			t.Fatalf("%+v\n%v\nwant\n%v", alone, text(t, r), text(t, want))
		}
	}
}

// A policy that counts common neighbours ranks the nodes two edges away while it finds them. The
// answers are those of scoring every candidate, bit for bit, whatever the graph and the question.
func TestPredictNear(t *testing.T) {
	t.Parallel()
	two := db.Neighbors(2)
	for i, direction := range []db.Direction{db.Undirected, db.Directed} {
		for _, blocks := range []bool{false, true} {
			g := meshed(t, direction, blocks, uint64(i))
			ask := func(tx *db.Tx) error {
				for _, policy := range []string{"common_neighbors", "adamic_adar", "resource_allocation", "jaccard"} {
					for _, p := range []db.PredictOptions{
						{Among: two}, {Among: two, Top: 3}, {Among: two, Top: -1, UntilExact: true},
						{Among: two.Via("follows")}, {Among: two.Except(db.Keys(3))}, {Among: two, Relation: "follows"},
						{Among: two, RelationWeights: map[string]float64{"likes": 2}},
					} {
						p.Model = policy
						checkNear(t, tx, p)
					}
				}
				return nil
			}
			view(t, g, ask)
			update(t, g, func(tx *db.Tx) error {
				for u := range 5 {
					must(t, tx.PutEdge(u, u+7, db.Via("likes")))
				}
				must(t, tx.DeleteNode(9))
				return ask(tx)
			})
			view(t, g, ask)
		}
	}
}

// BenchmarkPredictEach asks about every node of a graph, for the nodes two edges away.
func BenchmarkPredictEach(b *testing.B) {
	g := dbtest.Open(b, inMemory)
	load(b, g, 20_000)
	view(b, g, func(tx *db.Tx) error {
		for _, policy := range []string{"common_neighbors", "adamic_adar", "preferential_attachment"} {
			b.Run(policy, func(b *testing.B) {
				b.ReportAllocs()
				for range b.N {
					for _, err := range tx.PredictEach(context.Background(), aboutAll(b, tx, db.PredictOptions{Model: policy, Among: db.Neighbors(2)})) {
						must(b, err)
					}
				}
			})
		}
		return nil
	})
}
