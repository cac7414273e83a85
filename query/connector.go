package query

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"kith/db"
	"kith/db/words"
	"kith/query/internal/parse"
)

// Connector opens a database for database/sql:
//
//	pool := sql.OpenDB(query.Connector(g))
//
// A statement takes ? and $name parameters (sql.Named). In addition to the types that database/sql
// supports, an argument may be a db.Key, db.Candidates, a time.Duration or a slice of nodes. Query
// returns the rows of the answer; a node is an int64 or a string. After Exec, RowsAffected is the
// number of nodes and edges added, changed or deleted or, if the answer has no such columns, its
// number of rows.
//
// BeginTx begins a transaction of the database. Unless it is ReadOnly, all other writes wait until
// it ends. BEGIN and SET hold for their connection (sql.Conn) until the connection returns to the
// pool. Closing the pool leaves the database open.
//
// Errors begin with "kith: "; errors.As finds an [*Error] in them, and errors.Is the database's
// error.
func Connector(g *db.DB) driver.Connector { return connector{g} }

type connector struct{ g *db.DB }

// Connect implements [driver.Connector].
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn := &conn{Session{DB: c.g}}
	return conn, conn.Ping(ctx)
}

// Driver implements [driver.Connector].
func (c connector) Driver() driver.Driver { return c }

// Open implements [driver.Driver].
func (c connector) Open(string) (driver.Conn, error) {
	return nil, sqlErrorf("%w: a database is opened by sql.OpenDB(query.Connector(g))", db.ErrInput)
}

// conn is a session in a connection pool. One goroutine uses it at a time.
type conn struct{ session Session }

// Ping implements [driver.Pinger].
func (c *conn) Ping(ctx context.Context) error {
	return sqlError(c.session.DB.View(ctx, func(*db.Tx) error { return nil }))
}

// IsValid implements [driver.Validator]: a connection with an open transaction does not return to
// the pool.
func (c *conn) IsValid() bool { return !c.session.InTransaction() }

// ResetSession implements [driver.SessionResetter].
func (c *conn) ResetSession(context.Context) error {
	c.session.Settings = Settings{}
	return nil
}

// Close implements [driver.Conn].
func (c *conn) Close() error { return sqlError(c.session.Close()) }

// Begin implements [driver.Conn].
func (c *conn) Begin() (driver.Tx, error) { return c.BeginTx(context.Background(), driver.TxOptions{}) }

// BeginTx implements [driver.ConnBeginTx]. Transactions are serializable because there is one
// writer at a time.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	switch level := sql.IsolationLevel(o.Isolation); level {
	case sql.LevelDefault, sql.LevelSnapshot, sql.LevelSerializable:
	default:
		return nil, sqlErrorf("%w: isolation level %v (accepted: default, snapshot, serializable)", db.ErrInput, level)
	}
	text := "BEGIN"
	if o.ReadOnly {
		text = "BEGIN READ ONLY"
	}
	_, err := c.session.Run(ctx, text)
	return connTx{c}, sqlError(err)
}

// driverError is an error of the driver. Its text begins with the name of the product and leaves
// out the names of packages.
type driverError struct{ error }

// Error implements error.
func (e driverError) Error() string { return "kith: " + words.Plain(e.error) }

// Unwrap returns the error of the session.
func (e driverError) Unwrap() error { return e.error }

// sqlError wraps an error in a driverError.
func sqlError(err error) error {
	if err == nil {
		return nil
	}
	return driverError{err}
}

func sqlErrorf(format string, args ...any) error { return driverError{fmt.Errorf(format, args...)} }

// connTx is the transaction of a connection.
type connTx struct{ conn *conn }

// Commit implements [driver.Tx].
func (t connTx) Commit() error { return t.end((*db.Tx).Commit) }

// Rollback implements [driver.Tx].
func (t connTx) Rollback() error { return t.end((*db.Tx).Rollback) }

func (t connTx) end(how func(*db.Tx) error) error {
	if !t.conn.session.InTransaction() {
		return sqlErrorf("%w: a statement has ended the transaction", db.ErrClosed)
	}
	return sqlError(t.conn.session.endWith(how))
}

// Prepare implements [driver.Conn].
func (c *conn) Prepare(text string) (driver.Stmt, error) {
	s, err := parse.Parse(text)
	return &prepared{c, s}, sqlError(err)
}

