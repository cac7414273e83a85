package query

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"kith/db"
	"kith/db/words"
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
	options := next.options()
	names := optionNames(options)
	i := slices.Index(names, s.Name)
	if i < 0 {
		return nil, &Error{
			Pos: s.Option.Pos, Msg: "no setting " + parse.Name{Value: s.Name}.String() + " (there are: " + strings.Join(names, ", ") + ")",
			DidYouMean: words.Closest(s.Name, names), Err: db.ErrInput,
		}
	}
	if err := options[i].set(r, s.Option); err != nil {
		return nil, err
	}
	r.session.Settings = next
	rows := r.answer()
	rows.add(next.rows()[i][:2]...)
	return rows, nil
}

// options returns the settings.
func (s *Settings) options() []option {
	unsettable := func(o option) option {
		set := o.set
		o.set = func(r *run, given parse.Option) error {
			if n, ok := given.Value.(parse.Name); ok && n.Value == unset {
				given.Value = nil
			}
			return set(r, given)
		}
		return o
	}
	return []option{
		unsettable(integerOption("max_rows", "number of rows that an answer may have", 1, math.MaxInt64, &s.MaxRows)),
		unsettable(option{"model", "a name", "model that answers where USING names none", func(r *run, o parse.Option) error {
			return r.assignModel(s, o.Value)
		}}),
		unsettable(integerOption("seed", "seed of SAMPLE, CHOOSE and EVALUATE", 1, math.MaxInt64, &s.Seed)),
		unsettable(option{"timeout", "a duration", "how long a statement may take", func(r *run, o parse.Option) (err error) {
			s.Timeout, err = r.duration(o.Value)
			return err
		}}),
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
	return r.view(func(tx *db.Tx) error {
		_, err := tx.Model(r.model(parse.Name{Pos: v.Position(), Value: name}))
		return err
	})
}

func (r *run) showSettings(*parse.Simple) (*Rows, error) {
	rows := r.answer()
	rows.Rows = r.session.Settings.rows()
	return rows, nil
}

// rows returns the name, value and meaning of each setting.
func (s *Settings) rows() (rows [][]any) {
	values := map[string]any{"model": orNil(s.Model), "max_rows": orNil(int64(s.MaxRows)), "seed": orNil(int64(s.Seed))}
	if s.Timeout > 0 {
		values["timeout"] = s.Timeout.String()
	}
	for _, o := range s.options() {
		rows = append(rows, []any{o.name, values[o.name], o.meaning})
	}
	return rows
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

// top returns the number of rows to compute for the operand of TOP, or for def if there is no TOP; a negative number
// means all. It is at most one more than MaxRows, so that cut can tell that rows are left out.
func (r *run) top(v parse.Value, def int64) (int64, error) {
	asked, err := r.integer(v, 1, def)
	limit := int64(r.session.Settings.MaxRows)
	if limit == 0 || 0 <= asked && asked <= limit {
		return asked, err
	}
	return limit + 1, err
}

// full reports whether an answer has more rows than MaxRows, so that further rows need not be computed.
func (r *run) full(rows *Rows) bool {
	limit := r.session.Settings.MaxRows
	return limit > 0 && len(rows.Rows) > limit
}

// Memory of an answer: bytes for each row and each value.
const (
	rowBytes   = 48
	valueBytes = 32
)

// fits returns ErrTooLarge if an answer with more further rows takes more memory than it may.
func (r *run) fits(rows *Rows, more int) error {
	n, may := len(rows.Rows)+more, r.session.DB.AnswerMemory()
	need := int64(n) * (rowBytes + valueBytes*int64(len(rows.Columns)))
	if need <= may {
		return nil
	}
	return fmt.Errorf("%w: an answer of %s takes about %d MB, and %d MB are its part of the memory; TOP and max_rows bound it",
		db.ErrTooLarge, words.Count(n, "row"), need>>20, may>>20)
}

// using returns the model that a statement uses: the one it names, or that of the settings.
func (r *run) using(stmt parse.Statement, named parse.Name) parse.Name {
	if named.Value != "" {
		return named
	}
	return parse.Name{Pos: stmt.Position(), Value: r.session.Settings.Model}
}
