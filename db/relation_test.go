package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/db/edgelist"
)

// social writes people who follow and like each other.
func social(tx *db.Tx) error {
	return errors.Join(
		tx.AddRelation(db.Relation{Name: "follows", Directed: true}),
		tx.AddEdge("ann", "bob", db.Via("follows")),
		tx.AddEdge("bob", "ann", db.Via("follows"), db.Weight(2)),
		tx.AddEdge("ann", "cat", db.Via("follows")),
		tx.AddEdge("ann", "bob", db.Via("likes"), db.Weight(3)),
		tx.AddEdge("ann", "bob"),
	)
}

// stats returns the figures of a database.
func stats(t *testing.T, g *db.DB) db.Stats {
	t.Helper()
	s, err := g.Stats()
	must(t, err)
	return s
}

// neighbors returns the edges of a node as text.
func neighbors(t *testing.T, g *db.DB, node string, opts ...db.EdgeOption) (all []string) {
	t.Helper()
	must(t, g.View(context.Background(), func(tx *db.Tx) error {
		for e, err := range tx.Neighbors(node, opts...) {
			if err != nil {
				return err
			}
			all = append(all, fmt.Sprintf("%s %s %v", e.Relation, e.Dst, e.Weight))
		}
		return nil
	}))
	return all
}

// Two nodes may be joined by an edge of each relation. What an edge is said to be, it is in every
// reader: at once, after the database was opened again, in a backup, and in a follower.
func TestRelations(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path, copied := place(t), place(t)
	g := open(t, path, &db.Options{ChangeBytes: 1 << 20})
	must(t, g.Update(ctx, func(tx *db.Tx) error {
		return tx.AddRelation(db.Relation{Name: "blocks", Directed: true, Exclude: true})
	}))
	must(t, g.Update(ctx, social))
	saved, _ := backup(t, g, nil)
	must(t, restore(copied, saved))
	must(t, g.Update(ctx, func(tx *db.Tx) error {
		return errors.Join(tx.DeleteEdge("bob", "ann", db.Via("follows")), tx.PutEdge("ann", "cat", db.Via("likes")))
	}))
	follower := open(t, copied, &db.Options{Follower: true})
	defer func() { must(t, follower.Close()) }()
	for c, err := range g.Changes(ctx, stats(t, follower).Version) {
		must(t, err)
		b, err := c.MarshalBinary()
		must(t, err)
		var sent db.Change
		must(t, sent.UnmarshalBinary(b))
		must(t, follower.Apply(ctx, sent))
		for _, e := range sent.Edges {
			if want := map[bool]string{true: "follows", false: "likes"}[e.Deleted]; e.Relation != want {
				t.Errorf("a change of %+v, want relation %s", e, want)
			}
		}
		break
	}
	must(t, g.Close())
	g = dbtest.Reopen(t, path, nil)
	defer func() { must(t, g.Close()) }()
	for name, g := range map[string]*db.DB{"reopened": g, "followed": follower} {
		for _, c := range []struct {
			node string
			via  []db.EdgeOption
			want []string
		}{
			{"ann", nil, []string{" bob 1", "follows bob 1", "likes bob 3", "follows cat 1", "likes cat 1"}},
			{"ann", []db.EdgeOption{db.Via("follows")}, []string{"follows bob 1", "follows cat 1"}},
			{"bob", []db.EdgeOption{db.Via("follows")}, nil},
			{"bob", []db.EdgeOption{db.Via("likes", "")}, []string{" ann 1", "likes ann 3"}},
		} {
			if got := neighbors(t, g, c.node, c.via...); !slices.Equal(got, c.want) {
				t.Errorf("%s: neighbors of %s are %q, want %q", name, c.node, got, c.want)
			}
		}
		must(t, g.View(ctx, func(tx *db.Tx) error {
			all, err := tx.Relations()
			want := []db.Relation{{Edges: 1}, {Name: "blocks", Directed: true, Exclude: true}, {Name: "follows", Directed: true, Edges: 2}, {Name: "likes", Edges: 2}}
			if !slices.Equal(all, want) {
				t.Errorf("%s: %+v, want %+v", name, all, want)
			}
			e, err2 := tx.Edge("ann", "bob", db.Via("likes"))
			if e.Weight != 3 || e.Relation != "likes" {
				t.Errorf("%s: the edge is %+v", name, e)
			}
			return errors.Join(err, err2)
		}))
		must(t, g.Check(ctx))
	}
}

