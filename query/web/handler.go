package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"runtime"
	"sync"
	"time"

	"kith/db"
	"kith/query"
)

// Options limit who may use a Handler, and how much. The zero value of each field is a good
// default.
type Options struct {
	// Remote accepts requests from other machines too. Without it the peer must be this machine.
	// There are no users and no encryption: put a proxy that has them in front.
	Remote bool
	// Hosts are the host names that a request may be addressed to, in addition to localhost and IP
	// addresses; "*" means any. They keep a page of a foreign site from sending requests under
	// another name through a browser.
	Hosts []string
	// Origins are the origins of pages whose scripts may send requests and read the answers, in
	// addition to the server's own page, such as https://app.example; see [CheckOrigin]. There is
	// no wildcard. A page that is to write sends the token, as every client.
	Origins []string
	// Token allows statements that write, for requests that have it: Authorization: Bearer TOKEN.
	// It should be at least 32 random characters. "" means that statements only read.
	Token string
	// TokenForReads requires the token for everything that tells of the database.
	TokenForReads bool
	// MaxBody is the maximum size of a request in bytes. 0 means 1 MiB.
	MaxBody int64
	// MaxRows is the maximum number of rows of an answer; a larger answer is ErrTooLarge. 0 means
	// 100,000.
	MaxRows int
	// Timeout is how long a statement may run, including the arrival of its request, and how long
	// writing its answer may take. 0 means 30 s each.
	Timeout time.Duration
	// BodyTimeout is how long the body of a request may take to arrive. 0 means 5 s.
	BodyTimeout time.Duration
	// LongTimeout is the Timeout of statements that train, evaluate or predict the links of many
	// nodes, and have the token. They run in turn, besides other requests. 0 means 10 min.
	LongTimeout time.Duration
	// MaxRunning is how many small statements run at the same time; further ones wait for their
	// turn, within their timeout. 0 means one less than the number of processors, but at least 1,
	// so that GET /stats is answered meanwhile. Of the large statements, half as many run, but at
	// least 1. Statements that evaluate or predict the links of many nodes are large, and so are
	// statements like those that have run for longer than a quarter of a second. The page's
	// pictures, reasons and completions are made one at a time, while statements run. Requests with
	// the token are counted apart from those without it, here and below.
	MaxRunning int
	// MaxWaiting is how many small, and how many large statements wait for their turn. Clients take
	// turns; a client is an address, or a network of 64 bits of IPv6. Beyond the limit the client
	// that has most is refused. 0 means 256.
	MaxWaiting int
	// MaxRequests is how many requests may have a body that has not arrived. One more takes the
	// place of the oldest such request of the client that has most. 0 means
	// 512.
	MaxRequests int
	// MaxBytes is about the memory of the requests that have arrived and of the answers that their
	// clients have not yet read; a request or an answer that exceeds it, or half of it for one
	// client, is refused. 0 means 128 MiB.
	MaxBytes int64
}

// Handler answers with the default options; see [Options.Handler].
func Handler(g *db.DB) http.Handler { return Options{}.Handler(g) }

// Handler returns a handler for the database of a running process. It answers statements that only
// read or, with the token, also statements that write:
//
//	GET /               a page for people
//	POST /query         {"statement": "PREDICT LINKS FOR ? TOP 3", "parameters": ["ann"]}
//	GET /changes        what commits did, as they become durable; see db.DB.Changes
//	GET /stats          db.Stats as JSON
//	GET /metrics        the same for Prometheus
//	GET /openapi.json   a description of the interface
//
// A query has the Content-Type application/json. The answer is lines of JSON: columns, rows, notes,
// the number of rows; [Client] sends such queries. POST /predict, /choose, /reward, /observe, /why,
// /nodes and /edges need no statement. A faulty statement is refused with status 422 and the same
// error that Run returns, a statement that may not run here with 403, a request without the token
// with 401; the documentation of the package lists the others. A request from a different machine,
// from a page of a different origin, or addressed to a name that is not in Hosts, is refused with
// 403. A request beyond the limits is refused with 503, and may be sent again. A statement is
// cancelled when its client disconnects.
func (o Options) Handler(g *db.DB) http.Handler { return o.handler(g).multiplexer() }

