package record

import (
	"fmt"
	"math"
	"slices"

	"kith/index"
	"kith/model"
)

// Decision is a choice among candidates, with what a model needs to learn from its reward.
type Decision struct {
	ID           uint64     `msgpack:"id"`
	Source       index.ID   `msgpack:"source"`
	Candidates   []index.ID `msgpack:"candidates"` // ascending
	Scores       []float64  `msgpack:"scores"`
	Propensities []float64  `msgpack:"propensities"`
	Chosen       int        `msgpack:"chosen"`
	Linked       []index.ID `msgpack:"linked,omitempty"` // candidates that the source was linked to
	Explorer     string     `msgpack:"explorer"`
	Model        string     `msgpack:"model"`
	Version      int        `msgpack:"version"`
	Made         uint64     `msgpack:"made"` // version of the database that deployed the model's version
	Graph        uint64     `msgpack:"graph"`
	Time         int64      `msgpack:"time"`               // nanoseconds since 1970
	End          int64      `msgpack:"end"`                // expiry, in nanoseconds since 1970
	Context      []byte     `msgpack:"contexts"`           // float32, little endian: the context of the target
	Columns      uint32     `msgpack:"columns"`            // columns of Context (see model.Columns)
	Relation     string     `msgpack:"relation,omitempty"` // name of the relation of the link; "" means all
	Inverse      bool       `msgpack:"inverse,omitempty"`  // the candidates are sources of the relation
	Rewarded     bool       `msgpack:"rewarded"`
	Reward       float64    `msgpack:"reward"`
}

// IDs returns the ids of the nodes that the decision names.
func (d *Decision) IDs() []index.ID {
	return slices.Concat([]index.ID{d.Source}, d.Candidates, d.Linked)
}

// Target returns the chosen candidate.
func (d *Decision) Target() index.ID { return d.Candidates[d.Chosen] }

// OpenDecision decodes a stored decision. It returns index.ErrCorrupt if the decision is damaged.
func OpenDecision(doc index.Document, nodes int64) (*Decision, error) {
	d, err := Decode[Decision](doc)
	if err != nil {
		return nil, fmt.Errorf("decision %d: %w", doc.At, err)
	}
	if d.ID != doc.At || !d.Consistent(nodes) {
		return nil, fmt.Errorf("%w: decision %d", index.ErrCorrupt, doc.At)
	}
	return d, nil
}

// Consistent reports whether the parts of d are consistent. nodes is the number of ids that the
// graph has assigned.
func (d *Decision) Consistent(nodes int64) bool {
	n := len(d.Candidates)
	if n == 0 || len(d.Scores) != n || len(d.Propensities) != n || d.Chosen < 0 || d.Chosen >= n || int64(d.Source) >= nodes {
		return false
	}
	sum := 0.0
	for i, c := range d.Candidates {
		if int64(c) >= nodes || i > 0 && c <= d.Candidates[i-1] || !(d.Propensities[i] >= 0) {
			return false
		}
		sum += d.Propensities[i]
	}
	return math.Abs(sum-1) < 1e-9 && d.Propensities[d.Chosen] > 0 && d.Time < d.End
}

// Outcome returns what a model learns from a decision, given the context of its target.
func (d *Decision) Outcome(context []float32, reward float64) model.Outcome {
	return model.Outcome{
		Pair: model.Pair{Source: d.Source, Target: d.Target()}, Contexts: context, Reward: reward, Offered: d.Candidates,
	}
}
