package main

import (
	"cmp"
	"slices"
	"strings"

	"kith/cmd/prbench/internal/ogb"
)

// rivalKey tells the results that one row summarizes.
type rivalKey struct{ data, protocol, method, note, metric string }

// rivalRow is a method's mean over its seeds, in percent.
type rivalRow struct {
	rivalKey
	value, valid, seconds spread
	runs                  int
}

// rivalRows returns a row for each data set, protocol, method and metric, the best first in each
// table.
func rivalRows(all []ogb.Result) (rows []rivalRow) {
	key := func(r ogb.Result) rivalKey {
		return rivalKey{r.Data, r.Protocol, r.Method, r.Note, strings.ToLower(r.Metric)}
	}
	for _, of := range grouped(all, key) {
		rows = append(rows, rivalRow{
			rivalKey: key(of[0]), runs: len(of),
			value:   spreadOf(of, func(r ogb.Result) float64 { return 100 * r.Value }),
			valid:   spreadOf(of, func(r ogb.Result) float64 { return 100 * r.Valid }),
			seconds: spreadOf(of, func(r ogb.Result) float64 { return r.Seconds }),
		})
	}
	slices.SortStableFunc(rows, func(a, b rivalRow) int { return cmp.Compare(b.value.Mean, a.value.Mean) })
	return rows
}

// title returns the method with its note.
func (r rivalRow) title() string {
	if r.note == "" {
		return r.method
	}
	return r.method + " (" + r.note + ")"
}
