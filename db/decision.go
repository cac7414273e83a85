package db

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"kith/index"
)

// Decision is a link that was chosen at random, with the probabilities of the draw.
type Decision struct {
	ID           uint64    `json:"decision"`
	Source       Key       `json:"source"`
	Target       Key       `json:"target"`
	Score        float64   `json:"score"`          // score of the target, from which its propensity is derived
	Propensity   float64   `json:"propensity"`     // probability with which the target was drawn
	Explorer     string    `json:"policy"`         // explorer that derived the probabilities from the scores
	Model        string    `json:"model,omitzero"` // model that scored; "" means the learned start
	ModelVersion int       `json:"model_version,omitzero"`
	GraphVersion uint64    `json:"graph_version"` // version of the graph that was read
	Time         time.Time `json:"time"`
	Expires      time.Time `json:"expires"`
	Offers       []Offer   `json:"offered"` // all candidates
	Rewarded     bool      `json:"rewarded"`
	Reward       float64   `json:"reward"`
}

// Offer is a candidate of a decision.
type Offer struct {
	Target     Key     `json:"target"`
	Score      float64 `json:"score"`
	Propensity float64 `json:"propensity"`
}

// decision is the stored form of a Decision, with what a model needs to learn from it.
type decision struct {
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
	Time         int64      `msgpack:"time"`     // nanoseconds since 1970
	End          int64      `msgpack:"end"`      // expiry, in nanoseconds since 1970
	Contexts     []byte     `msgpack:"contexts"` // float32, little endian: the contexts that the model may need
	Columns      uint32     `msgpack:"columns"`  // columns of Contexts (see model.Columns)
	Row          int        `msgpack:"row"`      // row of the target in Contexts
	Rewarded     bool       `msgpack:"rewarded"`
	Reward       float64    `msgpack:"reward"`
}

func (d *decision) target() index.ID { return d.Candidates[d.Chosen] }

// publicDecision returns the exported form of d.
func (tx *Tx) publicDecision(d *decision) Decision { return d.public(tx.key) }

// public returns the exported form of d. key returns the key of a node.
func (d *decision) public(key func(index.ID) Key) Decision {
	p := Decision{
		ID: d.ID, Source: key(d.Source), Target: key(d.target()), Score: d.Scores[d.Chosen],
		Propensity: d.Propensities[d.Chosen], Explorer: d.Explorer, Model: d.Model, ModelVersion: d.Version,
		GraphVersion: d.Graph, Time: time.Unix(0, d.Time).UTC(), Expires: time.Unix(0, d.End).UTC(),
		Rewarded: d.Rewarded, Reward: d.Reward,
	}
	for i, c := range d.Candidates {
		p.Offers = append(p.Offers, Offer{key(c), d.Scores[i], d.Propensities[i]})
	}
	return p
}

// openDecision decodes a stored decision. It returns ErrCorrupt if the decision is damaged.
func openDecision(doc index.Document, nodes int64) (*decision, error) {
	d, err := decoded[decision](doc)
	if err != nil {
		return nil, fmt.Errorf("decision %d: %w", doc.At, err)
	}
	if d.ID != doc.At || !d.consistent(nodes) {
		return nil, fmt.Errorf("%w: decision %d", ErrCorrupt, doc.At)
	}
	return d, nil
}

