package replica_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/model"
	"kith/query"
)

// history makes a random history, which has all kinds of writes except loads.
type history struct{ step uint64 }

func newHistory() *history { return &history{} }

// steps makes some steps.
func (h *history) steps(t testing.TB, g *db.DB, n int) {
	t.Helper()
	for range n {
		must(t, h.next(g))
	}
}

// next makes a step, which depends on its number only.
func (h *history) next(g *db.DB) error {
	h.step++
	ctx, rng := context.Background(), rand.New(rand.NewPCG(h.step, 77))
	name := []string{"m", "belief"}[rng.IntN(2)]
	var err error
	switch rng.IntN(14) {
	case 0:
		err = g.Model(name).Create(ctx, map[string]db.ModelSpec{"m": {Policy: "prb"}, "belief": {}}[name])
	case 1, 2:
		_, err = g.Model(name).Train(ctx, db.TrainOptions{Log: rng.IntN(2) == 0, Plan: model.EdgePlan{Samples: 20, Epochs: 1}})
	case 3:
		if err = g.Model(name).Thaw(ctx); rng.IntN(3) == 0 {
			err = g.Model(name).Freeze(ctx)
		}
	case 4:
		err = g.Model(name).Deploy(ctx, rng.IntN(5))
	case 5:
		var b bytes.Buffer
		if err = g.Model(name).Export(ctx, &b, 0); err == nil {
			_, err = g.Model(name).Import(ctx, &b)
		}
	case 6:
		if err = g.Compact(ctx); rng.IntN(3) == 0 {
			err = g.Model(name).Drop(ctx)
		}
	case 7, 8, 9:
		err = g.Update(ctx, func(tx *db.Tx) error { return learn(tx, rng, name) })
	default:
		err = g.Update(ctx, func(tx *db.Tx) error {
			for range 1 + rng.IntN(8) {
				if err := write(tx, rng); err != nil && !errors.Is(err, db.ErrNotFound) {
					return err
				}
			}
			return nil
		})
	}
	for _, ok := range []error{
		db.ErrExists, db.ErrNoModel, db.ErrInput, db.ErrNotFound, db.ErrExpired, db.ErrNoDecision, db.ErrRewarded,
	} {
		if errors.Is(err, ok) {
			return nil
		}
	}
	return err
}

// learn observes and chooses.
func learn(tx *db.Tx, rng *rand.Rand, name string) error {
	ctx := context.Background()
	for range 1 + rng.IntN(3) {
		relation := []string{"", "", "likes"}[rng.IntN(3)]
		d, err := tx.Choose(ctx, db.ChooseOptions{For: rng.IntN(12), Among: db.All(), Places: rng.IntN(4), Model: name, Relation: relation, TTL: 24 * time.Hour})
		if err == nil && rng.IntN(2) == 0 {
			err = tx.RewardPlaces(ctx, d.ID, map[int]float64{1: float64(rng.IntN(2))}, db.ExaminedAll)
		}
		if err == nil {
			err = tx.Observe(ctx, db.ObserveOptions{
				Source: rng.IntN(12), Target: rng.IntN(12), Reward: float64(rng.IntN(2)), Model: name, Relation: relation, Insert: rng.IntN(2) == 0,
			})
		}
		if err != nil {
			return err
		}
	}
	return write(tx, rng)
}

// write changes the graph.
func write(tx *db.Tx, rng *rand.Rand) error {
	key := func() db.Key {
		if i := rng.IntN(16); i < 12 {
			return db.Int(int64(i))
		}
		return db.Str(fmt.Sprint("s", rng.IntN(40)))
	}
	relation := db.Via([]string{"likes", "blocks", "likes too"}[rng.IntN(3)])
	switch rng.IntN(12) {
	case 0:
		return tx.DeleteNode(key())
	case 1:
		return tx.DeleteEdge(key(), key())
	case 2:
		return tx.PutNode(db.Node{Key: key(), Label: []string{"", "a", "b"}[rng.IntN(3)]})
	case 3:
		return tx.PutNode(db.Node{Key: key(), Label: "a", Features: []float32{rng.Float32(), 1}})
	case 4:
		err := errors.Join(tx.AddRelation(db.Relation{Name: "likes", Directed: true}), tx.AddRelation(db.Relation{Name: "blocks", Exclude: true}))
		if !errors.Is(err, db.ErrExists) {
			return err
		}
		return tx.DeleteEdge(key(), key(), relation)
	case 5, 6:
		return tx.PutEdge(key(), key(), relation, db.Weight(2))
	case 7:
		return tx.SetProperties(key(), map[string]any{
			"price": []any{1.5, 7, nil}[rng.IntN(3)], "tags": []any{[]string{"x", "y"}, nil}[rng.IntN(2)], "seen": time.Unix(rng.Int64N(1e9), 0), "open": rng.IntN(2) == 0,
		})
	}
	return tx.PutEdge(key(), key(), db.Weight([]float32{1, 0.5, 3}[rng.IntN(3)]), db.At(time.Unix(1_600_000_000+rng.Int64N(1000), 0)))
}

// everything returns what a reader can learn of a database, with the answers of all models.
func everything(t testing.TB, g *db.DB) string {
	t.Helper()
	var b strings.Builder
	models := []string{"adamic_adar"}
	must(t, g.View(context.Background(), func(tx *db.Tx) error {
		fmt.Fprintln(&b, tx.Stats().Contents)
		relations, err := tx.Relations()
		must(t, err)
		sides, err := tx.Sides(t.Context())
		must(t, err)
		properties, err := tx.Properties(t.Context())
		must(t, err)
		fmt.Fprintln(&b, asJSON(t, relations), asJSON(t, sides), asJSON(t, properties))
		for n := range tx.Nodes() {
			fmt.Fprintln(&b, asJSON(t, n))
		}
		for e := range tx.Edges() {
			fmt.Fprintln(&b, asJSON(t, e))
		}
		for d, err := range tx.Decisions() {
			must(t, err)
			fmt.Fprintln(&b, asJSON(t, d))
		}
		for _, m := range tx.Models() {
			models = append(models, m.Name)
			all, err := tx.Model(m.Name).Versions(t.Context())
			must(t, err)
			fmt.Fprintln(&b, asJSON(t, m), asJSON(t, all))
		}
		return nil
	}))
	for _, m := range models {
		for source := range 4 {
			answer, err := query.Run(context.Background(), g, fmt.Sprintf("PREDICT LINKS FOR %d AMONG NEIGHBORS(2) USING %s TOP 20 WITH (cache = off)", source, m))
			fmt.Fprintln(&b, m, source, asJSON(t, answer), err)
			answer, err = query.Run(context.Background(), g, fmt.Sprintf("PREDICT LINKS likes FOR %d AMONG ALL USING %s WHERE open OR price > 2 TOP 20 WITH (cache = off)", source, m))
			fmt.Fprintln(&b, m, source, asJSON(t, answer), err)
		}
	}
	return b.String()
}
