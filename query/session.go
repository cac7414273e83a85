package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kith/db"
	"kith/db/edgelist"
	"kith/db/words"
	"kith/model"
	"kith/query/internal/parse"
)

// Error is a fault in a statement and its position.
type Error = parse.Error

// Session runs statements on a database. It must not be used by several goroutines at once, because
// it may hold a transaction. Close it before the database.
type Session struct {
	DB *db.DB
	// Progress is called during long statements such as LOAD and TRAIN. It may be nil.
	Progress func(Progress)
	// Tables reads and writes the Parquet files of LOAD and EXPORT: a parquet.Format. If it is nil,
	// they are refused.
	Tables edgelist.Tables
	// ReadOnly refuses statements that change the database, or access a file.
	ReadOnly bool
	// Confined refuses statements that access a file, or begin a transaction or change a setting
	// that would outlive them. A program that runs the statements of others sets it; to let them
	// only look, it sets ReadOnly.
	Confined bool
	// Truncates omits the note that says that there are more rows than Settings.MaxRows. A program
	// that tells its users itself sets it.
	Truncates bool
	// Settings are the settings that SET changes.
	Settings Settings

	tx *db.Tx // the transaction opened by BEGIN; nil means that each statement has its own
}

// Progress reports how far a long statement has come.
type Progress struct {
	What        string // unit of Done and Total
	Done, Total int64  // Total is 0 if it is unknown
	// Timed says that Done and Total measure estimated time. What then names the present
	// work of the statement, and Left the time until the end of this work.
	Timed bool
	Left  time.Duration
}

// String says how far the statement has come.
func (p Progress) String() string {
	switch {
	case p.Timed && p.Left <= 0:
		return p.What
	case p.Timed:
		return fmt.Sprintf("%s, about %v left", p.What, rounded(p.Left))
	case p.Total <= 0:
		return fmt.Sprintf("%d %s", p.Done, p.What)
	}
	return fmt.Sprintf("%d of %d %s", p.Done, p.Total, p.What)
}

// rounded rounds an estimate of the remaining time to one or two digits.
func rounded(left time.Duration) time.Duration {
	for unit := time.Second; ; unit *= 10 {
		if left < 30*unit {
			return max(left.Round(unit), time.Second)
		}
	}
}

// progress calls the session's Progress, if there is one.
func (r *run) progress(what string, done, total int64) {
	if tell := r.session.Progress; tell != nil {
		tell(Progress{What: what, Done: done, Total: total})
	}
}

// trainingProgress returns a meter that reports the progress of a training, or nil if the session
// has no Progress.
func (r *run) trainingProgress() *model.Meter {
	tell := r.session.Progress
	if tell == nil {
		return nil
	}
	return model.NewMeter(time.Now, func(s model.Progress) {
		tell(Progress{What: s.Doing, Done: int64(1000 * s.Done), Total: 1000, Timed: true, Left: s.Left})
	})
}

// progressOf returns a function that reports the progress in a unit.
func (r *run) progressOf(what string) func(done, total int) {
	return func(done, total int) { r.progress(what, int64(done), int64(total)) }
}

// progressOfLines reports the number of lines that are read or written.
func (r *run) progressOfLines(lines int64) { r.progress("lines", lines, 0) }

// Bytes is the unit of a file being read: its bytes as stored, before decompression.
const Bytes = "bytes"

// Run runs one statement on g; see [Session.Run].
func Run(ctx context.Context, g *db.DB, text string, args ...any) (*Rows, error) {
	return (&Session{DB: g}).Run(ctx, text, args...)
}

// Run parses and runs one statement. The arguments replace its parameters: in order for ?, an
// sql.NamedArg for each $name. A fault at a place in the statement is an [*Error] with its
// position; errors.Is finds the database's error.
func (s *Session) Run(ctx context.Context, text string, args ...any) (*Rows, error) {
	stmt, err := parse.Parse(text)
	if err != nil {
		return nil, err
	}
	return s.Exec(ctx, stmt, args...)
}

// Exec runs a parsed statement, in a transaction of its own or in the open one.
func (s *Session) Exec(ctx context.Context, stmt *Statement, args ...any) (*Rows, error) {
	r := run{session: s, ctx: ctx, seed: s.Settings.Seed}
	if err := r.bind(stmt, args); err != nil {
		return nil, err
	}
	if err := s.allow(stmt); err != nil {
		return nil, err
	}
	r.withTimeout(stmt)
	if r.err != nil {
		return nil, r.withPosition(stmt, r.err)
	}
	if stmt.Form != "SHOW SETTINGS" {
		r.truncate()
	}
	return r.rows, nil
}

