package web

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"kith/db"
	"kith/db/words"
	"kith/query"
	"kith/query/internal/parse"
)

// The lines of an answer, each a JSON value: progress, if the request asks for it; the columns,
// then the rows, the notes, and finally the number of rows. If the statement fails, the last line
// is an error.
type (
	headLine struct {
		Columns []string `json:"columns"`
		Keys    []string `json:"keys,omitempty"` // columns whose numbers and strings are nodes
	}
	rowLine struct {
		Row []jsonValue `json:"row"`
	}
	noteLine struct {
		Note string `json:"note"`
	}
	progressLine struct {
		Progress progressState `json:"progress"`
	}
	endLine struct {
		Rows int `json:"rows"`
	}
	errorLine struct {
		Error fault `json:"error"`
	}
)

// anyLine decodes a line of any kind.
type anyLine struct {
	headLine
	rowLine
	Progress *progressState `json:"progress"`
	Note     *string        `json:"note"`
	Rows     *int           `json:"rows"`
	Error    *fault         `json:"error"`
}

// jsonValue is a value of a row. A whole number is an int64, a number with a point or an exponent a
// float64. A node is an object with the member key if its column holds other values too.
type jsonValue struct{ value any }

// MarshalJSON implements json.Marshaler.
func (c jsonValue) MarshalJSON() ([]byte, error) {
	switch v := c.value.(type) {
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return []byte(text), nil
	}
	return json.Marshal(c.value)
}

// nodeObject is a node among other values.
type nodeObject struct {
	Key nodeValue `json:"key"`
}

// nodeValue is a node as an integer or a string.
type nodeValue any

// UnmarshalJSON implements json.Unmarshaler.
func (c *jsonValue) UnmarshalJSON(b []byte) error {
	v, err := parse.JSON("", b)
	if o, isObject := v.(parse.Object); isObject {
		key, isNode := o["key"]
		if !isNode {
			return errors.New("an object is no value")
		}
		*c = jsonValue{key}.asKey()
		return nil
	}
	c.value = v
	return err
}

// asKey converts a number or a string to the key of a node.
func (c jsonValue) asKey() jsonValue {
	switch v := c.value.(type) {
	case int64:
		c.value = db.Int(v)
	case string:
		c.value = db.Str(v)
	}
	return c
}

// nodeColumns returns the columns that hold only nodes.
func nodeColumns(r *query.Rows) (names []string, is []bool) {
	is = make([]bool, len(r.Columns))
	for i, name := range r.Columns {
		others := 0
		for _, row := range r.Rows {
			switch row[i].(type) {
			case db.Key:
				is[i] = true
			case nil:
			default:
				others++
			}
		}
		if is[i] = is[i] && others == 0; is[i] {
			names = append(names, name)
		}
	}
	return names, is
}

// fault is the JSON form of an error. If the error has no position in a statement, the line is 0.
type fault struct {
	query.Error
	Text string `json:"text"`           // the whole error in a line, with its position if it has one
	Kind string `json:"kind,omitempty"` // name in kinds; "" means none of them
}

// faultKind is an error that errors.Is also finds in the client.
type faultKind struct {
	name string
	err  error
}

func kinds() []faultKind {
	return []faultKind{
		{"busy", errBusy}, {"token", errToken}, {"not_found", db.ErrNotFound}, {"exists", db.ErrExists}, {"closed", db.ErrClosed}, {"read_only", db.ErrReadOnly},
		{"corrupt", db.ErrCorrupt}, {"no_model", db.ErrNoModel}, {"no_decision", db.ErrNoDecision}, {"expired", db.ErrExpired},
		{"rewarded", db.ErrRewarded}, {"too_large", db.ErrTooLarge}, {"full", db.ErrFull}, {"input", db.ErrInput},
		{"forgotten", db.ErrForgotten}, {"mismatch", db.ErrMismatch},
		{"refused", query.ErrRefused},
		{"timeout", context.DeadlineExceeded}, {"cancelled", context.Canceled},
	}
}

func faultOf(err error) fault {
	text := words.Plain(err)
	f := fault{Error: query.Error{Msg: text}, Text: text}
	var e *query.Error
	var named *db.Error
	switch {
	case errors.As(err, &e):
		f.Error = *e
	case errors.As(err, &named):
		f.DidYouMean = named.DidYouMean
	}
	for _, k := range kinds() {
		if errors.Is(err, k.err) {
			f.Kind = k.name
			break
		}
	}
	return f
}

// remoteError is an error of the handler without a position in a statement.
type remoteError struct {
	message string
	is      error
}

func (e *remoteError) Error() string { return e.message }
func (e *remoteError) Unwrap() error { return e.is }

// unwrap returns the error that the fault was made from, as far as errors.Is and errors.As can
// tell.
func (f *fault) unwrap() error {
	e := f.Error
	for _, k := range kinds() {
		if k.name == f.Kind {
			e.Err = k.err
		}
	}
	if e.Line == 0 {
		return &remoteError{e.Msg, e.Err}
	}
	return &e
}
