package db

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"

	"kith/db/walk"
	"kith/index"
	"kith/ppr"
)

// MaxNeighborhood is the maximum number of nodes of a [Neighborhood].
const MaxNeighborhood = 200

// NeighborhoodOptions requests the surroundings of a node.
type NeighborhoodOptions struct {
	Of    any // the node
	Depth int // largest number of steps from the node to those around it; 0 means 2
	Most  int // largest number of nodes, including the node itself and predicted ones; 0 means MaxNeighborhood, which is also the maximum
	Edges int // largest number of edges; 0 means three times Most
	// Among are the candidates of the predicted links. The zero value means those of a Prediction.
	Among   Candidates
	Model   string // predicts links, as in a Prediction
	Version int    // of the model; 0 means the deployed one
	Top     int    // number of predicted links; 0 means 10, a negative number means none
}

// Neighborhood is a node with the nodes around it that matter most to it: those with the highest personalised PageRank
// among the nodes that can be reached through each other, and the ends of the links that a model predicts.
type Neighborhood struct {
	Center   Key  `json:"center"`
	Directed bool `json:"directed"`
	// Nodes begins with the center. The others follow in descending order of PageRank, equal ones in the order in which
	// they were made.
	Nodes []NeighborhoodNode `json:"nodes"`
	// Edges are edges between the nodes: one that leads to each node, then for each node the one over which the walk moves
	// most mass, then the next one of each, and so on.
	Edges     []NeighborhoodEdge `json:"edges"`
	Predicted []Link             `json:"predicted"`  // links from the center, the best first; their targets are among the nodes
	NodesLeft int                `json:"nodes_left"` // number of nodes that the walk reaches and that were left out, whatever their distance
	EdgesLeft int                `json:"edges_left"` // number of edges between the nodes that were left out
	// AnsweredBy and Remark are those of the Ranking of Predicted.
	AnsweredBy   string `json:"answered_by"`
	Remark       string `json:"remark,omitzero"`
	GraphVersion uint64 `json:"graph_version"`
}

// NeighborhoodNode is a node of a Neighborhood.
type NeighborhoodNode struct {
	Key      Key     `json:"node"`
	Label    string  `json:"label"`    // "" means none
	PageRank float64 `json:"pagerank"` // as seen from the center
	Depth    int     `json:"depth"`    // number of steps from the center through the nodes; -1 if they do not lead there
	Edges    int     `json:"edges"`    // number of its (outgoing) edges in the graph
}

// NeighborhoodEdge is an edge of a Neighborhood.
type NeighborhoodEdge struct {
	Src    Key     `json:"src"`
	Dst    Key     `json:"dst"`
	Weight float32 `json:"weight"`
}

// Neighborhood finds the surroundings of a node in a transaction of its own. See [Tx.Neighborhood].
func (db *DB) Neighborhood(ctx context.Context, o NeighborhoodOptions) (*Neighborhood, error) {
	return result(ctx, db.View, func(tx *Tx) (*Neighborhood, error) { return tx.Neighborhood(ctx, o) })
}

// Neighborhood finds the surroundings of a node. It reads the PageRank state that a prediction for the node reads, and
// the edges of the nodes that it returns, so that its cost does not depend on how many nodes lie within Depth. In a
// directed graph, steps follow the direction of the edges; if they reach fewer nodes than requested, nodes that point to
// the center follow, with a Depth of -1. It returns ErrNotFound for a missing node, ErrInput for a number out of range,
// and the errors of Predict.
func (tx *Tx) Neighborhood(ctx context.Context, o NeighborhoodOptions) (*Neighborhood, error) {
	if tx.ended {
		return nil, ErrClosed
	}
	o.Depth, o.Most = cmp.Or(o.Depth, 2), cmp.Or(o.Most, MaxNeighborhood)
	o.Edges = cmp.Or(o.Edges, 3*o.Most)
	switch {
	case o.Depth < 1:
		return nil, inputf("depth %d: want at least 1", o.Depth)
	case o.Most < 1 || o.Most > MaxNeighborhood:
		return nil, inputf("a neighborhood of %d nodes: want 1 to %d", o.Most, MaxNeighborhood)
	case o.Edges < 1:
		return nil, inputf("a neighborhood of %d edges: want at least 1", o.Edges)
	case o.Top >= o.Most:
		return nil, inputf("a neighborhood of %d nodes with %d predicted links: want fewer links than nodes", o.Most, o.Top)
	}
	id, err := tx.id(o.Of)
	if err != nil {
		return nil, err
	}
	v := tx.view()
	h := &surroundings{tx: tx, o: &o, center: id, walker: tx.walker(id, false, 0), depth: map[index.ID]int{id: 0}}
	h.found = Neighborhood{Center: tx.key(id), Directed: v.Graph.Directed(), GraphVersion: v.Meta.Version}
	for _, step := range []func(context.Context) error{h.predict, h.rank, h.choose, h.connect} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	h.describe()
	return &h.found, nil
}

