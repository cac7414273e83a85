package query

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/db"
)

// No sequence of statements, in transactions or outside of them, panics, takes longer than allowed or corrupts the
// database.
func TestRandomStatements(t *testing.T) {
	t.Chdir(t.TempDir()) // for exported files
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		g, err := db.Open("", &db.Options{InMemory: true, Memory: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		s := &Session{DB: g}
		defer s.Close()
		for _, text := range []string{
			"INSERT EDGES 1 -> 2, 2 -> 3, 'a' -> 1, 'b' -> 2", "MERGE NODE 3 LABEL item", "MERGE NODE 'a' LABEL user FEATURES (1, 2)",
			"CREATE MODEL m USING prb WITH (width = 4)", "CREATE MODEL n USING ppr",
		} {
			if _, err := s.Run(ctx, text); err != nil {
				t.Fatal(err)
			}
		}
		s.Settings.Timeout = 100 * time.Millisecond
		for range rapid.IntRange(1, 30).Draw(t, "statements") {
			gen := &generator{t: t, few: true}
			stmt := gen.statement()
			t.Log(stmt)
			start := time.Now()
			_, err := s.Exec(ctx, stmt, gen.arguments(stmt)...)
			if took := time.Since(start); took > 20*time.Second {
				t.Fatalf("it took %v", took)
			}
			if errors.Is(err, db.ErrCorrupt) {
				t.Fatal(err)
			}
			if a, ok := stmt.(*Assign); ok && a.Name == "timeout" {
				s.Settings.Timeout = 100 * time.Millisecond
			}
		}
		if err := errors.Join(s.Close(), g.Check(ctx)); err != nil {
			t.Fatal(err)
		}
	})
}

// arguments draws the arguments of a statement.
func (g *generator) arguments(stmt Statement) (args []any) {
	draw := func() any {
		return rapid.SampledFrom([]any{1, "a", 2.5, nil, []int{1, 2}, []string{"a", "e.csv"}, uint8(3), int64(-1), time.Second}).Draw(g.t, "argument")
	}
	for range g.params {
		args = append(args, draw())
	}
	for _, v := range params(stmt) {
		if p, ok := v.(Param); ok && p.Name != "" {
			args = append(args, sql.Named(p.Name, draw()))
		}
	}
	return args
}
