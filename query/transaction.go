package query

import (
	"errors"
	"fmt"

	"kith/db"
	"kith/query/parse"
)

// sessionKinds returns the statements about transactions and settings.
func sessionKinds() []kind {
	const state = "transaction (open, committed or rolled back)"
	return []kind{
		{name: "BEGIN", access: joins, columns: state, run: does[*parse.Begin]((*run).begin)},
		{name: "COMMIT", access: joins, columns: state, run: does[*parse.Simple]((*run).commit)},
		{name: "ROLLBACK", access: joins, columns: state, run: does[*parse.Simple]((*run).rollback)},
		{
			name: "SET", access: joins, columns: "name, value", run: does[*parse.Assign]((*run).set),
			options: func(parse.Statement, func(string) bool) []option { return (&Settings{}).options() },
		},
		{name: "SHOW SETTINGS", access: reads | joins, columns: "name, value (null if it is not set), meaning", run: does[*parse.Simple]((*run).showSettings)},
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

// view calls f with the open transaction or else with a new one that reads.
func (r *run) view(f func(*db.Tx) error) error {
	if tx := r.session.tx; tx != nil {
		return f(tx)
	}
	return r.session.DB.View(r.ctx, f)
}

// update calls f with the open transaction or else with a new one that writes. If the statement fails in
// an open transaction, its changes are undone.
func (r *run) update(f func(*db.Tx) error) error {
	tx := r.session.tx
	if tx == nil {
		return r.session.DB.Update(r.ctx, f)
	}
	err := tx.Savepoint(func() error { return f(tx) })
	if errors.Is(err, db.ErrReadOnly) {
		err = fmt.Errorf("%w: the transaction that is open was begun READ ONLY", db.ErrReadOnly)
	}
	return err
}

func (r *run) begin(s *parse.Begin) (*Rows, error) {
	if r.session.tx != nil {
		return nil, &Error{Pos: s.Pos, Msg: "a transaction is open already: COMMIT or ROLLBACK first", Err: db.ErrInput}
	}
	tx, err := r.session.DB.Begin(r.ctx, !s.ReadOnly)
	if errors.Is(err, db.ErrReadOnly) {
		return nil, &Error{Pos: s.Pos, Msg: plainly(err), DidYouMean: "BEGIN READ ONLY", Err: err}
	}
	if err != nil {
		return nil, err
	}
	r.session.tx = tx
	return r.transaction("open"), nil
}

func (r *run) commit(s *parse.Simple) (*Rows, error) {
	if err := r.open(s); err != nil {
		return nil, err
	}
	return r.transaction("committed"), r.session.endWith((*db.Tx).Commit)
}

func (r *run) rollback(s *parse.Simple) (*Rows, error) {
	if err := r.open(s); err != nil {
		return nil, err
	}
	return r.transaction("rolled back"), r.session.endWith((*db.Tx).Rollback)
}

// open returns an error unless a transaction is open.
func (r *run) open(stmt parse.Statement) error {
	if r.session.tx != nil {
		return nil
	}
	return &Error{Pos: stmt.Position(), Msg: "no transaction is open: BEGIN opens one", Err: db.ErrInput}
}

func (r *run) transaction(state string) *Rows {
	rows := r.answer()
	rows.add(state)
	return rows
}
