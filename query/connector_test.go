package query_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/db"
	"kith/db/dbtest"
	"kith/query"
)

// pool opens a database as database/sql does.
func pool(t testing.TB, g *db.DB) *sql.DB {
	t.Helper()
	p := sql.OpenDB(query.Connector(g))
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// table reads all rows of a query as text.
func table(t testing.TB, p interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, text string, args ...any) (lines []string) {
	t.Helper()
	rows, err := p.QueryContext(t.Context(), text, args...)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return nil
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Error(err)
	}
	values, places := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			t.Error(err)
		}
		lines = append(lines, fmt.Sprint(values...))
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
	return lines
}

func TestConnectorQueries(t *testing.T) {
	t.Parallel()
	p := pool(t, dbtest.Friends(t))
	seven, name := int64(7), "ann"
	for _, c := range []struct {
		text string
		args []any
		want []string
	}{
		{"PATH FROM ? TO ?", []any{"ann", 7}, []string{"0ann<nil>", "1bob1", "2dan1", "3 7 1"}},
		{"PATH FROM $a TO $b", []any{sql.Named("a", name), sql.Named("b", &name)}, []string{"0ann<nil>"}},
		{"DESCRIBE NODE ?", []any{db.Str("7")}, []string{"node7", "label<nil>", "edges1", "degree1"}},
		{"NODES WHERE node = ? OR node = ?", []any{[]byte("7"), &seven}, []string{"7 <nil> 2 2", "7<nil> 1 1"}},
		{"PREDICT LINKS FOR ? AMONG ? RETURN target", []any{sql.NullString{String: "ann", Valid: true}, []string{"dan"}}, []string{"dan"}},
		{"PREDICT LINKS FOR ? AMONG ? RETURN target", []any{7, db.Keys("ann")}, []string{"ann"}},
		{"PREDICT LINKS FOR ? AMONG ? RETURN target", []any{7, []db.Key{db.Str("ann")}}, []string{"ann"}},
		{"HELP DELETE NODE", nil, []string{"statementDELETE NODE", "summarydelete a node and its edges", "grammarDELETE NODE node", "exampleDELETE NODE 'ann';", "columnsnodes_deleted, edges_deleted", "nodeinteger | 'string' | parameter"}},
		{"NODES LABEL person RETURNING", nil, nil},
	} {
		if c.want == nil {
			if _, err := p.Query(c.text, c.args...); !errors.As(err, new(*query.Error)) {
				t.Errorf("%s: %v", c.text, err)
			}
			continue
		}
		if got := table(t, p, c.text, c.args...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestConnectorPrepared(t *testing.T) {
	t.Parallel()
	p := pool(t, dbtest.Friends(t))
	s, err := p.Prepare("PATH FROM ? TO ?")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				var step, node any
				var weight sql.NullFloat64
				if err := s.QueryRow("ann", "bob").Scan(&step, &node, &weight); err != nil || node != "ann" || weight.Valid {
					t.Errorf("%v %v %v, %v", step, node, weight, err)
				}
			}
		})
	}
	all.Wait()
	var fault *query.Error
	if _, err := s.Query("ann"); !errors.As(err, &fault) || fault.Col != 16 {
		t.Errorf("an argument is missing: %v", err)
	}
	if _, err := p.Prepare("PATH FROM"); !errors.As(err, &fault) {
		t.Errorf("half a statement: %v", err)
	}
}

func TestConnectorRefuses(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	p := pool(t, g)
	var out string
	for name, arg := range map[string]any{
		"sql.Out": sql.Named("n", sql.Out{Dest: &out}), "a function": func() {}, "a large number": uint64(1 << 63), "a struct": struct{}{},
	} {
		if _, err := p.Query("NODES TOP $n", arg); !errors.Is(err, db.ErrInput) {
			t.Errorf("%s: %v, want ErrInput", name, err)
		}
	}
	if _, err := p.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadUncommitted}); !errors.Is(err, db.ErrInput) {
		t.Errorf("dirty reads: %v", err)
	}
	if _, err := query.Connector(g).Driver().Open("x"); !errors.Is(err, db.ErrInput) {
		t.Errorf("by name: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.QueryContext(ctx, "NODES"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := errors.Join(p.Ping(), g.Close()); err != nil {
		t.Error(err)
	}
	if err := p.Ping(); !errors.Is(err, db.ErrClosed) {
		t.Errorf("of a closed database: %v", err)
	}
}