// A mistake in a relation is an error that names it, and changes nothing.
func TestRelationErrors(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := open(t, "", &db.Options{InMemory: true})
	defer func() { must(t, g.Close()) }()
	must(t, g.Update(ctx, social))
	for name, c := range map[string]struct {
		f    func(tx *db.Tx) error
		want error
		mean string // db.Error.DidYouMean
	}{
		"an unknown relation":     {func(tx *db.Tx) error { _, err := tx.Edge("ann", "bob", db.Via("folows")); return err }, db.ErrNotFound, "follows"},
		"no edge of the relation": {func(tx *db.Tx) error { return tx.DeleteEdge("cat", "ann", db.Via("follows")) }, db.ErrNotFound, ""},
		"an edge twice":           {func(tx *db.Tx) error { return tx.AddEdge("ann", "bob", db.Via("likes")) }, db.ErrExists, ""},
		"a relation twice":        {func(tx *db.Tx) error { return tx.AddRelation(db.Relation{Name: "likes"}) }, db.ErrExists, ""},
		"two relations":           {func(tx *db.Tx) error { return tx.AddEdge("ann", "dan", db.Via("likes", "follows")) }, db.ErrInput, ""},
		"a name that is none":     {func(tx *db.Tx) error { return tx.AddEdge("ann", "dan", db.Via("a\x00b")) }, db.ErrInput, ""},
	} {
		before := stats(t, g)
		err := g.Update(ctx, c.f)
		wantError(t, name, err, c.want)
		var e *db.Error
		if errors.As(err, &e); c.mean != "" && (e == nil || e.DidYouMean != c.mean) {
			t.Errorf("%s: %v does not mean %s", name, err, c.mean)
		}
		if after := stats(t, g); after.Nodes != before.Nodes || after.Edges != before.Edges {
			t.Errorf("%s: %d nodes and %d edges, want %d and %d", name, after.Nodes, after.Edges, before.Nodes, before.Edges)
		}
	}
}

