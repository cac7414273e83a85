package shell

import (
	"context"
	"errors"

	"kith/query"
	"kith/query/web"
)

// remote is an engine for a database that another process has open and serves.
type remote struct{ client *web.Client }

func (r *remote) run(ctx context.Context, f query.Fragment, _ func(query.Progress)) (*query.Rows, error) {
	if _, err := f.Parse(); err != nil {
		return nil, err
	}
	rows, err := r.client.Run(ctx, f.Text)
	var e *query.Error
	if errors.As(err, &e) && e.Offset <= len(f.Text) { // the position is relative to the statement
		moved := *e
		moved.Pos = f.Pos.After(f.Text[:e.Offset])
		return nil, &moved
	}
	return rows, err
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
