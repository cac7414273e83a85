package web

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kith/db"
	"kith/query"
)

// Client sends statements to a [Handler] in a different process. It is safe for concurrent use.
//
//	c, err := web.Dial("http://127.0.0.1:7331")
//	rows, err := c.Run(ctx, "SHOW STATS")
type Client struct {
	// Token is sent with each statement. A Handler that has it allows statements that write; see
	// [Options]. Set it before the first statement.
	Token string
	// Progress, if not nil, is called during statements that take long, as the Progress of a
	// [query.Session] is. Set it between statements.
	Progress func(query.Progress)

	address string // as it was given, for errors
	base    *url.URL
	http    http.Client // its connections are not shared
}

// Dial returns a client of the Handler at a URL of the form http://host:port/path or just
// host:port, or at the file of a Unix socket, unix:path. It does not connect; [Client.Run] does.
func Dial(address string) (*Client, error) {
	if name, isSocket := strings.CutPrefix(address, "unix:"); isSocket {
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", name)
		}
		base := &url.URL{Scheme: "http", Host: "localhost"}
		return &Client{address: address, base: base, http: http.Client{Transport: &http.Transport{DialContext: dial}}}, nil
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	base, err := url.Parse(address)
	if err == nil && (base.Host == "" || base.Scheme != "http" && base.Scheme != "https") {
		err = errors.New("want http://host:port")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", db.ErrInput, address, err)
	}
	return &Client{address: address, base: base, http: http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}}}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Run runs one statement in the server process, as [query.Run] does in this process: it returns the
// same rows, a fault in the statement is an [*query.Error], and errors.Is finds the database's
// error. An argument is a node, a number, a string, a bool, a time, nil, or a slice of such values.
// The statement is cancelled when ctx ends.
func (c *Client) Run(ctx context.Context, text string, args ...any) (*query.Rows, error) {
	body, err := marshalRequest(text, args, c.Progress != nil)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.JoinPath("query").String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.do(ctx, r, lines)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	rows, err := readRows(answer, c.Progress)
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	return rows, nil
}

// do sends a request and returns the body of the answer, whose media type must be kind, or the
// error that the answer is.
func (c *Client) do(ctx context.Context, r *http.Request, kind string) (io.ReadCloser, error) {
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	var refused errorLine
	switch got, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); {
	case answer.StatusCode == http.StatusOK && got == kind:
		return answer.Body, nil
	case answer.StatusCode != http.StatusOK && got == "application/json" && json.NewDecoder(answer.Body).Decode(&refused) == nil && refused.Error.Text != "":
		err = refused.Error.unwrap()
	default:
		err = fmt.Errorf("status %s, and no answer of kith", answer.Status)
	}
	return nil, errors.Join(c.failed(ctx, err), answer.Body.Close())
}

// failed adds the address of the handler to an error of the connection. Errors of the context and
// of the handler are returned unchanged.
func (c *Client) failed(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, new(*query.Error)), errors.As(err, new(*remoteError)):
		return err
	}
	return fmt.Errorf("%s: %w", c.address, err)
}

func marshalRequest(text string, args []any, progress bool) ([]byte, error) {
	var list []any
	named := map[string]any{}
	fault := func(err error) ([]byte, error) { return nil, fmt.Errorf("%w: %w", db.ErrInput, err) }
	if !utf8.ValidString(text) {
		return fault(fmt.Errorf("the statement %.100q is not valid UTF-8", text))
	}
	for i, a := range args {
		name := fmt.Sprintf("argument %d", i+1)
		n, isNamed := a.(sql.NamedArg)
		if isNamed {
			name, a = "argument $"+n.Name, n.Value
		}
		v, err := sendable(a)
		if err != nil {
			return fault(fmt.Errorf("%s: %w", name, err))
		}
		if isNamed {
			named[n.Name] = v
		} else {
			list = append(list, v)
		}
	}
	q := map[string]any{"statement": text}
	if progress {
		q["progress"] = true
	}
	switch {
	case len(list) > 0 && len(named) > 0:
		return fault(errors.New("parameters ? and $name do not go together in a request"))
	case len(list) > 0:
		q["parameters"] = list
	case len(named) > 0:
		q["parameters"] = named
	}
	b, err := json.Marshal(q)
	if err != nil {
		return fault(fmt.Errorf("argument: %w", err))
	}
	return b, nil
}

// sendable converts an argument to a value that encodes to JSON without loss.
func sendable(v any) (any, error) {
	switch v := v.(type) {
	case db.Key:
		return sendable(v.Value())
	case time.Time:
		return v.Unix(), nil
	case []byte:
		return nil, errors.New("a []byte is no argument: want a string")
	}
	switch of := reflect.ValueOf(v); of.Kind() {
	case reflect.Slice:
		list := make([]any, of.Len())
		for i := range list {
			x, err := sendable(of.Index(i).Interface())
			if err != nil {
				return nil, fmt.Errorf("element %d: %w", i+1, err)
			}
			list[i] = x
		}
		return list, nil
	case reflect.String:
		if !utf8.ValidString(of.String()) {
			return nil, fmt.Errorf("%.100q is not valid UTF-8", of.String())
		}
	case reflect.Float32, reflect.Float64:
		if f := of.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%v is not a finite number", f)
		}
		return jsonValue{of.Float()}, nil
	}
	return v, nil
}

// readRows reads the lines of an answer, and passes the lines of progress to tell, which is nil if
// none was asked for.
func readRows(r io.Reader, tell func(query.Progress)) (*query.Rows, error) {
	lines := json.NewDecoder(r)
	var head headLine
	rows := &query.Rows{}
	for {
		var l anyLine
		if err := lines.Decode(&l); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("the answer breaks off: %w", err)
		}
		switch {
		case l.Progress != nil:
			if tell != nil {
				tell(l.Progress.progress())
			}
		case l.Error != nil:
			return nil, l.Error.unwrap()
		case l.Row != nil:
			if len(l.Row) != len(head.Columns) {
				return nil, fmt.Errorf("a row of %d values has %d columns", len(l.Row), len(head.Columns))
			}
			rows.Rows = append(rows.Rows, head.values(l.Row))
		case l.Note != nil:
			rows.Notes = append(rows.Notes, *l.Note)
		case l.Rows != nil && *l.Rows != len(rows.Rows):
			return nil, fmt.Errorf("the answer has %d rows of %d", len(rows.Rows), *l.Rows)
		case l.Rows != nil:
			return rows, nil
		default:
			head = l.headLine
			rows.Columns = head.Columns
		}
	}
}

// values returns the Go values of a row.
func (h *headLine) values(row []jsonValue) []any {
	values := make([]any, len(row))
	for i, c := range row {
		if slices.Contains(h.Keys, h.Columns[i]) {
			c = c.asKey()
		}
		values[i] = c.value
	}
	return values
}
