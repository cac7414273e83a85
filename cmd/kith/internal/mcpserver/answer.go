package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kith/db"
	"kith/db/words"
	"kith/query"
)

// answer is what a tool returns: a value that marshals to a JSON object, and its text for clients
// that show only text.
type answer interface{ fmt.Stringer }

// rows is an answer with rows. A row is a JSON object with a member for each value that is not
// absent. A node is a string.
type rows struct {
	query.Rows
	more string // how to get more rows; "" means that there are no more
}

// limit removes the rows beyond the first most, which the argument called name gives.
func (r *rows) limit(name string, most int, f *field) {
	if len(r.Rows.Rows) < most {
		return
	}
	r.Rows.Rows = r.Rows.Rows[:most]
	r.more = fmt.Sprintf("these are the first %s; there may be more, which a larger %s returns (at most %g)", words.Count(most, "row"), name, f.high)
	if float64(most) == f.high {
		r.more = fmt.Sprintf("these are the first %s, as many as a call returns; there may be more", words.Count(most, "row"))
	}
}

// MarshalJSON implements json.Marshaler.
func (r rows) MarshalJSON() ([]byte, error) {
	all := make([]json.RawMessage, len(r.Rows.Rows))
	for i, row := range r.Rows.Rows {
		object, err := r.object(row)
		if err != nil {
			return nil, err
		}
		all[i] = object
	}
	return json.Marshal(struct {
		Rows  []json.RawMessage `json:"rows"`
		Notes []string          `json:"notes,omitempty"`
		More  string            `json:"more,omitempty"`
	}{all, r.Notes, r.more})
}

// object writes a row as a JSON object, in the order of the columns.
func (r rows) object(row []any) (json.RawMessage, error) {
	var b bytes.Buffer
	for i, v := range row {
		switch x := v.(type) {
		case nil:
			continue
		case db.Key:
			node, err := x.MarshalText()
			if err != nil {
				return nil, err
			}
			v = string(node)
		case float64:
			v = json.RawMessage(digits(x))
		}
		value, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, ",%q:%s", r.Columns[i], value)
	}
	return fmt.Appendf(nil, "{%s}", bytes.TrimPrefix(b.Bytes(), []byte(","))), nil
}

// digits writes a number with at most nine digits, which tell all float32 values apart.
func digits(x float64) string { return strconv.FormatFloat(x, 'g', 9, 64) }

// String returns the rows as lines of values, a node as statements write it. Columns without values
// are left out.
func (r rows) String() string {
	var b strings.Builder
	line := func(value func(column int) string) {
		separator := ""
		for i := range r.Columns {
			if r.present(i) {
				b.WriteString(separator + value(i))
				separator = " | "
			}
		}
		b.WriteByte('\n')
	}
	if len(r.Rows.Rows) > 0 {
		line(func(i int) string { return r.Columns[i] })
	}
	for _, row := range r.Rows.Rows {
		line(func(i int) string { return text(row[i]) })
	}
	b.WriteString(words.Count(len(r.Rows.Rows), "row"))
	for _, n := range r.Notes {
		b.WriteString("\nnote: " + n)
	}
	if r.more != "" {
		b.WriteString("\nnote: " + r.more)
	}
	return b.String()
}

// present reports whether a column has a value in any row.
func (r rows) present(column int) bool {
	return slices.ContainsFunc(r.Rows.Rows, func(row []any) bool { return row[column] != nil })
}

// text returns a value for people, a node as statements write it.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case db.Key:
		return v.Literal()
	case float64:
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	return fmt.Sprint(v)
}
