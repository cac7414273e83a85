package db_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
)

// Assumed edges give the same answers as stored edges, within the bounds, and leave no traces.
func TestAssuming(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	added := []db.Edge{{Src: db.Int(7), Dst: db.Int(20), Weight: 1}, {Src: db.Int(20), Dst: db.Str("new"), Weight: 2.5}}
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		g := dbtest.Open(t, &db.Options{InMemory: true, Direction: direction})
		load(t, g, 60)
		must(t, g.Model("m").Create(ctx, model.Spec{}))
		for i := range 10 {
			must(t, g.Observe(ctx, db.ObserveOptions{Source: i, Target: i + 5, Model: "m", Reward: float64(i % 2)}))
		}
		before := dump(t, g)
		var assumed []*db.Prediction
		questions := []db.PredictOptions{
			{For: 7, Among: db.Neighbors(2), Top: -1}, {For: 20, Among: db.All(), Top: -1, NoCache: true}, {For: 7, Model: "m", Among: db.Keys("new", 3, 40)},
		}
		view(t, g, func(tx *db.Tx) error {
			return tx.Assuming(added, func(tx *db.Tx) error {
				wantError(t, "writing", tx.PutEdge(1, 2), db.ErrReadOnly)
				for _, q := range questions {
					r, err := tx.Predict(ctx, q)
					must(t, err)
					assumed = append(assumed, r)
				}
				return nil
			})
		})
		if !slices.Equal(dump(t, g), before) {
			t.Error("assuming has changed the database")
		}
		update(t, g, func(tx *db.Tx) error {
			for _, e := range added {
				must(t, tx.PutEdge(e.Src, e.Dst, db.Weight(e.Weight), db.At(e.Time)))
			}
			return nil
		})
		for i, q := range questions {
			really, err := g.Predict(ctx, q)
			must(t, err)
			score := map[db.Key]db.Link{}
			for _, l := range assumed[i].Links {
				score[l.Target] = l
			}
			if len(score) != len(really.Links) || len(score) == 0 {
				t.Fatalf("%+v: %d links assumed, %d really", q, len(score), len(really.Links))
			}
			for _, l := range really.Links {
				if a := score[l.Target]; math.Abs(a.Score-l.Score) > a.Error+l.Error {
					t.Errorf("%v: assumed %+v, really %+v", direction, a, l)
				}
			}
		}
	}
}

func TestAssumingErrors(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	load(t, g, 20)
	nothing := func(*db.Tx) error { return nil }
	view(t, g, func(tx *db.Tx) error {
		wantError(t, "weight", tx.Assuming([]db.Edge{{Src: db.Int(1), Dst: db.Int(2), Weight: -1}}, nothing), db.ErrInput)
		wantError(t, "key", tx.Assuming([]db.Edge{{Src: db.Str(""), Dst: db.Int(2), Weight: 1}}, nothing), db.ErrInput)
		return nil
	})
	update(t, g, func(tx *db.Tx) error {
		must(t, tx.Assuming(nil, nothing), tx.PutEdge(1, 9))
		wantError(t, "beside changes", tx.Assuming(nil, nothing), db.ErrInput)
		return nil
	})
}

// An assumption does not see nodes that were added after its transaction began.
func TestAssumingBesideLaterNodes(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge("a", "b") })
	view(t, g, func(tx *db.Tx) error {
		update(t, g, func(tx *db.Tx) error { return tx.PutEdge("a", "later") })
		edges := []db.Edge{{Src: db.Str("a"), Dst: db.Str("assumed"), Weight: 1}}
		must(t, tx.Assuming(edges, func(tx *db.Tx) error {
			if tx.Has(db.Str("later")) {
				t.Error("a node is there that came later")
			}
			return nil
		}))
		edges = append(edges, db.Edge{Src: db.Str("b"), Dst: db.Str("later"), Weight: 2})
		return tx.Assuming(edges, func(tx *db.Tx) error {
			e, err := tx.Edge("b", "later")
			must(t, err)
			n, err := tx.Node("assumed")
			if must(t, err); e.Weight != 2 || e.Dst != db.Str("later") || n.Edges != 1 {
				t.Errorf("%+v, %+v", e, n)
			}
			return nil
		})
	})
}

// Decisions can be read in an assumption while others are made.
func TestAssumingBesideDecisions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	load(t, g, 20)
	choose := func() {
		_, err := g.Choose(ctx, db.ChooseOptions{For: 1, Among: db.Keys(5, 9)})
		must(t, err)
	}
	choose()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 50 {
			choose()
		}
	}()
	for more := true; more; {
		view(t, g, func(tx *db.Tx) error {
			return tx.Assuming(nil, func(tx *db.Tx) error {
				_, err := tx.Decision(1)
				return err
			})
		})
		select {
		case <-done:
			more = false
		default:
		}
	}
}
