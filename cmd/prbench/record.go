package main

import (
	"fmt"
	"time"

	"kith/model/trial"
)

// samples is the number of rounds at which the regret of a run is recorded.
const samples = 200

// record is a completed run as it is stored.
type record struct {
	keptRun[settings]
	Regret   []int   `json:"regret"` // cumulative, at evenly spaced rounds
	Live     int     `json:"live"`   // number of rounds with a link among the candidates
	Seconds  float64 `json:"seconds"`
	Networks float64 `json:"networks_seconds"`
	Walk     float64 `json:"pagerank_seconds"`
	Train    float64 `json:"training_seconds"`
}

func newRecord(s settings, c trial.Curve) (*record, error) {
	r := &record{
		keptRun: keptRun[settings]{Settings: s}, Regret: c.Thin(samples).Regret, Live: c.Live, Seconds: c.Time.Seconds(),
		Networks: c.Parts.Networks.Seconds(), Walk: c.Parts.Walk.Seconds(), Train: c.Parts.Train.Seconds(),
	}
	return r, seal(r)
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
	if n := len(r.Regret); n == 0 || n != min(samples, r.Settings.Rounds) {
		return fmt.Errorf("damaged: regret of %d rounds", n)
	}
	return r.keptRun.current()
}

// runShelf stores the runs of experiments that are played round by round.
type runShelf = shelf[record, *record]
