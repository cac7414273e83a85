package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kith/query"
)

// remote is a database that another process has open, and answers questions about.
type remote struct{ client *query.Client }

func (r *remote) run(ctx context.Context, f query.Fragment, _ func(query.Progress)) (*query.Rows, error) {
	if _, err := f.Parse(); err != nil {
		return nil, err
	}
	rows, err := r.client.Run(ctx, f.Text)
	var e *query.Error
	if errors.As(err, &e) && e.Offset <= len(f.Text) { // its place is that in the statement alone
		moved := *e
		moved.Pos = after(f.Pos, f.Text[:e.Offset])
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

// reply runs a statement of the prompt's own. Who types waits no longer than patience for it, and there
// is nothing to offer where it fails.
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
		all = append(all, query.Name{Value: fmt.Sprint(row[0])}.String())
	}
	return all
}

func (r *remote) labels() (all []string) {
	for _, row := range r.reply("SHOW LABELS") {
		all = append(all, query.Name{Value: fmt.Sprint(row[0])}.String())
	}
	return all
}

// nodes looks among the first nodes only, as all of them come over the wire.
func (r *remote) nodes(prefix string) (all []string) {
	for _, row := range r.reply("NODES TOP 1000") {
		if key := fmt.Sprint(row[0]); strings.HasPrefix(key, prefix) && len(all) < maxOffered {
			all = append(all, key)
		}
	}
	return all
}