// A running statement ends when its context does.
func TestConnectorCancel(t *testing.T) {
	t.Parallel()
	p := pool(t, communities(t))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.QueryContext(ctx, endless()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestConnectorExec(t *testing.T) {
	t.Parallel()
	p := pool(t, dbtest.Friends(t))
	for _, c := range []struct {
		text     string
		affected int64
	}{
		{"MERGE EDGES 1 -> 2, 2 -> 3, 'ann' -> 'bob' WEIGHT 2", 6}, // two edges added, one changed, three nodes added
		{"DELETE EDGES 1 -> 2", 1}, {"DELETE NODE 2", 2}, {"INSERT NODE 9", 1}, {"ERASE NODE 9", 1}, {"DROP MODEL m", 1},
	} {
		r, err := p.Exec(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if n, err := r.RowsAffected(); n != c.affected || err != nil {
			t.Errorf("%s: %d rows affected, want %d: %v", c.text, n, c.affected, err)
		}
		if _, err := r.LastInsertId(); err == nil {
			t.Error("there is an insert id")
		}
	}
}

func TestConnectorTypes(t *testing.T) {
	t.Parallel()
	p := pool(t, dbtest.Friends(t))
	for text, want := range map[string][]string{
		"PATH FROM 'ann' TO 'bob'":         {"INTEGER int64 false", "NODE interface {} false", "FLOAT float64 true"},
		"PREDICT LINKS FOR 7 RETURN exact": {"BOOLEAN bool false"},
		"SHOW MODELS":                      nil,
		"DESCRIBE NODE 'dan'":              {"TEXT string false", " interface {} true"},
		"NODES WHERE edges > 100":          {" interface {} false", " interface {} false", " interface {} false", " interface {} false"},
	} {
		rows, err := p.Query(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		types, err := rows.ColumnTypes()
		if err != nil {
			t.Error(err)
		}
		var got []string
		for _, c := range types {
			null, _ := c.Nullable()
			got = append(got, fmt.Sprint(c.DatabaseTypeName(), " ", c.ScanType(), " ", null))
		}
		if want != nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		rows.Close()
	}
}

// A transaction sees its own writes, others do not see them, and a rollback discards them.
func TestConnectorTx(t *testing.T) {
	t.Parallel()
	p := pool(t, dbtest.Friends(t))
	count := func(on interface {
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	}) int {
		return len(table(t, on, "NODES"))
	}
	before := count(p)
	for _, commit := range []bool{false, true} {
		tx, err := p.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec("INSERT NODE ?", 1000); err != nil {
			t.Error(err)
		}
		if in, out := count(tx), count(p); in != before+1 || out != before {
			t.Errorf("%d nodes in the transaction and %d outside, of %d before", in, out, before)
		}
		end := tx.Rollback
		if commit {
			end = tx.Commit
		}
		if err := end(); err != nil {
			t.Error(err)
		}
		if n := count(p); (n == before+1) != commit {
			t.Errorf("commit %v: %d nodes of %d", commit, n, before)
		}
	}
	tx, err := p.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelSerializable})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("INSERT NODE 1001"); !errors.Is(err, db.ErrReadOnly) {
		t.Errorf("a write: %v", err)
	}
	if _, err := tx.Exec("COMMIT"); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(); !errors.Is(err, db.ErrClosed) {
		t.Errorf("committed twice: %v", err)
	}
}

// BEGIN and SET hold for the connection until it returns to the pool, and not for its next user.
func TestConnectorSession(t *testing.T) {
	t.Parallel()
	p := pool(t, dbtest.Friends(t))
	p.SetMaxOpenConns(1)
	c, err := p.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"SET max_rows = 1", "BEGIN", "INSERT NODE 1000"} {
		if _, err := c.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(table(t, c, "NODES")); n != 1 {
		t.Errorf("%d rows", n)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if got := table(t, p, "NODES WHERE node = 1000"); got != nil {
		t.Errorf("%q was not rolled back", got)
	}
	if n := len(table(t, p, "NODES")); n < 2 {
		t.Errorf("%d rows", n)
	}
	if _, err := p.Exec("SET max_rows = 1"); err != nil {
		t.Error(err)
	}
	if n := len(table(t, p, "NODES")); n < 2 {
		t.Errorf("%d rows", n)
	}
	if _, err := p.Exec("BEGIN"); err != nil { // the connection returns to the pool at once
		t.Error(err)
	}
	if _, err := p.Exec("INSERT NODE 1000"); err != nil {
		t.Error(err)
	}
}

// A time.Duration argument is taken as a duration, not as a number of seconds.
func TestConnectorDuration(t *testing.T) {
	t.Parallel()
	c, err := pool(t, dbtest.Friends(t)).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, text := range []string{"SET timeout = ?", "SET timeout = $t"} {
		arg := any(90 * time.Second)
		if strings.Contains(text, "$") {
			arg = sql.Named("t", 90*time.Second)
		}
		if _, err := c.ExecContext(t.Context(), text, arg); err != nil {
			t.Fatal(err)
		}
		var name, value, meaning any
		rows, err := c.QueryContext(t.Context(), "SHOW SETTINGS")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			if err := rows.Scan(&name, &value, &meaning); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil || name != "timeout" || value != "1m30s" {
			t.Errorf("%s: %v = %v, %v", text, name, value, err)
		}
	}
}

// Goroutines that share a pool increment a counter, each in transactions of its own.
func TestConnectorConcurrently(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	p := pool(t, g)
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range 10 {
				tx, err := p.Begin()
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := tx.Exec("INSERT EDGES ? -> ?", 100+w, 200+i); err != nil {
					t.Error(err)
				}
				end := tx.Commit
				if i%2 == 1 {
					end = tx.Rollback
				}
				if err := end(); err != nil {
					t.Error(err)
				}
				_ = table(t, p, "NEIGHBORS OF ?", 100+w)
			}
		})
	}
	all.Wait()
	if n := len(table(t, p, "NODES WHERE node IN (200, 201, 202, 203, 204, 205, 206, 207, 208, 209)")); n != 5 {
		t.Errorf("%d nodes, want 5", n)
	}
}

