package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"kith/db"
)

// Stats returns the figures of the database of the server.
func (c *Client) Stats(ctx context.Context) (s db.Stats, err error) {
	answer, err := c.get(ctx, "stats", "application/json", nil)
	if err != nil {
		return s, err
	}
	defer answer.Close()
	if err := json.NewDecoder(answer).Decode(&s); err != nil {
		return s, c.failed(ctx, fmt.Errorf("figures: %w", err))
	}
	return s, nil
}

// Changes yields the changes of the database of the server after version since, as
// [db.DB.Changes] does, until ctx ends. A change that came this way can be read but not applied:
// [db.DB.Apply] needs its binary form.
func (c *Client) Changes(ctx context.Context, since uint64) iter.Seq2[db.Change, error] {
	return c.changesWithin(ctx, since, silence)
}

// changesWithin is Changes with another limit for the time in which nothing arrives.
func (c *Client) changesWithin(ctx context.Context, since uint64, silence time.Duration) iter.Seq2[db.Change, error] {
	return func(yield func(db.Change, error) bool) {
		connection, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		answer, err := c.get(connection, "changes", lines, url.Values{"since": {strconv.FormatUint(since, 10)}})
		if err != nil {
			yield(db.Change{}, err)
			return
		}
		defer answer.Close()
		timer := time.AfterFunc(silence, func() { cancel(fmt.Errorf("nothing arrives: %w", context.DeadlineExceeded)) })
		defer timer.Stop()
		in := json.NewDecoder(&heard{answer, func() { timer.Reset(silence) }})
		for {
			var l struct {
				db.Change
				Error *fault `json:"error"`
			}
			err := in.Decode(&l)
			switch {
			case errors.Is(err, io.EOF):
				err = fmt.Errorf("the feed breaks off: %w", io.ErrUnexpectedEOF)
			case err != nil && connection.Err() != nil:
				err = context.Cause(connection)
			case err == nil && l.Error != nil:
				err = l.Error.unwrap()
			}
			if err != nil {
				yield(db.Change{}, c.failed(ctx, err))
				return
			}
			if !yield(l.Change, nil) {
				return
			}
		}
	}
}

// silence is the longest time in which nothing arrives. The server sends something more
// often.
const silence = 6 * heartbeat

// heard is a reader that calls a function when something arrives.
type heard struct {
	io.Reader
	arrived func()
}

// Read implements io.Reader.
func (h *heard) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	h.arrived()
	return n, err
}

// get requests a path and returns the body of the answer, which has a media type.
func (c *Client) get(ctx context.Context, path, kind string, parameters url.Values) (io.ReadCloser, error) {
	at := c.base.JoinPath(path)
	at.RawQuery = parameters.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	return c.do(ctx, r, kind)
}
