package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// rival is a result of a method that another program measured, such as prbench-gnn.
type rival struct {
	Data     string  `json:"dataset"`
	Protocol string  `json:"split_protocol"` // ogb or heart
	Method   string  `json:"method"`
	Seed     int     `json:"seed"` // for the protocol ogb, the split
	Metric   string  `json:"metric"`
	Value    float64 `json:"value"` // of the test part, 0 to 1
	Valid    float64 `json:"valid_value"`
	Seconds  float64 `json:"seconds_cpu"`
	Epochs   int     `json:"epochs"`
	Note     string  `json:"note"`
}

// readRivals reads one JSON object a line. Empty lines are skipped.
func readRivals(name string) ([]rival, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []rival
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		r, err := parseRival(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, n, err)
		}
		all = append(all, r)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}

func parseRival(line string) (r rival, err error) {
	in := json.NewDecoder(strings.NewReader(line))
	in.DisallowUnknownFields()
	if err := in.Decode(&r); err != nil {
		return r, err
	}
	if _, err := in.Token(); err != io.EOF {
		return r, errors.New("there is more than one object")
	}
	switch {
	case r.Data == "" || r.Method == "" || r.Metric == "":
		return r, errors.New("dataset, method or metric is missing")
	case r.Protocol != "ogb" && r.Protocol != "heart":
		return r, fmt.Errorf("split_protocol %q (accepted: ogb, heart)", r.Protocol)
	case !(r.Value >= 0 && r.Value <= 1):
		return r, fmt.Errorf("value %v (accepted: 0 to 1)", r.Value)
	}
	return r, nil
}

// rivalKey tells the results that one row summarizes.
type rivalKey struct{ data, protocol, method, metric string }

// rivalRow is a method's mean over its seeds, in percent.
type rivalRow struct {
	rivalKey
	value, valid, seconds spread
	runs                  int
	note                  string
}

// rivalRows returns a row for each data set, protocol, method and metric, the best first in each table.
func rivalRows(all []rival) (rows []rivalRow) {
	key := func(r rival) rivalKey { return rivalKey{r.Data, r.Protocol, r.Method, strings.ToLower(r.Metric)} }
	for _, of := range grouped(all, key) {
		rows = append(rows, rivalRow{
			rivalKey: key(of[0]), runs: len(of), note: of[0].Note,
			value:   spreadOf(of, func(r rival) float64 { return 100 * r.Value }),
			valid:   spreadOf(of, func(r rival) float64 { return 100 * r.Valid }),
			seconds: spreadOf(of, func(r rival) float64 { return r.Seconds }),
		})
	}
	slices.SortStableFunc(rows, func(a, b rivalRow) int { return cmp.Compare(b.value.Mean, a.value.Mean) })
	return rows
}