// TestConnectorErrors checks that errors begin with the name of the product, not of a package, and
// keep the errors that they wrap.
func TestConnectorErrors(t *testing.T) {
	t.Parallel()
	g := dbtest.Friends(t)
	p := pool(t, g)
	tx, err := p.Begin()
	if err != nil {
		t.Fatal(err)
	}
	_, ended := tx.Exec("COMMIT")
	for name, c := range map[string]struct {
		err    error
		wraps  error
		placed bool
	}{
		"query of no statement": {err: failure(p.Query("SELEC 1")), placed: true},
		"exec of no statement":  {err: failure(p.Exec("INSERT NODE")), placed: true},
		"prepare":               {err: failure(p.Prepare("WARM")), placed: true},
		"no node":               {err: failure(p.Query("NEIGHBORS OF 'nobody'")), wraps: db.ErrNotFound, placed: true},
		"node exists":           {err: failure(p.Exec("INSERT NODE 'ann'")), wraps: db.ErrExists, placed: true},
		"begin":                 {err: failure(p.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadUncommitted})), wraps: db.ErrInput},
		"commit":                {err: errors.Join(ended, tx.Commit()), wraps: db.ErrClosed},
		"by name":               {err: failure(query.Connector(g).Driver().Open("x")), wraps: db.ErrInput},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), "kith: ") || strings.Contains(c.err.Error(), "db: ") {
			t.Errorf("%s: the error is %q", name, c.err)
		}
		if c.wraps != nil && !errors.Is(c.err, c.wraps) {
			t.Errorf("%s: %v does not wrap %v", name, c.err, c.wraps)
		}
		if errors.As(c.err, new(*query.Error)) != c.placed {
			t.Errorf("%s: %v holds a place: %v, want %v", name, c.err, !c.placed, c.placed)
		}
	}
	done, err := p.Exec("MERGE NODE 1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := done.LastInsertId(); err == nil || !strings.HasPrefix(err.Error(), "kith: ") {
		t.Errorf("insert id: %v", err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Ping(); !errors.Is(err, db.ErrClosed) || !strings.HasPrefix(err.Error(), "kith: ") {
		t.Errorf("closed: %v", err)
	}
}

// failure returns the error of a call.
func failure[T any](_ T, err error) error { return err }
