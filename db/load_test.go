package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"kith/db"
	"kith/db/dbtest"
	"kith/db/edgelist"
)

func TestLoadOfRealLists(t *testing.T) {
	t.Parallel()
	notShort(t)
	for _, c := range []struct {
		file string
		want db.LoadReport
	}{
		{"snap/facebook_combined.txt", db.LoadReport{Lines: 88234, Nodes: 4039, Edges: 88234}},
		{"snap/CA-GrQc.txt", db.LoadReport{Lines: 28980, Nodes: 5242, Edges: 14496, Loops: 12, Repeated: 14484, BothWays: 14484, Symmetric: true}},
	} {
		g := dbtest.Open(t, nil)
		got, err := g.Load(context.Background(), shared(t, c.file), db.LoadOptions{})
		must(t, err)
		c.want.Columns, c.want.Format = edgelist.SrcDst, edgelist.SNAP
		c.want.Memory, c.want.Required = got.Memory, 64<<20
		if fmt.Sprint(*got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %+v, want %+v", c.file, *got, c.want)
		}
		view(t, g, func(tx *db.Tx) error {
			if s := tx.Stats(); s.Nodes != c.want.Nodes || s.Edges != c.want.Edges || s.Loops != c.want.Loops || s.Version != 1 {
				t.Errorf("%s: %+v", c.file, s)
			}
			return nil
		})
	}
}

// A load adds to an existing graph, and survives reopening.
func TestLoadIntoAUsedGraph(t *testing.T) {
	t.Parallel()
	path, ctx := place(t), context.Background()
	g := open(t, path, nil)
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(tx.PutEdge(9, 2, db.Weight(3)), tx.PutEdge("a", 2), tx.PutEdge(7, 8), tx.DeleteNode(7), tx.DeleteNode("a"),
			tx.PutNode(db.Node{Key: db.Int(2), Label: "l", Features: []float32{1, 2}}))
	})
	got, err := g.Load(ctx, strings.NewReader("2 9 5\n7 1 1\n7 1 2\n3 3 1\na 8 1\n"), db.LoadOptions{})
	must(t, err)
	want := db.LoadReport{Lines: 5, Nodes: 4, Edges: 3, Loops: 1, Repeated: 2, Differing: 2, Detected: edgelist.Detected{Columns: edgelist.SrcDstWeight, Format: edgelist.SNAP}, Memory: got.Memory, Required: 64 << 20}
	if fmt.Sprint(*got) != fmt.Sprint(want) {
		t.Errorf("reported %+v, want %+v", *got, want)
	}
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge("late", 9) })
	list := edges(t, g)
	slices.Sort(list)
	if got, want := fmt.Sprint(list), "['a'-8:1@0 3-3:1@0 7-1:2@0 9-'late':1@0 9-2:5@0]"; got != want {
		t.Errorf("edges %s, want %s", got, want)
	}
	must(t, g.Check(ctx), g.Close())
	g = dbtest.Reopen(t, path, nil)
	again := edges(t, g)
	slices.Sort(again)
	if !slices.Equal(again, list) {
		t.Errorf("after a reopen %v, want %v", again, list)
	}
	view(t, g, func(tx *db.Tx) error {
		n, err := tx.Node(2)
		must(t, err)
		if n.Label != "l" || !slices.Equal(n.Features, []float32{1, 2}) {
			t.Errorf("node 2 is %+v", n)
		}
		return nil
	})
}

