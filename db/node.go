package db

import (
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"

	"kith/index"
)

// Key identifies a node. It is an integer or a string. 42 and "42" are different keys. A parameter of type any that
// takes a key accepts a Key, a string or an integer of any of Go's types.
type Key = index.Key

// Int returns the key of an integer.
func Int(i int64) Key { return index.Int(i) }

// Str returns the key of a string.
func Str(s string) Key { return index.Str(s) }

// KeyOf returns the key for a Key, a string or an integer of any of Go's types. It returns ErrInput for anything else,
// and for a string that cannot be a key.
func KeyOf(v any) (Key, error) {
	var k Key
	switch v := v.(type) {
	case Key:
		k = v
	case string:
		k = Str(v)
	case int:
		k = Int(int64(v))
	default:
		switch r := reflect.ValueOf(v); {
		case r.IsValid() && r.CanInt():
			k = Int(r.Int())
		case r.IsValid() && r.CanUint() && r.Uint() <= math.MaxInt64:
			k = Int(int64(r.Uint()))
		case r.IsValid() && r.Kind() == reflect.String:
			k = Str(r.String())
		default:
			return k, inputf("%v (%T) is no key, want an integer or a string", v, v)
		}
	}
	if err := k.Valid(); err != nil {
		return k, inputf("%w", err)
	}
	return k, nil
}

// Node is a stored node.
type Node struct {
	Key      Key       `json:"node"`
	Label    string    `json:"label"`    // "" means none
	Features []float32 `json:"features"` // nil means none
	Degree   float64   `json:"degree"`   // sum of the weights of its (outgoing) edges; computed, not stored
	Edges    int       `json:"edges"`    // number of its (outgoing) edges; computed, not stored
}

// AddNode adds a node. It returns ErrExists if there is one with this key, and ErrInput for a key or features that
// cannot be stored.
func (tx *Tx) AddNode(n Node) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	if _, ok := b.ID(n.Key); ok {
		return missing(KindNode, n.Key.String(), nil, ErrExists, "node %v exists already", n.Key)
	}
	return tx.PutNode(n)
}

// PutNode adds a node unless there is one with this key, and sets the label and the features that n has.
func (tx *Tx) PutNode(n Node) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	id, _, err := b.AddNode(n.Key)
	if err != nil {
		return inputError(err)
	}
	if n.Label != "" && n.Features != nil { // its present features need not fit the new label
		err = b.SetFeatures(id, nil)
	}
	if err == nil && n.Label != "" {
		err = b.SetLabel(id, n.Label)
	}
	if err == nil && n.Features != nil {
		err = b.SetFeatures(id, n.Features)
	}
	return nodeError(n.Key, err)
}

// nodeError adds the node to an error of its label or features.
func nodeError(k Key, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("node %v: %w", k, inputError(err))
}

// SetFeatures sets the feature vector of a node; nil removes it. All vectors of nodes with the same label, or of nodes
// without a label, must have the same length, otherwise SetFeatures returns ErrInput.
func (tx *Tx) SetFeatures(key any, features []float32) error {
	b, id, err := tx.writableNode(key)
	if err != nil {
		return err
	}
	return nodeError(tx.key(id), b.SetFeatures(id, features))
}

func (tx *Tx) writableNode(key any) (b *index.Batch, id index.ID, err error) {
	if b, err = tx.writable(); err == nil {
		id, err = tx.id(key)
	}
	return b, id, err
}

// DeleteNode deletes a node and its edges. It returns ErrNotFound if there is no such node.
func (tx *Tx) DeleteNode(key any) error {
	b, id, err := tx.writableNode(key)
	if err != nil {
		return err
	}
	return b.DeleteNode(id)
}

// Node returns the node with this key. It returns ErrNotFound if there is no such node.
func (tx *Tx) Node(key any) (Node, error) {
	id, err := tx.id(key)
	if err != nil {
		return Node{}, err
	}
	return tx.node(id), nil
}

func (tx *Tx) node(id index.ID) Node {
	v := tx.view()
	to, _ := v.Graph.Out(id)
	return Node{
		Key: tx.key(id), Label: v.Meta.Labels[v.Label(id)].Name, Features: slices.Clone(v.Features(id)),
		Degree: v.Graph.Degree(id), Edges: len(to),
	}
}

// Has reports whether there is a node with this key.
func (tx *Tx) Has(k Key) bool {
	_, ok := tx.find(k)
	return ok
}

// Counts returns the number of nodes and of edges.
func (tx *Tx) Counts() (nodes, edges int64) {
	m := &tx.view().Meta
	return m.Live, m.Edges
}

// Nodes yields every node, in the order in which they were added. The transaction must not write during the iteration.
func (tx *Tx) Nodes() iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) {
		for id := range tx.view().Nodes() {
			if !yield(tx.node(id), nil) {
				return
			}
		}
	}
}
