package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"kith/db"
	"kith/query"
	"kith/query/parse"
)

const (
	smallBytes = 4 << 10 // size of a request, and of an answer, that is not counted
	bodyFactor = 32      // memory of a parsed request, relative to its size
	rowBytes   = 48      // memory of a row of an answer, without its values
	valueBytes = 32      // memory of a value of a row
)

// query answers the statement of a request.
func (h *handler) query(w http.ResponseWriter, r *http.Request) {
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "application/json" {
		// A page of a foreign site can make a browser send a POST, but not with this Content-Type without a preflight
		// request.
		fail(w, http.StatusUnsupportedMediaType, fmt.Errorf("Content-Type must be application/json, got %q", kind))
		return
	}
	done, ok := h.requests.take(1)
	if !ok {
		h.fail(w, errBusy)
		return
	}
	defer done()
	rows, err := h.answer(w, r)
	if deadline(http.NewResponseController(w).SetWriteDeadline, time.Now().Add(h.Timeout)) != nil {
		panic(http.ErrAbortHandler) // the client has gone
	}
	var written func()
	if err == nil {
		written, err = h.hold(rows)
	}
	if err != nil {
		h.fail(w, err)
		return
	}
	defer written()
	w.Header().Set("Content-Type", lines)
	if err := stream(w, rows); err != nil {
		panic(http.ErrAbortHandler) // the client has gone; abort so that half an answer does not look complete
	}
}

// hold counts an answer that waits for its client, until it is written. The answer of a statement that writes is small,
// so that it is never refused.
func (h *handler) hold(rows *query.Rows) (written func(), err error) {
	size := int64(len(rows.Rows)) * int64(rowBytes+valueBytes*len(rows.Columns))
	written, ok := h.held.take(max(size-smallBytes, 0))
	if !ok {
		return nil, fmt.Errorf("other clients have not read their answers: %w", errBusy)
	}
	return written, nil
}

// answer reads and runs the statement of a request.
func (h *handler) answer(w http.ResponseWriter, r *http.Request) (*query.Rows, error) {
	ctx, cancel := context.WithTimeout(r.Context(), h.Timeout)
	defer cancel()
	body, read, err := h.read(ctx, w, r)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	defer read()
	var q request
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	args, err := arguments(q.Parameters)
	if err != nil {
		return nil, fmt.Errorf("%w: request: %w", db.ErrInput, err)
	}
	stmt, err := parse.Parse(q.Statement)
	if err != nil {
		return nil, err
	}
	_, trusted := h.token(r)
	if h.Token != "" && !trusted && query.Writes(stmt) {
		return nil, errToken
	}
	if !trusted || !query.Lasts(stmt) {
		return h.run(ctx, &h.turns, h.Timeout, stmt, args, trusted)
	}
	ctx, cancel = context.WithTimeout(r.Context(), h.LongTimeout)
	defer cancel()
	return h.run(ctx, &h.long, h.LongTimeout, stmt, args, trusted)
}

// run runs a statement when it is its turn. limit is the timeout of the context. An error of the context means that the
// statement has changed nothing.
func (h *handler) run(ctx context.Context, turns *turns, limit time.Duration, stmt *parse.Statement, args []any, writes bool) (*query.Rows, error) {
	session := query.Session{DB: h.g, ReadOnly: !writes, Confined: true, Settings: query.Settings{MaxRows: h.MaxRows + 1}}
	rows, err := turns.run(ctx, func() (*query.Rows, error) { return session.Exec(ctx, stmt, args...) })
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("the statement, with waiting for its turn, took longer than %v, and has changed nothing: %w", limit, ctx.Err())
	case err != nil:
		return nil, err
	case len(rows.Rows) > h.MaxRows && !query.Writes(stmt):
		return nil, fmt.Errorf("%w: the answer has more than %d rows: ask for less, by TOP or AMONG", db.ErrTooLarge, h.MaxRows)
	}
	return rows, nil
}

// read reads the body of a request. After that, net/http notices when the client disconnects. The caller must call done when
// it no longer needs what the body holds.
func (h *handler) read(ctx context.Context, w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	if r.ContentLength > h.MaxBody {
		return nil, nil, &http.MaxBytesError{Limit: h.MaxBody}
	}
	until, _ := ctx.Deadline()
	control := http.NewResponseController(w)
	if err := deadline(control.SetReadDeadline, until); err != nil {
		return nil, nil, err
	}
	in := http.MaxBytesReader(w, r.Body, h.MaxBody)
	body, err = io.ReadAll(io.LimitReader(in, smallBytes))
	done = func() {}
	if len(body) == smallBytes && err == nil {
		size := h.MaxBody
		if r.ContentLength > 0 {
			size = min(size, r.ContentLength)
		}
		var ok bool
		if done, ok = h.held.take(size * bodyFactor); !ok {
			return nil, nil, errBusy
		}
		var rest []byte
		rest, err = io.ReadAll(in)
		body = append(body, rest...)
	}
	if err == nil {
		err = deadline(control.SetReadDeadline, time.Time{})
	}
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("%w: %w", db.ErrInput, err)
	}
	w.Header().Del("Connection") // the body has arrived
	return body, done, nil
}

// deadline sets a deadline of a connection, if the connection supports it.
func deadline(set func(time.Time) error, at time.Time) error {
	if err := set(at); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
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