// A transaction of a part of the relations sees their edges only: its neighbors, paths, PageRank
// and predictions follow, in the direction that the part says.
func TestVia(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := open(t, "", &db.Options{InMemory: true})
	defer func() { must(t, g.Close()) }()
	must(t, g.Update(ctx, func(tx *db.Tx) error {
		return errors.Join(
			tx.AddRelation(db.Relation{Name: "follows", Directed: true}),
			tx.AddRelation(db.Relation{Name: "blocks", Directed: true, Exclude: true}),
			tx.AddEdge("ann", "bob", db.Via("follows")), tx.AddEdge("bob", "cat", db.Via("follows")), tx.AddEdge("bob", "dan", db.Via("follows")),
			tx.AddEdge("ann", "eve", db.Via("likes")), tx.AddEdge("eve", "cat", db.Via("likes")),
			tx.AddEdge("dan", "ann", db.Via("blocks")),
		)
	}))
	must(t, g.View(ctx, func(tx *db.Tx) error {
		for _, c := range []struct {
			part db.Part
			from string
			want []string // the neighbors
		}{
			{db.Part{Relations: []string{"follows"}}, "bob", []string{"follows cat", "follows dan"}},
			{db.Part{Relations: []string{"follows"}, Inverse: true}, "bob", []string{"follows ann"}},
			{db.Part{Relations: []string{"likes", "follows"}}, "ann", []string{"follows bob", "likes eve"}},
			{db.Part{Relations: []string{"blocks"}}, "ann", nil},
		} {
			var got []string
			must(t, tx.Via(c.part, func(tx *db.Tx) error {
				for e, err := range tx.Neighbors(c.from) {
					must(t, err)
					got = append(got, e.Relation+" "+e.Dst.String())
				}
				wantError(t, "a write", tx.AddEdge("ann", "zoe"), db.ErrReadOnly)
				return nil
			}))
			if !slices.Equal(got, c.want) {
				t.Errorf("%+v: neighbors of %s are %q, want %q", c.part, c.from, got, c.want)
			}
		}
		for _, c := range []struct {
			what string
			p    db.PredictOptions
			want []string
		}{
			{"who ann follows next", db.PredictOptions{For: "ann", Relation: "follows", Among: db.Neighbors(2), Model: "common_neighbors"}, []string{"cat", "eve"}},
			{"what ann likes next", db.PredictOptions{For: "ann", Relation: "likes", Among: db.Neighbors(2), Model: "common_neighbors"}, []string{"cat", "bob"}},
			{"who follows cat next", db.PredictOptions{For: "cat", Relation: "follows", Inverse: true, Among: db.All(), Model: "common_neighbors"}, []string{"ann", "dan", "eve"}},
		} {
			r, err := tx.Predict(ctx, c.p)
			must(t, err)
			var got []string
			for _, l := range r.Links {
				got = append(got, l.Target.String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, want %q", c.what, got, c.want)
			}
		}
		return nil
	}))
}

// A list may be of one relation. Its edges join those of other relations, in one load after
// another.
func TestLoadRelation(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := place(t)
	g := open(t, path, nil)
	must(t, g.Update(ctx, func(tx *db.Tx) error {
		return errors.Join(tx.AddEdge("ann", "dan"), tx.AddRelation(db.Relation{Name: "follows", Directed: true}))
	}))
	for _, c := range []struct{ relation, list string }{
		{"follows", "ann bob\nbob ann\nann cat\n"}, {"likes", "ann bob 2\nbob ann 3\n"}, {"follows", "cat ann\nann bob\n"},
	} {
		r, err := g.Load(ctx, strings.NewReader(c.list), db.LoadOptions{Relation: c.relation})
		must(t, err)
		if r.Directed != (c.relation == "follows") {
			t.Errorf("%s: %+v", c.relation, r)
		}
	}
	must(t, g.Close())
	g = dbtest.Reopen(t, path, nil)
	defer func() { must(t, g.Close()) }()
	want := []string{" dan 1", "follows bob 1", "likes bob 3", "follows cat 1"}
	if got := neighbors(t, g, "ann"); !slices.Equal(got, want) {
		t.Errorf("neighbors of ann are %q, want %q", got, want)
	}
	must(t, g.Check(ctx), g.View(ctx, func(tx *db.Tx) error {
		all, err := tx.Relations()
		if want := []db.Relation{{Edges: 1}, {Name: "follows", Directed: true, Edges: 4}, {Name: "likes", Edges: 1}}; !slices.Equal(all, want) {
			t.Errorf("%+v, want %+v", all, want)
		}
		return err
	}))
	_, err := g.Load(ctx, strings.NewReader("1 2\n"), db.LoadOptions{Relation: "a\x00b"})
	wantError(t, "an invalid name", err, db.ErrInput)
}

// A list of triples makes its relations. Each error leaves everything as it was.
func TestLoadTriples(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Direction: db.Directed})
	must(t, g.Update(ctx, func(tx *db.Tx) error { return tx.AddRelation(db.Relation{Name: "near"}) }))
	r, err := g.Load(ctx, strings.NewReader("ann\tlikes\tbob\nbob\tlikes\tcat\ncat\tnear\tann\ncat\tlikes\tann\nbob\tlikes\tcat\n"), db.LoadOptions{})
	must(t, err)
	if r.Relations != 1 || r.Edges != 4 || r.Repeated != 1 || !r.Directed || r.Columns != edgelist.SrcRelationDst {
		t.Errorf("%+v", r)
	}
	_, err = g.Load(ctx, strings.NewReader("ann,bob,-2\ncat,bob,1\n"), db.LoadOptions{Relation: "trust", Negative: "distrust"})
	must(t, err)
	want := []db.Relation{
		{Directed: true}, {Name: "near", Edges: 1}, {Name: "likes", Directed: true, Edges: 3},
		{Name: "trust", Directed: true, Edges: 1}, {Name: "distrust", Directed: true, Edges: 1},
	}
	unchanged := func(what string) {
		t.Helper()
		must(t, g.Check(ctx), g.View(ctx, func(tx *db.Tx) error {
			all, err := tx.Relations()
			if !slices.Equal(all, want) {
				t.Errorf("%s: %+v, want %+v", what, all, want)
			}
			return err
		}))
	}
	unchanged("triples")
	var many strings.Builder
	for n := range 1 << 16 {
		fmt.Fprintf(&many, "a,r%d,b\n", n)
	}
	for _, c := range []struct {
		list, want string
		o          db.LoadOptions
	}{
		{"dan,likes,eve\ndan,near,eve\n", `line 2: the direction of a relation cannot change: relation "near" is undirected; asked for are directed edges`, db.LoadOptions{Direction: db.Directed}},
		{"dan,near,eve\ndan,likes,eve\n", `line 2: the direction of a relation cannot change: relation "likes" is directed; asked for are undirected edges`, db.LoadOptions{Direction: db.Undirected}},
		{"dan eve\n", `relation "near" is undirected`, db.LoadOptions{Relation: "near", Direction: db.Directed}},
		{"dan eve\n", "the database is directed, and so are its edges without a relation; asked for are undirected ones", db.LoadOptions{Direction: db.Undirected}},
		{many.String(), "line 65532: index: too large: relation \"r65531\" would be one more than the 65535 that a graph can have", db.LoadOptions{}},
		{"dan,likes,eve\n", "not both", db.LoadOptions{Relation: "likes"}},
	} {
		if c.o.Direction == 0 || c.o.Relation == "" {
			c.o.Columns = edgelist.SrcRelationDst
		}
		if !strings.Contains(c.list, ",") {
			c.o.Columns = ""
		}
		c.o.MaxErrors = -1
		_, err := g.Load(ctx, strings.NewReader(c.list), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %s", c.list, err, c.want)
		}
		unchanged(c.want)
	}
	other := dbtest.Open(t, &db.Options{InMemory: true})
	r, err = other.Load(ctx, strings.NewReader("ann,likes,bob\nbob,likes,ann\n"), db.LoadOptions{Columns: edgelist.SrcRelationDst})
	if err != nil || len(r.Notes) != 1 || r.Notes[0].Try[0].String() != "directed = 'on'" {
		t.Errorf("in an undirected database: %+v, %v", r, err)
	}
	r, err = other.Load(ctx, strings.NewReader("ann,follows,bob\nbob,follows,ann\n"), db.LoadOptions{Columns: edgelist.SrcRelationDst, Direction: db.Directed})
	if err != nil || r.Edges != 2 || !r.Directed || len(r.Notes) != 0 {
		t.Errorf("directed relations in an undirected database: %+v, %v", r, err)
	}
}

