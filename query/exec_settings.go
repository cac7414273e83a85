package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kith/db"
	"kith/query/parse"
)

// Settings are the settings of a session, which SET changes. The zero value sets nothing.
type Settings struct {
	// MaxRows is the maximum number of rows of an answer. The rest is left out, and a note says so. 0 means no limit.
	MaxRows int
	// Timeout is how long a statement may take, including waiting. The error after that names the setting, and
	// errors.Is finds context.DeadlineExceeded in it. 0 means no limit.
	Timeout time.Duration
	// Seed is the seed of SAMPLE, CHOOSE and EVALUATE, unless option seed is given. 0 means the default of each.
	Seed uint64
	// Model is the model that answers where a statement may name one and does not. "" means the deployed model.
	Model string
}

// unset is the value that resets a setting.
const unset = "none"

func (r *run) set(s *parse.Assign) (*Rows, error) {
	next := r.session.Settings
	if err := r.assign(&next, s.Option); err != nil {
		return nil, err
	}
	r.session.Settings = next
	rows := &Rows{Columns: []string{"name", "value"}}
	for _, row := range next.rows() {
		if row[0] == s.Name {
			rows.add(row[:2]...)
		}
	}
	return rows, nil
}

// assign changes the setting that o names.
func (r *run) assign(next *Settings, o parse.Option) error {
	v := o.Value
	if n, ok := v.(parse.Name); ok && n.Value == unset {
		v = nil
	}
	switch o.Name {
	case "max_rows":
		n, err := r.integer(v, 1, 0)
		next.MaxRows = int(n)
		return err
	case "timeout":
		d, err := r.duration(v)
		next.Timeout = d
		return err
	case "seed":
		n, err := r.integer(v, 1, 0)
		next.Seed = uint64(n)
		return err
	case "model":
		return r.assignModel(next, v)
	}
	var names []string
	for _, row := range next.rows() {
		names = append(names, row[0].(string))
	}
	return &Error{
		Pos: o.Pos, Msg: "no setting " + parse.Name{Value: o.Name}.String() + " (there are: " + strings.Join(names, ", ") + ")",
		DidYouMean: parse.Similar(o.Name, names), Err: db.ErrInput,
	}
}

func (r *run) assignModel(next *Settings, v parse.Value) error {
	if next.Model = ""; v == nil {
		return nil
	}
	name, err := r.text(v)
	if err != nil {
		return err
	}
	next.Model = name
	return r.view(func(tx *db.Tx) error { return r.model(tx, parse.Name{Pos: v.Position(), Value: name}) })
}

func (r *run) showSettings() (*Rows, error) {
	return &Rows{Columns: []string{"name", "value", "meaning"}, Rows: r.session.Settings.rows()}, nil
}

// rows returns the name, value and meaning of each setting.
func (s *Settings) rows() [][]any {
	var most, timeout, seed any
	if s.MaxRows > 0 {
		most = int64(s.MaxRows)
	}
	if s.Timeout > 0 {
		timeout = s.Timeout.String()
	}
	if s.Seed > 0 {
		seed = int64(s.Seed)
	}
	return [][]any{
		{"max_rows", most, "rows that an answer may have"},
		{"model", name(s.Model), "answers where USING names none"},
		{"seed", seed, "where SAMPLE, CHOOSE and EVALUATE begin to draw"},
		{"timeout", timeout, "how long a statement may take"},
	}
}

// limited runs a statement within the timeout of the settings.
func (r *run) limited(stmt parse.Statement) (*Rows, error) {
	limit, outer := r.session.Settings.Timeout, r.ctx
	if limit > 0 {
		ctx, cancel := context.WithTimeout(r.ctx, limit)
		defer cancel()
		r.ctx = ctx
	}
	rows, err := r.exec(stmt)
	if err != nil && outer.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = &Error{Pos: stmt.Position(), Msg: fmt.Sprintf("%s took longer than %v, which SET timeout allows", verb(stmt), limit), Err: err}
	}
	return rows, err
}

// cut removes the rows beyond MaxRows and notes it.
func (r *run) cut(rows *Rows) {
	if most := r.session.Settings.MaxRows; r.full(rows) {
		rows.Rows = rows.Rows[:most]
		rows.note("there are more rows than the %d that SET max_rows allows; they are left out", most)
	}
}

// most returns the number of rows to compute when asked rows are requested; a negative number means all. It is at most
// one more than MaxRows, so that cut can tell that rows are left out.
func (r *run) most(asked int64) int64 {
	limit := int64(r.session.Settings.MaxRows)
	if limit == 0 || 0 <= asked && asked <= limit {
		return asked
	}
	return limit + 1
}

// full reports whether an answer has more rows than MaxRows, so that further rows need not be computed.
func (r *run) full(rows *Rows) bool {
	limit := r.session.Settings.MaxRows
	return limit > 0 && len(rows.Rows) > limit
}

// Memory of an answer: bytes for each row and each value, and 1/rowsShare of the database's memory for all rows.
const (
	rowBytes   = 48
	valueBytes = 32
	rowsShare  = 4
)

// fits returns ErrTooLarge if an answer with more further rows takes more memory than it may.
func (r *run) fits(rows *Rows, more int) error {
	n, memory := len(rows.Rows)+more, r.session.DB.Memory()
	need, may := int64(n)*(rowBytes+valueBytes*int64(len(rows.Columns))), memory/rowsShare
	if need <= may {
		return nil
	}
	return fmt.Errorf("%w: an answer of %s takes about %d MB, of the %d MB of memory it may have %d; TOP and max_rows bound it",
		db.ErrTooLarge, count(n, "row"), need>>20, memory>>20, may>>20)
}

// using returns the model that a statement uses: the one it names, or that of the settings.
func (r *run) using(stmt parse.Statement, named parse.Name) parse.Name {
	if named.Value != "" {
		return named
	}
	return parse.Name{Pos: stmt.Position(), Value: r.session.Settings.Model}
}
