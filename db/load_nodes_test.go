package db_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/db/edgelist"
)

func TestLoadNodes(t *testing.T) {
	t.Parallel()
	g, ctx := dbtest.Open(t, inMemory), context.Background()
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge("ann", 7) })
	r, err := g.LoadNodes(ctx, strings.NewReader("node,label\nann,person\n7,number\nnew,person\nalone\n"), db.LoadNodesOptions{})
	must(t, err)
	if r.Lines != 4 || r.Nodes != 2 || !r.Header || r.Format != edgelist.CSV {
		t.Errorf("labels: %+v", r)
	}
	r, err = g.LoadFeatures(ctx, strings.NewReader("ann 1 2\nnew 3 4\nlate 5\n"), db.LoadNodesOptions{})
	must(t, err)
	if r.Lines != 3 || r.Nodes != 1 {
		t.Errorf("features: %+v", r)
	}
	r, err = g.LoadNodes(ctx, strings.NewReader("a\nb\n"), db.LoadNodesOptions{Keyless: true})
	must(t, err)
	if r.Lines != 2 || r.Nodes != 2 {
		t.Errorf("without keys: %+v", r)
	}
	got := map[string]string{}
	view(t, g, func(tx *db.Tx) error {
		for n, err := range tx.Nodes() {
			must(t, err)
			got[n.Key.Literal()] = fmt.Sprintf("%s%v%d", n.Label, n.Features, n.Edges)
		}
		return nil
	})
	want := map[string]string{
		"'ann'": "person[1 2]1", "7": "number[]1", "'new'": "person[3 4]0", "'alone'": "[]0", "'late'": "[5]0", "0": "a[]0", "1": "b[]0",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("nodes are %v, want %v", got, want)
	}
}

// A list of nodes with a label gives them the same keys as a list of edges with that label.
func TestLoadNodesOfAKind(t *testing.T) {
	t.Parallel()
	ctx, g := context.Background(), dbtest.Open(t, inMemory)
	_, err := g.Load(ctx, strings.NewReader("0 0\n1 0\n"), db.LoadOptions{SourceLabel: "user", TargetLabel: "item"})
	must(t, err)
	r, err := g.LoadFeatures(ctx, strings.NewReader("1 2\n3 4\n5 6\n"), db.LoadNodesOptions{Label: "user", Keyless: true})
	must(t, err)
	if r.Lines != 3 || r.Nodes != 1 {
		t.Errorf("%+v", *r)
	}
	r, err = g.LoadNodes(ctx, strings.NewReader("0\n7 item\n8 tag\n"), db.LoadNodesOptions{Label: "item", MaxErrors: 1})
	must(t, err)
	if r.Lines != 2 || r.Nodes != 1 || r.Skipped != 1 {
		t.Errorf("%+v", *r)
	}
	view(t, g, func(tx *db.Tx) error {
		n, err := tx.Node("user:2")
		if err != nil || n.Label != "user" || fmt.Sprint(n.Features) != "[5 6]" {
			t.Errorf("%+v, %v", n, err)
		}
		if n, err = tx.Node("item:7"); err != nil || n.Label != "item" {
			t.Errorf("%+v, %v", n, err)
		}
		return nil
	})
	_, err = g.LoadNodes(ctx, strings.NewReader("1\n"), db.LoadNodesOptions{Label: "a:b"})
	wantError(t, "a label with a colon", err, db.ErrInput)
}

// Blanks separate columns. A character that only looks like a blank may be a key.
func TestLoadNodesNamedLikeABlank(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, inMemory)
	r, err := g.LoadNodes(context.Background(), strings.NewReader("node,label\n\u2028,x\n \t\r\n"), db.LoadNodesOptions{})
	must(t, err)
	view(t, g, func(tx *db.Tx) error {
		if _, err := tx.Node("\u2028"); err != nil || r.Nodes != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		return nil
	})
}

