package shell

import (
	"context"
	"errors"

	"kith/db"
	"kith/db/edgelist/parquet"
	"kith/query"
)

// engine runs the statements of a session.
type engine interface {
	// run runs a statement and reports its progress to tell.
	run(ctx context.Context, f query.Fragment, tell func(query.Progress)) (*query.Rows, error)
	// inTransaction reports whether a transaction is open.
	inTransaction() bool
	names() query.Vocabulary
	// close ends the session and rolls back the open transaction.
	close() error
}

// errOpen is returned when a session ends within a transaction.
var errOpen = errors.New("the transaction that was open has been rolled back; COMMIT would have kept it")

// local is an engine for a database that this process has open.
type local struct{ session query.Session }

func newLocal(g *db.DB) *local {
	return &local{query.Session{DB: g, Tables: parquet.Format{}}}
}

func (l *local) run(ctx context.Context, f query.Fragment, tell func(query.Progress)) (*query.Rows, error) {
	stmt, err := f.Parse()
	if err != nil {
		return nil, err
	}
	l.session.Progress = tell
	return l.session.Exec(ctx, stmt)
}

func (l *local) inTransaction() bool { return l.session.InTransaction() }

func (l *local) names() query.Vocabulary {
	g := l.session.DB
	return query.Vocabulary{
		Run: func(ctx context.Context, statement string) (*query.Rows, error) { return query.Run(ctx, g, statement) },
		Keys: func(ctx context.Context, text string, most int) (all []db.Key, err error) {
			err = g.View(ctx, func(tx *db.Tx) (err error) {
				all, err = query.KeysBeginning(ctx, tx, text, most)
				return err
			})
			return all, err
		},
	}
}

func (l *local) close() error {
	open := l.session.InTransaction()
	err := l.session.Close()
	if err == nil && open {
		err = errOpen
	}
	return err
}
