package db_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/db"
)

// shop writes products that people have bought.
func shop(tx *db.Tx) error {
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for i := range 40 {
		p := db.Node{Key: db.Str(fmt.Sprint("p", i)), Label: "product", Properties: map[string]any{
			"price": float64(i) / 2, "stock": i % 5, "hidden": i%4 == 0, "lang": []string{"en", "de"}[i%2],
			"tags": []string{"all", fmt.Sprint("t", i%3)}, "added": day.AddDate(0, 0, i),
		}}
		if err := tx.AddNode(p); err != nil {
			return err
		}
		for j := range 3 {
			if err := tx.PutEdge(fmt.Sprint("u", (i+j)%7), p.Key); err != nil {
				return err
			}
		}
	}
	return tx.SetProperties("u1", map[string]any{"lang": "fr"})
}

// TestProperties verifies what a node says of its properties, and what is said of all, also after
// the database was opened again and compacted.
func TestProperties(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := place(t)
	g := open(t, path, nil)
	must(t, g.Update(ctx, shop), g.Update(ctx, func(tx *db.Tx) error {
		return tx.SetProperties("p3", map[string]any{"price": 2, "stock": nil, "lang": nil, "added": "2026-11-04T02:00:00+02:00"})
	}))
	check := func() {
		t.Helper()
		must(t, g.View(ctx, func(tx *db.Tx) error {
			n, err := tx.Node("p3")
			must(t, err)
			want := map[string]any{
				"price": 2.0, "hidden": false, "tags": []string{"all", "t0"}, "added": time.Date(2026, 11, 4, 0, 0, 0, 0, time.UTC),
			}
			if fmt.Sprint(n.Properties) != fmt.Sprint(want) {
				t.Errorf("p3 has %v, want %v", n.Properties, want)
			}
			if n, err := tx.Node("u2"); err != nil || n.Properties != nil {
				t.Errorf("u2 has %v, %v", n.Properties, err)
			}
			all, err := tx.Properties(ctx)
			must(t, err)
			var got []string
			for _, p := range all {
				got = append(got, fmt.Sprint(p.Name, " ", p.Type, " ", p.Nodes, " ", p.Labels, " ", p.Distinct, " ", p.Smallest, " ", p.Largest))
			}
			wantAll := []string{
				"added time 40 [product] 40 2026-11-01 00:00:00 +0000 UTC 2026-12-10 00:00:00 +0000 UTC",
				"hidden bool 40 [product] 2 false true", "lang string 40 [ product] 3 de fr", "price float 40 [product] 39 0 19.5",
				"stock integer 39 [product] 5 0 4", "tags list 40 [product] 4 [all t0] [all t2]",
			}
			if !slices.Equal(got, wantAll) {
				t.Errorf("properties\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(wantAll, "\n"))
			}
			return nil
		}))
		must(t, g.Check(ctx))
	}
	check()
	must(t, g.Close())
	g = open(t, path, nil)
	check()
	must(t, g.Compact(ctx))
	check()
	must(t, g.Close())
	g = open(t, path, nil)
	check()
	must(t, g.Update(ctx, func(tx *db.Tx) error { return tx.DeleteNode("p3") }))
	must(t, g.Check(ctx), g.View(ctx, func(tx *db.Tx) error {
		if all, _ := tx.Properties(ctx); all[0].Nodes != 39 {
			t.Errorf("a deleted node counts: %+v", all[0])
		}
		return nil
	}))
	must(t, g.Close())
}

// TestPropertyErrors verifies that a bad value is refused with its reason, and that nothing
// changes.
func TestPropertyErrors(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := open(t, place(t), nil)
	must(t, g.Update(ctx, shop))
	before := dump(t, g)
	for _, c := range []struct {
		name string
		v    any
		says string
	}{
		{"price", "cheap", `property "price" is of type float, not string`},
		{"stock", true, `property "stock" is of type integer, not bool`},
		{"added", "soon", `property "added": edgelist: "soon" is not a time`},
		{"added", "2026-02-30", `property "added": edgelist: "2026-02-30" is not a time`},
		{"added", int64(1_700_000_000_000), "is not in the years 0 to 9999; in milliseconds since 1970 it is 1700000000"},
		{"added", time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC), "a time that is not in the years 0 to 9999"},
		{"new", time.Date(400_000, 1, 1, 0, 0, 0, 0, time.UTC), "a time that is not in the years 0 to 9999"},
		{"added", 1.5, `property "added" is of type time, not float`},
		{"price", math.NaN(), "NaN is not a finite number"},
		{"new", math.Inf(1), "not a finite number"},
		{"tags", tags(100_000), "a list of 100000 strings; at most 1000 are accepted"},
		{"tags", []string{"a", ""}, "a list has an empty string"},
		{"lang", strings.Repeat("a", 40_000), "a string of 40000 bytes"},
		{"lang", "\xff", "UTF-8"},
		{"score", 1, `a property cannot have the name "score"`},
		{"Not", 1, `a property cannot have the name "Not"`},
		{"", 1, "the empty string"},
		{strings.Repeat("p", 70_000), 1, "a name of 70000 bytes; at most 1024 are accepted"},
		{"new", struct{}{}, "is no value"},
		{"new", uint64(math.MaxUint64), "is no value"},
	} {
		err := g.Update(ctx, func(tx *db.Tx) error {
			err := tx.SetProperties("p1", map[string]any{"aaa": true, c.name: c.v})
			if _, err := tx.Node("p1"); err != nil {
				return err
			}
			if !errors.Is(err, db.ErrInput) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "'p1'") {
				t.Errorf("%s = %.20v: %v, want %q", c.name, c.v, err, c.says)
			}
			return nil
		})
		must(t, err)
	}
	equalDumps(t, dump(t, g), before)
	if err := g.Update(ctx, func(tx *db.Tx) error { return tx.SetProperties("nobody", nil) }); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("a missing node: %v", err)
	}
	// A property of integers becomes one of floats. A property that no node has takes another type.
	must(t, g.Update(ctx, func(tx *db.Tx) error { return tx.SetProperties("p1", map[string]any{"stock": 2.5}) }))
	must(t, g.View(ctx, func(tx *db.Tx) error {
		match, err := tx.Select(db.Cond{Of: "stock", Op: "<", Value: 2.75})
		if n, _ := tx.Node("p2"); err != nil || n.Properties["stock"] != 2.0 || !match(n.Key) || !match(db.Str("p1")) || match(db.Str("p3")) {
			t.Errorf("%+v, %v", n, err)
		}
		return nil
	}))
	must(t, g.Update(ctx, func(tx *db.Tx) error {
		if err := tx.SetProperties("p1", map[string]any{"one": 1}); err != nil {
			return err
		}
		return errors.Join(tx.SetProperties("p1", map[string]any{"one": nil}), tx.SetProperties("p2", map[string]any{"one": "text"}))
	}))
	must(t, g.Check(ctx), g.Close())
}