// A list of more than one commit is stored as a whole, or not at all.
func TestLoadNodesInBulk(t *testing.T) {
	t.Parallel()
	const n = 20000
	var list strings.Builder
	list.WriteString("node,label,size,name\n")
	for i := range n {
		if i == 15000 {
			list.WriteString("15000,x,many,y\n")
			continue
		}
		fmt.Fprintf(&list, "%d,%s,%d,\"n %d\"\n", i, []string{"kind", ""}[i%2], i%7, i)
	}
	list.WriteString("1,late,8,\n3,,,again\n")
	g, ctx := dbtest.Open(t, inMemory), context.Background()
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(
			tx.PutEdge(5, 6), tx.PutNode(db.Node{Key: db.Int(5), Label: "old", Properties: map[string]any{"size": 3.5, "flag": true}}))
	})
	before := valued(t, g)
	var bad []string
	o := db.LoadNodesOptions{Malformed: func(err error) { bad = append(bad, err.Error()) }}
	r, err := g.LoadNodes(ctx, strings.NewReader(list.String()), o)
	wantError(t, "a malformed line", err, db.ErrLines)
	if r.Nodes != 0 || r.Skipped != 1 || len(bad) != 1 || !strings.Contains(bad[0], "line 15002") || valued(t, g) != before {
		t.Errorf("report %+v, told of %q", r, bad)
	}
	o.MaxErrors = 1
	r, err = g.LoadNodes(ctx, strings.NewReader(list.String()), o)
	must(t, err)
	if r.Lines != n-1+2 || r.Nodes != n-1-2 || r.Skipped != 1 {
		t.Errorf("again: %+v", r)
	}
	all := valued(t, g)
	for _, want := range []string{
		"'0'", "15000 ",
	} {
		if strings.Contains(all, want) {
			t.Errorf("there is a node %s", want)
		}
	}
	for _, want := range []string{
		"1 late name=string:n 1 size=float64:8;", "3  name=string:again size=float64:3;", "5 old flag=bool:true name=string:n 5 size=float64:5;",
		"6 kind name=string:n 6 size=float64:6;", "19999  name=string:n 19999 size=float64:0",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("there is no node %s", want)
		}
	}
	view(t, g, func(tx *db.Tx) error {
		if nodes, edges := tx.Counts(); nodes != n-1 || edges != 1 {
			t.Errorf("%d nodes, %d edges", nodes, edges)
		}
		return nil
	})
	must(t, g.Check(ctx))
}

// A vector whose length differs from others of its label is a malformed line.
func TestLoadFeaturesOfOtherLength(t *testing.T) {
	t.Parallel()
	g, ctx := dbtest.Open(t, inMemory), context.Background()
	r, err := g.LoadFeatures(ctx, strings.NewReader("1 1 2\n2 1\n3 3 4\n"), db.LoadNodesOptions{MaxErrors: -1})
	must(t, err)
	if r.Lines != 2 || r.Skipped != 1 {
		t.Errorf("features: %+v", r)
	}
}

// Measure reports what Load then does, and changes nothing. If memory is short, it reports how much
// is needed.
func TestMeasure(t *testing.T) {
	t.Parallel()
	g, ctx := dbtest.Open(t, nil), context.Background()
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(1, 2) })
	list := wheel(2000) + "1 2\n"
	told, err := g.Load(ctx, strings.NewReader(list), db.LoadOptions{DryRun: true})
	must(t, err)
	if got := edges(t, g); !slices.Equal(got, []string{"1-2:1@0"}) {
		t.Errorf("edges %v", got)
	}
	disk := told.Disk
	done, err := g.Load(ctx, strings.NewReader(list), db.LoadOptions{})
	must(t, err)
	told.Disk = 0
	if fmt.Sprint(*told) != fmt.Sprint(*done) {
		t.Errorf("measured %+v, done %+v", told, done)
	}
	if bytes := done.Edges; disk < bytes || disk > 12*bytes {
		t.Errorf("%d bytes on disk for %d edges", disk, done.Edges)
	}
}

// A list that is longer than the part kept in memory loads correctly, including weights.
func TestLoadOfManyRuns(t *testing.T) {
	t.Parallel()
	notShort(t)
	const n = 300000 // a run is 131,072 edges
	var list strings.Builder
	for i := range n {
		fmt.Fprintln(&list, i*7919%n%5000, i*104729%n%3000, 1+i%7)
	}
	want := map[[2]int]int{}
	for i := range n {
		u, v := i*7919%n%5000, i*104729%n%3000
		want[[2]int{min(u, v), max(u, v)}] = 1 + i%7
	}
	g := dbtest.Open(t, &db.Options{Memory: 64 << 20})
	r, err := g.Load(context.Background(), strings.NewReader(list.String()), db.LoadOptions{})
	must(t, err)
	if r.Edges != int64(len(want)) || r.Repeated != int64(n-len(want)) {
		t.Errorf("%+v, want %d edges", r, len(want))
	}
	view(t, g, func(tx *db.Tx) error {
		for e, err := range tx.Edges() {
			must(t, err)
			u, _ := e.Src.Int()
			v, _ := e.Dst.Int()
			if w := want[[2]int{int(min(u, v)), int(max(u, v))}]; float32(w) != e.Weight {
				t.Fatalf("edge %d-%d has weight %v, want %d", u, v, e.Weight, w)
			}
		}
		return nil
	})
}

