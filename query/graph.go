package query

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"kith/db"
	"kith/query/parse"
)

// graphKinds returns the statements about nodes and edges.
func graphKinds() []kind {
	const node = "node, label, features (number of features)"
	const edges = "edges_added, edges_changed, nodes_added"
	return []kind{
		{name: "INSERT NODE", access: joins, columns: node, run: does[*parse.InsertNode]((*run).insertNode)},
		{name: "MERGE NODE", access: joins, columns: node, run: does[*parse.InsertNode]((*run).insertNode)},
		{name: "INSERT EDGES", access: joins, columns: edges, run: does[*parse.InsertEdges]((*run).insertEdges)},
		{name: "MERGE EDGES", access: joins, columns: edges, run: does[*parse.InsertEdges]((*run).insertEdges)},
		{name: "DELETE NODE", access: joins, columns: "nodes_deleted, edges_deleted", run: does[*parse.Simple]((*run).deleteNode)},
		{name: "DELETE EDGES", access: joins, columns: "edges_deleted", run: does[*parse.DeleteEdges]((*run).deleteEdges)},
		{name: "DESCRIBE NODE", access: reads | joins, columns: "name, value", run: does[*parse.Simple]((*run).describeNode)},
		{
			name: "NEIGHBORS", access: reads | joins, run: does[*parse.Neighbors]((*run).neighbors),
			columns: "source, target, depth, weight (at depth 1), label, degree",
		},
		{name: "NODES", access: reads | joins, columns: "node, label, edges, degree", run: does[*parse.Nodes]((*run).nodeList)},
	}
}

func (r *run) insertNode(s *parse.InsertNode) (*Rows, error) {
	k, err := r.key(s.Node)
	if err != nil {
		return nil, err
	}
	n := db.Node{Key: k, Label: s.Label.Value}
	for _, v := range r.spread(s.Features) {
		f, err := r.number(v)
		if err != nil {
			return nil, err
		}
		if math.Abs(f) > math.MaxFloat32 {
			return nil, &Error{Pos: v.Position(), Msg: fmt.Sprintf("feature %v is not a number from -3.4e38 to 3.4e38", f), Err: db.ErrInput}
		}
		n.Features = append(n.Features, float32(f))
	}
	rows := r.answer()
	err = r.update(func(tx *db.Tx) error {
		put := tx.AddNode
		if s.Merge {
			put = tx.PutNode
		}
		if err := put(n); err != nil {
			return r.positioned(s.Node.Position(), err)
		}
		n, err := tx.Node(k)
		rows.add(k, orNil(n.Label), int64(len(n.Features)))
		return err
	})
	return rows, err
}

func (r *run) insertEdges(s *parse.InsertEdges) (*Rows, error) {
	rows := r.answer()
	err := r.update(func(tx *db.Tx) error {
		nodes, edges := tx.Counts()
		for _, e := range s.Edges {
			if err := r.insertEdge(tx, e); err != nil {
				return r.positioned(e.Pos, err)
			}
		}
		nodesNow, edgesNow := tx.Counts()
		rows.add(edgesNow-edges, int64(len(s.Edges))-(edgesNow-edges), nodesNow-nodes)
		return nil
	})
	return rows, err
}

func (r *run) insertEdge(tx *db.Tx, e parse.Edge) error {
	edge, err := r.edge(e)
	if err != nil {
		return err
	}
	return tx.PutEdge(edge)
}

// edge resolves an edge with its weight and time.
func (r *run) edge(e parse.Edge) (edge db.Edge, err error) {
	edge.Weight = 1
	if edge.Src, err = r.key(e.Source); err != nil {
		return edge, err
	}
	if edge.Dst, err = r.key(e.Target); err != nil {
		return edge, err
	}
	if e.Weight != nil {
		w, err := r.number(e.Weight)
		if err != nil {
			return edge, err
		}
		if w < db.MinWeight || w > db.MaxWeight {
			return edge, &Error{Pos: e.Weight.Position(), Msg: fmt.Sprintf("weight %v is not a number from 2^-40 to 2^40", w), Err: db.ErrInput}
		}
		edge.Weight = float32(w)
	}
	edge.Time, err = r.seconds(e.At)
	return edge, err
}

