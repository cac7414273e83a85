package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kith/db"
	"kith/query/parse"
)

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

// view calls f with the open transaction or, if there is none, with a new one that reads.
func (r *run) view(f func(*db.Tx) error) error {
	if tx := r.session.tx; tx != nil {
		return f(tx)
	}
	return r.session.DB.View(r.ctx, f)
}

// update calls f with the open transaction or, if there is none, with a new one that writes. If the statement fails in
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

// joins reports whether a statement can be part of a transaction, which requires that it does all its work in one. The
// other statements commit by themselves, or wait for writers.
func joins(stmt parse.Statement) bool {
	switch s := stmt.(type) {
	case *parse.Explain:
		return !s.Profile || joins(s.Statement)
	case *parse.Predict, *parse.Why, *parse.Rank, *parse.Path, *parse.Neighbors, *parse.Nodes, *parse.EvaluateLog, *parse.EvaluateHoldout, *parse.EvaluateStream,
		*parse.InsertNode, *parse.InsertEdges, *parse.DeleteNode, *parse.DeleteEdges, *parse.Observe, *parse.Reward,
		*parse.ShowStats, *parse.ShowLabels, *parse.ShowPolicies, *parse.Help, *parse.ShowModels, *parse.ShowVersions, *parse.ShowCache, *parse.ShowDecisions, *parse.DescribeModel, *parse.DescribeNode, *parse.DescribeDecision,
		*parse.ExportList, *parse.ExportModel, *parse.ExportLog, *parse.Assign, *parse.ShowSettings, *parse.Commit, *parse.Rollback:
		return true
	case *parse.Begin:
		return true // begin reports the precise error
	}
	return false
}

// verb returns the first words of a statement: "LOAD EDGES" for LOAD EDGES FROM 'a'.
func verb(stmt parse.Statement) string {
	if e, ok := stmt.(*parse.Explain); ok {
		return verb(e.Statement)
	}
	words := strings.SplitN(stmt.String(), " ", 3)
	if len(words) > 1 && words[1] != "TO" && slices.Contains(parse.Keywords(), words[1]) {
		return words[0] + " " + words[1]
	}
	return words[0]
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
	return transaction("open"), nil
}

func (r *run) commit(s *parse.Commit) (*Rows, error) {
	if err := r.open(s); err != nil {
		return nil, err
	}
	return transaction("committed"), r.session.endWith((*db.Tx).Commit)
}

func (r *run) rollback(s *parse.Rollback) (*Rows, error) {
	if err := r.open(s); err != nil {
		return nil, err
	}
	return transaction("rolled back"), r.session.endWith((*db.Tx).Rollback)
}

// open returns an error unless a transaction is open.
func (r *run) open(stmt parse.Statement) error {
	if r.session.tx != nil {
		return nil
	}
	return &Error{Pos: stmt.Position(), Msg: "no transaction is open: BEGIN opens one", Err: db.ErrInput}
}

func transaction(state string) *Rows {
	rows := &Rows{Columns: []string{"transaction"}}
	rows.add(state)
	return rows
}