// A long list has the result that a map has, also if its nodes and values do not fit into memory,
// over nodes with other values. In a database that keeps changes, the load forgets the changes
// before it, and the changes after it are kept.
func TestLoadNodesIsAMap(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines, nodes, width int
		o                   db.Options
	}{
		"one run":       {9000, 4000, 4, db.Options{Memory: 64 << 20}},
		"several runs":  {24000, 20000, 400, db.Options{Memory: 64 << 20}},
		"kept changes":  {9000, 9500, 4, db.Options{Memory: 64 << 20, ChangeBytes: 1 << 20}},
		"a transaction": {8192, 3000, 4, db.Options{Memory: 64 << 20, ChangeBytes: 64 << 20}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, ctx, rng := dbtest.Open(t, &c.o), context.Background(), rand.New(rand.NewPCG(1, uint64(c.lines)))
			want, labels := map[string]map[string]any{}, map[string]string{}
			set := func(key string, values map[string]any) {
				if want[key] == nil {
					want[key] = map[string]any{}
				}
				maps.Copy(want[key], values)
			}
			update(t, g, func(tx *db.Tx) error {
				for i := range 500 {
					n := db.Node{Key: db.Str(fmt.Sprintf("k%d", 7*i)), Label: "old", Properties: map[string]any{"size": 0.5, "name": "old", "flag": true}}
					set(n.Key.String(), n.Properties)
					labels[n.Key.String()] = n.Label
					if err := tx.PutNode(n); err != nil {
						return err
					}
				}
				return tx.PutEdge("k7", "k14")
			})
			list := loadedList(rng, c.lines, c.nodes, c.width, set, labels)
			r, err := g.LoadNodes(ctx, strings.NewReader(list), db.LoadNodesOptions{})
			must(t, err)
			if r.Lines != int64(c.lines) || r.Nodes != int64(len(want)-500) {
				t.Errorf("%d lines, %d nodes added, want %d, %d", r.Lines, r.Nodes, c.lines, len(want)-500)
			}
			view(t, g, func(tx *db.Tx) error {
				for n, err := range tx.Nodes() {
					must(t, err)
					k := n.Key.String()
					if n.Label != labels[k] || fmt.Sprint(n.Properties) != fmt.Sprint(want[k]) {
						t.Fatalf("node %s %s %v, want %s %v", k, n.Label, n.Properties, labels[k], want[k])
					}
					delete(want, k)
				}
				return nil
			})
			if len(want) > 0 {
				t.Errorf("%d nodes are missing", len(want))
			}
			if c.o.ChangeBytes > 0 {
				keepsChanges(t, g, name == "a transaction")
			}
		})
	}
}

// loadedList returns a list of nodes with properties, and tells set and labels what they are.
func loadedList(rng *rand.Rand, lines, nodes, width int, set func(string, map[string]any), labels map[string]string) string {
	var list strings.Builder
	list.WriteString("node,label,size:float,name,tags:list,count\n")
	for range lines {
		key, values, field := fmt.Sprintf("k%d", rng.IntN(nodes)), map[string]any{}, [4]string{}
		if rng.IntN(4) > 0 {
			x := float64(rng.IntN(100)) / 4
			values["size"], field[0] = x, fmt.Sprint(x)
		}
		if rng.IntN(4) > 0 {
			field[1] = strings.Repeat("n", width) + fmt.Sprint(rng.IntN(1000))
			values["name"] = field[1]
		}
		if rng.IntN(4) == 0 {
			values["tags"], field[2] = []string{"a", "b"}, "a;b"
		}
		if rng.IntN(4) > 0 {
			n := rng.Int64N(1 << rng.IntN(40))
			values["count"], field[3] = n, fmt.Sprint(n)
		}
		label := []string{"", "x", "y"}[rng.IntN(3)]
		if label != "" {
			labels[key] = label
		}
		set(key, values)
		fmt.Fprintf(&list, "%s,%s,%s\n", key, label, strings.Join(field[:], ","))
	}
	return list.String()
}

// keepsChanges fails t unless the changes before the last version are kept or not.
func keepsChanges(t *testing.T, g *db.DB, before bool) {
	t.Helper()
	loaded := version(t, g)
	if _, err := keptSince(g, 0); before != (err == nil) || err != nil && !errors.Is(err, db.ErrForgotten) {
		t.Errorf("changes before the load: %v", err)
	}
	update(t, g, func(tx *db.Tx) error { return tx.PutNode(db.Node{Key: db.Str("k1"), Label: "z"}) })
	if n, err := keptSince(g, loaded); err != nil || n != 1 {
		t.Errorf("%d changes after the load: %v", n, err)
	}
}
