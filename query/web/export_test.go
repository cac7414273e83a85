package web

import (
	"context"
	"iter"
	"net/http"
	"time"

	"kith/db"
)

// Load is what a handler does at a moment.
type Load struct {
	Running  int // statements that run
	Waiting  int // statements that wait for their turn
	Requests int // requests with a body that have not been answered
}

// Observed returns a handler, and a function that returns what it does now.
func Observed(o Options, g *db.DB) (http.Handler, func() Load) {
	h := o.handler(g)
	return h.multiplexer(), func() Load { return Load{len(h.turns.running), len(h.turns.waiting), int(h.requests.used.Load())} }
}

// Beating returns a handler whose feeds send an empty line after a time.
func Beating(g *db.DB, after time.Duration) http.Handler {
	h := Options{}.handler(g)
	h.heartbeat = after
	return h.multiplexer()
}

// ChangesWithin is c.Changes with another limit for the time in which nothing arrives.
func ChangesWithin(ctx context.Context, c *Client, since uint64, silence time.Duration) iter.Seq2[db.Change, error] {
	return c.changesWithin(ctx, since, silence)
}
