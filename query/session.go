package query

import (
	"context"
	"errors"
	"io"
	"regexp"

	"kith/db"
	"kith/model/trial"
	"kith/query/parse"
)

// Error is a fault in a statement and its position.
type Error = parse.Error

// Session runs statements on a database. It must not be used by several goroutines at once, because it may hold a
// transaction. Close it before the database.
type Session struct {
	DB *db.DB
	// Progress is called during long statements such as LOAD and TRAIN. It may be nil.
	Progress func(Progress)
	// Plot writes the regret curves of EVALUATE STREAM as an SVG picture. If it is nil, the option plot is refused.
	Plot func(w io.Writer, curves *trial.Result, title string) error
	// ReadOnly refuses statements that change the database, access a file or play policies.
	ReadOnly bool
	// Settings are the settings that SET changes.
	Settings Settings

	tx *db.Tx // the transaction opened by BEGIN; nil means that each statement has its own
}

// Progress reports how far a long statement has come.
type Progress struct {
	What        string // unit of Done and Total
	Done, Total int64  // Total is 0 if it is unknown
}

// Bytes is the unit of a file being read: its bytes as stored, before decompression.
const Bytes = "bytes"

// Run runs one statement on g; see [Session.Run].
func Run(ctx context.Context, g *db.DB, text string, args ...any) (*Rows, error) {
	return (&Session{DB: g}).Run(ctx, text, args...)
}

// Run parses and runs one statement. The arguments replace its parameters: in order for ?, an sql.NamedArg for each
// $name. A fault at a place in the statement is an [*Error] with its position; errors.Is finds the database's error.
func (s *Session) Run(ctx context.Context, text string, args ...any) (*Rows, error) {
	stmt, err := parse.Parse(text)
	if err != nil {
		return nil, err
	}
	return s.Exec(ctx, stmt, args...)
}

// Exec runs a parsed statement, in a transaction of its own or in the open one.
func (s *Session) Exec(ctx context.Context, stmt parse.Statement, args ...any) (*Rows, error) {
	r := run{session: s, ctx: ctx, seed: s.Settings.Seed}
	if err := r.bind(stmt, args); err != nil {
		return nil, err
	}
	if s.ReadOnly && accessOf(stmt)&reads == 0 {
		return nil, &Error{Pos: stmt.Position(), Msg: verb(stmt) + " is refused here, where statements only look at the database", Err: db.ErrReadOnly}
	}
	if s.tx != nil && accessOf(stmt)&joins == 0 {
		return nil, &Error{Pos: stmt.Position(), Msg: verb(stmt) + " cannot be part of a transaction: COMMIT or ROLLBACK first", Err: db.ErrInput}
	}
	rows, err := r.limited(stmt)
	if err != nil {
		return nil, r.positioned(stmt.Position(), err)
	}
	if stmt.Kind() != "SHOW SETTINGS" {
		r.cut(rows)
	}
	return rows, nil
}

// run is a statement being run.
type run struct {
	session *Session
	ctx     context.Context
	args    []any                 // arguments of ?
	named   map[string]any        // arguments of $name
	kind    kind                  // of the statement
	places  map[db.Kind]parse.Pos // of names that the database resolves
	seed    uint64                // seed of random draws; 0 means that none was given
}

// exec runs a statement by the record of its kind.
func (r *run) exec(stmt parse.Statement) (*Rows, error) {
	r.kind = kindOf(stmt)
	return r.kind.run.do(r, stmt)
}

// positioned returns an error of the database with the position at, unless it has a position already or is not a fault
// of the statement, such as an error of the context or of the disk.
func (r *run) positioned(at parse.Pos, err error) error {
	var have *Error
	if errors.As(err, &have) || r.ctx.Err() != nil && errors.Is(err, r.ctx.Err()) {
		return err
	}
	if named := (*db.Error)(nil); errors.As(err, &named) {
		if place, ok := r.places[named.Kind]; ok {
			at = place
		}
		meant := named.DidYouMean
		if meant != "" {
			meant = parse.Name{Value: meant}.String()
		}
		return &Error{Pos: at, Msg: plainly(err), DidYouMean: meant, Err: err}
	}
	for _, fault := range []error{
		db.ErrInput, db.ErrNotFound, db.ErrExists, db.ErrNoModel, db.ErrReadOnly, db.ErrTooLarge, db.ErrLines,
		db.ErrNoDecision, db.ErrExpired, db.ErrRewarded, db.ErrRepeated,
	} {
		if errors.Is(err, fault) {
			return &Error{Pos: at, Msg: plainly(err), Err: err}
		}
	}
	return err
}

// plainly returns the text of an error without the names of packages, which mean nothing to the author of a statement,
// and without "bad input".
func plainly(err error) string {
	packages := regexp.MustCompile(`(^|: |\n)((db|index|model|edgelist|trial): (bad (input|option): )?)+`)
	return packages.ReplaceAllString(err.Error(), "$1")
}
