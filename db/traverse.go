package db

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"kith/db/walk"
	"kith/db/words"
	"kith/index"
	"kith/model"
	"kith/ppr"
)

// Path returns the nodes of a shortest path between two nodes, including both ends. In a directed graph, paths follow
// the direction of the edges. The result is empty if there is no path of at most the given number of steps; 0 means no
// limit. Path returns ErrNotFound for a missing node.
//
// The search proceeds in layers from both ends, always from the end whose last layer is smaller. It visits about the
// square root of the nodes that a search from one end would visit.
func (tx *Tx) Path(ctx context.Context, from, to any, most int) ([]Key, error) {
	a, b, err := tx.ends(from, to)
	if err != nil {
		return nil, err
	}
	if most < 0 {
		return nil, inputf("a path of at most %d steps", most)
	}
	if a == b {
		return []Key{tx.key(a)}, nil
	}
	g := tx.view().Graph
	there, back := newSearch(g.Out, a), newSearch(g.In, b)
	for steps := 0; len(there.front) > 0 && len(back.front) > 0 && (most == 0 || steps < most); steps++ {
		s, other := there, back
		if len(back.front) < len(there.front) {
			s, other = back, there
		}
		met, ok, err := s.advance(ctx, other)
		if err != nil {
			return nil, err
		}
		if ok {
			return tx.joined(there, back, met), nil
		}
	}
	return nil, nil
}

// joined returns the path through a node that both searches have reached.
func (tx *Tx) joined(there, back *search, met index.ID) []Key {
	var path []Key
	for id := met; ; id = there.cameFrom[id] {
		path = append(path, tx.key(id))
		if id == there.cameFrom[id] {
			break
		}
	}
	slices.Reverse(path)
	for id := met; id != back.cameFrom[id]; {
		id = back.cameFrom[id]
		path = append(path, tx.key(id))
	}
	return path
}

// search is a breadth-first search from one end of a path.
type search struct {
	row      func(index.ID) ([]index.ID, []float32)
	cameFrom map[index.ID]index.ID // the start comes from itself
	front    []index.ID            // the last layer reached
}

func newSearch(row func(index.ID) ([]index.ID, []float32), start index.ID) *search {
	return &search{row: row, cameFrom: map[index.ID]index.ID{start: start}, front: []index.ID{start}}
}

// advance takes one more step, and returns the first node that the other search has reached too. That node is on a
// shortest path: both searches have completed whole layers, so on a shorter path they would have met before.
func (s *search) advance(ctx context.Context, other *search) (met index.ID, ok bool, err error) {
	var next []index.ID
	visited := 0
	for _, u := range s.front {
		to, _ := s.row(u)
		for _, v := range to {
			if visited%checkEvery == 0 && ctx.Err() != nil {
				return 0, false, ctx.Err()
			}
			visited++
			if _, seen := s.cameFrom[v]; seen {
				continue
			}
			s.cameFrom[v] = u
			if _, both := other.cameFrom[v]; both {
				return v, true, nil
			}
			next = append(next, v)
		}
	}
	s.front = next
	return 0, false, nil
}

// Reached is a node that a walk along edges reaches.
type Reached struct {
	Node
	Depth  int     `json:"depth"`  // number of steps on a shortest path
	Weight float32 `json:"weight"` // weight of the edge at depth 1, otherwise 0
}

