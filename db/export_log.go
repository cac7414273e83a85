package db

import (
	"fmt"
	"iter"

	"kith/index"
)

// Observed is an observation of the log.
type Observed struct {
	GraphVersion uint64  `json:"graph_version"` // version of the graph that the observation's commit made
	Model        string  `json:"model"`
	ModelVersion int     `json:"model_version,omitzero"` // version that was deployed then; 0 means unknown
	Source       Key     `json:"source"`
	Target       Key     `json:"target"`
	Reward       float64 `json:"reward"`
	Offered      []Key   `json:"offered,omitzero"`  // the candidates, as far as the model learns from them
	Decision     uint64  `json:"decision,omitzero"` // decision that this rewards; 0 means none
	Learned      bool    `json:"learned"`           // the model was not frozen
}

// Observations yields the observations that are still kept (see Options.ObservationBytes) in commit order, including
// those for models that no longer exist. For choices, see Decisions.
func (tx *Tx) Observations() iter.Seq2[Observed, error] {
	return func(yield func(Observed, error) bool) {
		if tx.ended {
			yield(Observed{}, ErrClosed)
			return
		}
		for doc := range index.Observations(tx.reader, tx.view().Meta.Forgotten) {
			if doc.Err == nil && doc.At > tx.view().Meta.Version {
				return // of an unfinished commit
			}
			o, err := tx.observed(doc)
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

func (tx *Tx) observed(doc index.Document) (Observed, error) {
	rec, err := openLesson(doc)
	if err != nil {
		return Observed{}, err
	}
	for _, id := range append([]index.ID{rec.Source, rec.Target}, rec.Offered...) {
		if int64(id) >= tx.view().Meta.Nodes {
			return Observed{}, fmt.Errorf("%w: an observation of version %d names node %d", ErrCorrupt, doc.At, id)
		}
	}
	o := Observed{
		GraphVersion: doc.At, Model: rec.Model, ModelVersion: rec.Version, Source: tx.key(rec.Source), Target: tx.key(rec.Target),
		Reward: rec.Reward, Decision: rec.Decision, Learned: !rec.Frozen,
	}
	for _, id := range rec.Offered {
		o.Offered = append(o.Offered, tx.key(id))
	}
	return o, nil
}
