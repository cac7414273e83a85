package record

import (
	"github.com/vmihailenco/msgpack/v5"

	"kith/index"
	"kith/model"
)

// Observation is an outcome for a model to learn. It holds the contexts of its time, so that
// replaying it does not depend on the graph of that time.
type Observation struct {
	Model    string     `msgpack:"model"`
	Source   uint32     `msgpack:"source"`
	Target   uint32     `msgpack:"target"`
	Reward   float64    `msgpack:"reward"`
	Chosen   int        `msgpack:"chosen"`
	Contexts []byte     `msgpack:"contexts"` // float32, little endian
	Columns  uint32     `msgpack:"columns"`  // columns of Contexts (see model.Columns)
	Offered  []index.ID `msgpack:"offered,omitempty"`
	Version  int        `msgpack:"version,omitempty"`  // version of the model; 0 means unknown
	Frozen   bool       `msgpack:"frozen,omitempty"`   // the model does not learn from it
	Decision uint64     `msgpack:"decision,omitempty"` // decision that this rewards; 0 means none
	Relation string     `msgpack:"relation,omitempty"` // name of the relation of the link; "" means all
	ID       string     `msgpack:"id,omitempty"`       // id that the application gave; "" means none
}

// StripOutcome implements [index.StripOutcome]. An observation that names an erased node as its
// source or its target loses the id that the application gave it.
func StripOutcome(doc []byte, erased func(index.ID) bool) (stripped []byte, id string, err error) {
	o, err := Decode[Observation](index.Document{Bytes: doc})
	if err != nil || o.ID == "" || !erased(o.Source) && !erased(o.Target) {
		return doc, "", err
	}
	id, o.ID = o.ID, ""
	stripped, err = msgpack.Marshal(o)
	return stripped, id, err
}

// IDs returns the ids of the nodes that the record names.
func (r *Observation) IDs() []index.ID {
	return append([]index.ID{r.Source, r.Target}, r.Offered...)
}

// Outcome returns the observation in the form that a model learns.
func (r *Observation) Outcome(m *model.Model) model.Outcome {
	return Readable(m, r.Columns, model.Outcome{
		Pair: model.Pair{Source: r.Source, Target: r.Target}, Contexts: index.UnpackFloats(r.Contexts), Chosen: r.Chosen,
		Reward: r.Reward, Offered: r.Offered,
	})
}

// Readable returns an outcome without its contexts if the model cannot read them. columns are the
// columns with which they were stored.
func Readable(m *model.Model, columns uint32, o model.Outcome) model.Outcome {
	if columns != m.Columns() || !m.Fits(o) {
		o.Contexts = nil
	}
	return o
}
