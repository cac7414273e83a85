package query

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/query/internal/parse"
)

// examples returns a statement of every form.
func examples(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("internal/parse/testdata/examples.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// Every statement can be explained, which does not run it, and profiled, which shows at least its
// total time.
func TestEveryStatementExplained(t *testing.T) {
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	all := examples(t)
	t.Chdir(t.TempDir())
	s := &Session{DB: g}
	for _, text := range []string{
		"INSERT EDGES 1 -> 2, 2 -> 3, 'a' -> 1, 'x' -> 2", "MERGE NODE 2 LABEL item", "CREATE MODEL m USING prb WITH (width = 4)",
		"CREATE MODEL stream USING ppr", "EXPORT EDGES TO 'a.txt'",
	} {
		if _, err := s.Run(ctx, text); err != nil {
			t.Fatal(text, err)
		}
	}
	for _, text := range all {
		stmt, err := parse.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if stmt.Explained() != nil {
			continue
		}
		var args []any
		for range strings.Count(text, "?") {
			args = append(args, 1)
		}
		seq := version(t, g)
		rows, err := s.Run(ctx, "EXPLAIN "+text, append(args, sql.Named("who", 1), sql.Named("x", 1), sql.Named("n", 1))...)
		if err == nil && len(rows.Rows) == 0 && len(rows.Notes) == 0 || version(t, g) != seq || s.InTransaction() {
			t.Errorf("EXPLAIN %s: %v, %v", text, rows, err)
		}
		rows, err = s.Run(ctx, "PROFILE "+text, args...)
		if err == nil && !slices.ContainsFunc(rows.Rows, func(row []any) bool { return row[3] != nil }) {
			t.Errorf("PROFILE %s: %v", text, rows.Rows)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func version(t *testing.T, g *db.DB) (v uint64) {
	t.Helper()
	err := g.View(context.Background(), func(tx *db.Tx) error {
		v = tx.Stats().Version
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Every statement either is part of a transaction or reports that it cannot be; none waits for its
// own transaction.
func TestEveryStatementInATransaction(t *testing.T) {
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	all := examples(t)
	t.Chdir(t.TempDir()) // for exported files
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for _, text := range all {
		for _, begin := range []string{"BEGIN", "BEGIN READ ONLY"} {
			s := &Session{DB: g}
			if _, err := s.Run(ctx, begin); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Run(ctx, text); errors.Is(err, ctx.Err()) && ctx.Err() != nil {
				t.Fatalf("%s: %s: %v", begin, text, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
