package db_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
)

// linksOf returns the links that answers are about, an undirected one once.
func linksOf(all []db.HeldOut, direction db.Direction) (links []db.Edge) {
	for _, out := range all {
		for _, k := range out.Hidden {
			if direction == db.Directed || out.Source.Compare(k) < 0 {
				links = append(links, db.Edge{Src: out.Source, Dst: k})
			}
		}
	}
	return links
}

// Drawing edges, listing the same edges in any order, and selecting them by their times give the
// same holdout.
func TestHoldoutOfLinks(t *testing.T) {
	t.Parallel()
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		g := dbtest.Open(t, &db.Options{InMemory: true, Direction: direction})
		strew(t, g, 30, 3)
		h := db.EvaluateOptions{Share: 0.2, Among: []db.Candidates{db.All()}, Seed: 7}
		_, drawn := heldOut(t, g, h, db.Contender{Model: "ppr"})
		h.Share, h.Links = 0, linksOf(drawn, direction)
		rng := rand.New(rand.NewPCG(1, 1))
		rng.Shuffle(len(h.Links), func(i, j int) { h.Links[i], h.Links[j] = h.Links[j], h.Links[i] })
		hidden := len(h.Links)
		if direction == db.Undirected {
			h.Links[0].Src, h.Links[0].Dst = h.Links[0].Dst, h.Links[0].Src
		}
		h.Links = append(h.Links, h.Links[1], db.Edge{Src: db.Int(2), Dst: db.Int(2)})
		set, listed := heldOut(t, g, h, db.Contender{Model: "ppr"})
		if int(set.Hidden) != hidden || fmt.Sprint(listed) != fmt.Sprint(drawn) {
			t.Errorf("%v: %d of %d hidden\ndrawn  %v\nlisted %v", direction, set.Hidden, hidden, drawn, listed)
		}
		late := time.Unix(1000, 0)
		update(t, g, func(tx *db.Tx) (err error) {
			for i, l := range h.Links[:hidden] {
				e, wrong := tx.Edge(l.Src, l.Dst)
				e.Time = late.Add(time.Duration(i) * time.Second)
				err = errors.Join(err, wrong, tx.PutEdge(e.Src, e.Dst, db.Weight(e.Weight), db.At(e.Time)))
			}
			return err
		})
		h.Links, h.After = nil, late
		if _, timed := heldOut(t, g, h, db.Contender{Model: "ppr"}); fmt.Sprint(timed) != fmt.Sprint(drawn) {
			t.Errorf("%v\ndrawn %v\ntimed %v", direction, drawn, timed)
		}
		h.After = late.Add(1)
		if set, _ := heldOut(t, g, h, db.Contender{Model: "ppr"}); int(set.Hidden) != hidden-1 {
			t.Errorf("%v: after the first second %d of %d edges are hidden", direction, set.Hidden, hidden)
		}
	}
}

// Links that the graph lacks are to be found too, and those with a missing node are counted.
func TestHoldoutOfOtherLinks(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	strew(t, g, 10, 3)
	update(t, g, func(tx *db.Tx) error { return errors.Join(tx.PutEdge("a", "b"), tx.PutEdge("b", "c")) })
	link := func(src, dst string) db.Edge { return db.Edge{Src: db.Str(src), Dst: db.Str(dst)} }
	h := db.EvaluateOptions{Links: []db.Edge{link("a", "c"), link("a", "x"), link("x", "y"), link("b", "c")}, Among: []db.Candidates{db.All()}}
	set, all := heldOut(t, g, h, db.Contender{Model: "common_neighbors"})
	if set.Hidden != 1 || set.Unknown != 4 || set.Sources != 3 {
		t.Errorf("%+v", set)
	}
	for _, out := range all {
		if len(out.Found) != len(out.Hidden) || len(out.Others) != 10 {
			t.Errorf("%+v", out)
		}
	}
}

func TestHoldoutOfLinksRefuses(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	load(t, g, 20)
	one := []db.Edge{{Src: db.Int(1), Dst: db.Int(2)}}
	for what, h := range map[string]db.EvaluateOptions{
		"edges after 1970": {After: time.Unix(1, 0)},
		"two ways":         {Share: 0.1, Links: one},
		"no links":         {Links: []db.Edge{}},
		"loops":            {Links: []db.Edge{{Src: db.Int(1), Dst: db.Int(1)}}},
		"other nodes":      {Links: []db.Edge{{Src: db.Int(1), Dst: db.Str("x")}}},
	} {
		err := g.View(context.Background(), func(tx *db.Tx) error {
			_, err := tx.Evaluate(context.Background(), h)
			return err
		})
		wantError(t, what, err, db.ErrInput)
	}
}

// Pairs have the keys that a load would give them.
func TestPairs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, inMemory)
	text := func(pairs []db.Edge) string {
		var all []string
		for _, p := range pairs {
			all = append(all, fmt.Sprint(p.Src.Literal(), "-", p.Dst.Literal()))
		}
		return strings.Join(all, " ")
	}
	for _, c := range []struct {
		list string
		o    db.LoadOptions
		want string
	}{
		{"1 a\n2 b\n", db.LoadOptions{}, "1-'a' 2-'b'"},
		{"1,7\n2,7\n", db.LoadOptions{SourceLabel: "user", TargetLabel: "item"}, "'user:1'-'item:7' 'user:2'-'item:7'"},
		{"1\n1 2\n", db.LoadOptions{MaxErrors: 1}, "1-2"},
	} {
		pairs, _, err := g.Pairs(ctx, strings.NewReader(c.list), c.o)
		if got := text(pairs); err != nil || got != c.want {
			t.Errorf("%q: %s, %v, want %s", c.list, got, err, c.want)
		}
	}
	_, _, err := g.Pairs(ctx, strings.NewReader("1\n1 2\n"), db.LoadOptions{})
	wantError(t, "a malformed line", err, db.ErrLines)
	_, _, err = g.Pairs(ctx, strings.NewReader("1 2\n"), db.LoadOptions{SourceLabel: "a:b"})
	wantError(t, "a label with a colon", err, db.ErrInput)
	pairs, _, err := g.FolderPairs(ctx, dbtest.Folder(t), db.LoadOptions{Split: "a/valid,test"})
	if got := text(pairs); err != nil || got != "2-3 3-4" {
		t.Errorf("of a folder: %s, %v", got, err)
	}
	_, _, err = g.FolderPairs(ctx, dbtest.Folder(t), db.LoadOptions{Split: "test"})
	wantError(t, "a split without a name", err, db.ErrInput)
	late, cancel := context.WithCancel(ctx)
	cancel()
	_, _, err = g.Pairs(late, strings.NewReader("1 2\n"), db.LoadOptions{})
	wantError(t, "after cancellation", err, context.Canceled)
}
