package ogb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Result is one metric of a method on one split: a line of JSON in a file of results.
type Result struct {
	Data     string  `json:"dataset"`
	Protocol string  `json:"split_protocol"` // ogb or heart
	Method   string  `json:"method"`
	Seed     int     `json:"seed"` // for the protocol ogb, also the split
	Metric   string  `json:"metric"`
	Value    float64 `json:"value"`       // of the test part, 0 to 1
	Valid    float64 `json:"valid_value"` // of the validation part
	Seconds  float64 `json:"seconds_cpu"`
	Epochs   int     `json:"epochs"`
	Note     string  `json:"note"`
}

// ReadResults reads a file of results. Empty lines are skipped.
func ReadResults(name string) (all []Result, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		r, err := parseResult(line)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, n, err)
		}
		all = append(all, r)
	}
	return all, nil
}

func parseResult(line []byte) (r Result, err error) {
	in := json.NewDecoder(bytes.NewReader(line))
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

// WriteResults replaces a file of results.
func WriteResults(name string, all []Result) error {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	for _, r := range all {
		if err := lines.Encode(r); err != nil {
			return err
		}
	}
	if err := os.WriteFile(name+".new", text.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