// Edges between IRIs and blank nodes are written as N-Triples that read back as the same edges.
// Other edges are refused.
func TestStatementsComeBack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	o := db.ListOptions{Format: edgelist.NTriples}
	write := func(g *db.DB) (text string, err error) {
		var b strings.Builder
		view(t, g, func(tx *db.Tx) error { _, err = tx.WriteEdges(ctx, &b, o); return nil })
		return b.String(), err
	}
	const list = "<http://a/1> <http://p/knows> <http://a/\u00e9> .\n_:b1 <http://p/likes> <http://a/1> .\n<http://a/1> <http://p/likes> _:b1 .\n"
	g, h := dbtest.Open(t, &db.Options{InMemory: true, Direction: db.Directed}), dbtest.Open(t, &db.Options{InMemory: true, Direction: db.Directed})
	_, err := g.Load(ctx, strings.NewReader(list), db.LoadOptions{})
	must(t, err)
	text, err := write(g)
	must(t, err)
	_, err = h.Load(ctx, strings.NewReader(text), db.LoadOptions{})
	must(t, err)
	again, err := write(h)
	must(t, err)
	sorted := func(s string) []string { lines := strings.Split(s, "\n"); slices.Sort(lines); return lines }
	if !slices.Equal(sorted(text), sorted(list)) || !slices.Equal(sorted(again), sorted(list)) {
		t.Errorf("%s\nthen\n%s\nwant\n%s", text, again, list)
	}
	for _, c := range []struct {
		src, dst any
		relation string
		weight   float32
		want     string
	}{
		{"http://a", 7, "http://p", 1, "the integer 7 is no IRI"}, {"a b", "http://a", "http://p", 1, `"a b" is no IRI`}, {"a>", "http://a", "http://p", 1, `"a>" is no IRI`},
		{"_:b c", "http://a", "http://p", 1, `"_:b c" is no IRI`}, {"http://a", "http://b", "", 1, "columns source, target"},
		{"http://a", "http://b", "http://p", 2, "columns source, relation, target, weight"}, {"http://a", `http://\\b`, "http://p", 1, "is no IRI"},
	} {
		g := dbtest.Open(t, inMemory)
		update(t, g, func(tx *db.Tx) error { return tx.PutEdge(c.src, c.dst, db.Via(c.relation), db.Weight(c.weight)) })
		if _, err := write(g); !errors.Is(err, db.ErrInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %v: %v, want %s", c.src, c.dst, err, c.want)
		}
	}
}

