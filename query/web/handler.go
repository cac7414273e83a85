package web

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"kith/db"
	"kith/query"
)

// Options limit who may use a Handler, and how much. The zero value of each field is a good default.
type Options struct {
	// Remote accepts requests from other machines too. Without it the peer must be this machine. There are no users
	// and no encryption: put a proxy that has them in front.
	Remote bool
	// Hosts are the host names that a request may be addressed to, in addition to localhost and IP addresses; "*"
	// means any. They keep a page of a foreign site from sending requests under another name through a browser.
	Hosts []string
	// MaxBody is the maximum size of a request in bytes. 0 means 1 MiB.
	MaxBody int64
	// MaxRows is the maximum number of rows of an answer; a larger answer is ErrTooLarge. 0 means 100,000.
	MaxRows int
	// Timeout is how long a statement may run, including the arrival of its request, and how long writing its answer
	// may take. 0 means 30 s each.
	Timeout time.Duration
	// MaxRunning is how many statements run at the same time; the others wait for their turn, within their timeout. 0
	// means the number of processors.
	MaxRunning int
}

// Handler answers with the default options; see [Options.Handler].
func Handler(g *db.DB) http.Handler { return Options{}.Handler(g) }

// Handler returns a handler for inspecting the database of a running process. It answers statements that only read:
//
//	POST /query    {"statement": "PREDICT LINKS FOR ? TOP 3", "parameters": ["ann"]}
//	GET /stats     db.Stats as JSON
//	GET /metrics   the same for Prometheus
//	GET /openapi.json   a description of the interface
//
// A query has the Content-Type application/json. The answer is lines of JSON: columns, rows, notes, the number of
// rows; [Client] sends such queries. A statement that writes is refused with status 403, a faulty one with 400 and the
// same error that Run returns. A request from another machine, or addressed to a name that is not in Hosts, is refused
// with 403. A statement is cancelled when its client disconnects.
func (o Options) Handler(g *db.DB) http.Handler {
	o.MaxBody, o.MaxRows = cmp.Or(o.MaxBody, 1<<20), cmp.Or(o.MaxRows, 100_000)
	o.Timeout, o.MaxRunning = cmp.Or(o.Timeout, 30*time.Second), cmp.Or(o.MaxRunning, runtime.GOMAXPROCS(0))
	h := &handler{Options: o, g: g, slots: make(chan struct{}, o.MaxRunning)}
	return h.guarded(h.multiplexer())
}

// handler implements Handler.
type handler struct {
	Options
	g     *db.DB
	slots chan struct{} // holds a token for each running statement
}