// surroundings finds the nodes and edges of a Neighborhood.
type surroundings struct {
	tx        *Tx
	o         *NeighborhoodOptions
	center    index.ID
	walker    *walk.Walker
	predicted []index.ID           // targets of the predicted links, ascending
	behind    []index.ID           // nodes that point to the center of a directed graph
	value     map[index.ID]float64 // PageRank of the strongest nodes, of which the others are chosen
	depth     map[index.ID]int     // steps to the nodes that chosen ones lead to
	chosen    []index.ID           // in the order in which they were chosen; later ascending
	rows      map[index.ID][]near  // edges of chosen nodes to nodes in value
	open      []index.ID           // nodes that chosen ones lead to, a heap with the strongest first
	found     Neighborhood
}

// near is an edge to a node.
type near struct {
	to     index.ID
	weight float32
}

// considered is the number of nodes, the strongest by PageRank, of which a Neighborhood chooses, for each that it may have.
const considered = 10

// predict adds the predicted links. Their question comes first, because its walker holds the state that rank reads.
func (h *surroundings) predict(ctx context.Context) error {
	if h.o.Top < 0 {
		return nil
	}
	p := Prediction{For: h.o.Of, Among: h.o.Among, Model: h.o.Model, Version: h.o.Version, Top: h.o.Top}
	p.Top = min(cmp.Or(p.Top, defaultTop), h.o.Most-1)
	if p.Top == 0 { // a neighborhood of one node
		return nil
	}
	q, err := h.tx.prepare(ctx, p)
	if err != nil {
		return err
	}
	scores, err := q.score(ctx, h.tx)
	if err != nil {
		return err
	}
	r := q.rank(h.tx, &p, scores)
	h.walker = q.walk
	h.found.Predicted, h.found.AnsweredBy, h.found.Remark = r.Links, r.AnsweredBy, r.Remark
	for _, l := range r.Links {
		id, err := h.tx.id(l.Target)
		if err != nil {
			return err
		}
		h.predicted = append(h.predicted, id)
	}
	slices.Sort(h.predicted)
	return nil
}

// rank reads the PageRank of the nodes that may be chosen.
func (h *surroundings) rank(ctx context.Context) error {
	nodes, values, err := h.walker.Near(ctx, h.tx.view().Meta.Alpha, ppr.Unit(h.center))
	if err != nil {
		return err
	}
	h.value = map[index.ID]float64{}
	for _, b := range walk.Best(len(nodes), considered*h.o.Most, func(i int) (float64, float64) { return values[i], 0 }) {
		h.value[nodes[b.Place]] = b.Score
	}
	g := h.tx.view().Graph
	if h.found.Directed {
		h.behind = g.InHead(h.center, h.o.Most, nil)
	}
	// The state of a node with very many edges reaches few nodes or none, because its error is relative to the degree.
	next := g.OutHead(h.center, considered*h.o.Most, nil)
	for _, id := range slices.Concat(h.predicted, h.behind, next, []index.ID{h.center}) {
		h.value[id] = 0
		if i, ok := slices.BinarySearch(nodes, id); ok {
			h.value[id] = values[i]
		}
	}
	h.found.NodesLeft = len(nodes)
	return nil
}

// choose chooses nodes: always the strongest of those that chosen ones lead to, so that a path of chosen nodes leads to each.
func (h *surroundings) choose(ctx context.Context) error {
	h.rows = map[index.ID][]near{}
	h.open = []index.ID{h.center}
	missing := len(h.predicted) // predicted nodes that are not chosen
	for len(h.open) > 0 && len(h.chosen)+missing < h.o.Most {
		if err := ctx.Err(); err != nil {
			return err
		}
		u := heap.Pop(h).(index.ID)
		if _, ok := slices.BinarySearch(h.predicted, u); ok {
			missing--
		}
		h.add(u)
		h.lead(u)
	}
	for _, id := range h.predicted {
		if h.rows[id] == nil {
			h.add(id)
		}
	}
	for _, id := range h.behind {
		if h.rows[id] == nil && len(h.chosen) < h.o.Most {
			h.add(id)
		}
	}
	for _, id := range h.chosen {
		if h.value[id] > 0 {
			h.found.NodesLeft--
		}
	}
	return nil
}

// add chooses a node and reads its edges.
func (h *surroundings) add(u index.ID) {
	h.chosen = append(h.chosen, u)
	to, weight := h.tx.view().Graph.Out(u)
	row := []near{}
	for i, v := range to {
		if _, ok := h.value[v]; ok && v != u {
			e := near{v, 1}
			if weight != nil {
				e.weight = weight[i]
			}
			row = append(row, e)
		}
	}
	h.rows[u] = row
}

