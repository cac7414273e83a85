package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"
)

const (
	maxWatching   = 16               // number of clients that may watch the figures at the same time
	eventInterval = time.Second      // between two events
	eventTimeout  = 10 * time.Second // for writing an event
)

// events answers with the figures of the database each second, as server-sent events, until the
// client disconnects, the server shuts down or the database is closed.
func (h *handler) events(w http.ResponseWriter, r *http.Request) {
	ctx, end, ok := h.subscribe(w, r, h.visitor(r).watching)
	if !ok {
		return
	}
	defer end()
	w.Header().Set("Content-Type", "text/event-stream")
	tick := time.NewTicker(eventInterval)
	defer tick.Stop()
	for h.event(w) == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		case <-h.shutdown.Done():
			return
		}
	}
}

// event writes the figures of now.
func (h *handler) event(w http.ResponseWriter) error {
	s, err := h.g.Stats()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("data: ")
	if err := json.NewEncoder(&b).Encode(s); err != nil {
		return err
	}
	b.WriteString("\n")
	control := http.NewResponseController(w)
	if err := deadline(control.SetWriteDeadline, time.Now().Add(eventTimeout)); err != nil {
		return err
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return err
	}
	return control.Flush()
}

// subscribe gives a place to a client that gets events or a feed of changes, which the caller must
// end, or refuses it. The context ends with the request, or with the cause errBusy when another
// client needs the place. The shutdown of the server ends all feeds; without that, the server would
// wait.
func (h *handler) subscribe(w http.ResponseWriter, r *http.Request, s *places) (ctx context.Context, end func(), ok bool) {
	ctx, cancel := context.WithCancelCause(r.Context())
	p, err := s.take(clientOf(r), false, func() { cancel(s.busy()) })
	if err != nil {
		cancel(err)
		h.fail(w, err)
		return nil, nil, false
	}
	if s, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok {
		h.watchShutdown.Do(func() { s.RegisterOnShutdown(h.endFeeds) })
	}
	return ctx, func() {
		_ = p.leave() // the context has the error
		cancel(nil)
	}, true
}
