package query_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// An invalid key is refused wherever a key can be given, with its position, and nothing is changed.
func TestBadKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	for name, bad := range map[string]struct{ key, want string }{
		"a NUL byte":    {"a\x00b", "NUL byte|zero byte"},
		"invalid UTF-8": {"a\xffb", "valid UTF-8"},
		"too long":      {strings.Repeat("x", 1025), "1025 bytes, at most 1024"},
		"empty":         {"", "the empty string is not a key|key is empty"},
	} {
		check := func(entrance string, err error, is error) {
			t.Helper()
			told := false
			for _, want := range strings.Split(bad.want, "|") {
				told = told || err != nil && strings.Contains(err.Error(), want)
			}
			if !told || is != nil && !errors.Is(err, is) {
				t.Errorf("%s in %s: %v", name, entrance, err)
			}
		}
		var at *query.Error
		for _, text := range []string{"INSERT NODE '%s'", "INSERT EDGES 1 -> '%s'", "NEIGHBORS OF '%s'", "NODES WHERE node = '%s'"} {
			_, err := query.Run(ctx, g, strings.Replace(text, "%s", bad.key, 1))
			check(text, err, nil)
			if !errors.As(err, &at) || at.Col == 0 {
				t.Errorf("%s in %s: %v has no place", name, text, err)
			}
		}
		for _, text := range []string{"INSERT NODE ?", "INSERT EDGES 1 -> ?", "PREDICT LINKS FOR ?", "WARM ?"} {
			_, err := query.Run(ctx, g, text, bad.key)
			check(text, err, db.ErrInput)
		}
		_, err := query.Run(ctx, g, "PREDICT LINKS FOR $a", sql.Named("a", []string{bad.key}))
		check("a slice", err, db.ErrInput)
		check("Go", g.Update(ctx, func(tx *db.Tx) error { return tx.PutEdge(1, bad.key) }), db.ErrInput)
		check("Go, PutNode", g.Update(ctx, func(tx *db.Tx) error { return tx.PutNode(db.Node{Key: db.Str(bad.key)}) }), db.ErrInput)
		if name == "empty" {
			continue // a list separated by blanks cannot have it
		}
		for _, what := range []string{"EDGES", "NODES", "FEATURES"} {
			if err := os.WriteFile("list.txt", []byte("1 2\n"+bad.key+" 3\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = query.Run(ctx, g, "LOAD "+what+" FROM 'list.txt'")
			check("LOAD "+what, err, db.ErrLines)
			if err == nil || !strings.Contains(err.Error(), "line 2") {
				t.Errorf("LOAD %s: %v", what, err)
			}
		}
	}
	if out := story(g, "NODES"); out != "node | label | edges | degree\n" {
		t.Error(out)
	}
}

// An argument that is not a text or a number is refused with its position. A file name that cannot
// exist is an error, too.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	for _, c := range []struct {
		text string
		arg  any
	}{
		{"EXPORT EDGES TO ?", "a\x00.csv"}, {"BACKUP TO ?", "a\x00"}, {"LOAD NODES FROM ?", "a\x00"}, {"EXPORT LOG TO ?", ""}, {"LOAD EDGES FROM ?", ""},
		{"SET model = ?", "a\x00"}, {"NEIGHBORS OF 1 DEPTH ?", 1 << 62}, {"NODES TOP ?", uint64(1 << 63)}, {"SET max_rows = ?", -1},
		{"INSERT EDGES 1 -> 2 AT ?", "now"}, {"INSERT EDGES 1 -> 2 AT ?", int64(1700000000000)}, {"INSERT EDGES 1 -> 2 AT ?", time.UnixMilli(1700000000000000)}, {"INSERT EDGES 1 -> 2 AT ?", 1e30}, {"INSERT NODE 1 FEATURES (?)", []any{1, nil}},
	} {
		_, err := query.Run(ctx, g, c.text, c.arg)
		var at *query.Error
		if !errors.As(err, &at) {
			t.Errorf("%s with %q: %v", c.text, c.arg, err)
		}
	}
}

// A statement of the maximum length runs. A longer one is refused before it is parsed.
func TestLongStatements(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	text := "MERGE EDGES 1 -> 2"
	text += strings.Repeat(", 1 -> 2", (1<<20-len(text))/8)
	if _, err := query.Run(ctx, g, text); err != nil {
		t.Errorf("%.99v", err)
	}
	if _, err := query.Run(ctx, g, text+", 1 -> 2"); err == nil || !strings.Contains(err.Error(), "statement is longer than 1 MiB") {
		t.Errorf("%.99v", err)
	}
}

// An answer whose rows take more than their share of the memory is refused, unless TOP limits it.
func TestRowsTooLarge(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	var list strings.Builder
	for i := range 120_000 {
		fmt.Fprintln(&list, 0, i)
	}
	if _, err := g.Load(t.Context(), strings.NewReader(list.String()), db.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"NODES", "NEIGHBORS OF 0"} {
		if _, err := query.Run(t.Context(), g, text); !errors.Is(err, db.ErrTooLarge) {
			t.Errorf("%s: %v", text, err)
		}
		if rows, err := query.Run(t.Context(), g, text+" TOP 1000"); err != nil || len(rows.Rows) != 1000 {
			t.Errorf("%s TOP 1000: %v", text, err)
		}
	}
}

// BenchmarkNeighbors measures a statement with a small answer on a database on the disk.
func BenchmarkNeighbors(b *testing.B) {
	g := dbtest.Open(b, nil)
	if _, err := g.Load(b.Context(), strings.NewReader("0 1\n0 2\n"), db.LoadOptions{}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := query.Run(b.Context(), g, "NEIGHBORS OF 0"); err != nil {
			b.Fatal(err)
		}
	}
}
