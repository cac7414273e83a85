package db

import (
	"fmt"
	"iter"
	"slices"

	"kith/index"
)

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
		if err := tx.setFeatures(b, id, n.Key, nil); err != nil {
			return err
		}
	}
	if n.Label != "" {
		if err := b.SetLabel(id, n.Label); err != nil {
			return fmt.Errorf("node %v: %w", n.Key, inputError(err))
		}
	}
	if n.Features != nil {
		return tx.setFeatures(b, id, n.Key, n.Features)
	}
	return nil
}

// SetFeatures sets the feature vector of a node; nil removes it. All vectors of nodes with the same label, or of nodes
// without a label, must have the same length, otherwise SetFeatures returns ErrInput.
func (tx *Tx) SetFeatures(key any, features []float32) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	id, err := tx.id(key)
	if err != nil {
		return err
	}
	return tx.setFeatures(b, id, tx.key(id), features)
}

func (tx *Tx) setFeatures(b *index.Batch, id index.ID, k Key, features []float32) error {
	if err := b.SetFeatures(id, features); err != nil {
		return fmt.Errorf("node %v: %w", k, inputError(err))
	}
	return nil
}

// DeleteNode deletes a node and its edges. It returns ErrNotFound if there is no such node.
func (tx *Tx) DeleteNode(key any) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	id, err := tx.id(key)
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
