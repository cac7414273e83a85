package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"kith/cmd/internal/chart"
	"kith/db"
	"kith/model/trial"
	"kith/query"
	"kith/query/parse"
)

// engine runs the statements of a session.
type engine interface {
	// run runs a statement and reports its progress to tell.
	run(ctx context.Context, f parse.Fragment, tell func(query.Progress)) (*query.Rows, error)
	// inTransaction reports whether a transaction is open.
	inTransaction() bool
	names() names
	// close ends the session and rolls back the open transaction.
	close() error
}

// errOpen is returned when a session ends within a transaction.
var errOpen = errors.New("the transaction that was open has been rolled back; COMMIT would have kept it")

// local is an engine for a database that this process has open.
type local struct{ session query.Session }

func newLocal(g *db.DB) *local {
	return &local{query.Session{DB: g, Plot: func(w io.Writer, curves *trial.Result, title string) error {
		return chart.Write(w, curves, title, "svg")
	}}}
}

func (l *local) run(ctx context.Context, f parse.Fragment, tell func(query.Progress)) (*query.Rows, error) {
	stmt, err := f.Parse()
	if err != nil {
		return nil, err
	}
	l.session.Progress = tell
	return l.session.Exec(ctx, stmt)
}

func (l *local) inTransaction() bool { return l.session.InTransaction() }

func (l *local) names() names { return localNames{l.session.DB} }

func (l *local) close() error {
	open := l.session.InTransaction()
	err := l.session.Close()
	if err == nil && open {
		err = errOpen
	}
	return err
}

// maxScanned is the maximum number of nodes searched for keys to offer.
const maxScanned = 50_000

// localNames lists the names in a database that this process has open. A name that cannot be read is left out without an
// error, because the user has not asked for it.
type localNames struct{ *db.DB }

func (l localNames) models() (all []string) {
	_ = l.View(context.Background(), func(tx *db.Tx) error {
		for _, m := range tx.Models() {
			all = append(all, parse.Name{Value: m.Name}.String())
		}
		return nil
	})
	return all
}

func (l localNames) labels() (all []string) {
	_ = l.View(context.Background(), func(tx *db.Tx) error {
		for _, label := range tx.Labels() {
			all = append(all, parse.Name{Value: label}.String())
		}
		return nil
	})
	return all
}

func (l localNames) nodes(prefix string) (all []string) {
	_ = l.View(context.Background(), func(tx *db.Tx) error {
		scanned := 0
		for n, err := range tx.Nodes() {
			if scanned++; err != nil || scanned > maxScanned || len(all) == maxOffered {
				return err
			}
			if key := n.Key.String(); strings.HasPrefix(key, prefix) {
				all = append(all, key)
			}
		}
		return nil
	})
	return all
}
