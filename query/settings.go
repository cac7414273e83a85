package query

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"kith/db"
	"kith/db/words"
	"kith/query/internal/parse"
)

// Settings are the settings of a session, which SET changes. The zero value sets nothing.
type Settings struct {
	// MaxRows is the maximum number of rows of an answer. The rest is left out, and a note says so.
	// 0 means no limit.
	MaxRows int
	// Timeout is how long a statement may take, including waiting. The error after that names the
	// setting, and errors.Is finds context.DeadlineExceeded in it. 0 means no limit.
	Timeout time.Duration
	// Seed is the seed of SAMPLE, CHOOSE and EVALUATE, unless option seed is given. 0 means the
	// default of each.
	Seed uint64
	// Model is the model that answers where a statement may name one and does not. "" means the
	// deployed model.
	Model string
	// Seconds shows times as seconds since 1970 and not as dates in RFC 3339.
	Seconds bool
}

// moment returns a time, to the second, as rows show it, or nil for the zero time.
func (r *run) moment(t time.Time) any { return r.instant(t.Truncate(time.Second)) }

// instant returns a time with its fraction of a second as rows show it, or nil for the zero time.
func (r *run) instant(t time.Time) any {
	switch {
	case t.IsZero():
		return nil
	case !r.session.Settings.Seconds:
		return t.UTC().Format(time.RFC3339Nano)
	case t.Nanosecond() == 0:
		return t.Unix()
	}
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}

// unset is the value that resets a setting.
const unset = "none"

func (r *run) set(s *parse.Statement) {
	next, given := r.session.Settings, parse.Setting.All(s)
	if n, ok := given[0].Value.(parse.Name); ok && n.Value == unset {
		given[0].Value = nil
	}
	if r.setAll("setting", given, next.options()); r.err != nil {
		return
	}
	r.session.Settings = next
	for _, row := range next.rows() {
		if row[0] == given[0].Name {
			r.rows.add(row[:2]...)
		}
	}
}

// options returns the settings. A value of nil resets one.
func (s *Settings) options() []option {
	return []option{
		integerOption("max_rows", "number of rows that an answer may have", 1, math.MaxInt64, &s.MaxRows),
		{"model", "a name", "model that answers where USING names none", func(r *run, o parse.Option) {
			if s.Model = ""; o.Value == nil {
				return
			}
			s.Model = r.model(parse.Name{Pos: o.Value.Position(), Value: r.text(o.Value)})
			r.view(func() {
				_, err := r.tx.Model(s.Model).Info(r.ctx)
				r.fail(err)
			})
		}},
		integerOption("seed", "seed of SAMPLE, CHOOSE and EVALUATE", 1, math.MaxInt64, &s.Seed),
		{"times", "dates or seconds", "whether rows show times as dates in RFC 3339 or as seconds since 1970; dates by default", func(r *run, o parse.Option) {
			if s.Seconds = false; o.Value != nil {
				wordOption(o.Name, "", func(word string) { s.Seconds = word == "seconds" }, "dates", "seconds").set(r, o)
			}
		}},
		{"timeout", "a duration", "how long a statement may take", func(r *run, o parse.Option) { s.Timeout = r.duration(o.Value) }},
	}
}

func (r *run) showSettings(*parse.Statement) { r.rows.Rows = r.session.Settings.rows() }

// rows returns the name, value and meaning of each setting.
func (s *Settings) rows() (rows [][]any) {
	values := map[string]any{"model": orNil(s.Model), "max_rows": orNil(int64(s.MaxRows)), "seed": orNil(int64(s.Seed))}
	if s.Seconds {
		values["times"] = "seconds"
	}
	if s.Timeout > 0 {
		values["timeout"] = s.Timeout.String()
	}
	for _, o := range s.options() {
		rows = append(rows, []any{o.name, values[o.name], o.meaning})
	}
	return rows
}

// withTimeout runs a statement within the timeout of the settings.
func (r *run) withTimeout(stmt *parse.Statement) {
	limit, outer := r.session.Settings.Timeout, r.ctx
	if limit > 0 {
		ctx, cancel := context.WithTimeout(r.ctx, limit)
		defer cancel()
		r.ctx = ctx
	}
	r.exec(stmt)
	if outer.Err() == nil && errors.Is(r.err, context.DeadlineExceeded) {
		msg := fmt.Sprintf("%s took longer than %v, which SET timeout allows", nameOf(stmt), limit)
		r.err = &Error{Pos: stmt.Position(), Msg: msg, Err: r.err}
	}
}

// truncate removes the rows beyond MaxRows and notes it, unless the session's program does.
func (r *run) truncate() {
	if limit := r.session.Settings.MaxRows; r.overLimit() {
		r.rows.Rows = r.rows.Rows[:limit]
		if r.session.Truncates {
			return
		}
		r.rows.note("there are more rows than the %d that SET max_rows allows; they are left out", limit)
	}
}

// top returns the number of rows to compute for the operand of TOP, or for def if there is no TOP;
// a negative number means all. It is at most one more than MaxRows, so that truncate can tell that
// rows are left out.
func (r *run) top(v parse.Value, def int64) int {
	asked := r.integer(v, 1, def)
	limit := int64(r.session.Settings.MaxRows)
	if limit == 0 || 0 <= asked && asked <= limit {
		return int(asked)
	}
	return int(limit + 1)
}

// overLimit reports whether the answer has more rows than MaxRows, so that further rows need not be
// computed.
func (r *run) overLimit() bool {
	limit := r.session.Settings.MaxRows
	return limit > 0 && len(r.rows.Rows) > limit
}

// Memory of an answer: bytes for each row and each value, and bytes that any answer may take, which
// is less than a quarter of the smallest Options.Memory.
const (
	rowBytes   = 48
	valueBytes = 32
	smallBytes = 1 << 20
)

// checkMemory fails with ErrTooLarge if an answer with more further rows takes more memory than it
// may, and reports whether there is an error. For small answers it does not ask for the figures of
// the database, which takes longer than to answer many a statement.
func (r *run) checkMemory(more int) bool {
	n := len(r.rows.Rows) + more
	need := int64(n) * (rowBytes + valueBytes*int64(len(r.rows.Columns)))
	if need <= smallBytes {
		return r.err != nil
	}
	if r.answerBytes == 0 {
		r.answerBytes = r.tx.Stats().AnswerBytes
	}
	may := r.answerBytes
	if need <= may {
		return r.err != nil
	}
	return r.fail(fmt.Errorf("%w: an answer of %s takes about %d MB and may take %d MB; TOP and max_rows limit it",
		db.ErrTooLarge, words.Count(n, "row"), need>>20, may>>20))
}

// using returns the name of the model that a statement uses: the one after USING, or the setting.
func (r *run) using(s *parse.Statement) parse.Name {
	if parse.Using.Given(s) {
		return parse.Using.Of(s)
	}
	return parse.Name{Pos: s.Pos, Value: r.session.Settings.Model}
}
