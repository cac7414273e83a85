package main

import (
	"fmt"
	"regexp"
	"runtime/debug"

	"kith/cmd/internal/cli"
	"kith/model"
)

// holdoutSettings are all parameters that determine the result of a run. They also determine its name.
type holdoutSettings struct {
	Data    string  `json:"data"`
	DataSum string  `json:"data_sum"`
	Kind    string  `json:"kind"`
	Columns string  `json:"columns,omitempty"` // columns given on the command line
	Among   string  `json:"among"`
	Share   float64 `json:"share"`
	Sample  int     `json:"sample"`
	Policy  string  `json:"policy"`
	Seed    uint64  `json:"seed"`
}

// name returns the file name of the run: its main settings, and a checksum of all.
func (s holdoutSettings) name() string {
	sum, err := jsonSum(s)
	if err != nil {
		panic("prbench: settings: " + err.Error())
	}
	among := regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(s.Among, "")
	return fmt.Sprintf("%s-%s-%s-s%d-%s.json", s.Data, among, s.Policy, s.Seed, sum[:12])
}

// model returns a new model of the policy, for nodes without features unless the policy needs them, or nil for
// noModel.
func (s holdoutSettings) model() (*model.Model, error) {
	if s.Policy == noModel {
		return nil, nil
	}
	if m, err := model.New(model.Spec{Policy: s.Policy}); err == nil {
		return m, nil
	}
	return model.New(model.Spec{Policy: s.Policy, FeatureLen: 1})
}

// holdoutRecord is a run as it is stored: how well a policy found the hidden edges of a seed among one set of
// candidates.
type holdoutRecord struct {
	Settings holdoutSettings   `json:"settings"`
	Resolved map[string]string `json:"resolved,omitempty"` // every option of the model
	Refused  string            `json:"refused,omitempty"`  // why the policy refused the graph; "" means that it did not

	Edges      int64   `json:"edges"`      // number of edges of the graph
	Hidden     int64   `json:"hidden"`     // number of hidden edges
	Sources    int     `json:"sources"`    // number of nodes whose links were predicted
	Links      int     `json:"links"`      // number of links to find
	Reached    int     `json:"reached"`    // number of these links that were among the candidates
	Candidates int     `json:"candidates"` // number of candidates that are not links
	MRR        float64 `json:"mrr"`
	Hits       float64 `json:"hits_at_10"`
	Train      float64 `json:"train_seconds"`    // making and training the model, plus the excess of its first question over the median
	Question   float64 `json:"question_seconds"` // median time of the predictions for a node

	Build string `json:"build,omitempty"` // revision of the tool; "" means unknown
	Sum   string `json:"sum"`             // checksum of the fields above
}

// seal fills the fields that describe how the run was made.
func (r *holdoutRecord) seal() error {
	m, err := r.Settings.model()
	if err != nil {
		return err
	}
	if m != nil {
		r.Resolved = resolved(m)
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		r.Build = cli.Revision(info)
	}
	r.Sum, err = r.sum()
	return err
}

func (r holdoutRecord) sum() (string, error) {
	r.Sum = ""
	return jsonSum(r)
}

func (r *holdoutRecord) name() string { return r.Settings.name() }

func (r *holdoutRecord) whole() (bool, error) {
	sum, err := r.sum()
	return sum == r.Sum, err
}

// current implements entry.
func (r *holdoutRecord) current() error {
	m, err := r.Settings.model()
	if err != nil {
		return fmt.Errorf("of another version: %w", err)
	}
	if m == nil {
		return nil
	}
	return sameOptions(r.Resolved, m)
}

type holdoutShelf = shelf[holdoutRecord, *holdoutRecord]
