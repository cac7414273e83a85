package query

import (
	"encoding/json"
	"fmt"
	"math"
)

// Rows is the answer to a statement. A value is an int64, a float64, a string, a bool, a db.Key, or nil if it is
// absent.
type Rows struct {
	Columns []string
	Rows    [][]any
	Notes   []string // remarks for people, a line each
}

func (r *Rows) add(values ...any) { r.Rows = append(r.Rows, values) }

func (r *Rows) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// MarshalJSON implements [json.Marshaler]. It returns an object with the members columns, rows and notes. NaN and
// infinities, which JSON lacks, are null.
func (r Rows) MarshalJSON() ([]byte, error) {
	rows := make([][]any, len(r.Rows))
	for i, row := range r.Rows {
		rows[i] = make([]any, len(row))
		for j, v := range row {
			if f, ok := v.(float64); !ok || !math.IsNaN(f) && !math.IsInf(f, 0) {
				rows[i][j] = v
			}
		}
	}
	return json.Marshal(struct {
		Columns []string `json:"columns"`
		Rows    [][]any  `json:"rows"`
		Notes   []string `json:"notes"`
	}{append([]string{}, r.Columns...), rows, append([]string{}, r.Notes...)})
}
