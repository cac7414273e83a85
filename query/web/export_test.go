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
	Running  int // statements that run, also long ones
	Waiting  int // statements that wait for their turn
	Requests int // requests with a body that has not arrived
}

// Observed returns a handler, and a function that returns what it does now.
func Observed(o Options, g *db.DB) (http.Handler, func() Load) {
	h := o.handler(g)
	return h.multiplexer(), func() (l Load) {
		for _, t := range []*turns{h.open.small, h.open.large, h.tokened.small, h.tokened.large, h.long} {
			running, waiting := t.load()
			l.Running, l.Waiting = l.Running+running, l.Waiting+waiting
		}
		l.Requests = h.open.arriving.load() + h.tokened.arriving.load()
		return l
	}
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

// load returns how many places are taken.
func (s *places) load() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.taken)
}

// load returns how many statements run and wait.
func (t *turns) load() (running, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running, t.waiting
}
