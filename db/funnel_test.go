package db_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kith/db"
	"kith/db/dbtest"
)

// The funnel counts the places of each day and version, and what became of them. Days before the
// last ones, and expired decisions, are left out.
func TestFunnels(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Date(2026, 11, 1, 23, 0, 0, 0, time.UTC)}
	g := dbtest.Open(t, c.options())
	load(t, g, 30)
	must(t, g.Model("m").Create(t.Context(), db.ModelSpec{}))
	first := c.now.Truncate(24 * time.Hour)
	choose := func(places int, ttl time.Duration) uint64 {
		d, err := g.Choose(t.Context(), db.ChooseOptions{For: 3, Among: db.Keys(9, 10, 11, 5), Places: places, Model: "m", TTL: ttl})
		if err != nil {
			t.Fatal(err)
		}
		return d.ID
	}
	check := func(days int, want []db.Funnel) {
		t.Helper()
		view(t, g, func(tx *db.Tx) error {
			got, err := tx.Funnels(t.Context(), days)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%d days: (-want +got):\n%s", days, diff)
			}
			return err
		})
	}
	check(30, []db.Funnel{})
	id := choose(3, 0)
	choose(1, time.Minute)
	c.now = c.now.Add(2 * time.Hour) // the next day, after the end of the second decision
	if err := g.RewardPlaces(t.Context(), id, map[int]float64{2: 1}, db.ExaminedAbove); err != nil {
		t.Fatal(err)
	}
	last := db.Funnel{Day: first.Add(24 * time.Hour), Model: "m", ModelVersion: 1, Decisions: 1, Shown: 2}
	choose(2, 0)
	check(2, []db.Funnel{last, {Day: first, Model: "m", ModelVersion: 1, Decisions: 1, Shown: 3, Rewarded: 2, Clicked: 1, Reward: 1}})
	check(1, []db.Funnel{last})
	view(t, g, func(tx *db.Tx) error {
		if _, err := tx.Funnels(t.Context(), 0); !errors.Is(err, db.ErrInput) {
			t.Errorf("0 days: %v", err)
		}
		return nil
	})
}

// RandomNodes draws live nodes, each about as often, by the seed alone.
func TestRandomNodes(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	view(t, g, func(tx *db.Tx) error {
		nodes, err := tx.RandomNodes(3, 1)
		if len(nodes) != 0 {
			t.Errorf("an empty graph has %v", nodes)
		}
		return err
	})
	update(t, g, func(tx *db.Tx) error {
		for i := range 400 {
			if err := tx.PutNode(db.Node{Key: db.Int(int64(i))}); err != nil {
				return err
			}
		}
		return nil
	})
	update(t, g, func(tx *db.Tx) error {
		for i := range 399 {
			if i%4 != 0 || i == 8 {
				if err := tx.DeleteNode(i); err != nil {
					return err
				}
			}
		}
		return nil
	})
	view(t, g, func(tx *db.Tx) error {
		count := map[db.Key]int{}
		for seed := range 2000 {
			nodes, err := tx.RandomNodes(1, uint64(seed))
			again, _ := tx.RandomNodes(1, uint64(seed))
			if err != nil || len(nodes) != 1 || nodes[0].Key != again[0].Key {
				t.Fatalf("seed %d: %v, %v, %v", seed, nodes, again, err)
			}
			count[nodes[0].Key]++
		}
		if len(count) != 100 || count[db.Int(8)] > 0 {
			t.Errorf("%d nodes of 100 are drawn", len(count))
		}
		all, err := tx.RandomNodes(50, 7)
		seen := map[db.Key]bool{}
		for _, n := range all {
			seen[n.Key] = true
		}
		if len(all) != 50 || len(seen) != 50 {
			t.Errorf("%d nodes, %d different", len(all), len(seen))
		}
		return err
	})
}