// CheckNamedValue implements [driver.NamedValueChecker].
func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	switch x := v.Value.(type) {
	case db.Key, db.Candidates, time.Duration: // database/sql would convert a Duration to a number of nanoseconds
		return nil
	case sql.Out:
		return sqlErrorf("%w: a statement has no sql.Out parameters", db.ErrInput)
	case []byte:
		v.Value = string(x)
		return nil
	}
	if _, own := v.Value.(driver.Valuer); !own && reflect.ValueOf(v.Value).Kind() == reflect.Slice {
		return nil
	}
	x, err := driver.DefaultParameterConverter.ConvertValue(v.Value)
	if err != nil {
		return sqlErrorf("%w: %w", db.ErrInput, err)
	}
	v.Value = x
	return nil
}

// prepared is a parsed statement.
type prepared struct {
	conn      *conn
	statement *parse.Statement
}

// Close implements [driver.Stmt].
func (s *prepared) Close() error { return nil }

// NumInput implements [driver.Stmt]. It returns -1 because the session reports a missing argument
// more precisely, with its position.
func (s *prepared) NumInput() int { return -1 }

// run runs the statement.
func (s *prepared) run(ctx context.Context, values []driver.NamedValue) (*Rows, error) {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v.Value
		if v.Name != "" {
			args[i] = sql.Named(v.Name, v.Value)
		}
	}
	rows, err := s.conn.session.Exec(ctx, s.statement, args...)
	return rows, sqlError(err)
}

// ExecContext implements [driver.StmtExecContext].
func (s *prepared) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	rows, err := s.run(ctx, args)
	return result{rows}, err
}

// QueryContext implements [driver.StmtQueryContext].
func (s *prepared) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.run(ctx, args)
	return &answer{rows: rows}, err
}

// Exec implements [driver.Stmt]. It is not used, because there is ExecContext.
func (s *prepared) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }

// Query implements [driver.Stmt]. It is not used, because there is QueryContext.
func (s *prepared) Query([]driver.Value) (driver.Rows, error) { return nil, errors.ErrUnsupported }

// result is the result of a statement run with Exec.
type result struct{ rows *Rows }

// LastInsertId implements [driver.Result].
func (r result) LastInsertId() (int64, error) {
	return 0, sqlErrorf("nodes have keys of their own, no insert id")
}

// RowsAffected implements [driver.Result].
func (r result) RowsAffected() (n int64, err error) {
	counts := false
	for i, name := range r.rows.Columns {
		thing, change, _ := strings.Cut(name, "_")
		if thing != "nodes" && thing != "edges" || change == "" {
			continue
		}
		counts = true
		for _, row := range r.rows.Rows {
			if by, ok := row[i].(int64); ok {
				n += by
			}
		}
	}
	if !counts {
		n = int64(len(r.rows.Rows))
	}
	return n, nil
}

// answer iterates over rows.
type answer struct {
	rows *Rows
	next int
}

// Columns implements [driver.Rows].
func (c *answer) Columns() []string { return c.rows.Columns }

// Close implements [driver.Rows].
func (c *answer) Close() error { return nil }

// Next implements [driver.Rows].
func (c *answer) Next(dest []driver.Value) error {
	if c.next == len(c.rows.Rows) {
		return io.EOF
	}
	for i, v := range c.rows.Rows[c.next] {
		if k, ok := v.(db.Key); ok {
			v = k.Value()
		}
		dest[i] = v
	}
	c.next++
	return nil
}

// columnType returns the type of the values of a column, or nil if it is mixed or unknown, and
// whether a value is nil.
func (c *answer) columnType(i int) (t reflect.Type, null bool) {
	for _, row := range c.rows.Rows {
		switch of := reflect.TypeOf(row[i]); {
		case of == nil:
			null = true
		case t == nil:
			t = of
		case t != of:
			return nil, true
		}
	}
	return t, null
}

// ColumnTypeDatabaseTypeName implements [driver.RowsColumnTypeDatabaseTypeName]. It returns "" for
// a column whose type is mixed or unknown.
func (c *answer) ColumnTypeDatabaseTypeName(i int) string {
	t, _ := c.columnType(i)
	return map[reflect.Type]string{
		reflect.TypeFor[db.Key](): "NODE", reflect.TypeFor[int64](): "INTEGER", reflect.TypeFor[float64](): "FLOAT",
		reflect.TypeFor[bool](): "BOOLEAN", reflect.TypeFor[string](): "TEXT",
	}[t]
}

// ColumnTypeScanType implements [driver.RowsColumnTypeScanType]. A node is an int64 or a string.
func (c *answer) ColumnTypeScanType(i int) reflect.Type {
	if t, _ := c.columnType(i); t != nil && t != reflect.TypeFor[db.Key]() {
		return t
	}
	return reflect.TypeFor[any]()
}

// ColumnTypeNullable implements [driver.RowsColumnTypeNullable].
func (c *answer) ColumnTypeNullable(i int) (nullable, ok bool) {
	_, nullable = c.columnType(i)
	return nullable, true
}
