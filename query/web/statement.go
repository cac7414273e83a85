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

// task is what a request with a body asks for.
type task struct {
	shape  string // tasks of one shape take about as long
	writes bool   // whether it changes the database
	lasts  bool   // whether it may take minutes
	tells  bool   // whether its progress is asked for
	// run returns the answer. An error of the context means that it has changed nothing.
	run func(context.Context, allowed) ([]byte, error)
}

// allowed says what a task may do.
type allowed struct {
	write bool
	tell  func(query.Progress) // nil: nobody asks for the progress
	end   func()               // ends the turn of the task
}

// post answers a request with a body: it carries out the task that parse reads from the body. kind
// is the media type of the answer.
func (h *handler) post(w http.ResponseWriter, r *http.Request, kind string, parse func(body []byte) (*task, error)) {
	if got, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(got) != "application/json" {
		// A page of a foreign site can make a browser send a POST, but not with this Content-Type
		// without a preflight request.
		fail(w, http.StatusUnsupportedMediaType, fmt.Errorf("Content-Type must be application/json, got %q", got))
		return
	}
	v := h.visitor(r)
	told := &teller{w: w, every: h.tellEvery, limit: h.Timeout, at: time.Now()}
	answer, err := h.answer(w, r, v, parse, told)
	began := told.end()
	if deadline(http.NewResponseController(w).SetWriteDeadline, time.Now().Add(h.Timeout)) != nil {
		panic(http.ErrAbortHandler) // the client has gone
	}
	if err == nil {
		err = v.reply(w, kind, answer)
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

// answer reads a request, carries out its task and returns the answer. The answer to a task that
// writes is small, so that it is never refused.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, v visitor, parse func([]byte) (*task, error), told *teller) ([]byte, error) {
	ctx, cancel := context.WithTimeout(r.Context(), h.Timeout)
	defer cancel()
	held := share{of: v.held, client: v.client}
	defer held.release()
	body, err := h.read(w, r, v, &held)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	t, err := parseInTurn(ctx, v, body, parse)
	if err != nil {
		return nil, err
	}
	if h.Token != "" && !v.trusted && t.writes {
		return nil, errToken
	}
	may := allowed{write: v.trusted}
	if t.tells {
		may.tell = told.tell
	}
	if !v.trusted || !t.lasts {
		return h.carryOut(ctx, h.Timeout, v.client, v.small, v.large, t, may)
	}
	ctx, cancel = context.WithTimeout(r.Context(), h.LongTimeout)
	defer cancel()
	return h.carryOut(ctx, h.LongTimeout, v.client, h.long, h.long, t, may)
}

// carryOut runs a task when it is its turn, and explains the error of a task that ran out of time,
// which was limit.
func (h *handler) carryOut(ctx context.Context, limit time.Duration, client string, small, large *turns, t *task, may allowed) (answer []byte, err error) {
	err = h.inTurn(ctx, client, small, large, t, func(end func()) (err error) {
		may.end = end
		answer, err = t.run(ctx, may)
		return err
	})
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("the request, with waiting for its turn, took longer than %v, and has changed nothing: %w", limit, ctx.Err())
	}
	return answer, err
}

// parseInTurn parses a request. Like running a task, that takes a processor, so requests take
// turns.
func parseInTurn(ctx context.Context, v visitor, body []byte, parse func([]byte) (*task, error)) (*task, error) {
	turn, err := v.parsing.take(ctx, v.client)
	if err != nil {
		return nil, err
	}
	defer turn.end()
	return parse(body)
}

// query answers a statement.
func (h *handler) query(w http.ResponseWriter, r *http.Request) { h.post(w, r, lines, h.statement) }

// statement returns the task to run the statement of a request.
func (h *handler) statement(body []byte) (*task, error) {
	q, err := decodeBody[request](body)
	if err != nil {
		return nil, err
	}
	args, err := q.arguments()
	if err != nil {
		return nil, misunderstood{fmt.Errorf("request: %w", err)}
	}
	stmt, err := parse.Parse(q.Statement)
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context, may allowed) ([]byte, error) {
		session := query.Session{DB: h.g, ReadOnly: !may.write, Confined: true, Progress: may.tell, Settings: query.Settings{MaxRows: h.MaxRows + 1}}
		rows, err := session.Exec(ctx, stmt, args...)
		switch {
		case err != nil:
			return nil, err
		case len(rows.Rows) > h.MaxRows && !query.Writes(stmt):
			return nil, fmt.Errorf("%w: the answer has more than %d rows: ask for less, by TOP or AMONG", db.ErrTooLarge, h.MaxRows)
		}
		return encode(rows, q.Keys)
	}
	return &task{shape: shapeOf(q.Statement), writes: query.Writes(stmt), lasts: query.Lasts(stmt), tells: q.Progress, run: run}, nil
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
		return nil, misunderstood{err}
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

// encode returns the lines of an answer, with nodes in a form.
func encode(r *query.Rows, form keyForm) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	keys, isKey := nodeColumns(r)
	if err := enc.Encode(headLine{r.Columns, keys}); err != nil {
		return nil, err
	}
	line := rowLine{make([]jsonValue, len(r.Columns))}
	for _, row := range r.Rows {
		for i, v := range row {
			if k, ok := v.(db.Key); ok {
				node, err := form.value(k)
				if err != nil {
					return nil, err
				}
				if v = node; !isKey[i] {
					v = nodeObject{node}
				}
			}
			line.Row[i].value = v
		}
		if err := enc.Encode(line); err != nil {
			return nil, err
		}
	}
	for _, n := range r.Notes {
		if err := enc.Encode(noteLine{n}); err != nil {
			return nil, err
		}
	}
	if err := enc.Encode(endLine{len(r.Rows)}); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