func (r *run) deleteNode(s *parse.Simple) (*Rows, error) {
	rows := r.answer()
	err := r.update(func(tx *db.Tx) error {
		k, err := r.node(tx, s.Value())
		if err != nil {
			return err
		}
		_, edges := tx.Counts()
		err = tx.DeleteNode(k)
		_, now := tx.Counts()
		rows.add(int64(1), edges-now)
		return err
	})
	return rows, err
}

func (r *run) deleteEdges(s *parse.DeleteEdges) (*Rows, error) {
	rows := r.answer()
	err := r.update(func(tx *db.Tx) error {
		for _, e := range s.Edges {
			src, err := r.node(tx, e.Source)
			if err != nil {
				return err
			}
			dst, err := r.node(tx, e.Target)
			if err != nil {
				return err
			}
			if err := tx.DeleteEdge(src, dst); err != nil {
				return r.positioned(e.Pos, err)
			}
		}
		rows.add(int64(len(s.Edges)))
		return nil
	})
	return rows, err
}

func (r *run) neighbors(s *parse.Neighbors) (*Rows, error) {
	depth, err := r.integer(s.Depth, 1, 1)
	if err != nil {
		return nil, err
	}
	top, err := r.top(s.Top, -1)
	if err != nil {
		return nil, err
	}
	rows := r.answer()
	err = r.view(func(tx *db.Tx) error {
		k, err := r.node(tx, s.Of)
		if err != nil {
			return err
		}
		for n, err := range tx.Reach(r.ctx, k, int(depth)) {
			if err != nil || int64(len(rows.Rows)) == top {
				return err
			}
			if err := r.fits(rows, 1); err != nil {
				return err
			}
			var weight any
			if n.Depth == 1 {
				weight = shortest(n.Weight)
			}
			rows.add(k, n.Key, int64(n.Depth), weight, orNil(n.Label), n.Degree)
		}
		return nil
	})
	return rows, err
}

func (r *run) nodeList(s *parse.Nodes) (*Rows, error) {
	t, err := r.table(s.Where, nil)
	if err != nil {
		return nil, err
	}
	top, err := r.top(s.Top, -1)
	if err != nil {
		return nil, err
	}
	rows := t.rows()
	err = r.view(func(tx *db.Tx) error {
		if s.Label.Value != "" {
			if err := r.label(tx, s.Label); err != nil {
				return err
			}
		}
		for n, err := range tx.Nodes() {
			if err = cmp.Or(err, r.ctx.Err()); err != nil || int64(len(rows.Rows)) == top {
				return err
			}
			if err := r.fits(rows, 1); err != nil {
				return err
			}
			if s.Label.Value == "" || s.Label.Value == n.Label {
				t.add(rows, n.Key, orNil(n.Label), int64(n.Edges), n.Degree)
			}
		}
		return nil
	})
	return rows, err
}

func (r *run) describeNode(s *parse.Simple) (*Rows, error) {
	rows := r.answer()
	err := r.view(func(tx *db.Tx) error {
		k, err := r.node(tx, s.Value())
		if err != nil {
			return err
		}
		n, err := tx.Node(k)
		rows.add("node", n.Key)
		rows.add("label", orNil(n.Label))
		rows.add("edges", int64(n.Edges))
		rows.add("degree", n.Degree)
		for i, f := range n.Features {
			rows.add("feature "+strconv.Itoa(i), shortest(f))
		}
		return err
	})
	return rows, err
}

// shortest returns the float64 with the fewest digits that rounds to x in 32 bits: 0.1 for float32(0.1).
func shortest(x float32) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	if err != nil {
		return float64(x)
	}
	return v
}

// orNil returns v, or nil if v is the zero value of its type.
func orNil[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}