// guarded refuses requests that are not allowed.
func (h *handler) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.authorize(r); err != nil {
			fail(w, http.StatusForbidden, err)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// authorize returns an error for a request from another machine, or for one addressed to an unknown host.
func (h *handler) authorize(r *http.Request) error {
	if !h.Remote && !local(r.RemoteAddr) {
		return fmt.Errorf("%s is another machine: only this one may ask (see Options.Remote)", r.RemoteAddr)
	}
	if !h.known(r.Host) {
		return fmt.Errorf("host %q is not known here (see Options.Hosts)", r.Host)
	}
	return nil
}

// local reports whether the address of a peer is on this machine: a loopback address or that of a Unix socket.
func local(peer string) bool {
	if peer == "" || peer == "@" || strings.HasPrefix(peer, "/") {
		return true
	}
	at, err := netip.ParseAddrPort(peer)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// known reports whether a Host header names an address, localhost, or one of Hosts.
func (h *handler) known(host string) bool {
	name := host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		name = bare
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil || name == "localhost" {
		return true
	}
	return slices.ContainsFunc(h.Hosts, func(known string) bool { return known == "*" || strings.EqualFold(known, name) })
}

// query answers the statement of a request.
func (h *handler) query(w http.ResponseWriter, r *http.Request) {
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "application/json" {
		// A page of a foreign site can make a browser send a POST, but not with this Content-Type without a preflight
		// request.
		fail(w, http.StatusUnsupportedMediaType, fmt.Errorf("Content-Type must be application/json, got %q", kind))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.Timeout)
	defer cancel()
	rows, err := h.answer(ctx, w, r)
	if err != nil {
		fail(w, h.status(err), err)
		return
	}
	if err := deadline(http.NewResponseController(w).SetWriteDeadline, time.Now().Add(h.Timeout)); err != nil {
		fail(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set("Content-Type", lines)
	if err := stream(w, rows); err != nil {
		panic(http.ErrAbortHandler) // the client has gone; abort so that half an answer does not look complete
	}
}

// stats writes the statistics of the database as JSON.
func (h *handler) stats(w http.ResponseWriter, _ *http.Request) {
	h.figures(w, "application/json", func(s *db.Stats, b *bytes.Buffer) error { return json.NewEncoder(b).Encode(s) })
}

// metrics writes the statistics of the database for Prometheus.
func (h *handler) metrics(w http.ResponseWriter, _ *http.Request) {
	h.figures(w, "text/plain; version=0.0.4; charset=utf-8", func(s *db.Stats, b *bytes.Buffer) error { return s.WritePrometheus(b) })
}

func (h *handler) figures(w http.ResponseWriter, kind string, write func(*db.Stats, *bytes.Buffer) error) {
	var b bytes.Buffer
	s, err := h.g.Stats()
	if err == nil {
		err = write(&s, &b)
	}
	if err != nil {
		fail(w, h.status(err), err)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(b.Bytes()) // an error means that the client has gone
}

// answer runs the statement of a request.
func (h *handler) answer(ctx context.Context, w http.ResponseWriter, r *http.Request) (*query.Rows, error) {
	q, err := h.read(ctx, w, r)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	args, err := arguments(q.Parameters)
	if err != nil {
		return nil, fmt.Errorf("%w: request: %w", db.ErrInput, err)
	}
	session := query.Session{DB: h.g, ReadOnly: true, Settings: query.Settings{MaxRows: h.MaxRows + 1}}
	rows, err := h.inTurn(ctx, func() (*query.Rows, error) { return session.Run(ctx, q.Statement, args...) })
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("the statement, with waiting for its turn, took longer than %v: %w", h.Timeout, ctx.Err())
	case err != nil:
		return nil, err
	case len(rows.Rows) > h.MaxRows:
		return nil, fmt.Errorf("%w: the answer has more than %d rows: ask for less, by TOP or AMONG", db.ErrTooLarge, h.MaxRows)
	}
	return rows, nil
}

// read reads a request to the end of its body. After that, net/http notices when the client disconnects.
func (h *handler) read(ctx context.Context, w http.ResponseWriter, r *http.Request) (q request, err error) {
	until, _ := ctx.Deadline()
	control := http.NewResponseController(w)
	if err := deadline(control.SetReadDeadline, until); err != nil {
		return q, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.MaxBody))
	if err != nil {
		return q, err
	}
	if err := deadline(control.SetReadDeadline, time.Time{}); err != nil {
		return q, err
	}
	return q, json.Unmarshal(body, &q)
}

// deadline sets a deadline of a connection, if the connection supports it.
func deadline(set func(time.Time) error, at time.Time) error {
	if err := set(at); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// inTurn runs a statement when fewer than MaxRunning others are running.
func (h *handler) inTurn(ctx context.Context, run func() (*query.Rows, error)) (*query.Rows, error) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
		return run()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// status returns the HTTP status of an error.
func (h *handler) status(err error) int {
	var body *http.MaxBytesError
	var place *query.Error
	switch {
	case errors.As(err, &body):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	case errors.Is(err, db.ErrReadOnly):
		return http.StatusForbidden
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.Is(err, db.ErrClosed):
		return http.StatusServiceUnavailable
	case errors.As(err, &place), errors.Is(err, db.ErrInput), errors.Is(err, db.ErrTooLarge), malformed(err):
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// malformed reports whether an error means that a request is not valid JSON.
func malformed(err error) bool {
	return errors.As(err, new(*json.SyntaxError)) || errors.As(err, new(*json.UnmarshalTypeError))
}

// fail answers with an error. It ignores an error of writing, because the client has gone.
func fail(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", lines)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(errorLine{faultOf(err)})
}

// stream writes an answer line by line.
func stream(w io.Writer, r *query.Rows) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	keys, isKey := nodeColumns(r)
	if err := enc.Encode(headLine{r.Columns, keys}); err != nil {
		return err
	}
	line := rowLine{make([]jsonValue, len(r.Columns))}
	for _, row := range r.Rows {
		for i, v := range row {
			if k, ok := v.(db.Key); ok && isKey[i] {
				v = k.Value()
			}
			line.Row[i].value = v
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	for _, n := range r.Notes {
		if err := enc.Encode(noteLine{n}); err != nil {
			return err
		}
	}
	if err := enc.Encode(endLine{len(r.Rows)}); err != nil {
		return err
	}
	return out.Flush()
}
