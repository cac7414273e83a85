package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// result is one metric of a run, a line of the file of results.
type result struct {
	Dataset  string  `json:"dataset"`
	Protocol string  `json:"split_protocol"`
	Method   string  `json:"method"`
	Seed     int     `json:"seed"` // and, with the protocol ogb, the split
	Metric   string  `json:"metric"`
	Value    float64 `json:"value"`       // of the test part, 0 to 1
	Valid    float64 `json:"valid_value"` // of the validation part
	Seconds  float64 `json:"seconds_cpu"`
	Epochs   int     `json:"epochs"`
	Note     string  `json:"note"`
}

// readResults reads a file of results. It returns no results if the file does not exist.
func readResults(name string) (all []result, err error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, n, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// writeResults replaces a file of results.
func writeResults(name string, all []result) error {
	var text []byte
	for _, r := range all {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	if err := os.WriteFile(name+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