// Reach yields the nodes within depth steps of a node, without the node, in order of their distance. In a directed
// graph, steps follow the direction of the edges. It yields a single error if there is no such node, if depth is below
// 1, or when ctx ends.
func (tx *Tx) Reach(ctx context.Context, key any, depth int) iter.Seq2[Reached, error] {
	return func(yield func(Reached, error) bool) {
		source, err := tx.id(key)
		if err == nil && depth < 1 {
			err = inputf("depth %d: want at least 1", depth)
		}
		if err != nil {
			yield(Reached{}, err)
			return
		}
		g, steps := tx.view().Graph, 0
		for layer, err := range walk.Layers(ctx, g, depth, source) {
			if err != nil {
				yield(Reached{}, err)
				return
			}
			steps++
			for _, id := range layer {
				r := Reached{Node: tx.node(id), Depth: steps}
				if e, ok := g.Edge(source, id); ok && steps == 1 {
					r.Weight = e.Weight
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// Walk requests the personalised PageRank of a node or a set of nodes: the distribution of a walk that starts at the
// node, or at a node drawn by the weights of the set, and returns to such a start with probability 1 - alpha at each step.
type Walk struct {
	From  any     // a node or Seeds
	Top   int     // number of nodes returned; 0 means 10, a negative number means all that the walk reaches
	Alpha float64 // 0 means the database's
	// Epsilon is the allowed error, as in Options.Epsilon. 0 means UntilCertain with RankEpsilon.
	Epsilon float64
	// UntilCertain begins with the database's epsilon, if that is larger, and refines the values while the ranks returned are
	// not certain, down to Epsilon.
	UntilCertain bool
	// Row averages over neighbours, v = αD⁻¹Av + (1-α)h, instead of spreading mass, v = αAᵀD⁻¹v + (1-α)h, where h is the
	// distribution of the start. The values of the latter are probabilities.
	Row     bool
	NoCache bool // compute from scratch
}

// PageRank is the result of a Walk.
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
	Bound float64 `json:"bound"` // certified error of Score
	// Certain says that no error within the bounds could change this rank. Nodes whose PageRank is provably equal, because a
	// symmetry of the graph exchanges them, have one score and are ranked in the order in which they were made.
	Certain bool `json:"certain"`
}

// RankEpsilon is the error down to which PageRank refines values by default while their ranks are not certain. Bounds
// cover rounding errors of that size, so a smaller error separates no more nodes. Of 40 nodes each, the first 20 ranks are
// certain at 1e-6, 1e-8, 1e-10 and 1e-12 for these percentages (TestFirstRanksAreCertain, column form):
//
//	ego-Facebook 20 88 98 100    CA-GrQc 55 98 100 100          email-Enron 15 65 100 100
//	wiki-Vote    20 100 100 100  soc-Epinions1 0 98 100 100     Cora 83 98 100 100
//	Citeseer     88 100 100 100  dblp-2010 73 98 100 100        cnr-2000 15 85 93 95
const RankEpsilon = 1e-12

// valueBytes is the memory of a node and its PageRank while nodes are ranked.
const valueBytes = 40

// PageRank ranks all nodes, including those of the source, by their personalised PageRank. Nodes that the walk does not reach
// are left out. It returns ErrNotFound for a missing node, ErrInput for an invalid number, and ErrTooLarge for an
// answer that takes more than a quarter of Options.Memory.
func (tx *Tx) PageRank(ctx context.Context, q Walk) (*PageRank, error) {
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
	form, n, p := ppr.Column, tx.view().Graph.NumNodes(), Prediction{Top: q.Top}
	if q.Row {
		form = ppr.Row
	}
	if err := tx.db.fitsWork("ranking "+words.Count(p.top(n), "node"), linkBytes*int64(p.top(n))); err != nil {
		return nil, err
	}
	var nodes []index.ID // nil: those that the walk reaches
	if valueBytes*int64(n) <= tx.db.AnswerMemory() {
		nodes = slices.Collect(tx.view().Nodes())
	}
	floor := cmp.Or(q.Epsilon, RankEpsilon)
	first := floor
	if q.Epsilon == 0 || q.UntilCertain {
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

// walker returns the walker of a request. It does not use the cache if the transaction has changes, because no cached
// state includes them.
func (tx *Tx) walker(source index.ID, noCache bool, eps float64) *walk.Walker {
	w := &walk.Walker{States: tx.db.states, View: tx.view(), Source: source, Epsilon: eps}
	if !noCache && (tx.batch == nil || tx.batch.Empty()) {
		w.Reader = tx.reader
	}
	return w
}

// Warm brings the PageRank states of nodes into the cache and up to date that a Prediction for them without a model's name
// reads: those of candidates, of contexts and of the walk. Warm returns ErrNotFound for a missing node.
func (tx *Tx) Warm(ctx context.Context, keys ...any) error {
	ids, err := tx.listed(keys)
	if err != nil {
		return err
	}
	m, err := tx.model("", 0)
	if err != nil {
		return err
	}
	scorer := tx.db.prior(featureLen(tx.snap.Snapshot))
	if m != nil {
		scorer = m.scorer
	}
	for _, id := range ids {
		if !tx.snap.Live(id) {
			return fmt.Errorf("%w: node %v, before the transaction that makes it has committed", ErrNotFound, tx.key(id))
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