// consistent reports whether the parts of d are consistent. nodes is the number of ids that the graph has assigned.
func (d *decision) consistent(nodes int64) bool {
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

// Decision returns the decision with this number. It returns ErrNoDecision if there never was one, and ErrExpired if it
// has expired.
func (tx *Tx) Decision(id uint64) (Decision, error) {
	d, err := tx.decision(id)
	if err != nil {
		return Decision{}, err
	}
	return tx.publicDecision(d), nil
}

func (tx *Tx) decision(id uint64) (*decision, error) {
	if tx.ended {
		return nil, ErrClosed
	}
	if id == 0 || id > tx.view().Meta.Decisions {
		return nil, aboutDecision(id, ErrNoDecision, "was never made")
	}
	d, err := tx.stored(id)
	if err != nil {
		return nil, err
	}
	if d == nil || d.End <= tx.db.opts.Now().UnixNano() {
		return nil, aboutDecision(id, ErrExpired, "has expired")
	}
	return d, nil
}

// stored returns a decision of the transaction or of the store, or nil if it does not exist.
func (tx *Tx) stored(id uint64) (*decision, error) {
	for _, d := range slices.Backward(tx.decided) {
		if d.ID == id {
			return d, nil
		}
	}
	doc, ok, err := index.GetDecision(tx.reader, id)
	if err != nil || !ok {
		return nil, err
	}
	return openDecision(index.Document{Bytes: doc, At: id}, tx.view().Meta.Nodes)
}

// Decisions yields the decisions that have not expired, in the order in which they were made. In an Update it omits
// those of the transaction.
func (tx *Tx) Decisions() iter.Seq2[Decision, error] {
	return func(yield func(Decision, error) bool) {
		for d, err := range tx.decisions() {
			if err != nil {
				yield(Decision{}, err)
				return
			}
			if !yield(tx.publicDecision(d), nil) {
				return
			}
		}
	}
}

func (tx *Tx) decisions() iter.Seq2[*decision, error] {
	return func(yield func(*decision, error) bool) {
		if tx.ended {
			yield(nil, ErrClosed)
			return
		}
		now := tx.db.opts.Now().UnixNano()
		for doc := range index.Decisions(tx.reader, 1) {
			d, err := openDecision(doc, tx.view().Meta.Nodes)
			if err == nil && d.End <= now {
				continue
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// maxDropped is the number of expired decisions that a commit may delete in addition to two per decision that it made
// or rewarded. A commit may thus delete more than it adds, so expired decisions do not pile up.
const maxDropped = 16

// writeDecisions stores the decisions of the transaction, also in its commit c, and deletes those that have expired by then.
func (tx *Tx) writeDecisions(w index.Writer, c *index.Commit) error {
	if len(tx.decided) == 0 {
		return nil
	}
	var err error
	if tx.earliest, err = index.DropDecisions(tx.reader, w, tx.db.earliest, c.Time, maxDropped+2*len(tx.decided)); err != nil {
		return err
	}
	for _, d := range tx.decided {
		b, err := msgpack.Marshal(d)
		if err != nil {
			return err
		}
		if err := index.PutDecision(w, d.ID, d.End, b); err != nil {
			return err
		}
		c.Decisions = append(c.Decisions, b)
	}
	return nil
}

// updateEarliest updates DB.earliest. The writer calls it after a commit.
func (tx *Tx) updateEarliest() {
	if len(tx.decided) == 0 {
		return
	}
	tx.db.earliest = tx.earliest
	for _, d := range tx.decided {
		tx.db.earliest = min(tx.db.earliest, d.End)
	}
}

// checkDecisions opens every decision and compares it with the index of expiry times.
func (tx *Tx) checkDecisions(ctx context.Context) error {
	ends := map[uint64]int64{}
	for end, err := range index.DecisionEnds(tx.reader, math.MinInt64) {
		if err != nil {
			return err
		}
		ends[end.ID] = end.At
	}
	for doc := range index.Decisions(tx.reader, 0) {
		d, err := openDecision(doc, tx.snap.Meta.Nodes)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if end, ok := ends[d.ID]; !ok || end != d.End || d.ID > tx.snap.Meta.Decisions {
			return fmt.Errorf("%w: decision %d of %d ends otherwise than it says", ErrCorrupt, d.ID, tx.snap.Meta.Decisions)
		}
		delete(ends, d.ID)
	}
	if len(ends) > 0 {
		return fmt.Errorf("%w: %d decisions are missing", ErrCorrupt, len(ends))
	}
	return nil
}