// A transaction can make all relations that a database may have. One more is refused, and changes
// nothing.
func TestMostRelations(t *testing.T) {
	t.Parallel()
	notShort(t)
	const most = 1<<16 - 1
	path, ctx := place(t), context.Background()
	g := open(t, path, &db.Options{Memory: 1 << 30})
	update(t, g, func(tx *db.Tx) error {
		for i := range most {
			if err := tx.AddRelation(db.Relation{Name: fmt.Sprint("r", i), Directed: i%2 == 0}); err != nil {
				return err
			}
		}
		return tx.PutEdge("a", "b", db.Via("r65534"))
	})
	check := func() {
		t.Helper()
		view(t, g, func(tx *db.Tx) error {
			all, err := tx.Relations()
			must(t, err)
			if last := all[len(all)-1]; len(all) != most+1 || last.Name != "r65534" || last.Edges != 1 {
				t.Errorf("%d relations, the last one is %+v", len(all), last)
			}
			return nil
		})
	}
	check()
	for what, add := range map[string]func(tx *db.Tx) error{
		"a relation": func(tx *db.Tx) error { return tx.AddRelation(db.Relation{Name: "more"}) },
		"an edge":    func(tx *db.Tx) error { return tx.PutEdge("a", "c", db.Via("more")) },
	} {
		err := g.Update(ctx, add)
		if wantError(t, what, err, db.ErrTooLarge); !strings.Contains(fmt.Sprint(err), "one more than the 65535 that a graph can have") {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, g.Close())
	g = open(t, path, &db.Options{Memory: 1 << 30})
	check()
	must(t, g.Check(ctx), g.Close())
}

// A load does not take from a node the label that a relation of its edges wants.
func TestLoadKeepsLabelsOfRelations(t *testing.T) {
	t.Parallel()
	g, ctx := dbtest.Open(t, inMemory), context.Background()
	update(t, g, func(tx *db.Tx) error {
		return errors.Join(tx.AddRelation(db.Relation{Name: "likes", Directed: true, SourceLabel: "person", TargetLabel: "post"}),
			tx.PutEdge("user:7", "cake", db.Via("likes")))
	})
	_, err := g.Load(ctx, strings.NewReader("7 1\n"), db.LoadOptions{SourceLabel: "user", TargetLabel: "item"})
	if wantError(t, "a source with edges of likes", err, db.ErrLines); !strings.Contains(fmt.Sprint(err), "cannot get label user: it has edges of relation likes") {
		t.Error(err)
	}
	_, err = g.Load(ctx, strings.NewReader("8 1\n"), db.LoadOptions{SourceLabel: "user", TargetLabel: "item"})
	must(t, err, g.Check(ctx))
}
