package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"kith/db"
	"kith/query"
	"kith/query/internal/parse"
)

const (
	smallBytes = 4 << 10 // size of a request, and of an answer, that is not counted
	bodyFactor = 32      // memory of a parsed request, relative to its size
)

// query answers the statement of a request.
func (h *handler) query(w http.ResponseWriter, r *http.Request) {
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "application/json" {
		// A page of a foreign site can make a browser send a POST, but not with this Content-Type
		// without a preflight request.
		fail(w, http.StatusUnsupportedMediaType, fmt.Errorf("Content-Type must be application/json, got %q", kind))
		return
	}
	v := h.visitor(r)
	told := &teller{w: w, every: h.tellEvery, limit: h.Timeout, at: time.Now()}
	answer, err := h.answer(w, r, v, told)
	began := told.end()
	if deadline(http.NewResponseController(w).SetWriteDeadline, time.Now().Add(h.Timeout)) != nil {
		panic(http.ErrAbortHandler) // the client has gone
	}
	if err == nil {
		err = v.reply(w, lines, answer)
	}
	switch {
	case err != nil && began:
		writeFault(w, err)
	case err != nil:
		h.fail(w, err)
	}
}

// reply answers with a body of a media type, whose bytes are counted until the client has read
// them. It returns errBusy, and has sent nothing, if there are too many.
func (v visitor) reply(w http.ResponseWriter, kind string, body []byte) error {
	unread := share{of: v.held, client: v.client}
	if len(body) > smallBytes && !unread.grow(int64(len(body))) {
		return fmt.Errorf("other clients have not read their answers: %w", errBusy)
	}
	defer unread.release()
	w.Header().Set("Content-Type", kind)
	if _, err := w.Write(body); err != nil {
		panic(http.ErrAbortHandler) // the client has gone; abort so that half an answer does not look complete
	}
	return nil
}

// answer reads and runs the statement of a request, and returns the answer. The answer to a
// statement that writes is small, so that it is never refused.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, v visitor, told *teller) ([]byte, error) {
	ctx, cancel := context.WithTimeout(r.Context(), h.Timeout)
	defer cancel()
	held := share{of: v.held, client: v.client}
	defer held.release()
	body, err := h.read(w, r, v, &held)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	c, err := h.parse(ctx, v, body)
	if err != nil {
		return nil, err
	}
	if h.Token != "" && !v.trusted && query.Writes(c.stmt) {
		return nil, errToken
	}
	c.writes = v.trusted
	if c.tells {
		c.tell = told.tell
	}
	if !v.trusted || !query.Lasts(c.stmt) {
		err = h.inTurn(ctx, v.client, v.small, v.large, c, func() error { return h.run(ctx, c) })
		return c.answer.Bytes(), h.late(ctx, h.Timeout, err)
	}
	ctx, cancel = context.WithTimeout(r.Context(), h.LongTimeout)
	defer cancel()
	err = h.inTurn(ctx, v.client, h.long, h.long, c, func() error { return h.run(ctx, c) })
	return c.answer.Bytes(), h.late(ctx, h.LongTimeout, err)
}

// call is a statement to run.
type call struct {
	text   string
	stmt   *parse.Statement
	args   []any
	keys   keyForm // of the answer
	writes bool    // whether it may write
	tells  bool    // whether its progress is asked for
	tell   func(query.Progress)
	answer bytes.Buffer
}

// parse parses a request. Like running a statement, that takes a processor, so requests take turns.
func (h *handler) parse(ctx context.Context, v visitor, body []byte) (*call, error) {
	turn, err := v.parsing.take(ctx, v.client)
	if err != nil {
		return nil, err
	}
	defer turn.end()
	q, err := parseRequest(body)
	c := &call{text: q.Statement, keys: q.Keys, tells: q.Progress}
	if err == nil {
		c.args, err = q.arguments()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: request: %w", db.ErrInput, err)
	}
	c.stmt, err = parse.Parse(q.Statement)
	return c, err
}

// late explains an error after a statement ran out of time, which was limit.
func (h *handler) late(ctx context.Context, limit time.Duration, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("the statement, with waiting for its turn, took longer than %v, and has changed nothing: %w", limit, ctx.Err())
	}
	return err
}

// run runs a statement and encodes its answer. An error of the context means that the statement has
// changed nothing.
func (h *handler) run(ctx context.Context, c *call) error {
	session := query.Session{DB: h.g, ReadOnly: !c.writes, Confined: true, Progress: c.tell, Settings: query.Settings{MaxRows: h.MaxRows + 1}}
	rows, err := session.Exec(ctx, c.stmt, c.args...)
	switch {
	case err != nil:
		return err
	case len(rows.Rows) > h.MaxRows && !query.Writes(c.stmt):
		return fmt.Errorf("%w: the answer has more than %d rows: ask for less, by TOP or AMONG", db.ErrTooLarge, h.MaxRows)
	}
	return encode(&c.answer, rows, c.keys)
}

// errSlow is the error of a request whose body takes too long to arrive.
var errSlow = errors.New("the body arrives too slowly")

// read reads the body of a request. After that, net/http notices when the client disconnects. The
// bytes of a body are counted as they arrive, and then the memory of the statement that it is
// parsed to.
func (h *handler) read(w http.ResponseWriter, r *http.Request, v visitor, held *share) ([]byte, error) {
	tooLarge := fmt.Errorf("the body must have at most %d bytes: %w", h.MaxBody, &http.MaxBytesError{Limit: h.MaxBody})
	if r.ContentLength > h.MaxBody {
		return nil, tooLarge
	}
	control := http.NewResponseController(w)
	if err := deadline(control.SetReadDeadline, time.Now().Add(h.BodyTimeout)); err != nil {
		return nil, err
	}
	arrival, err := v.arriving.take(v.client, true, func() { _ = deadline(control.SetReadDeadline, time.Now()) })
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(&metered{Reader: http.MaxBytesReader(w, r.Body, h.MaxBody), share: held})
	replaced := arrival.leave()
	switch {
	case err == nil:
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, tooLarge
	case replaced != nil:
		return nil, replaced
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("%w: it must arrive within %v", errSlow, h.BodyTimeout)
	default:
		return nil, fmt.Errorf("%w: %w", db.ErrInput, err)
	}
	w.Header().Del("Connection") // the body has arrived
	if len(body) > smallBytes && !held.grow(int64(len(body))*bodyFactor) {
		return nil, errBusy
	}
	return body, deadline(control.SetReadDeadline, time.Time{})
}

// deadline sets a deadline of a connection, if the connection supports it.
func deadline(set func(time.Time) error, at time.Time) error {
	if err := set(at); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// encode writes an answer line by line, with nodes in a form.
func encode(out *bytes.Buffer, r *query.Rows, form keyForm) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	keys, isKey := nodeColumns(r)
	if err := enc.Encode(headLine{r.Columns, keys}); err != nil {
		return err
	}
	line := rowLine{make([]jsonValue, len(r.Columns))}
	for _, row := range r.Rows {
		for i, v := range row {
			if k, ok := v.(db.Key); ok {
				node, err := form.value(k)
				if err != nil {
					return err
				}
				if v = node; !isKey[i] {
					v = nodeObject{node}
				}
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
	return enc.Encode(endLine{len(r.Rows)})
}
