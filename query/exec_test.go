package query_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
	"kith/query/internal/parse"
)

// TestExec runs scripts of statements, each in a session and a directory of its own. The command
// file writes its input to a file of the given name there, cat prints a file, wait waits for a
// while, other runs statements in another session.
func TestExec(t *testing.T) {
	datadriven.Walk(t, "testdata/exec", func(t *testing.T, path string) {
		now := time.Unix(1_700_000_000, 0)
		o := &db.Options{InMemory: true, Memory: 64 << 20, Now: func() time.Time { return now }}
		if strings.HasPrefix(filepath.Base(path), "directed") {
			o.Direction = db.Directed
		}
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		g := dbtest.Open(t, o)
		session := &query.Session{DB: g}
		t.Cleanup(func() {
			if err := session.Close(); err != nil {
				t.Error(err)
			}
		})
		t.Chdir(t.TempDir())
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "file":
				if err := os.WriteFile(d.CmdArgs[0].Key, []byte(d.Input+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				return ""
			case "cat":
				b, err := os.ReadFile(d.CmdArgs[0].Key)
				if err != nil {
					t.Fatal(err)
				}
				return fraction.ReplaceAllStringFunc(string(b), func(s string) string {
					x, _ := strconv.ParseFloat(s, 64)
					return fmt.Sprintf("%.4g", x)
				})
			case "query":
				return tell(session, d.Input)
			case "other":
				return story(g, d.Input)
			case "wait":
				pause, err := time.ParseDuration(d.CmdArgs[0].Key)
				if err != nil {
					t.Fatal(err)
				}
				now = now.Add(pause)
				return ""
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

// fraction matches a number with more digits than are the same on all machines.
var fraction = regexp.MustCompile(`\d+\.\d{5,}`)

// story runs statements in a new session.
func story(g *db.DB, text string) string {
	s := &query.Session{DB: g}
	return tell(s, text) + orNothing(s.Close())
}

// orNothing returns the text of an error and a newline, or "" for nil.
func orNothing(err error) string {
	if err == nil {
		return ""
	}
	return err.Error() + "\n"
}

// tell runs statements and returns their rows and errors as text.
func tell(s *query.Session, text string) string {
	var out strings.Builder
	for f, err := range parse.Split(strings.NewReader(text)) {
		stmt, err := parsed(f, err)
		if err == nil {
			var rows *query.Rows
			if rows, err = s.Exec(context.Background(), stmt); err == nil {
				write(&out, rows)
			}
		}
		if err != nil {
			fmt.Fprintf(&out, "%v\n", err)
			if caret := f.Caret(err); caret != "" {
				fmt.Fprintf(&out, "%s\n", caret)
			}
		}
	}
	return out.String()
}

func parsed(f parse.Fragment, err error) (*parse.Statement, error) {
	if err != nil {
		return nil, err
	}
	return f.Parse()
}

func write(out *strings.Builder, rows *query.Rows) {
	fmt.Fprintln(out, strings.Join(rows.Columns, " | "))
	for _, row := range rows.Rows {
		fields := make([]string, len(row))
		for i, v := range row {
			switch v := v.(type) {
			case nil:
				fields[i] = "-"
			case float64:
				fields[i] = fmt.Sprintf("%.4g", v)
			case db.Key:
				fields[i] = v.Literal()
			default:
				fields[i] = fmt.Sprint(v)
			}
		}
		fmt.Fprintln(out, strings.Join(fields, " | "))
	}
	for _, n := range rows.Notes {
		fmt.Fprintln(out, "note:", n)
	}
}

func TestRunArguments(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	for _, c := range []struct {
		text string
		args []any
		want string // text of the first row, or of the error
	}{
		{"INSERT EDGES ? -> ? WEIGHT ?", []any{"alice", uint8(7), 2.5}, "[1 0 2]"},
		{"INSERT EDGES $a -> $b AT $t", []any{sql.Named("a", db.Str("alice")), sql.Named("b", "bob"), sql.Named("t", 1700000000)}, "[1 0 1]"},
		{"NEIGHBORS OF ? TOP ?", []any{"alice", 1}, "[alice 7 1 2.5 <nil> <nil> 2.5]"},
		{"PREDICT LINKS FOR ? AMONG (?)", []any{7, "bob"}, ""},
		{"NEIGHBORS OF ?", nil, "1:14: parameter ? number 1 has no argument: 0 are given"},
		{"NEIGHBORS OF $who", []any{sql.Named("whom", 1)}, "1:14: parameter $who has no argument"},
		{"SHOW STATS", []any{1}, "1:1: 1 arguments are given for 0 parameters ?"},
		{"NEIGHBORS OF ?", []any{1.5}, "1:14: 1.5 (a number) is no key, want an integer or a string"},
		{"NEIGHBORS OF ?", []any{nil}, "1:14: null is no key, want an integer or a string"},
		{"NEIGHBORS OF ? DEPTH ?", []any{"alice", 0}, "1:22: 0 is not an integer of at least 1"},
		{"INSERT EDGES 1 -> 2 WEIGHT ?", []any{"heavy"}, "1:28: 'heavy' (a string) is not a finite number"},
		{"LOAD EDGES FROM ?", []any{3}, "1:17: 3 (an integer) is not a string"},
		{"INSERT EDGES 'a' -> 'b' AT ?", []any{time.Unix(7, 0)}, "[1 0 2]"},
		{"MERGE EDGES 'a' -> 'b' AT ?", []any{"2004-11-01T00:00:00+02"}, "[0 1 0]"},
		{"MERGE EDGES 'a' -> 'b' AT ?", []any{1099267200.75}, "[0 1 0]"},
		{"INSERT NODE 'v' FEATURES (?, 3)", []any{[]float32{1, 2}}, "[v <nil> 3 0]"},
		{"WARM ?, 7", []any{[]string{"alice", "bob"}}, "[3]"},
		{"PREDICT LINKS FOR $all AMONG ($all, 'a') WHERE target IN ($all) RETURN source, target", []any{sql.Named("all", []any{"alice", 7})}, "[alice 7]"},
		{"RANK NODES FOR ? TOP 1 WITH (cache = off)", []any{[]int{7}}, ""},
		{"PREDICT LINKS FOR ? AMONG (?)", []any{"alice", []string{}}, "none"},
		{"PREDICT LINKS FOR 7, ?", []any{[]any{"alice", "nobody"}}, "1:22: no node 'nobody'"},
		{"PREDICT LINKS FOR ?", []any{[]byte("alice")}, "1:19: [97 108 105 99 101] ([]uint8) is no key, want an integer or a string"},
		{"NEIGHBORS OF ?", []any{[]int{7}}, "1:14: [7] ([]int) is no key, want an integer or a string"},
		{"INSERT NODE 'w' FEATURES (?)", []any{[]string{"x"}}, "1:27: 'x' (a string) is not a finite number"},
		{"EXPORT EDGES TO ?", []any{7}, "1:17: 7 (an integer) is not a string"},
		{"BACKUP TO $file", nil, "1:11: parameter $file has no argument"},
		{"SET timeout = ?", []any{time.Minute}, "[timeout 1m0s]"},
	} {
		rows, err := query.Run(ctx, g, c.text, c.args...)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(append(rows.Rows, []any{"none"})[0])
		}
		got = strings.Replace(got, "[none]", "none", 1)
		if c.want != "" && got != c.want {
			t.Errorf("%s %v\n got %s\nwant %s", c.text, c.args, got, c.want)
		}
		if c.want == "" && err != nil {
			t.Errorf("%s %v: %v", c.text, c.args, err)
		}
	}
}

// errors.Is finds the errors of the database in the errors of statements.
func TestRunErrors(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	if _, err := query.Run(context.Background(), g, "INSERT EDGES 1 -> 2"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		want error
	}{
		{"PREDICT LINKS FOR 9", db.ErrNotFound},
		{"PREDICT LINKS FOR 1 AMONG LABEL x", db.ErrNotFound},
		{"PREDICT LINKS FOR 1 USING m", db.ErrNoModel},
		{"OBSERVE 1 -> 2 = 1 USING m", db.ErrNoModel},
		{"DROP MODEL m", db.ErrNoModel},
		{"TRAIN MODEL m", db.ErrNoModel},
		{"INSERT NODE 1", db.ErrExists},
		{"INSERT EDGES 1 -> 2 WEIGHT -1", db.ErrInput},
		{"CREATE MODEL m USING nothing", db.ErrInput},
		{"DELETE EDGES 1 -> 1", db.ErrNotFound},
		{"LOAD EDGES FROM 'session_is_no_list'", os.ErrNotExist},
	} {
		_, err := query.Run(context.Background(), g, c.text)
		var at *query.Error
		if !errors.Is(err, c.want) || !errors.As(err, &at) {
			t.Errorf("%s: %v, want %v at a position", c.text, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := query.Run(ctx, g, "SHOW STATS"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// PREDICT only reads: the version of the graph does not change, and neither does the answer.
func TestPredictWritesNothing(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	text := "PREDICT LINKS FOR 1 WITH (cache = off)"
	var first string
	for i := range 3 {
		out := story(g, "MERGE EDGES 1 -> 2, 2 -> 3, 3 -> 4, 4 -> 2;")
		if i > 0 && !strings.Contains(out, "\n0 | 4 | 0\n") {
			t.Fatal(out)
		}
		before := story(g, "SHOW STATS")
		got := story(g, text)
		if i == 0 {
			first = got
		}
		if got != first || story(g, "SHOW STATS") != before {
			t.Fatalf("round %d: %s, first %s", i, got, first)
		}
	}
}
