package web

import (
	"net/http"

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