// tags returns a list of n different strings.
func tags(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint("t", i))
	}
	return list
}

// TestTooManyProperties verifies that the error names the property beyond the limit.
func TestTooManyProperties(t *testing.T) {
	t.Parallel()
	g := open(t, place(t), nil)
	values := map[string]any{}
	for i := range 4100 {
		values[fmt.Sprintf("p%04d", i)] = i
	}
	err := g.Update(context.Background(), func(tx *db.Tx) error { return tx.PutNode(db.Node{Key: db.Str("a"), Properties: values}) })
	const says = `node 'a': index: too large: property "p4096" would be one more than the 4096 that a graph can have`
	if !errors.Is(err, db.ErrTooLarge) || err.Error() != says {
		t.Errorf("%v, want %s", err, says)
	}
	if s, err := g.Stats(); err != nil || s.Nodes != 0 {
		t.Errorf("%d nodes, %v", s.Nodes, err)
	}
	must(t, g.Close())
}

// TestTimesOfProperties verifies that each way to give a property a time, or to compare it with
// one, reads the same texts.
func TestTimesOfProperties(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := open(t, place(t), nil)
	want := time.Date(2026, 2, 3, 4, 5, 6, 250_000_000, time.UTC)
	for i, text := range []string{"2026-02-03T04:05:06.25Z", "2026-02-03 04:05:06.25", "2026-02-03T06:05:06.25+02:00", "2026-02-03T05:05:06,25+01"} {
		key := fmt.Sprint("n", i)
		must(t, g.Update(ctx, func(tx *db.Tx) error {
			v, err := tx.Literal("at", text)
			return errors.Join(err, tx.PutNode(db.Node{Key: db.Str(key), Properties: map[string]any{"at": v}}))
		}))
		must(t, g.Update(ctx, func(tx *db.Tx) error { return tx.SetProperties(key, map[string]any{"at": text}) }))
		must(t, g.View(ctx, func(tx *db.Tx) error {
			n, err := tx.Node(key)
			if n.Properties["at"] != want {
				t.Errorf("%s: %v", text, n.Properties["at"])
			}
			match, e := tx.Select(db.Cond{Of: "at", Op: "=", Value: text})
			if e == nil && !match(n.Key) {
				t.Errorf("%s is not equal to itself", text)
			}
			return errors.Join(err, e)
		}))
	}
	must(t, g.View(ctx, func(tx *db.Tx) error {
		for text, isTime := range map[string]bool{"2026-02-03": true, "2026/02/03": false, "03.02.2026": false, "2026-02-03 is a date": false, "20260203": false} {
			if v, err := tx.Literal("new", text); err != nil || (v != any(text)) != isTime {
				t.Errorf("%s makes %T, %v", text, v, err)
			}
		}
		if v, err := tx.Literal("new", "2026-02-30"); !errors.Is(err, db.ErrInput) {
			t.Errorf("a date that does not exist makes %v, %v", v, err)
		}
		return nil
	}))
	must(t, g.Close())
}

