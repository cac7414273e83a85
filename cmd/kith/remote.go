package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kith/query"
	"kith/query/parse"
	"kith/query/web"
)

// remote is an engine for a database that another process has open and serves.
type remote struct{ client *web.Client }

func (r *remote) run(ctx context.Context, f parse.Fragment, _ func(query.Progress)) (*query.Rows, error) {
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

func (r *remote) names() names { return r }

func (r *remote) close() error {
	r.client.Close()
	return nil
}

// reply runs a statement for the prompt. It waits no longer than patience, because the user is waiting, and returns
// nothing if the statement fails.
func (r *remote) reply(statement string) [][]any {
	const patience = time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	rows, err := r.client.Run(ctx, statement)
	if err != nil {
		return nil
	}
	return rows.Rows
}

func (r *remote) models() (all []string) {
	for _, row := range r.reply("SHOW MODELS") {
		all = append(all, parse.Name{Value: fmt.Sprint(row[0])}.String())
	}
	return all
}

func (r *remote) labels() (all []string) {
	for _, row := range r.reply("SHOW LABELS") {
		all = append(all, parse.Name{Value: fmt.Sprint(row[0])}.String())
	}
	return all
}

// nodes searches only the first nodes, because they are all sent over the connection.
func (r *remote) nodes(prefix string) (all []string) {
	for _, row := range r.reply("NODES TOP 1000") {
		if key := fmt.Sprint(row[0]); strings.HasPrefix(key, prefix) && len(all) < maxOffered {
			all = append(all, key)
		}
	}
	return all
}
