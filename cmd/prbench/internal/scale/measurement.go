// Package scale extrapolates measurements on graphs of several sizes to larger graphs, and
// says which figures are measured and which are not.
package scale

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"kith/cmd/internal/cli"
)

// Setting is what a measurement depends on, apart from the machine.
type Setting struct {
	Build  string `json:"build"`  // version of the tool
	Cores  int    `json:"cores"`  // number of cores used
	Memory int64  `json:"memory"` // Options.Memory; 0 means the default
	Degree int    `json:"degree"` // number of generated edges of a node, about
}

// Measurement holds the figures that a phase measured on a graph.
type Measurement struct {
	Setting
	Asked   int64              `json:"asked"` // number of edges that were generated
	Edges   int64              `json:"edges"` // number of different edges
	Phase   string             `json:"phase"`
	Figures map[string]float64 `json:"figures"` // by name, in bytes, seconds or a second
}

// repeats reports whether another measurement has the same setting, size and phase.
func (m Measurement) repeats(other Measurement) bool {
	return m.Setting == other.Setting && m.Asked == other.Asked && m.Phase == other.Phase
}

// Results are measurements, kept in a file of JSON lines.
type Results struct {
	name string // of the file
	All  []Measurement
}

// Open reads the results of a file, if it exists.
func Open(name string) (*Results, error) {
	r := &Results{name: name}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		r.All, err = read(b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

func read(b []byte) (all []Measurement, err error) {
	lines := bufio.NewScanner(bytes.NewReader(b))
	for n := 1; lines.Scan(); n++ {
		var m Measurement
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if m.Edges <= 0 || m.Phase == "" {
			return nil, fmt.Errorf("line %d: not a measurement", n)
		}
		all = append(all, m)
	}
	return all, lines.Err()
}

// Has reports whether a phase was measured with this setting.
func (r *Results) Has(s Setting, asked int64, phase string) bool {
	return slices.ContainsFunc(r.All, Measurement{Setting: s, Asked: asked, Phase: phase}.repeats)
}

// Add adds a measurement, which replaces an earlier one of the same phase and size, and writes the
// file.
func (r *Results) Add(m Measurement) error {
	r.All = append(slices.DeleteFunc(r.All, m.repeats), m)
	return cli.WriteFile(context.Background(), r.name, func(w io.Writer) error {
		lines := json.NewEncoder(w)
		for _, m := range r.All {
			if err := lines.Encode(m); err != nil {
				return err
			}
		}
		return nil
	})
}

// Of returns the measurements with a setting.
func (r *Results) Of(s Setting) (found []Measurement) {
	for _, m := range r.All {
		if m.Setting == s {
			found = append(found, m)
		}
	}
	return found
}
