package main

import (
	"fmt"
	"regexp"
	"runtime/debug"

	"kith/cmd/internal/cli"
	"kith/model"
)

// holdoutSettings are all that decides what a run comes to, and the name that it is kept under.
type holdoutSettings struct {
	Data    string  `json:"data"`
	DataSum string  `json:"data_sum"`
	Kind    string  `json:"kind"`
	Columns string  `json:"columns,omitempty"` // that the command line names
	Among   string  `json:"among"`
	Share   float64 `json:"share"`
	Sample  int     `json:"sample"`
	Policy  string  `json:"policy"`
	Seed    uint64  `json:"seed"`
}

// name is a file name: what people look for, and a sum of everything.
func (s holdoutSettings) name() string {
	sum, err := jsonSum(s)
	if err != nil {
		panic("prbench: settings: " + err.Error())
	}
	among := regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(s.Among, "")
	return fmt.Sprintf("%s-%s-%s-s%d-%s.json", s.Data, among, s.Policy, s.Seed, sum[:12])
}

// model is a new one of the policy, for nodes without features unless the policy needs some; nil for no model at all.
func (s holdoutSettings) model() (*model.Model, error) {
	if s.Policy == noModel {
		return nil, nil
	}
	if m, err := model.New(model.Spec{Policy: s.Policy}); err == nil {
		return m, nil
	}
	return model.New(model.Spec{Policy: s.Policy, FeatureLen: 1})
}

// holdoutRecord is a run as it is kept: what a policy found of the hidden edges of a seed among one set of candidates.
type holdoutRecord struct {
	Settings holdoutSettings   `json:"settings"`
	Resolved map[string]string `json:"resolved,omitempty"` // every option of the model
	Refused  string            `json:"refused,omitempty"`  // why the policy cannot be asked; "": it was

	Edges      int64   `json:"edges"`      // of the graph
	Hidden     int64   `json:"hidden"`     // of these
	Sources    int     `json:"sources"`    // nodes whose links were predicted
	Links      int     `json:"links"`      // to be found
	Reached    int     `json:"reached"`    // of these, the links that were among the candidates
	Candidates int     `json:"candidates"` // that are no links
	MRR        float64 `json:"mrr"`
	Hits       float64 `json:"hits_at_10"`
	Train      float64 `json:"train_seconds"`    // making and training the model, and what its first question takes longer than the median
	Question   float64 `json:"question_seconds"` // median of the predictions for a node

	Build string `json:"build,omitempty"` // revision of the tool; empty: not known
	Sum   string `json:"sum"`             // of everything before it
}

// seal fills the fields that say how the run was made.
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
