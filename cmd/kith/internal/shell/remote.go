package shell

import (
	"context"
	"errors"

	"kith/db"
	"kith/query"
	"kith/query/web"
)

// remote is an engine for a database that another process has open and serves.
type remote struct {
	client   *web.Client
	path     string // path of the database, if the shell found the server by itself
	readOnly bool   // whether the shell itself refuses statements that write
}

// onlyLooks reports whether a server refuses all statements that write. It asks for a transaction,
// which no request can open, so that the reason of the refusal tells.
func onlyLooks(ctx context.Context, client *web.Client) (bool, error) {
	_, err := client.Run(ctx, "BEGIN")
	if errors.As(err, new(*query.Error)) {
		return errors.Is(err, db.ErrReadOnly), nil
	}
	return false, err
}

func (r *remote) run(ctx context.Context, f query.Fragment, tell func(query.Progress)) (*query.Rows, error) {
	stmt, err := f.Parse()
	if err != nil {
		return nil, err
	}
	if r.readOnly && query.Writes(stmt) {
		return nil, &query.Error{Pos: stmt.Position(), Msg: "the statement is refused, because --read-only is given", Err: db.ErrReadOnly}
	}
	r.client.Progress = tell
	rows, err := r.client.Run(ctx, f.Text)
	var e *query.Error
	if errors.As(err, &e) && e.Offset <= len(f.Text) { // the position is relative to the statement
		moved := *e
		moved.Pos = f.Pos.After(f.Text[:e.Offset])
		moved.Msg += r.advice(err)
		return nil, &moved
	}
	return rows, err
}

// advice returns what a user can do who did not ask for the server that refuses a statement.
func (r *remote) advice(err error) string {
	switch {
	case r.path == "":
	case errors.Is(err, db.ErrReadOnly):
		return "; the server that has " + r.path + " open only reads: end it, or start it with kith serve --write"
	case errors.Is(err, query.ErrRefused):
		return "; a server has " + r.path + " open: end it first"
	}
	return ""
}

func (r *remote) inTransaction() bool { return false }

// names searches only the first nodes, because they are all sent over the connection.
func (r *remote) names() query.Vocabulary {
	return query.Vocabulary{Run: func(ctx context.Context, statement string) (*query.Rows, error) {
		return r.client.Run(ctx, statement)
	}}
}

func (r *remote) close() error {
	r.client.Close()
	return nil
}
