package db_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kith/db"
)

// prefixKeys returns keys of all kinds, in an order that is not theirs.
func prefixKeys() (keys []db.Key) {
	for _, i := range []int64{0, 1, -1, 9, 10, 12, 19, 20, 120, 129, 130, 1299, -12, -129, -120, -13, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1, 922} {
		keys = append(keys, db.Int(i))
	}
	for _, s := range []string{"a", "an", "ann", "anna", "bob", "o", "o'", "o'neill", "o''", "'", "''", "12", "-", "é", "\U0010ffff", "an\U0010ffff", "deleted"} {
		keys = append(keys, db.Str(s))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		keys = append(keys, db.Int(rng.Int64N(2_000_000)-1_000_000), db.Str(fmt.Sprintf("n%d", rng.IntN(5000))))
	}
	return keys
}

// The nodes that a prefix finds are those whose spelling begins with it, of the base and of later
// commits, in memory or not.
func TestNodesBeginning(t *testing.T) {
	t.Parallel()
	notShort(t)
	keys := prefixKeys()
	prefixes := map[string]bool{"": true, "x": true, "+1": true, "01": true, "-0": true, "1.5": true, "'a'n": true, "'o'''": true, "99999999999999999999": true}
	for _, k := range keys {
		for i := range len(k.Literal()) + 1 {
			prefixes[k.Literal()[:i]] = true
		}
	}
	for _, change := range []func(*db.Options){func(*db.Options) {}, db.Paged} {
		o := &db.Options{Memory: 64 << 20}
		change(o)
		path := t.TempDir() + "/g"
		g := open(t, path, o)
		put := func(some []db.Key) {
			update(t, g, func(tx *db.Tx) error {
				for _, k := range some {
					if err := tx.PutNode(db.Node{Key: k}); err != nil {
						return err
					}
				}
				return nil
			})
		}
		put(keys[:len(keys)/2])
		if err := g.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		put(keys[len(keys)/2:])
		update(t, g, func(tx *db.Tx) error { return tx.DeleteNode("deleted") })
		checkPrefixes(t, g, prefixes)
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		g = open(t, path, o)
		checkPrefixes(t, g, prefixes)
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// checkPrefixes compares the nodes of each prefix with those found among all.
func checkPrefixes(t *testing.T, g *db.DB, prefixes map[string]bool) {
	t.Helper()
	err := g.View(t.Context(), func(tx *db.Tx) error {
		var all []db.Key
		for n, err := range tx.Nodes() {
			if err != nil {
				return err
			}
			all = append(all, n.Key)
		}
		for prefix := range prefixes {
			var got []db.Key
			for k, err := range tx.NodesBeginning(prefix) {
				if err != nil {
					return err
				}
				got = append(got, k)
			}
			var want []db.Key
			for _, k := range all {
				if strings.HasPrefix(k.Literal(), prefix) {
					want = append(want, k)
				}
			}
			slices.SortFunc(got, db.Key.Compare)
			slices.SortFunc(want, db.Key.Compare)
			if !slices.Equal(got, want) {
				t.Errorf("%q: %v, want %v", prefix, got, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Key is an alias, so go doc shows only its comment, which therefore lists the methods.
func TestKeyDoc(t *testing.T) {
	t.Parallel()
	f, err := parser.ParseFile(token.NewFileSet(), "node.go", nil, parser.ParseComments)
	must(t, err)
	var shown string
	for _, of := range f.Decls {
		if d, ok := of.(*ast.GenDecl); ok && d.Tok == token.TYPE && d.Specs[0].(*ast.TypeSpec).Name.Name == "Key" {
			shown = d.Doc.Text()
		}
	}
	of := reflect.TypeFor[db.Key]()
	for i := range of.NumMethod() {
		if name := of.Method(i).Name; !strings.HasPrefix(name, "Marshal") && !strings.Contains(shown, "\t"+name+"(") {
			t.Errorf("the comment of Key lacks %s:\n%s", name, shown)
		}
	}
}