// lead opens the nodes that a chosen node leads to. It also corrects the depths of those that are nearer now.
func (h *surroundings) lead(u index.ID) {
	for nearer := []index.ID{u}; len(nearer) > 0; nearer = nearer[1:] {
		d := h.depth[nearer[0]] + 1
		for _, e := range h.rows[nearer[0]] {
			known, ok := h.depth[e.to]
			if d > h.o.Depth || ok && known <= d {
				continue
			}
			h.depth[e.to] = d
			if h.rows[e.to] != nil {
				nearer = append(nearer, e.to)
			} else if !ok {
				heap.Push(h, e.to)
			}
		}
	}
}

// connect chooses the edges between the chosen nodes.
func (h *surroundings) connect(ctx context.Context) error {
	slices.Sort(h.chosen)
	var all []carrier
	for _, u := range h.chosen {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, e := range h.rows[u] {
			if _, ok := slices.BinarySearch(h.chosen, e.to); !ok || !h.found.Directed && e.to < u {
				continue
			}
			all = append(all, carrier{u: u, v: e.to, weight: e.weight, mass: h.carries(u, e.weight) + h.back(e.to, e.weight)})
		}
	}
	slices.SortStableFunc(all, func(a, b carrier) int { return cmp.Compare(b.mass, a.mass) })
	h.inTurn(all)
	kept := make([]bool, len(all))
	left := h.o.Edges
	for _, pass := range []func(carrier) bool{h.joins(), func(carrier) bool { return true }} {
		for i, e := range all {
			if !kept[i] && left > 0 && pass(e) {
				kept[i] = true
				left--
				h.found.Edges = append(h.found.Edges, NeighborhoodEdge{h.tx.key(e.u), h.tx.key(e.v), e.weight})
			}
		}
	}
	h.found.EdgesLeft = len(all) - len(h.found.Edges)
	return nil
}

// carrier is an edge with the mass of the walk that it carries in a step.
type carrier struct {
	u, v   index.ID
	weight float32
	mass   float64
	rank   int // among the edges of an end, whichever is less
}

// inTurn orders edges, given in descending order of their mass, so that the nodes take turns: the first ones of all nodes
// precede the second ones. Otherwise all edges would be those of a few groups. The center has no turn.
func (h *surroundings) inTurn(all []carrier) {
	count := map[index.ID]int{}
	for i := range all {
		e := &all[i]
		count[e.u]++
		count[e.v]++
		count[h.center] = len(all)
		e.rank = min(count[e.u], count[e.v])
	}
	slices.SortStableFunc(all, func(a, b carrier) int { return cmp.Compare(a.rank, b.rank) })
}

// carries returns the mass that leaves a node over an edge in a step.
func (h *surroundings) carries(u index.ID, weight float32) float64 {
	return h.value[u] * float64(weight) / cmp.Or(h.tx.view().Graph.Degree(u), 1)
}

// back returns the mass that an edge carries from its end to its start, which a directed edge does not.
func (h *surroundings) back(v index.ID, weight float32) float64 {
	if h.found.Directed {
		return 0
	}
	return h.carries(v, weight)
}

// joins returns a function that reports whether an edge is the first one to lead to a node from one that is a step nearer.
func (h *surroundings) joins() func(carrier) bool {
	joined := map[index.ID]bool{h.center: true}
	leads := func(u, v index.ID) bool {
		from, ok := h.depth[u]
		to, known := h.depth[v]
		if !ok || !known || to != from+1 || joined[v] {
			return false
		}
		joined[v] = true
		return true
	}
	return func(e carrier) bool { return leads(e.u, e.v) || !h.found.Directed && leads(e.v, e.u) }
}

// describe adds the chosen nodes.
func (h *surroundings) describe() {
	v := h.tx.view()
	for _, id := range h.chosen {
		n := NeighborhoodNode{
			Key: h.tx.key(id), Label: v.Meta.Labels[v.Label(id)].Name, PageRank: h.value[id], Depth: -1, Edges: v.Graph.OutLen(id),
		}
		if d, ok := h.depth[id]; ok {
			n.Depth = d
		}
		h.found.Nodes = append(h.found.Nodes, n)
	}
	weight := func(n *NeighborhoodNode) float64 {
		if n.Depth == 0 {
			return math.Inf(1)
		}
		return n.PageRank
	}
	slices.SortStableFunc(h.found.Nodes, func(a, b NeighborhoodNode) int { return cmp.Compare(weight(&b), weight(&a)) })
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (h *surroundings) Len() int { return len(h.open) }

func (h *surroundings) Less(i, j int) bool {
	u, v := h.open[i], h.open[j]
	return cmp.Or(cmp.Compare(h.value[v], h.value[u]), cmp.Compare(u, v)) < 0
}

func (h *surroundings) Swap(i, j int) { h.open[i], h.open[j] = h.open[j], h.open[i] }

func (h *surroundings) Push(x any) { h.open = append(h.open, x.(index.ID)) }

func (h *surroundings) Pop() any {
	last := len(h.open) - 1
	id := h.open[last]
	h.open = h.open[:last]
	return id
}
