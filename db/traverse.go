package db

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"kith/db/internal/walk"
	"kith/db/words"
	"kith/index"
	"kith/model"
	"kith/ppr"
)

// Path returns the nodes of a shortest path between two nodes, including both ends. In a directed
// graph, paths follow the direction of the edges. The result is empty if there is no path of at
// most the given number of steps; 0 means no limit. Path returns ErrNotFound for a missing node.
func (tx *Tx) Path(ctx context.Context, from, to any, most int) ([]Key, error) {
	a, b, err := tx.ends(from, to)
	if err != nil {
		return nil, err
	}
	if most < 0 {
		return nil, inputf("a path of at most %d steps", most)
	}
	ids, err := walk.Shortest(ctx, tx.view().Graph, a, b, most)
	var path []Key
	for _, id := range ids {
		path = append(path, tx.key(id))
	}
	return path, err
}

// Reached is a node that a walk along edges reaches.
type Reached struct {
	Node
	Depth  int     `json:"depth"`  // number of steps on a shortest path
	Weight float32 `json:"weight"` // weight of the edges that are followed at depth 1, otherwise 0
	// Time is the latest time of these edges, in UTC. Zero means none.
	Time time.Time `json:"time,omitzero"`
}

// Reach yields the nodes within depth steps of a node, without the node, in order of their
// distance. In a directed graph, steps follow the direction of the edges. Steps go along edges
// whose time lies in the last within before Options.Now, which edges without a time do not; 0 means
// along all edges. Reach yields a single error if there is no such node, if depth is below 1 or
// within is negative, or when ctx ends.
func (tx *Tx) Reach(ctx context.Context, key any, depth int, within time.Duration) iter.Seq2[Reached, error] {
	return func(yield func(Reached, error) bool) {
		source, err := tx.id(key)
		switch {
		case err != nil:
		case depth < 1:
			err = inputf("depth %d: want at least 1", depth)
		case within < 0:
			err = inputf("within %v: want a duration that is not negative", within)
		}
		if err != nil {
			yield(Reached{}, err)
			return
		}
		layers, followed := tx.layers(ctx, source, depth, within)
		steps := 0
		for layer, err := range layers {
			if err != nil {
				yield(Reached{}, err)
				return
			}
			steps++
			for _, id := range layer {
				r := Reached{Node: tx.node(id), Depth: steps}
				if steps == 1 {
					e := followed(id)
					if r.Weight = e.Weight; e.Time != 0 {
						r.Time = time.Unix(e.Time, 0).UTC()
					}
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// layers returns the layers of Reach, and the edges that lead to a node of the first, as one: the
// sum of their weights and their latest time.
func (tx *Tx) layers(ctx context.Context, source index.ID, depth int, within time.Duration) (iter.Seq2[[]index.ID, error], func(index.ID) index.Edge) {
	g := tx.view().Graph
	if within == 0 {
		return walk.Layers(ctx, g, depth, source), func(id index.ID) index.Edge {
			e, _ := g.Edge(source, id)
			return e
		}
	}
	via := tx.via
	if tx.whole == nil {
		via = index.Via{}
		for i := range tx.meta().Relations {
			via.Relations = append(via.Relations, uint16(i))
		}
	}
	now := tx.db.opts.Now()
	graphs, since, until := relationGraphs(tx.all().view(), via), now.Add(-within).Unix(), now.Unix()
	return walk.Recent(ctx, graphs, since, until, depth, source), func(id index.ID) (all index.Edge) {
		for _, g := range graphs {
			if e, ok := g.Edge(source, id); ok && since < e.Time && e.Time <= until && e.Time != 0 {
				all.Weight += e.Weight
				all.Time = max(all.Time, e.Time)
			}
		}
		return all
	}
}

// PageRankOptions requests the personalised PageRank of a node or a set of nodes: the distribution
// of a walk that starts at the node, or at a node drawn by the weights of the set, and returns to
// such a start with probability 1 - alpha at each step.
type PageRankOptions struct {
	From  any     // a node or Seeds
	Top   int     // number of nodes returned; 0 means 10, a negative number means all that the walk reaches
	Alpha float64 // 0 means the database's
	// Epsilon is the allowed error, as in Options.Epsilon. 0 means UntilExact with 1e-12.
	Epsilon float64
	// UntilExact begins with the database's epsilon, if that is larger, and refines the values
	// while the ranks returned are not certain, down to Epsilon.
	UntilExact bool
	// Row averages over neighbours, v = αD⁻¹Av + (1-α)h, instead of spreading mass, v = αAᵀD⁻¹v +
	// (1-α)h, where h is the distribution of the start. The values of the latter are probabilities.
	Row     bool
	NoCache bool // compute from scratch
}

// PageRank is the result of [Tx.PageRank].
type PageRank struct {
	Source       Seeds        `json:"source"`
	Nodes        []RankedNode `json:"nodes"`
	Alpha        float64      `json:"alpha"`
	GraphVersion uint64       `json:"graph_version"`
}

// RankedNode is a node with its PageRank.
type RankedNode struct {
	Node  Key     `json:"node"`
	Rank  int     `json:"rank"` // from 1
	Score float64 `json:"score"`
	Error float64 `json:"error"` // certified bound of the numerical error of Score
	// Exact says that no numerical error could change this rank. Nodes whose PageRank is
	// provably equal, because a symmetry of the graph exchanges them, have one score and are ranked
	// in the order in which they were made.
	Exact bool `json:"exact"`
}

// rankEpsilon is the error down to which PageRank refines values by default while their ranks are
// not certain. Bounds cover rounding errors of that size, so a smaller error separates no more
// nodes. Of 40 nodes each, the first 20 ranks are certain at 1e-6, 1e-8, 1e-10 and 1e-12 for these
// percentages (TestFirstRanksAreCertain, column form):
//
//	ego-Facebook 20 88 98 100    CA-GrQc 55 98 100 100          email-Enron 15 65 100 100
//	wiki-Vote    20 100 100 100  soc-Epinions1 0 98 100 100     Cora 83 98 100 100
//	Citeseer     88 100 100 100  dblp-2010 73 98 100 100        cnr-2000 15 85 93 95
const rankEpsilon = 1e-12

// valueBytes is the memory of a node and its PageRank while nodes are ranked.
const valueBytes = 40

// PageRank ranks all nodes, including the nodes of the source, by their personalised PageRank.
// Nodes that the walk does not reach are left out. It returns ErrNotFound for a missing node,
// ErrInput for an invalid number, and ErrTooLarge for an answer that takes more than a quarter of
// Options.Memory.
func (tx *Tx) PageRank(ctx context.Context, q PageRankOptions) (*PageRank, error) {
	if tx.ended {
		return nil, ErrClosed
	}
	start, err := tx.start(q.From)
	if err != nil {
		return nil, err
	}
	m := &tx.view().Meta
	alpha := cmp.Or(q.Alpha, m.Alpha)
	switch {
	case !(alpha > 0 && alpha <= 0.999):
		return nil, inputf("alpha %v: want a number above 0, at most 0.999", alpha)
	case !(q.Epsilon >= 0 && q.Epsilon < 1):
		return nil, inputf("epsilon %v: want a number above 0 and below 1", q.Epsilon)
	}
	form, n, p := ppr.Column, tx.view().Graph.NumNodes(), PredictOptions{Top: q.Top}
	if q.Row {
		form = ppr.Row
	}
	if err := tx.db.fitsWork("ranking "+words.Count(p.top(n), "node"), linkBytes*int64(p.top(n))); err != nil {
		return nil, err
	}
	var nodes []index.ID // nil: all nodes that the walk reaches
	if valueBytes*int64(n) <= tx.db.answerMemory() {
		nodes = slices.Collect(tx.view().Nodes())
	}
	floor := cmp.Or(q.Epsilon, rankEpsilon)
	first := floor
	if q.Epsilon == 0 || q.UntilExact {
		first = max(floor, m.Epsilon)
	}
	t := &walk.Task{Form: form, Alpha: alpha, Start: start, At: nodes}
	top, err := tx.walker(start.Node[0], q.NoCache, first).Top(ctx, t, p.top(n), floor)
	if err != nil {
		return nil, err
	}
	r := &PageRank{Source: tx.seeds(start), Alpha: alpha, GraphVersion: m.Version}
	for i, b := range top {
		if b.Score == 0 {
			break
		}
		r.Nodes = append(r.Nodes, RankedNode{tx.key(t.At[b.Place]), i + 1, b.Score, b.Bound, b.Certain})
	}
	return r, nil
}

// walker returns the walker of a request. It does not use the cache if the transaction has changes,
// because no cached state includes them.
func (tx *Tx) walker(source index.ID, noCache bool, eps float64) *walk.Walker {
	w := &walk.Walker{States: tx.db.states, View: tx.view(), Source: source, Epsilon: eps}
	if !noCache && (tx.batch == nil || tx.batch.Empty()) {
		w.Reader = tx.reader
	}
	if tx.head != nil {
		whole := tx.all().view()
		w.Typed, w.Head = whole.Graph, *tx.head
		w.Whole = &walk.Walker{States: tx.db.states, View: whole, Source: source, Epsilon: eps}
	}
	return w
}

// Warm brings the PageRank states of nodes into the cache and up to date that a prediction for them
// without a model's name reads: the states of candidates, of contexts and of the walk. Warm returns
// ErrNotFound for a missing node.
func (tx *Tx) Warm(ctx context.Context, keys ...any) error {
	if tx.ended {
		return ErrClosed
	}
	ids, err := tx.ids(keys)
	if err != nil {
		return err
	}
	m, err := tx.model("", 0)
	if err != nil {
		return err
	}
	scorer := tx.db.prior(tx.snap.Snapshot)
	if m != nil {
		scorer = m.scorer
	}
	for _, id := range ids {
		if !tx.snap.Live(id) {
			return fmt.Errorf("%w: node %v, before the transaction that makes it has committed", ErrNotFound, tx.key(id).Literal())
		}
		for _, of := range tx.statesOf(id, scorer) {
			if _, err := tx.db.states.State(ctx, tx.snap.Snapshot, tx.reader, of); err != nil {
				return err
			}
		}
	}
	return nil
}

// statesOf returns the states of a node that a prediction for it reads.
func (tx *Tx) statesOf(id index.ID, s *model.Scorer) []index.StateID {
	all := []index.StateID{{Form: ppr.Column, Alpha: tx.snap.Meta.Alpha, Source: id}}
	if alpha := s.Proximity(); alpha > 0 {
		all = append(all, index.StateID{Form: ppr.Column, Alpha: alpha, Source: id, Coarse: true})
		if tx.snap.Meta.Directed {
			all = append(all, index.StateID{Form: ppr.Row, Alpha: alpha, Source: id, Coarse: true})
		}
	}
	if form, alpha := walk.Parameters(s.Walk()); alpha > 0 {
		all = append(all, index.StateID{Form: form, Alpha: alpha, Source: id})
	}
	return all
}

// MaxNeighborhood is the maximum number of nodes of a [Neighborhood].
const MaxNeighborhood = 200

// NeighborhoodOptions requests the surroundings of a node.
type NeighborhoodOptions struct {
	Of    any // the node
	Depth int // largest number of steps from the node to those around it; 0 means 2
	Most  int // largest number of nodes, including the node itself and predicted ones; 0 means MaxNeighborhood, which is also the maximum
	Edges int // largest number of edges; 0 means three times Most
	// Among are the candidates of the predicted links. The zero value means the candidates of a
	// prediction.
	Among   Candidates
	Model   string // predicts links, as in PredictOptions
	Version int    // of the model; 0 means the deployed one
	Top     int    // number of predicted links; 0 means 10, a negative number means none
	// Relation and Inverse say which links are predicted, as in PredictOptions.
	Relation string
	Inverse  bool
}

// Neighborhood is a node with the nodes around it that matter most to it: the nodes with the
// highest personalised PageRank among the nodes that can be reached through each other, and the
// ends of the links that a model predicts.
type Neighborhood struct {
	Center   Key  `json:"center"`
	Directed bool `json:"directed"`
	// Nodes begins with the center. All other nodes follow in descending order of PageRank, equal
	// ones in the order in which they were made.
	Nodes []NeighborhoodNode `json:"nodes"`
	// Edges are edges between the nodes: one that leads to each node, then for each node the one
	// over which the walk moves most mass, then the next one of each, and so on. Edges of several
	// relations between two nodes come together, and count as one of NeighborhoodOptions.Edges.
	Edges []Edge `json:"edges"`
	// Relations are the relations of Edges, in the order in which they were made; nil if no edge
	// has a relation with a name.
	Relations []Relation `json:"relations,omitzero"`
	Predicted []Link     `json:"predicted"`  // links from the center, the best first; their targets are among the nodes
	NodesLeft int        `json:"nodes_left"` // number of nodes that the walk reaches and that were left out, whatever their distance
	EdgesLeft int        `json:"edges_left"` // number of edges between the nodes that were left out
	// AnsweredBy and Remark are copied from the Prediction of Predicted.
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

// Neighborhood finds the surroundings of a node. It reads the PageRank state that a prediction for
// the node reads, and the edges of the nodes that it returns, so that its cost does not depend on
// how many nodes lie within Depth. In a directed graph, steps follow the direction of the edges; if
// they reach fewer nodes than requested, nodes that point to the center follow, with a Depth of -1.
// It returns ErrNotFound for a missing node, ErrInput for a number out of range, and the errors of
// Predict.
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
	h := &Neighborhood{Nodes: []NeighborhoodNode{}, Edges: []Edge{}, Predicted: []Link{}, Center: tx.key(id), Directed: v.Graph.Directed(), GraphVersion: v.Meta.Version}
	most := walk.SurroundingsLimits{Depth: o.Depth, Nodes: o.Most, Edges: o.Edges}
	w, err := h.predict(ctx, tx, &o)
	if err != nil {
		return nil, err
	}
	if w == nil {
		w = tx.walker(id, false, 0)
	}
	for _, l := range h.Predicted {
		id, err := tx.id(l.Target)
		if err != nil {
			return nil, err
		}
		most.Always = append(most.Always, id)
	}
	slices.Sort(most.Always)
	found, err := w.Surroundings(ctx, id, most)
	if err != nil {
		return nil, err
	}
	for _, n := range found.Nodes {
		h.Nodes = append(h.Nodes, NeighborhoodNode{
			Key: tx.key(n.ID), Label: v.Meta.Labels[v.Label(n.ID)].Name, PageRank: n.PageRank, Depth: n.Depth, Edges: v.Graph.OutLen(n.ID),
		})
	}
	h.addEdges(tx, found.Edges)
	h.NodesLeft, h.EdgesLeft = found.NodesLeft, found.EdgesLeft
	return h, nil
}

// addEdges adds edges, each by its relations.
func (h *Neighborhood) addEdges(tx *Tx, found []index.Edge) {
	relations, used := tx.meta().Relations, map[uint16]bool{}
	if len(relations) == 1 {
		for _, e := range found {
			h.Edges = append(h.Edges, tx.edge(index.Edge{Ends: e.Ends, Weight: e.Weight}))
		}
		return
	}
	seen := map[index.Edge]bool{} // an undirected edge of a directed graph is found from both ends
	for _, e := range found {
		for _, x := range tx.view().Graph.Joining([][2]index.ID{{e.U, e.V}}) {
			if !seen[x] {
				seen[x], used[x.Relation] = true, true
				h.Edges = append(h.Edges, tx.edge(x))
			}
		}
	}
	all, err := tx.Relations()
	for i, r := range all {
		if err == nil && used[uint16(i)] && (len(used) > 1 || i > 0) {
			h.Relations = append(h.Relations, r)
		}
	}
}

// predict adds the predicted links, and returns the walker of their question, which holds the state
// that the surroundings are found with, or nil if none are requested.
func (h *Neighborhood) predict(ctx context.Context, tx *Tx, o *NeighborhoodOptions) (*walk.Walker, error) {
	p := PredictOptions{For: o.Of, Among: o.Among, Relation: o.Relation, Inverse: o.Inverse, Model: o.Model, Version: o.Version}
	if p.Top = min(cmp.Or(o.Top, defaultTop), o.Most-1); p.Top <= 0 { // negative, or a neighborhood with a single node
		return nil, nil
	}
	q, err := tx.prepare(ctx, p)
	if err != nil {
		return nil, err
	}
	r, err := q.answer(ctx, tx, &p)
	if err != nil {
		return nil, err
	}
	h.Predicted, h.AnsweredBy, h.Remark = r.Links, r.AnsweredBy, r.Remark
	if o.Relation != "" { // the walk of the links sees the edges of their relation only
		return nil, nil
	}
	return q.walk, nil
}
