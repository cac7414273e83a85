package record

import (
	"fmt"
	"math"
	"slices"

	"kith/index"
	"kith/model"
)

// Decision is a slate of candidates, with what a model needs to learn from its rewards.
type Decision struct {
	ID           uint64     `msgpack:"id"`
	Source       index.ID   `msgpack:"source"`
	Candidates   []index.ID `msgpack:"candidates"` // ascending
	Scores       []float64  `msgpack:"scores"`
	Propensities []float64  `msgpack:"propensities"`
	Places       []Place    `msgpack:"places"`
	Linked       []index.ID `msgpack:"linked,omitempty"` // candidates that the source was linked to
	Explorer     string     `msgpack:"explorer"`
	Model        string     `msgpack:"model"`
	Version      int        `msgpack:"version"`
	Made         uint64     `msgpack:"made"` // version of the database that deployed the model's version
	Graph        uint64     `msgpack:"graph"`
	Time         int64      `msgpack:"time"`               // nanoseconds since 1970
	End          int64      `msgpack:"end"`                // expiry, in nanoseconds since 1970
	Context      []byte     `msgpack:"contexts"`           // float32, little endian: the contexts of the targets
	Columns      uint32     `msgpack:"columns"`            // columns of Context (see model.Columns)
	Relation     string     `msgpack:"relation,omitempty"` // name of the relation of the link; "" means all
	Inverse      bool       `msgpack:"inverse,omitempty"`  // the candidates are sources of the relation
}

// Place is a place of a slate.
type Place struct {
	Chosen     int     `msgpack:"chosen"`     // index of the candidate that it shows
	Propensity float64 `msgpack:"propensity"` // probability with which it shows that
	Rewarded   bool    `msgpack:"rewarded"`
	Reward     float64 `msgpack:"reward"`
}

// IDs returns the ids of the nodes that the decision names.
func (d *Decision) IDs() []index.ID {
	return slices.Concat([]index.ID{d.Source}, d.Candidates, d.Linked)
}

// Target returns the candidate at place k, from 0.
func (d *Decision) Target(k int) index.ID { return d.Candidates[d.Places[k].Chosen] }

// Targets returns the candidates at the places.
func (d *Decision) Targets() (all []index.ID) {
	for k := range d.Places {
		all = append(all, d.Target(k))
	}
	return all
}

// Rewarded reports whether a place has a reward.
func (d *Decision) Rewarded() bool {
	return slices.ContainsFunc(d.Places, func(p Place) bool { return p.Rewarded })
}

// Reward returns the sum of the rewards.
func (d *Decision) Reward() (sum float64) {
	for _, p := range d.Places {
		sum += p.Reward
	}
	return sum
}

// Slate returns the slates that the decision was drawn from.
func (d *Decision) Slate() *model.Slate { return model.NewSlate(d.Scores, d.Propensities) }

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
	if n == 0 || len(d.Scores) != n || len(d.Propensities) != n || int64(d.Source) >= nodes {
		return false
	}
	sum := 0.0
	for i, c := range d.Candidates {
		if int64(c) >= nodes || i > 0 && c <= d.Candidates[i-1] || !(d.Propensities[i] >= 0) {
			return false
		}
		sum += d.Propensities[i]
	}
	return math.Abs(sum-1) < 1e-9 && d.Time < d.End && d.consistentPlaces()
}

// consistentPlaces reports whether there are places, which show different candidates.
func (d *Decision) consistentPlaces() bool {
	shown := map[int]bool{}
	for _, p := range d.Places {
		if p.Chosen < 0 || p.Chosen >= len(d.Candidates) || shown[p.Chosen] || !(p.Propensity > 0) || !p.Rewarded && p.Reward != 0 {
			return false
		}
		shown[p.Chosen] = true
	}
	return len(shown) > 0
}

// Outcome returns what a model learns from the reward of place k, given the contexts of the
// targets.
func (d *Decision) Outcome(k int, contexts []float32, reward float64) model.Outcome {
	return model.Outcome{
		Pair: model.Pair{Source: d.Source, Target: d.Target(k)}, Contexts: contexts, Chosen: k, Reward: reward, Offered: d.Candidates,
	}
}
