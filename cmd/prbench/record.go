package main

import (
	"fmt"
	"runtime/debug"
	"time"

	"kith/cmd/internal/cli"
	"kith/model/trial"
)

// samples is the number of rounds at which the regret of a run is recorded.
const samples = 200

// record is a completed run as it is stored.
type record struct {
	Settings settings          `json:"settings"`
	Resolved map[string]string `json:"resolved"` // every option of the model

	Regret   []int   `json:"regret"` // cumulative, at evenly spaced rounds
	Live     int     `json:"live"`   // number of rounds with a link among the candidates
	Seconds  float64 `json:"seconds"`
	Networks float64 `json:"networks_seconds"`
	Walk     float64 `json:"pagerank_seconds"`
	Train    float64 `json:"training_seconds"`

	Build string `json:"build,omitempty"` // revision of the tool; "" means unknown
	Sum   string `json:"sum"`             // checksum of the fields above
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
	return jsonSum(r)
}

func (r *record) name() string { return r.Settings.name() }

func (r *record) whole() (bool, error) {
	sum, err := r.sum()
	return sum == r.Sum && len(r.Regret) == min(samples, r.Settings.Rounds) && len(r.Regret) > 0, err
}

// curve returns the thinned curve of the run under a name.
func (r *record) curve(name string) trial.Curve {
	span := func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
	return trial.Curve{
		Name: name, Seed: r.Settings.Seed, Regret: r.Regret, Live: r.Live, Time: span(r.Seconds),
		Parts: trial.Parts{Networks: span(r.Networks), Walk: span(r.Walk), Train: span(r.Train)},
	}
}

// perLive returns the regret per live round.
func (r *record) perLive() float64 {
	return float64(r.Regret[len(r.Regret)-1]) / float64(max(r.Live, 1))
}

// current implements entry.
func (r *record) current() error {
	m, err := r.Settings.model()
	if err != nil {
		return fmt.Errorf("of another version: %w", err)
	}
	return sameOptions(r.Resolved, m)
}

// runShelf stores the runs of experiments that are played round by round.
type runShelf = shelf[record, *record]
