package query

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/query/internal/parse"
)

// A session that is Confined runs no statement with a file in its grammar or its options, and none
// that outlives it.
func TestConfined(t *testing.T) {
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	all := examples(t)
	t.Chdir(t.TempDir())
	for _, text := range all {
		stmt, err := parse.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		has := accessOf(stmt)
		inner := stmt
		if stmt.Explained() != nil {
			inner = stmt.Explained()
		}
		k := actionOf(inner)
		files := strings.Contains(grammarOf(inner.Form), " file")
		if k.options != nil {
			for _, o := range k.options(inner, func(string) bool { return false }) {
				files = files || strings.Contains(o.accepts, "file")
			}
		}
		if files && has&(reads|edits) != 0 && stmt.Form != "EXPLAIN" {
			t.Errorf("%s may access a file", text)
		}
		if has&reads != 0 && has&edits != 0 {
			t.Errorf("%s reads and edits", text)
		}
		before := version(t, g)
		s := &Session{DB: g, Confined: true}
		var args []any
		for range strings.Count(text, "?") {
			args = append(args, 1)
		}
		_, err = s.Run(t.Context(), text, append(args, sql.Named("who", 1), sql.Named("x", 1), sql.Named("n", 1), sql.Named("negatives", "f"), sql.Named("file", "f"))...)
		if refused := errors.Is(err, ErrRefused); refused != (has&(reads|edits) == 0) || refused && (version(t, g) != before || s.InTransaction()) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// grammarOf returns the grammar of a kind of statement.
func grammarOf(kind string) string {
	for _, k := range parse.Forms() {
		if k.Name == kind {
			return k.Grammar
		}
	}
	return ""
}

// A statement that fails with the error of its context has changed nothing, at whatever moment the
// context ends.
func TestCancelledEdits(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"INSERT EDGES 8 -> 9, 9 -> 10", "MERGE NODE 1 LABEL person", "DELETE NODE 1", "ERASE NODE 1", "ERASE NODE 1 WITH (retrain = on)", "DELETE EDGES 1 -> 2",
		"OBSERVE 1 -> 3 = 1 USING m", "CHOOSE LINK FOR 1 AMONG ALL USING m", "REWARD 1 = 1",
		"CREATE MODEL n USING prb WITH (width = 4)", "TRAIN MODEL m WITH (epochs = 1)", "TRAIN MODEL m FROM LOG WITH (epochs = 1)",
		"FREEZE MODEL m", "DROP MODEL m",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			cancelEdit(t, text)
		})
	}
}

// cancelEdit cancels a statement at its first checks of the context, at some in the middle, and at
// its last ones.
func cancelEdit(t *testing.T, text string) {
	_, all := cancelAt(t, text, 0)
	for at := range all {
		if at = at + 1; at <= 3 || at == all/3 || at == all/2 || at > all-8 {
			if cancelled, _ := cancelAt(t, text, at); !cancelled && at < all/2 {
				t.Errorf("check %d of %d does not cancel the statement", at, all)
			}
		}
	}
}

// cancelAt runs a statement on a new database, cancels it at a check of its context, and compares
// its error with what has changed. It returns the number of checks.
func cancelAt(t *testing.T, text string, at int) (cancelled bool, checks int) {
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	for _, before := range []string{
		"INSERT EDGES 1 -> 2, 2 -> 3, 3 -> 4, 4 -> 1, 1 -> 5", "CREATE MODEL m USING prb WITH (width = 4)",
		"CHOOSE LINK FOR 1 AMONG ALL USING m", "OBSERVE 1 -> 4 = 1 USING m",
	} {
		if _, err := Run(t.Context(), g, before); err != nil {
			t.Fatal(before, err)
		}
	}
	before, ctx := observable(t, g), dbtest.NewCountdown(at)
	_, err := Run(ctx, g, text)
	if cancelled = errors.Is(err, context.Canceled); err != nil && !cancelled {
		t.Fatalf("check %d: %v", at, err)
	}
	if changed := observable(t, g) != before; changed == cancelled {
		t.Errorf("check %d: error %v, and the database has changed: %t", at, err, changed)
	}
	return cancelled, ctx.Checks()
}

// observable returns what a statement can change.
func observable(t *testing.T, g *db.DB) string {
	t.Helper()
	var b strings.Builder
	for _, text := range []string{"NEIGHBORS OF 1, 2, 8", "NODES", "SHOW MODELS", "SHOW VERSIONS OF m", "DESCRIBE MODEL m", "SHOW DECISIONS"} {
		rows, err := Run(t.Context(), g, text)
		if rows != nil {
			for _, row := range rows.Rows {
				fmt.Fprintln(&b, row...)
			}
		} else {
			fmt.Fprintln(&b, err)
		}
	}
	return b.String()
}
