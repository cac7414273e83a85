package query

import (
	"context"
	"errors"
	"fmt"

	"kith/db"
	"kith/db/words"
	"kith/query/internal/parse"
)

// sessionActions returns the statements about transactions and settings.
func sessionActions() []action {
	state := []column{
		{"transaction", "open, committed or rolled back"},
	}
	return []action{
		{name: "BEGIN", access: joins, columns: state, run: (*run).begin},
		{name: "COMMIT", access: joins, columns: state, run: ending("committed", (*db.Tx).Commit)},
		{name: "ROLLBACK", access: joins, columns: state, run: ending("rolled back", (*db.Tx).Rollback)},
		{
			name: "SET", access: joins, columns: named("name", "value"), run: (*run).set,
			options: always((*Settings).options),
		},
		{name: "SHOW SETTINGS", access: reads | joins, columns: []column{
			{name: "name"}, {"value", "null if it is not set"}, {name: "meaning"},
		}, run: (*run).showSettings},
	}
}

// InTransaction reports whether BEGIN has opened a transaction that has not ended.
func (s *Session) InTransaction() bool { return s.tx != nil }

// Close rolls back the open transaction, if any. The database stays open.
func (s *Session) Close() error {
	if s.tx == nil {
		return nil
	}
	return s.endWith((*db.Tx).Rollback)
}

// endWith ends the open transaction.
func (s *Session) endWith(end func(*db.Tx) error) error {
	tx := s.tx
	s.tx = nil
	return end(tx)
}

// view calls f in the open transaction or else in a new one that reads. It does nothing after an
// error.
func (r *run) view(f func()) {
	if tx := r.session.tx; tx != nil {
		_ = r.in(tx, f) // r.err has the error
	} else if r.err == nil {
		r.err = r.session.DB.View(r.ctx, func(tx *db.Tx) error { return r.in(tx, f) })
	}
}

// viewChanged is view after a change that is committed. It ignores the context, so that an error of
// the context means that the statement has changed nothing.
func (r *run) viewChanged(f func()) {
	r.ctx = context.WithoutCancel(r.ctx)
	r.view(f)
}

// update calls f in the open transaction or else in a new one that writes. If the statement fails
// in an open transaction, its changes are undone. It does nothing after an error.
func (r *run) update(f func()) {
	tx := r.session.tx
	switch {
	case r.err != nil:
	case tx == nil:
		r.err = r.session.DB.Update(r.ctx, func(tx *db.Tx) error { return r.in(tx, f) })
	default:
		r.err = tx.Savepoint(func() error { return r.in(tx, f) })
		if errors.Is(r.err, db.ErrReadOnly) {
			r.err = fmt.Errorf("%w: the transaction that is open was begun READ ONLY", db.ErrReadOnly)
		}
	}
}

// in calls f with tx as the transaction of the statement, unless there is an error, and returns the
// error.
func (r *run) in(tx *db.Tx, f func()) error {
	outer := r.tx
	if r.tx = tx; r.err == nil {
		f()
	}
	r.tx = outer
	return r.err
}

func (r *run) begin(s *parse.Statement) {
	if r.session.tx != nil {
		r.refuse(s, "a transaction is open already: COMMIT or ROLLBACK first")
		return
	}
	tx, err := r.session.DB.Begin(r.ctx, !parse.Read.Given(s))
	if errors.Is(err, db.ErrReadOnly) {
		err = &Error{Pos: s.Pos, Msg: words.Plain(err), DidYouMean: "BEGIN READ ONLY", Err: err}
	}
	if r.fail(err) {
		return
	}
	r.session.tx = tx
	r.rows.add("open")
}

// ending returns the runner of a statement that ends the open transaction. state is the
// transaction's state afterwards.
func ending(state string, end func(*db.Tx) error) runner {
	return func(r *run, s *parse.Statement) {
		if r.session.tx == nil {
			r.refuse(s, "no transaction is open: BEGIN opens one")
			return
		}
		r.rows.add(state)
		r.fail(r.session.endWith(end))
	}
}
