package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"kith/cmd/internal/cli"
	"kith/model/trial"
)

// samples is the number of rounds at which the regret of a run is kept.
const samples = 200

// record is a run that was played to its end, as it is kept.
type record struct {
	Settings settings          `json:"settings"`
	Resolved map[string]string `json:"resolved"` // every option of the model

	Regret   []int   `json:"regret"` // cumulative, at rounds evenly apart
	Live     int     `json:"live"`   // rounds that had a link among the candidates
	Seconds  float64 `json:"seconds"`
	Networks float64 `json:"networks_seconds"`
	Walk     float64 `json:"pagerank_seconds"`
	Train    float64 `json:"training_seconds"`

	Build string `json:"build,omitempty"` // revision of the tool; empty: not known
	Sum   string `json:"sum"`             // of everything before it
}

func newRecord(s settings, c trial.Curve) (*record, error) {
	resolved, err := s.resolved()
	if err != nil {
		return nil, err
	}
	r := &record{
		Settings: s, Resolved: resolved, Regret: c.Thin(samples).Regret, Live: c.Live, Seconds: c.Time.Seconds(),
		Networks: c.Parts.Networks.Seconds(), Walk: c.Parts.Walk.Seconds(), Train: c.Parts.Train.Seconds(),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		r.Build = cli.Revision(info)
	}
	r.Sum, err = r.sum()
	return r, err
}

func (r record) sum() (string, error) {
	r.Sum = ""
	b, err := json.Marshal(r)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), err
}

// curve is the run, thinned, under a name.
func (r *record) curve(name string) trial.Curve {
	span := func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
	return trial.Curve{
		Name: name, Seed: r.Settings.Seed, Regret: r.Regret, Live: r.Live, Time: span(r.Seconds),
		Parts: trial.Parts{Networks: span(r.Networks), Walk: span(r.Walk), Train: span(r.Train)},
	}
}

// perLive is the regret of a live round.
func (r *record) perLive() float64 {
	return float64(r.Regret[len(r.Regret)-1]) / float64(max(r.Live, 1))
}

// readRecord reads a file, and refuses what was not written as it is, or not by this version of the models.
func readRecord(name string) (*record, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var r record
	in := json.NewDecoder(bytes.NewReader(b))
	in.DisallowUnknownFields()
	if err := in.Decode(&r); err != nil {
		return nil, fmt.Errorf("%s: not a kept run, or damaged: %w", name, err)
	}
	if _, err := in.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s: damaged: there is more than one run", name)
	}
	sum, err := r.sum()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case sum != r.Sum || len(r.Regret) != min(samples, r.Settings.Rounds) || len(r.Regret) == 0:
		return nil, fmt.Errorf("%s: damaged: its sum does not fit", name)
	case filepath.Base(name) != r.Settings.name():
		return nil, fmt.Errorf("%s: holds the run %s", name, r.Settings.name())
	}
	if err := r.current(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &r, nil
}

// current reports an option that has another value in models of today, or that they read and those of the run did not have.
func (r *record) current() error {
	m, err := r.Settings.model()
	if err != nil {
		return fmt.Errorf("of another version: %w", err)
	}
	now := resolved(m)
	for option, value := range r.Resolved {
		if now[option] != value {
			return fmt.Errorf("of another version: %s was %q and is %q", option, value, now[option])
		}
	}
	for option, value := range now {
		if _, had := r.Resolved[option]; !had && m.Reads(option) {
			return fmt.Errorf("of another version: there was no %s, which is %q", option, value)
		}
	}
	return nil
}

// shelf is a folder of records.
type shelf string

// records reads all there are, in the order of their names.
func (s shelf) records() (all []*record, err error) {
	entries, err := os.ReadDir(string(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") { // what an interrupted write left
			continue
		}
		r, err := readRecord(filepath.Join(string(s), e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, err
}

// record returns that of a run, nil if it is not there.
func (s shelf) record(of settings) (*record, error) {
	r, err := readRecord(filepath.Join(string(s), of.name()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return r, err
}

func (s shelf) keep(r *record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(string(s), r.Settings.name()), append(b, '\n'))
}