// Edges that repeat, in the list or in the graph, are combined as requested. The time is always the
// latest.
func TestLoadOfRepeats(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const list = "1 2 0.5 30\n2 1 4 20\n1 2 0.25 1\n3 4 1 7\n"
	for _, c := range []struct {
		repeats     db.Repeats
		first, then string // the edges after loading the list once, and twice
		notes       int
	}{
		{db.KeepLast, "[1-2:0.25@30 3-4:1@7]", "[1-2:0.25@30 3-4:1@7]", 0},
		{db.SumWeights, "[1-2:4.75@30 3-4:1@7]", "[1-2:9.5@30 3-4:2@7]", 0},
		{db.CountRepeats, "[1-2:3@30 3-4:1@7]", "[1-2:6@30 3-4:2@7]", 0},
	} {
		g := dbtest.Open(t, inMemory)
		o := db.LoadOptions{Columns: edgelist.SrcDstWeightTime, Repeats: c.repeats}
		for i, want := range []string{c.first, c.then} {
			r, err := g.Load(ctx, strings.NewReader(list), o)
			must(t, err)
			if got := fmt.Sprint(edges(t, g)); got != want {
				t.Errorf("%v, load %d: edges %s, want %s", c.repeats, i, got, want)
			}
			if want := int64(2 + 2*i); r.Repeated != want || r.BothWays != 1 || r.Symmetric || r.Notes != nil {
				t.Errorf("%v, load %d: %+v, notes %q", c.repeats, i, *r, r.Notes)
			}
		}
		must(t, g.Check(ctx))
	}
	g := dbtest.Open(t, inMemory)
	for _, list := range []string{"1 2\n2 1\n", "7 8\n"} {
		if list == "7 8\n" {
			update(t, g, func(tx *db.Tx) error { return tx.PutEdge(8, 7) })
		}
		_, err := g.Load(ctx, strings.NewReader(list), db.LoadOptions{Repeats: db.NoRepeats})
		wantError(t, "repeats of "+list, err, db.ErrRepeated)
	}
	if got := fmt.Sprint(edges(t, g)); got != "[8-7:1@0]" && got != "[7-8:1@0]" {
		t.Errorf("edges %s after loads that were refused", got)
	}
	_, err := g.Load(ctx, strings.NewReader("1 2 1e12\n1 2 1e12\n"), db.LoadOptions{Repeats: db.SumWeights})
	wantError(t, "a sum above 2^40", err, db.ErrInput)
}

// A list of users and items with the same numbers gives two kinds of nodes, and candidates for one
// kind are of the other.
func TestLoadOfTwoKinds(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), place(t)
	o := db.LoadOptions{SourceLabel: "user", TargetLabel: "item"}
	const list = "1 1\n1 2\n2 1\n2 3\n3 x\n3 1\n"
	for _, direction := range []db.Direction{db.Undirected, db.Directed} {
		g := open(t, path+fmt.Sprint(direction), &db.Options{Direction: direction})
		r, err := g.Load(ctx, strings.NewReader(list), o)
		must(t, err)
		if r.Nodes != 7 || r.Sources != 3 || r.Targets != 4 || r.Edges != 6 || r.Loops != 0 {
			t.Errorf("reported %+v", *r)
		}
		again, err := g.Load(ctx, strings.NewReader(list), o)
		must(t, err)
		if again.Nodes != 0 || again.Sources != 0 || again.Targets != 0 || again.Edges != 0 {
			t.Errorf("reported %+v of a list loaded twice", *again)
		}
		must(t, g.Check(ctx), g.Close())
		g = dbtest.Reopen(t, path+fmt.Sprint(direction), nil)
		list := edges(t, g)
		slices.Sort(list)
		if got, want := fmt.Sprint(list), "['item:1'-'user:1':1@0 'item:1'-'user:2':1@0 'item:1'-'user:3':1@0 'item:2'-'user:1':1@0 'item:3'-'user:2':1@0 'item:x'-'user:3':1@0]"; direction == db.Undirected && got != want {
			t.Errorf("edges %s, want %s", got, want)
		}
		for i, c := range []struct {
			among db.Candidates
			want  string
		}{{db.Candidates{}, "'item:2' 'item:x'"}, {db.Label("item"), "'item:2' 'item:x'"}, {db.PPR(1000), "'item:2' 'item:x' 'user:1' 'user:3'"}} {
			if direction == db.Directed && i != 1 { // a walk along the edges ends at the items
				continue
			}
			rank, err := g.Predict(ctx, db.PredictOptions{For: "user:2", Among: c.among, Top: -1})
			must(t, err)
			var got []string
			for _, l := range rank.Links {
				got = append(got, l.Target.Literal())
			}
			slices.Sort(got)
			if strings.Join(got, " ") != c.want {
				t.Errorf("among %v: %v, want %s", c.among, got, c.want)
			}
		}
		must(t, g.Close())
	}
}

