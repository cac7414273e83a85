package main

import (
	"fmt"
	"regexp"

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

func (s holdoutSettings) name() string {
	among := regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(s.Among, "")
	return runName(s, s.Data, among, s.Policy, fmt.Sprintf("s%d", s.Seed))
}

// model returns a new model of the policy, for nodes without features unless the policy needs them, or nil for
// priorName.
func (s holdoutSettings) model() (*model.Model, error) {
	if s.Policy == priorName {
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
	keptRun[holdoutSettings]
	Refused string `json:"refused,omitempty"` // why the policy refused the graph; "" means that it did not

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
}

type holdoutShelf = shelf[holdoutRecord, *holdoutRecord]