// ErrRefused is returned for a statement that a session does not allow; see [Session.Confined].
var ErrRefused = errors.New("query: the session refuses the statement")

// allow returns an error for a statement that the session, or its open transaction, does not allow.
func (s *Session) allow(stmt *parse.Statement) error {
	has, at := accessOf(stmt), stmt.Position()
	switch {
	case s.ReadOnly && has&reads == 0:
		return &Error{Pos: at, Msg: nameOf(stmt) + " is refused here, where statements only look at the database", Err: db.ErrReadOnly}
	case s.Confined && has&(reads|edits) == 0:
		const why = " is refused here, where statements access no file and keep no transaction or setting"
		return &Error{Pos: at, Msg: nameOf(stmt) + why, Err: ErrRefused}
	case s.tx != nil && has&joins == 0:
		return &Error{Pos: at, Msg: nameOf(stmt) + " cannot be part of a transaction: COMMIT or ROLLBACK first", Err: db.ErrInput}
	}
	return nil
}

// run is a statement being run. Its methods record the first error in err. After it, operands are
// zero values, so that a runner resolves all of them before it looks at err.
type run struct {
	session    *Session
	ctx        context.Context
	args       []any          // arguments of ?
	named      map[string]any // arguments of $name
	action     action         // of the statement
	tx         *db.Tx         // transaction of the statement
	rows       *Rows          // the answer
	err        error          // the first error
	references []reference    // names that the database looks up
	seed       uint64         // seed of random draws; 0 means that none was given
	uncertain  int            // number of links in the answer whose rank is not certain for a reason that no remark gives

	answerBytes int64 // memory that an answer may take; 0 means that it was not asked for
}

// place is a part of a statement, or its position.
type place interface{ Position() parse.Pos }

// fail records an error unless it is nil or there is an earlier one, and reports whether there is
// one.
func (r *run) fail(err error) bool {
	if r.err == nil {
		r.err = err
	}
	return r.err != nil
}

// failAt is fail with the position of a part of the statement, unless the error has a position
// already.
func (r *run) failAt(at place, err error) bool { return r.fail(r.withPosition(at, err)) }

// exec runs a statement by the action of its form.
func (r *run) exec(stmt *parse.Statement) {
	r.action = actionOf(stmt)
	r.rows = &Rows{Columns: columnNames(r.action.columns)}
	r.action.run(r, stmt)
}

// withPosition returns an error of the database with a position, unless it has one already or is
// not a fault of the statement, such as an error of the context or of the disk. An error about a
// name has the position of the name.
func (r *run) withPosition(at place, err error) error {
	if err == nil {
		return nil
	}
	if errors.As(err, new(*Error)) || r.ctx.Err() != nil && errors.Is(err, r.ctx.Err()) {
		return err
	}
	if named := (*db.Error)(nil); errors.As(err, &named) {
		pos, found := r.positionOf(named)
		if !found {
			pos = at.Position()
		}
		text, meant := words.Plain(err), ""
		switch {
		case named.Kind == "node" && errors.Is(err, db.ErrNotFound) && named.DidYouMean == "":
			meant = r.closestNode(named.Name)
		case named.Kind != "node" && named.DidYouMean != "":
			meant = Name(named.DidYouMean)
		}
		return &Error{Pos: pos, Msg: text, DidYouMean: meant, Err: err}
	}
	if named := (*model.NameError)(nil); errors.As(err, &named) {
		meant := words.Closest(named.Name, named.Accepted)
		if meant != "" {
			meant = Name(meant)
		}
		return &Error{Pos: at.Position(), Msg: words.Plain(err), DidYouMean: meant, Err: fmt.Errorf("%w: %w", db.ErrInput, err)}
	}
	if errors.Is(err, model.ErrOption) && !errors.Is(err, db.ErrInput) {
		err = fmt.Errorf("%w: %w", db.ErrInput, err)
	}
	for _, fault := range []error{
		db.ErrInput, db.ErrNotFound, db.ErrExists, db.ErrNoModel, db.ErrReadOnly, db.ErrTooLarge, db.ErrLines,
		db.ErrNoDecision, db.ErrExpired, db.ErrRewarded, db.ErrRepeated,
	} {
		if errors.Is(err, fault) {
			return &Error{Pos: at.Position(), Msg: words.Plain(err), Err: err}
		}
	}
	return err
}