// TestConditions verifies that conditions select what a plain evaluation selects.
func TestConditions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := open(t, place(t), nil)
	must(t, g.Update(ctx, shop), g.Compact(ctx))
	must(t, g.Update(ctx, func(tx *db.Tx) error { // some values are newer than the base
		return errors.Join(
			tx.SetProperties("p7", map[string]any{"price": 1, "tags": []string{"t9"}, "lang": nil}),
			tx.SetProperties("u0", map[string]any{"price": 3.25, "stock": 7}),
		)
	}))
	var nodes []db.Node
	must(t, g.View(ctx, func(tx *db.Tx) error {
		for n := range tx.Nodes() {
			nodes = append(nodes, n)
		}
		return nil
	}))
	rapid.Check(t, func(t *rapid.T) {
		c, holds := genCond(t, 3)
		err := g.View(ctx, func(tx *db.Tx) error {
			match, err := tx.Select(c)
			if err != nil {
				return err
			}
			for _, n := range nodes {
				if got, want := match(n.Key), holds(n); got != want {
					return fmt.Errorf("%v selects %v %+v: %v", c, n.Key, n.Properties, got)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	must(t, g.Close())
}

// genCond draws a condition and its meaning.
func genCond(t *rapid.T, depth int) (db.Cond, func(db.Node) bool) {
	if depth > 0 {
		switch rapid.SampledFrom([]string{"and", "or", "not", "", ""}).Draw(t, "logic") {
		case "and":
			c, f := genCond(t, depth-1)
			d, g := genCond(t, depth-1)
			return c.And(d), func(n db.Node) bool { return f(n) && g(n) }
		case "or":
			c, f := genCond(t, depth-1)
			d, g := genCond(t, depth-1)
			return c.Or(d), func(n db.Node) bool { return f(n) || g(n) }
		case "not":
			c, f := genCond(t, depth-1)
			return c.Not(), func(n db.Node) bool { return !f(n) }
		}
	}
	c := rapid.SampledFrom([]db.Cond{
		{Of: "price", Value: 3.25}, {Of: "price", Value: 4}, {Of: "stock", Value: 3}, {Of: "stock", Value: 2.5}, {Of: "stock", Value: 1e300},
		{Of: "added", Value: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}, {Of: "lang", Value: "de"},
		{Of: "degree", Value: 3}, {Of: "edges", Value: 2.5},
	}).Draw(t, "comparison")
	c.Op = rapid.SampledFrom([]string{"=", "<>", "<", "<=", ">", ">="}).Draw(t, "operator")
	equality := rapid.SampledFrom([]db.Cond{
		{}, {Of: "tags", Value: "t1"}, {Of: "hidden", Value: true}, {Of: "label", Value: "product"}, {Of: "label", Value: ""},
		{Of: "price"}, {Of: "tags"}, {Of: "lang", Op: "IN", Value: []string{"fr", "en"}}, {Of: "stock", Op: "IN", Value: []any{1, 2.0, 2.5}},
		{Of: "tags", Op: "IN", Value: []string{"t9", "t2"}},
	}).Draw(t, "equality")
	if equality.Op == "" && equality.Of != "" {
		equality.Op = rapid.SampledFrom([]string{"=", "<>"}).Draw(t, "equality operator")
	}
	if rapid.Bool().Draw(t, "equal") {
		c = equality
	}
	return c, func(n db.Node) bool { return plainly(c, n) }
}

// plainly evaluates a comparison.
func plainly(c db.Cond, n db.Node) bool {
	v := n.Properties[c.Of]
	switch c.Of {
	case "":
		return true
	case "label":
		v = n.Label
	case "degree":
		v = n.Degree
	case "edges":
		v = int64(n.Edges)
	}
	number := func(x any) float64 {
		switch x := x.(type) {
		case int:
			return float64(x)
		case int64:
			return float64(x)
		case float64:
			return x
		case time.Time:
			return float64(x.Unix())
		}
		return math.NaN()
	}
	equal := func(x any) bool {
		switch v := v.(type) {
		case nil:
			return x == nil
		case []string:
			text, isText := x.(string)
			return isText && slices.Contains(v, text)
		case bool, string:
			return v == x
		}
		return number(v) == number(x)
	}
	switch c.Op {
	case "=":
		return equal(c.Value)
	case "<>":
		return !equal(c.Value)
	case "IN":
		switch list := c.Value.(type) {
		case []string:
			return slices.ContainsFunc(list, func(s string) bool { return equal(s) })
		case []any:
			return slices.ContainsFunc(list, equal)
		}
	}
	a, b := number(v), number(c.Value)
	if text, isText := c.Value.(string); isText {
		of, has := v.(string)
		if !has {
			return false
		}
		a, b = float64(strings.Compare(of, text)), 0
	}
	return map[string]bool{"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[c.Op]
}

// TestConditionErrors verifies which conditions are refused, and why.
func TestConditionErrors(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := open(t, place(t), nil)
	must(t, g.Update(ctx, shop))
	for says, c := range map[string]db.Cond{
		`no property "prize"`: {Of: "prize", Op: "=", Value: 1},
		`property "price" is of type float, and cannot be compared with`: {Of: "price", Op: "<", Value: "x"},
		`property "tags" is of type list, and cannot be compared with`:   {Of: "tags", Op: "=", Value: 1},
		`a property of type list has no order`:                           {Of: "tags", Op: "<", Value: "x"},
		`a property of type bool has no order`:                           {Of: "hidden", Op: ">=", Value: true},
		`a label has no order`:                                           {Of: "label", Op: ">", Value: "x"},
		`cannot be compared with NaN`:                                    {Of: "price", Op: "<", Value: math.NaN()},
		`"2026-02-30" is not a time`:                                     {Of: "added", Op: "<", Value: "2026-02-30"},
		`price: operator "", want =, <>, <, <=, >, >=, IN`:               {Of: "price", Value: 1},
		"a condition > 1 (an integer) compares nothing":                  {Op: ">", Value: 1},
		`operator "~"`: {Of: "price", Op: "~", Value: 1},
		`degree is a number, and cannot be compared`: {Of: "degree", Op: "=", Value: "x"},
	} {
		_, err := g.Predict(ctx, db.PredictOptions{For: "u1", Among: db.All().Where(c)})
		if err == nil || !strings.Contains(err.Error(), says) || !errors.Is(err, db.ErrInput) && !errors.Is(err, db.ErrNotFound) {
			t.Errorf("%v: %v, want %q", c, err, says)
		}
	}
	var unknown *db.Error
	_, err := g.Predict(ctx, db.PredictOptions{For: "u1", Among: db.All().Where(db.Cond{Of: "prize", Op: "=", Value: 1})})
	if !errors.As(err, &unknown) || unknown.DidYouMean != "price" || unknown.Kind != "property" {
		t.Errorf("a misspelled property: %+v", unknown)
	}
	must(t, g.Close())
}

// TestCandidatesWhere verifies that a condition restricts each set before it is cut to its number,
// and that all answers keep to it.
func TestCandidatesWhere(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := open(t, place(t), nil)
	must(t, g.Update(ctx, shop))
	c := db.Cond{Of: "price", Op: "<", Value: 15}.And(db.Cond{Of: "hidden", Op: "=", Value: true}.Not()).And(db.Cond{Of: "label", Op: "=", Value: "product"})
	targets := func(among db.Candidates) map[string]bool {
		t.Helper()
		r, err := g.Predict(ctx, db.PredictOptions{For: "u1", Among: among, Top: -1, Model: "resource_allocation"})
		must(t, err)
		all := map[string]bool{}
		for _, l := range r.Links {
			all[l.Target.String()] = true
		}
		return all
	}
	want := map[string]bool{} // what u1 does not have, by a plain count
	for i := range 30 {
		if i%4 != 0 && i%7 != 1 && (i+1)%7 != 1 && (i+2)%7 != 1 {
			want[fmt.Sprint("p", i)] = true
		}
	}
	for name, among := range map[string]db.Candidates{
		"ALL": db.All(), "LABEL": db.Label("product"), "NEIGHBORS": db.Neighbors(4), "PPR": db.PPR(len(want)), "SAMPLE": db.Sample(len(want), 0),
		"SIMILAR": db.Similar(len(want)), "UNION": db.PPR(5).Union(db.All()), "INTERSECT": db.PPR(len(want)).Intersect(db.Label("product")),
		"the default": {}, "twice": db.All().Where(db.Cond{Of: "price", Op: "<", Value: 17}),
	} {
		if got := targets(among.Where(c)); !maps.Equal(got, want) {
			t.Errorf("%s: %d nodes %v, want %d %v", name, len(got), got, len(want), want)
		}
	}
	if got := targets(db.Keys("p2", "p3", "p4", "u3").Where(c)); len(got) != 2 {
		t.Errorf("listed nodes: %v", got)
	}
	// The excluded set is not restricted: PPR(1) is the nearest node, which is hidden.
	nearest := targets(db.PPR(1))
	if got := targets(db.All().Except(db.PPR(1)).Where(c)); len(got) != len(want) && !want[slices.Collect(maps.Keys(nearest))[0]] {
		t.Errorf("EXCEPT: %v", got)
	}
	must(t, g.Close())
}
