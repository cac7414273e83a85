package query

import (
	"encoding/json"
	"fmt"
	"math"
)

// Rows is the answer to a statement. A value is an int64, a finite float64, a string, a bool, a
// db.Key, or nil if it is absent, such as a bound that is not known.
type Rows struct {
	Columns []string
	Rows    [][]any
	Notes   []string // remarks for people, a line each
}

// add adds a row. NaN and infinities become nil: an unknown number has one form, which all
// clients can read.
func (r *Rows) add(values ...any) {
	for i, v := range values {
		if f, isFloat := v.(float64); isFloat && (math.IsNaN(f) || math.IsInf(f, 0)) {
			values[i] = nil
		}
	}
	r.Rows = append(r.Rows, values)
}

func (r *Rows) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// MarshalJSON implements [json.Marshaler]. It returns an object with the members columns, rows and
// notes.
func (r Rows) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Columns []string `json:"columns"`
		Rows    [][]any  `json:"rows"`
		Notes   []string `json:"notes"`
	}{append([]string{}, r.Columns...), append([][]any{}, r.Rows...), append([]string{}, r.Notes...)})
}