// A load with labels adds to existing nodes.
func TestLoadOfTwoKindsIntoAUsedGraph(t *testing.T) {
	t.Parallel()
	ctx, g := context.Background(), dbtest.Open(t, inMemory)
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(tx.PutNode(db.Node{Key: db.Str("item:1"), Features: []float32{1, 2}}), tx.PutNode(db.Node{Key: db.Str("item:2"), Label: "old", Features: []float32{1}}),
			tx.PutEdge(1, 2))
	})
	o := db.LoadOptions{SourceLabel: "user", TargetLabel: "item", MaxErrors: 1}
	r, err := g.Load(ctx, strings.NewReader("1 1\n1 2\n"), o)
	must(t, err)
	if r.Skipped != 1 || r.Lines != 1 || r.Nodes != 1 || r.Targets != 1 || !strings.Contains(fmt.Sprint(r.Errors), "line 2: ") {
		t.Errorf("%+v", *r)
	}
	view(t, g, func(tx *db.Tx) error {
		n, err := tx.Node("item:1")
		if err != nil || n.Label != "item" || len(n.Features) != 2 {
			t.Errorf("%+v, %v", n, err)
		}
		return nil
	})
	must(t, g.Check(ctx))
	for _, label := range []string{"a:b", "\x00"} {
		_, err := g.Load(ctx, strings.NewReader("1 2\n"), db.LoadOptions{SourceLabel: label})
		wantError(t, "label "+label, err, db.ErrInput)
		_, err = g.Load(ctx, strings.NewReader("1 2\n"), db.LoadOptions{TargetLabel: label, DryRun: true})
		wantError(t, "label "+label, err, db.ErrInput)
	}
}

// MovieLens has 943 users and 1,682 items, not 1,682 nodes of which some are both.
func TestLoadOfMovieLens(t *testing.T) {
	t.Parallel()
	notShort(t)
	g := dbtest.Open(t, inMemory)
	o := db.LoadOptions{Columns: edgelist.SrcDstWeightTime, SourceLabel: "user", TargetLabel: "item"}
	r, err := g.Load(context.Background(), shared(t, "ml-100k/u.data"), o)
	must(t, err)
	if r.Sources != 943 || r.Targets != 1682 || r.Nodes != 943+1682 || r.Edges != 100000 || r.Loops != 0 || r.Repeated != 0 {
		t.Errorf("%+v", *r)
	}
}

// A list that has each edge in both directions is not doubled silently.
func TestLoadOfBothDirections(t *testing.T) {
	t.Parallel()
	for repeats, notes := range map[db.Repeats]int{db.KeepLast: 0, db.SumWeights: 1, db.CountRepeats: 1} {
		r, err := dbtest.Open(t, inMemory).Load(context.Background(), strings.NewReader("1 2\n3 1\n2 1\n1 3\n3 3\n"), db.LoadOptions{Repeats: repeats})
		must(t, err)
		if r.BothWays != 2 || !r.Symmetric || len(r.Notes) != notes {
			t.Errorf("%v: %+v, notes %q", repeats, *r, r.Notes)
		}
	}
}

