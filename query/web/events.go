package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	maxSubscribers = 16               // number of clients that may watch the figures at the same time
	eventInterval  = time.Second      // between two events
	eventTimeout   = 10 * time.Second // for writing an event
)

// events answers with the figures of the database each second, as server-sent events, until the client disconnects,
// the server shuts down or the database is closed.
func (h *handler) events(w http.ResponseWriter, r *http.Request) {
	end, ok := h.subscribe(w, r, &h.subscribers, "watch the figures")
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
		case <-r.Context().Done():
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

// subscribe counts a client that gets events or a feed of changes, which the caller must end, or refuses it if there are too
// many. The shutdown of the server ends all of them; without that, the server would wait.
func (h *handler) subscribe(w http.ResponseWriter, r *http.Request, clients *budget, do string) (end func(), ok bool) {
	client := share{of: clients}
	if !client.grow(1) {
		h.fail(w, fmt.Errorf("%d clients %s: %w", clients.most, do, errBusy))
		return nil, false
	}
	if s, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok {
		h.watchShutdown.Do(func() { s.RegisterOnShutdown(h.endFeeds) })
	}
	return client.release, true
}
