package web

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"kith/db"
	"kith/query/internal/parse"
)

// nodesBody is the body of POST /nodes.
type nodesBody struct {
	body
	Nodes  []nodeBody `json:"nodes"`
	Create bool       `json:"create,omitempty" means:"whether a node that exists is an error; otherwise it gets what is given"`
}

// nodeBody is a node of a body.
type nodeBody struct {
	Node       db.Key              `json:"node"`
	Label      string              `json:"label,omitempty" means:"kind of the node, such as post"`
	Features   []float32           `json:"features,omitempty" means:"feature vector; the nodes of a label have vectors of the same length"`
	Properties map[string]property `json:"properties,omitempty" means:"values by name; null removes one. The first value of a property decides its type"`
}

// edgesBody is the body of POST /edges.
type edgesBody struct {
	body
	Edges  []edgeBody `json:"edges"`
	Create bool       `json:"create,omitempty" means:"whether an edge that exists is an error; otherwise it gets the given weight and time"`
}

// edgeBody is an edge of a body.
type edgeBody struct {
	Source   db.Key   `json:"source" means:"the node where the edge begins"`
	Target   db.Key   `json:"target" means:"the node where it ends"`
	Relation string   `json:"relation,omitempty" means:"what the edge says of its nodes, such as likes; otherwise the relation without a name"`
	Weight   *float32 `json:"weight,omitempty" means:"from 2^-40 to 2^40; 1 by default"`
	Time     instant  `json:"time,omitempty" means:"when the edge was made"`
}

// put is the answer of POST /nodes and POST /edges.
type put struct {
	NodesAdded int64 `json:"nodes_added"`
	EdgesAdded int64 `json:"edges_added"`
	Changed    int64 `json:"changed" means:"number of nodes or edges of the request that existed"`
}

// property is a value of a property. An object with one member says of which type it is: a program
// whose numbers are those of JavaScript writes {"float": 12} for 12.0.
type property struct {
	value any
	typed bool // the value is of its type already
}

// propertyTypes are the members of an object that is a value of a property.
type propertyTypes struct {
	Bool    *bool    `json:"bool,omitempty"`
	Integer *int64   `json:"integer,omitempty"`
	Float   *float64 `json:"float,omitempty"`
	String  *string  `json:"string,omitempty"`
	Time    *instant `json:"time,omitempty"`
	List    []string `json:"list,omitempty"`
}

func (p *property) decode(form keyForm, name string, tree any) error {
	members, isObject := tree.(parse.Object)
	if !isObject {
		p.value = tree
		return nil
	}
	if len(members) != 1 {
		return fmt.Errorf("%s must be a value, or an object with one member that is its type, got %d members", name, len(members))
	}
	var t propertyTypes
	if err := form.read(name, tree, reflect.ValueOf(&t).Elem()); err != nil {
		return err
	}
	p.typed = true
	switch {
	case t.Bool != nil:
		p.value = *t.Bool
	case t.Integer != nil:
		p.value = *t.Integer
	case t.Float != nil:
		p.value = *t.Float
	case t.String != nil:
		p.value = *t.String
	case t.Time != nil:
		p.value = t.Time.Time
	case t.List != nil:
		p.value = t.List
	}
	return nil
}

// putting calls f for each of n elements of a list, and returns what has changed.
func putting(ctx context.Context, tx *db.Tx, n int, list string, element func(i int) error) (p put, err error) {
	nodes, edges := tx.Counts()
	for i := range n {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		if err := element(i); err != nil {
			return p, fmt.Errorf("%s[%d]: %w", list, i, err)
		}
	}
	nodesNow, edgesNow := tx.Counts()
	return put{NodesAdded: nodesNow - nodes, EdgesAdded: edgesNow - edges}, nil
}

// putNodes answers POST /nodes.
func putNodes(ctx context.Context, tx *db.Tx, b *nodesBody) (put, error) {
	add := tx.PutNode
	if b.Create {
		add = tx.AddNode
	}
	p, err := putting(ctx, tx, len(b.Nodes), "nodes", func(i int) error {
		n, err := b.Nodes[i].node(tx)
		if err != nil {
			return err
		}
		return add(n)
	})
	p.Changed = int64(len(b.Nodes)) - p.NodesAdded
	return p, err
}

// node returns the node.
func (b *nodeBody) node(tx *db.Tx) (n db.Node, err error) {
	n = db.Node{Key: b.Node, Label: b.Label, Features: b.Features}
	if b.Properties != nil {
		n.Properties = make(map[string]any, len(b.Properties))
	}
	for _, name := range slices.Sorted(maps.Keys(b.Properties)) {
		p := b.Properties[name]
		if !p.typed {
			if p.value, err = tx.Literal(name, p.value); err != nil {
				return n, err
			}
		}
		n.Properties[name] = p.value
	}
	return n, nil
}

// putEdges answers POST /edges.
func putEdges(ctx context.Context, tx *db.Tx, b *edgesBody) (put, error) {
	add := tx.PutEdge
	if b.Create {
		add = tx.AddEdge
	}
	p, err := putting(ctx, tx, len(b.Edges), "edges", func(i int) error {
		e, weight := &b.Edges[i], float32(1)
		if e.Weight != nil {
			weight = *e.Weight
		}
		return add(e.Source, e.Target, db.Via(e.Relation), db.Weight(weight), db.At(e.Time.Time))
	})
	p.Changed = int64(len(b.Edges)) - p.EdgesAdded
	return p, err
}
