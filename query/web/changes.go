package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"kith/db"
)

const (
	maxFeeds  = 16               // number of clients that may read changes at the same time
	heartbeat = 10 * time.Second // longest time between two lines
)

// changesRoute returns the route of the feed of changes.
func changesRoute() route {
	return route{
		method: http.MethodGet, path: "/changes",
		does: "Send what commits did, a line of JSON each, as they become durable, in order. An empty line means that there is nothing new. An error ends the answer.",
		parameters: []parameter{
			{"since", "the version after which to begin; otherwise all changes that are kept", false, schema{"type": "integer"}},
			{"until", "the version after which to end; otherwise the answer waits for further ones", false, schema{"type": "integer"}},
			{"keys", "how nodes are written, as in POST /query", false, schemaOf[keyForm]()},
		},
		answer: content{lines, changeSchema()},
		errors: []int{http.StatusBadRequest, http.StatusConflict, http.StatusGone, http.StatusUnprocessableEntity, http.StatusServiceUnavailable},
		serve:  (*handler).changes,
	}
}

// changeSchema returns the schema of a line of an answer of GET /changes.
func changeSchema() schema {
	return schema{
		"description": "what a commit did; members without a value are missing. The last line may be an error.",
		"anyOf":       []schema{schemaOf[db.Change](), schemaOf[errorLine]()},
	}
}

// span is a part of the history of a database: the changes after a version, up to another one.
type span struct {
	since, until uint64
	keys         keyForm
}

// spanOf returns the span that a request asks for. It returns the error that [db.DB.Changes] would
// begin with.
func (h *handler) spanOf(r *http.Request) (s span, err error) {
	if form := r.FormValue("keys"); form != "" {
		if err := s.keys.set(form); err != nil {
			return s, misunderstood{err}
		}
	}
	err = h.g.View(r.Context(), func(tx *db.Tx) (err error) {
		if s.since, err = versionOf(r, "since", tx.Stats().Changes.After); err != nil {
			return err
		}
		if s.until, err = versionOf(r, "until", math.MaxUint64); err != nil {
			return err
		}
		if s.until < s.since {
			return misunderstood{fmt.Errorf("until is %d, and must not be less than since, %d", s.until, s.since)}
		}
		for _, err := range tx.Changes(s.since) {
			return err
		}
		return nil
	})
	return s, err
}

// versionOf returns the version that a parameter of the URL names, or another one if it is missing.
func versionOf(r *http.Request, name string, otherwise uint64) (uint64, error) {
	text := r.FormValue(name)
	if text == "" {
		return otherwise, nil
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, misunderstood{fmt.Errorf("%s must be a version, a number from 0 on, got %q", name, text)}
	}
	return v, nil
}

// changes answers with changes until the client disconnects, the server shuts down or the database
// is closed. A client that does not read holds a part of the feed, about a megabyte, until its time
// to read a line is over. It holds no transaction.
func (h *handler) changes(w http.ResponseWriter, r *http.Request) {
	ctx, end, ok := h.subscribe(w, r, h.visitor(r).feeds)
	if !ok {
		return
	}
	defer end()
	s, err := h.spanOf(r)
	if err != nil {
		h.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", lines)
	if r.Method == http.MethodHead || h.line(w, nil) != nil {
		return
	}
	if err := h.feed(ctx, w, s); err != nil {
		_ = h.line(w, errorLine{faultOf(err)}) // an error means that the client has gone
	}
}

// feed sends the changes of a span, and an empty line when no change comes for a while. It returns
// an error to be sent.
func (h *handler) feed(ctx context.Context, w http.ResponseWriter, s span) error {
	for s.since < s.until {
		beat, cancel := context.WithTimeout(ctx, h.heartbeat)
		stop := context.AfterFunc(h.shutdown, cancel)
		err := h.send(beat, w, &s)
		stop()
		cancel()
		switch {
		case errors.Is(context.Cause(ctx), errBusy):
			return context.Cause(ctx)
		case errors.Is(err, errGone), ctx.Err() != nil:
			return nil
		case h.shutdown.Err() != nil:
			return fmt.Errorf("%w: the server shuts down", db.ErrClosed)
		case errors.Is(err, context.DeadlineExceeded):
			err = h.line(w, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errGone means that a client has gone.
var errGone = errors.New("the client has gone")

// send sends the changes of a span until ctx ends, and moves the begin of the span after them.
func (h *handler) send(ctx context.Context, w http.ResponseWriter, s *span) error {
	for c, err := range h.g.Changes(ctx, s.since) {
		if err != nil {
			return err
		}
		shown, err := s.keys.spell(c)
		if err == nil {
			err = h.line(w, shown)
		}
		if err != nil {
			return err
		}
		if s.since = c.Version; s.since >= s.until {
			return nil
		}
	}
	return nil
}

// line sends a value as a line of JSON, or an empty line. It returns errGone if it cannot.
func (h *handler) line(w http.ResponseWriter, v any) error {
	b := bytes.NewBufferString("\n")
	if v != nil {
		b.Reset()
		enc := json.NewEncoder(b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	control := http.NewResponseController(w)
	err := deadline(control.SetWriteDeadline, time.Now().Add(h.Timeout))
	if err == nil {
		_, err = w.Write(b.Bytes())
	}
	if err == nil {
		err = control.Flush()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}