func TestLoadOfMalformedLines(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	list := "1 2\n1\n# a comment\n2 3\n" + strings.Repeat("k", 2000) + " 4\n5 " + strings.Repeat("k", 2000) + "\n3 4\n"
	g := dbtest.Open(t, inMemory)
	for _, max := range []int{0, 1, 2} {
		r, err := g.Load(ctx, strings.NewReader(list), db.LoadOptions{MaxErrors: max})
		wantError(t, fmt.Sprint("skipping ", max), err, db.ErrLines)
		if r == nil || r.Skipped != int64(max)+1 || len(r.Errors) != max+1 {
			t.Errorf("skipping %d: report %+v", max, r)
		}
		if err != nil && !strings.Contains(err.Error(), fmt.Sprint("line ", []int{2, 5, 6}[max])) {
			t.Errorf("skipping %d: %v does not name the line", max, err)
		}
		if got := edges(t, g); len(got) != 0 {
			t.Errorf("skipping %d: half a load is there: %v", max, got)
		}
	}
	for _, max := range []int{3, -1} {
		g := dbtest.Open(t, inMemory)
		r, err := g.Load(ctx, strings.NewReader(list), db.LoadOptions{MaxErrors: max})
		must(t, err)
		if r.Skipped != 3 || r.Lines != 3 || r.Nodes != 4 || len(r.Errors) != 3 {
			t.Errorf("skipping %d: report %+v", max, r)
		}
	}
	many, err := g.Load(ctx, strings.NewReader("1 2\n"+strings.Repeat("x\n", 50)), db.LoadOptions{MaxErrors: -1})
	must(t, err)
	if many.Skipped != 50 || len(many.Errors) != 10 {
		t.Errorf("%d lines skipped, %d reported", many.Skipped, len(many.Errors))
	}
}

// endless is a list of edges that never ends.
type endless struct {
	n   int
	bad bool // whether its lines are malformed
}

func (e *endless) Read(b []byte) (int, error) {
	e.n++
	if e.bad {
		return copy(b, "x\n"), nil
	}
	return copy(b, fmt.Sprintf("%d %d\n", e.n, e.n+1)), nil
}

// An interrupted load changes nothing, in memory or on the disk.
func TestLoadInterrupted(t *testing.T) {
	t.Parallel()
	notShort(t)
	path := place(t)
	g := open(t, path, &db.Options{Memory: 64 << 20})
	update(t, g, func(tx *db.Tx) error { return tx.PutEdge(1, 2) })
	ctx, cancel := context.WithCancel(context.Background())
	_, err := g.Load(ctx, &endless{}, db.LoadOptions{Progress: func(int64) { cancel() }})
	wantError(t, "cancelled", err, context.Canceled)
	ctx, cancel = context.WithCancel(context.Background())
	_, err = g.Load(ctx, &endless{bad: true}, db.LoadOptions{MaxErrors: -1, Progress: func(int64) { cancel() }})
	wantError(t, "cancelled among malformed lines", err, context.Canceled)
	broken := errors.New("broken")
	_, err = g.Load(context.Background(), io.MultiReader(strings.NewReader("5 6\n"), iotest.ErrReader(broken)), db.LoadOptions{})
	wantError(t, "of a broken reader", err, broken)
	for _, reopened := range []bool{false, true} {
		if got := edges(t, g); !slices.Equal(got, []string{"1-2:1@0"}) {
			t.Errorf("reopened %v: %v", reopened, got)
		}
		must(t, g.Check(context.Background()))
		if !reopened {
			must(t, g.Close())
			g = dbtest.Reopen(t, path, nil)
		}
	}
}

// Consecutive loads work, and an empty list is valid.
func TestLoadsInTurn(t *testing.T) {
	t.Parallel()
	path, ctx := place(t), context.Background()
	var list bytes.Buffer
	for i := range 5 {
		g := open(t, path, nil)
		_, err := g.Load(ctx, bytes.NewReader(list.Bytes()), db.LoadOptions{})
		must(t, err)
		fmt.Fprintf(&list, "%d %d\n", i, i+1)
		_, err = g.Load(ctx, bytes.NewReader(list.Bytes()), db.LoadOptions{})
		must(t, err)
		if got := edges(t, g); len(got) != i+1 {
			t.Errorf("%d edges after %d loads", len(got), i+1)
		}
		must(t, g.Check(ctx), g.Close())
	}
}