// handler returns the handler of a database, with the limits of the options or their
// defaults.
func (o Options) handler(g *db.DB) *handler {
	o.MaxBody, o.MaxRows = cmp.Or(o.MaxBody, 1<<20), cmp.Or(o.MaxRows, 100_000)
	o.Timeout, o.LongTimeout = cmp.Or(o.Timeout, 30*time.Second), cmp.Or(o.LongTimeout, 10*time.Minute)
	o.MaxRunning, o.MaxWaiting = cmp.Or(o.MaxRunning, max(runtime.GOMAXPROCS(0)-1, 1)), cmp.Or(o.MaxWaiting, 256)
	o.MaxRequests, o.MaxBytes = cmp.Or(o.MaxRequests, 512), cmp.Or(o.MaxBytes, 128<<20)
	o.BodyTimeout = cmp.Or(o.BodyTimeout, 5*time.Second)
	h := &handler{Options: o, g: g, open: newLane(o), tokened: newLane(o), long: newTurns(1, o.MaxWaiting), heartbeat: heartbeat, tellEvery: progressEvery}
	h.costs.mean = map[string]time.Duration{}
	h.after = func(d time.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }
	h.shutdown, h.endFeeds = context.WithCancel(context.Background())
	return h
}

// handler implements Handler.
type handler struct {
	Options
	g             *db.DB
	open, tokened *lane  // of requests without the token, and with it
	long          *turns // of statements that have LongTimeout
	costs         costs
	after         func(time.Duration, func()) (stop func() bool) // time.AfterFunc

	tellEvery     time.Duration // least time between lines of progress
	heartbeat     time.Duration
	watchShutdown sync.Once
	shutdown      context.Context // ends when the server shuts down
	endFeeds      context.CancelFunc
}

// stats writes the statistics of the database as JSON.
func (h *handler) stats(w http.ResponseWriter, _ *http.Request) {
	h.figures(w, "application/json", func(s *db.Stats, b *bytes.Buffer) error { return json.NewEncoder(b).Encode(s) })
}

// metrics writes the statistics of the database for Prometheus.
func (h *handler) metrics(w http.ResponseWriter, _ *http.Request) {
	h.figures(w, "text/plain; version=0.0.4; charset=utf-8", func(s *db.Stats, b *bytes.Buffer) error { return s.WritePrometheus(b) })
}

// figures writes the statistics of the database. They are not counted as unread answers, so that
// they are never refused.
func (h *handler) figures(w http.ResponseWriter, kind string, write func(*db.Stats, *bytes.Buffer) error) {
	var b bytes.Buffer
	s, err := h.g.Stats()
	if err == nil {
		err = write(&s, &b)
	}
	if err != nil {
		h.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(b.Bytes()) // an error means that the client has gone
}

// status returns the HTTP status of an error.
func (h *handler) status(err error) int {
	var body *http.MaxBytesError
	var statement *query.Error
	switch {
	case errors.As(err, &body):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errSlow):
		return http.StatusRequestTimeout
	case errors.Is(err, errToken):
		return http.StatusUnauthorized
	case errors.Is(err, db.ErrReadOnly), errors.Is(err, query.ErrRefused):
		return http.StatusForbidden
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.Is(err, db.ErrClosed), errors.Is(err, errBusy):
		return http.StatusServiceUnavailable
	case errors.Is(err, errRequest):
		return http.StatusBadRequest
	case errors.Is(err, db.ErrForgotten), errors.Is(err, db.ErrExpired):
		return http.StatusGone
	case errors.Is(err, db.ErrNotFound), errors.Is(err, db.ErrNoModel), errors.Is(err, db.ErrNoDecision):
		return http.StatusNotFound
	case errors.Is(err, db.ErrExists), errors.Is(err, db.ErrRewarded), errors.Is(err, db.ErrMismatch):
		return http.StatusConflict
	case errors.As(err, &statement), errors.Is(err, db.ErrInput), errors.Is(err, db.ErrTooLarge):
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}

// fail answers with an error and its status.
func (h *handler) fail(w http.ResponseWriter, err error) { fail(w, h.status(err), err) }

// fail answers with an error.
func fail(w http.ResponseWriter, status int, err error) {
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="kith"`)
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	writeFault(w, err)
}

// writeFault writes an error on a line. It ignores an error of writing, because the client has
// gone.
func writeFault(w http.ResponseWriter, err error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(errorLine{faultOf(err)})
}
