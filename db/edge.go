package db

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"gonum.org/v1/gonum/graph"

	"kith/db/edgelist"
	"kith/db/internal/gonum"
	"kith/db/words"
	"kith/index"
)

// Edge is a stored edge. In an undirected graph either end may be Src.
type Edge struct {
	Src      Key       `json:"src"`
	Dst      Key       `json:"dst"`
	Relation string    `json:"relation,omitzero"` // "" is the relation without a name
	Weight   float32   `json:"weight"`            // from 2^-40 to 2^40
	Time     time.Time `json:"time,omitzero"`     // precision of a second; from the year 0 to 9999; zero means no time
}

// EdgeOption says something of an edge, or which edges are meant.
type EdgeOption func(*edgeSpec)

// edgeSpec is what the options of an edge say.
type edgeSpec struct {
	weight float32
	time   time.Time
	via    []string // relations; nil: none was given
}

func specOf(opts []EdgeOption) edgeSpec {
	if len(opts) == 0 {
		return edgeSpec{weight: 1}
	}
	spec := edgeSpec{weight: 1} // the options make it escape
	for _, o := range opts {
		o(&spec)
	}
	return spec
}

// Weight gives an edge a weight from 2^-40 to 2^40, 9.1e-13 to 1.1e12.
func Weight(w float32) EdgeOption { return func(s *edgeSpec) { s.weight = w } }

// At gives an edge a time in the years 0 to 9999.
func At(t time.Time) EdgeOption { return func(s *edgeSpec) { s.time = t } }

// Via names the relation of an edge, or the relations whose edges are meant. Without it, an edge
// has the relation without a name, and all edges are meant.
func Via(relations ...string) EdgeOption {
	return func(s *edgeSpec) { s.via = append(make([]string, 0, len(relations)), relations...) }
}

// AddEdge adds an edge between src and dst; in a directed relation, from src to dst. Without
// options the edge has weight 1, no time, and the relation without a name. AddEdge adds missing
// nodes, and a missing relation, which gets the direction of the database. It returns ErrExists if
// there is such an edge, and ErrInput for a key, a weight, a time or a relation that is not valid.
func (tx *Tx) AddEdge(src, dst any, opts ...EdgeOption) error {
	return tx.writeEdge(src, dst, opts, true)
}

// PutEdge is AddEdge that replaces an edge that exists.
func (tx *Tx) PutEdge(src, dst any, opts ...EdgeOption) error {
	return tx.writeEdge(src, dst, opts, false)
}

// writeEdge adds an edge, which must not exist if it is new.
func (tx *Tx) writeEdge(src, dst any, opts []EdgeOption, isNew bool) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	spec := specOf(opts)
	var keys [2]Key
	for i, node := range []any{src, dst} {
		if keys[i], err = KeyOf(node); err != nil {
			return err
		}
	}
	name, err := spec.relation()
	if err != nil {
		return err
	}
	if !index.ValidWeight(spec.weight) {
		return inputf("edge %s: weight %v is not a number from 2^-40 to 2^40", edgeName(keys[0], name, keys[1]), spec.weight)
	}
	at, err := unixSeconds(spec.time)
	if err != nil {
		return err
	}
	x := index.Edge{Weight: spec.weight, Time: at}
	for i, id := range []*index.ID{&x.U, &x.V} {
		if *id, _, err = b.AddNode(keys[i]); err != nil {
			return inputError(err)
		}
	}
	if x.Relation, err = tx.makeRelation(name); err != nil {
		return err
	}
	if err := tx.labelEnds(x, keys); err != nil {
		return err
	}
	if _, exists := b.EdgeOf(x); exists && isNew {
		edge := edgeName(keys[0], name, keys[1])
		return missing(kindEdge, edge, nil, ErrExists, "edge %s exists already", edge)
	}
	_, err = b.SetEdge(x)
	return err
}

// labelEnds gives the ends of an edge the labels of its relation. It returns ErrInput if one has
// another label already. The ends of an undirected edge may be given in either order.
func (tx *Tx) labelEnds(x index.Edge, keys [2]Key) error {
	r := &tx.meta().Relations[x.Relation]
	want, ids := [2]uint16{r.SourceLabel, r.TargetLabel}, [2]index.ID{x.U, x.V}
	if want == [2]uint16{} {
		return nil
	}
	clash := func(want [2]uint16) int {
		return slices.IndexFunc([]int{0, 1}, func(i int) bool {
			has := tx.batch.Label(ids[i])
			return has != 0 && want[i] != 0 && has != want[i]
		})
	}
	at := clash(want)
	if swapped := [2]uint16{want[1], want[0]}; at >= 0 && !r.Directed && clash(swapped) < 0 {
		want, at = swapped, -1
	}
	if ids[0] == ids[1] && want[0] != want[1] && want[0] != 0 && want[1] != 0 {
		return inputf("node %v cannot be both ends of an edge of relation %s, which joins nodes of label %s with nodes of label %s",
			keys[0].Literal(), r.Name, tx.labelName(want[0]), tx.labelName(want[1]))
	}
	if at >= 0 {
		return inputf("node %v has label %s; the %s of relation %s have label %s",
			keys[at].Literal(), tx.labelName(tx.batch.Label(ids[at])), [2]string{"sources", "targets"}[at], r.Name, tx.labelName(want[at]))
	}
	for i, label := range want {
		if label == 0 {
			continue
		}
		if err := tx.batch.SetLabel(ids[i], tx.labelName(label)); err != nil {
			return nodeError(keys[i], err)
		}
	}
	return nil
}

// labelName returns the name of a label.
func (tx *Tx) labelName(number uint16) string { return tx.meta().Labels[number].Name }

// checkRelabel returns ErrInput if a node with a label has edges whose relation wants that label.
func checkRelabel(s *index.Snapshot, k Key, id index.ID, label string) error {
	had := s.Label(id)
	if had == 0 || s.Meta.Labels[had].Name == label {
		return nil
	}
	if r, ok := s.Wanting(id); ok {
		return inputf("node %v cannot get label %s: it has edges of relation %s, which joins nodes of label %s",
			k.Literal(), label, r.Name, s.Meta.Labels[had].Name)
	}
	return nil
}

// edgeName returns an edge as messages write it.
func edgeName(src Key, relation string, dst Key) string {
	if relation == "" {
		return fmt.Sprintf("%v -> %v", src.Literal(), dst.Literal())
	}
	return fmt.Sprintf("%v -[%s]-> %v", src.Literal(), relation, dst.Literal())
}

// unixSeconds returns a time as it is stored with an edge; 0 means no time. It returns ErrInput for
// a time that is not in the years 0 to 9999.
func unixSeconds(t time.Time) (int64, error) {
	if t.IsZero() {
		return 0, nil
	}
	_, err := given(t, edgelist.CheckTime(t.Unix()))
	return t.Unix(), err
}

// DeleteEdge deletes an edge. It returns ErrNotFound if there is no such edge.
func (tx *Tx) DeleteEdge(src, dst any, opts ...EdgeOption) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	x, err := tx.named(src, dst, opts)
	if err != nil {
		return err
	}
	old, err := b.SetEdge(x)
	if err == nil && old == 0 {
		return tx.noEdge(x)
	}
	return err
}

// Edge returns the edge from src to dst. It returns ErrNotFound if there is no such edge.
func (tx *Tx) Edge(src, dst any, opts ...EdgeOption) (Edge, error) {
	x, err := tx.named(src, dst, opts)
	if err != nil {
		return Edge{}, err
	}
	e, ok := tx.edgeOf(x)
	if !ok {
		return Edge{}, tx.noEdge(x)
	}
	e.U, e.V = x.U, x.V
	return tx.edge(e), nil
}

// Joined returns the edges of all relations from src to dst as one, which has the sum of their
// weights and their latest time. It returns ErrNotFound if there are none.
func (tx *Tx) Joined(src, dst any) (Edge, error) {
	u, v, err := tx.ends(src, dst)
	if err != nil {
		return Edge{}, err
	}
	e, ok := tx.between(u, v)
	if !ok {
		return Edge{}, tx.noEdge(index.Edge{Ends: index.Ends{U: u, V: v}})
	}
	e.U, e.V = u, v
	return tx.edge(e), nil
}

// named returns the ends and the relation of an edge.
func (tx *Tx) named(src, dst any, opts []EdgeOption) (x index.Edge, err error) {
	if x.U, x.V, err = tx.ends(src, dst); err != nil {
		return x, err
	}
	spec := specOf(opts)
	name, err := spec.relation()
	if err == nil {
		x.Relation, err = tx.relation(name)
	}
	return x, err
}

// between returns the edges from u to v, joined to one, and whether there are any.
func (tx *Tx) between(u, v index.ID) (index.Edge, bool) {
	if tx.batch != nil {
		return tx.batch.Edge(u, v)
	}
	return tx.snap.Graph.Edge(u, v)
}

// edgeOf returns the edge with the ends and the relation of x, and whether there is one.
func (tx *Tx) edgeOf(x index.Edge) (index.Edge, bool) {
	if tx.batch != nil {
		return tx.batch.EdgeOf(x)
	}
	return tx.snap.Graph.EdgeOf(x)
}

func (tx *Tx) ends(src, dst any) (u, v index.ID, err error) {
	if u, err = tx.id(src); err != nil {
		return 0, 0, err
	}
	v, err = tx.id(dst)
	return u, v, err
}

func (tx *Tx) edge(e index.Edge) Edge {
	return Edge{
		Src: tx.key(e.U), Dst: tx.key(e.V), Relation: tx.meta().Relations[e.Relation].Name,
		Weight: e.Weight, Time: edgeTime(e.Time),
	}
}

// edgeTime is the inverse of unixSeconds.
func edgeTime(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// Assuming calls f with a read-only transaction that sees the database with more edges. Edges that
// exist already get the given weights and times. Nothing is written. Missing end nodes exist only
// for f. The cached PageRank states do not include the edges, so answers are computed from scratch.
//
// It returns ErrInput for an invalid edge, and in an Update that has changed something. In that
// case, write the edges and return an error from the function to discard them.
func (tx *Tx) Assuming(edges []Edge, f func(*Tx) error) error {
	switch {
	case tx.ended:
		return ErrClosed
	case tx.batch != nil && !tx.batch.Empty():
		return inputf("edges cannot be assumed beside changes that are not committed")
	}
	over := &Tx{db: tx.db, ruled: tx.ruled, snap: tx.snap, reader: tx.reader, batch: tx.snap.Begin()}
	defer over.expire()
	for _, e := range edges {
		if err := over.PutEdge(e.Src, e.Dst, Via(e.Relation), Weight(e.Weight), At(e.Time)); err != nil {
			return err
		}
	}
	over.assumed = true
	return f(over)
}

// Neighbors yields the edges of a node, of the relations of [Via] or of all, with the node as Src.
// Of a directed relation these are the outgoing edges. It yields a single ErrNotFound if there is
// no such node or relation. The transaction may write during the iteration, which goes over the
// edges as they were at the start.
func (tx *Tx) Neighbors(key any, opts ...EdgeOption) iter.Seq2[Edge, error] {
	return func(yield func(Edge, error) bool) {
		u, err := tx.id(key)
		var via []uint16
		if err == nil {
			via, err = tx.relations(specOf(opts).via)
		}
		if err != nil {
			yield(Edge{}, err)
			return
		}
		for _, x := range tx.view().Graph.From(u) {
			if via != nil && !slices.Contains(via, x.Relation) {
				continue
			}
			e, ok := tx.edgeOf(x)
			if !ok {
				continue // deleted by the caller during the iteration
			}
			e.U, e.V = x.U, x.V
			if !yield(tx.edge(e), nil) {
				return
			}
		}
	}
}

// Edges yields every edge once. The transaction must not write during the iteration.
func (tx *Tx) Edges() iter.Seq2[Edge, error] {
	return func(yield func(Edge, error) bool) {
		if tx.ended {
			yield(Edge{}, ErrClosed)
			return
		}
		for e := range tx.view().Graph.Edges() {
			if !yield(tx.edge(e), nil) {
				return
			}
		}
	}
}

// Relation describes a relation of edges: all edges of a relation say the same of their nodes, such
// as that one follows the other. The edges of different relations between two nodes are different
// edges.
type Relation struct {
	Name     string `json:"name"`     // "" is the relation without a name
	Directed bool   `json:"directed"` // whether its edges have a direction
	// Exclude leaves nodes that an edge of it joins with a source, in either direction, out of the
	// candidates of the source, as after a block.
	Exclude bool `json:"exclude"`
	// SourceLabel and TargetLabel are the labels of the sources and of the targets of its edges; ""
	// means any. A node without a label gets the label with its first edge. A node with another
	// label can have no edge of the relation, and a node keeps its label while it has one; Check
	// verifies that. The ends of an undirected edge may be given in either order.
	SourceLabel string `json:"source_label,omitzero"`
	TargetLabel string `json:"target_label,omitzero"`
	Edges       int64  `json:"edges"`
	Loops       int64  `json:"loops"` // edges that join a node with itself, among Edges
}

// Side describes the nodes on a side of a relation: the sources of its edges, or the targets.
type Side struct {
	Nodes  int64    `json:"nodes"`
	Labels []string `json:"labels"` // of the nodes; "" means that some have none
}

// Sides returns the sources and the targets of each relation, in the order of [Tx.Relations]. Of an
// undirected relation the sides are equal. Sides reads all edges.
func (tx *Tx) Sides(ctx context.Context) (sides [][2]Side, err error) {
	if tx.ended {
		return nil, ErrClosed
	}
	found, err := tx.view().Sides(ctx)
	for _, relation := range found {
		var named [2]Side
		for i, side := range relation {
			named[i].Nodes = side.Nodes
			for _, label := range side.Labels {
				named[i].Labels = append(named[i].Labels, tx.labelName(label))
			}
		}
		sides = append(sides, named)
	}
	return sides, err
}

// Part says which edges of a graph are seen.
type Part struct {
	Relations []string
	// Weights multiply the weights of the edges by relation, from 2^-40 to 2^40; a relation that it
	// does not list has 1.
	Weights map[string]float64
	Inverse bool // directed edges lead from their targets to their sources
}

// Via calls f with a read-only transaction that sees only a part of the edges: its walks go along
// them, and its neighbors, paths, predictions and rankings follow. The models are those of the
// database. Via returns ErrNotFound for a missing relation, and ErrInput for no relation or for a
// weight that is not valid.
func (tx *Tx) Via(p Part, f func(*Tx) error) error {
	if tx.ended {
		return ErrClosed
	}
	via, err := tx.viaOf(p)
	if err != nil {
		return err
	}
	part := tx.part(via)
	defer part.expire()
	return f(part)
}

// weighted returns a transaction that sees the edges of all relations, with their weights
// multiplied by relation; tx if there are no weights.
func (tx *Tx) weighted(weights map[string]float64) (*Tx, error) {
	if len(weights) == 0 {
		return tx, nil
	}
	p := Part{Weights: weights}
	for _, r := range tx.meta().Relations {
		p.Relations = append(p.Relations, r.Name)
	}
	via, err := tx.viaOf(p)
	if err != nil {
		return nil, err
	}
	return tx.part(via), nil
}

// viaOf resolves a part.
func (tx *Tx) viaOf(p Part) (via index.Via, err error) {
	if len(p.Relations) == 0 {
		return via, inputf("a part of the edges needs a relation")
	}
	if via.Relations, err = tx.relations(p.Relations); err != nil {
		return via, err
	}
	slices.Sort(via.Relations)
	via.Relations, via.Inverse = slices.Compact(via.Relations), p.Inverse
	if len(p.Weights) == 0 {
		return via, nil
	}
	via.Factors = slices.Repeat([]float32{1}, len(via.Relations))
	for name, w := range p.Weights {
		number, err := tx.relation(name)
		if err != nil {
			return via, err
		}
		i, ok := slices.BinarySearch(via.Relations, number)
		switch {
		case !ok:
			return via, missing(kindRelation, name, p.Relations, ErrInput, "relation %q has a weight, but the walk does not follow it", name)
		case !index.ValidWeight(float32(w)):
			return via, inputf("weight %v of relation %q is not a number from 2^-40 to 2^40", w, name)
		}
		via.Factors[i] = float32(w)
	}
	return via, nil
}

// edgesSeen names the edges that the transaction sees, as the subject of a message.
func (tx *Tx) edgesSeen() string {
	if len(tx.via.Relations) == 1 {
		return fmt.Sprintf("relation %q", tx.meta().Relations[tx.via.Relations[0]].Name)
	}
	return "the graph"
}

// part returns a read-only transaction that sees a part of the edges.
func (tx *Tx) part(via index.Via) *Tx {
	part := &Tx{
		db: tx.db, ruled: tx.ruled, snap: &snapshot{Snapshot: tx.view().Via(via), models: tx.snap.models, ts: tx.snap.ts}, whole: tx.all(), via: via,
	}
	if tx.batch == nil || tx.batch.Empty() {
		part.reader = tx.reader
	}
	return part
}

// Relations returns the relations, in the order in which they were made. The relation without a
// name comes first.
func (tx *Tx) Relations() ([]Relation, error) {
	if tx.ended {
		return nil, ErrClosed
	}
	var all []Relation
	for _, r := range tx.meta().Relations {
		all = append(all, Relation{
			Name: r.Name, Directed: r.Directed, Exclude: r.Exclude, Edges: r.Edges, Loops: r.Loops,
			SourceLabel: tx.labelName(r.SourceLabel), TargetLabel: tx.labelName(r.TargetLabel),
		})
	}
	return all, nil
}

// AddRelation makes a relation without edges; Edges and Loops do not matter. It returns ErrExists
// if there is such a relation, ErrInput for a name that is not valid, and ErrTooLarge beyond 65,535
// relations. Each commit stores the names of all relations, so a database with thousands of them
// commits more slowly, and needs a larger Options.Memory.
func (tx *Tx) AddRelation(r Relation) error {
	b, err := tx.writable()
	if err != nil {
		return err
	}
	if number, ok := b.RelationNumber(r.Name); ok {
		had := tx.meta().Relations[number]
		return missing(kindRelation, r.Name, nil, ErrExists, "relation %q exists already, %s and with %s",
			r.Name, map[bool]string{true: "directed", false: "undirected"}[had.Directed], words.Count(int(had.Edges), "edge"))
	}
	made := index.Relation{Name: r.Name, Directed: r.Directed, Exclude: r.Exclude}
	if made.SourceLabel, err = b.LabelNumber(r.SourceLabel); err == nil {
		made.TargetLabel, err = b.LabelNumber(r.TargetLabel)
	}
	if err == nil {
		_, err = b.Relate(made)
	}
	if err != nil {
		return inputError(err)
	}
	return nil
}

// meta returns the meta record that describes the graph as the transaction sees it.
func (tx *Tx) meta() *index.Meta {
	if tx.batch != nil {
		return tx.batch.Meta()
	}
	return &tx.snap.Meta
}

// relationNumber returns the number of the relation with this name.
func (tx *Tx) relationNumber(name string) (uint16, bool) {
	if tx.batch != nil {
		return tx.batch.RelationNumber(name)
	}
	return tx.snap.Meta.RelationNumber(name)
}

// relation returns the number of a relation. It returns ErrNotFound if there is no such relation.
func (tx *Tx) relation(name string) (uint16, error) {
	number, ok := tx.relationNumber(name)
	if !ok {
		var names []string
		for _, r := range tx.meta().Relations[1:] {
			names = append(names, r.Name)
		}
		return 0, missing(kindRelation, name, names, ErrNotFound, "no relation %q", name)
	}
	return number, nil
}

// relations returns the numbers of relations; nil for nil.
func (tx *Tx) relations(names []string) ([]uint16, error) {
	if names == nil {
		return nil, nil
	}
	all := make([]uint16, 0, len(names))
	for _, name := range names {
		number, err := tx.relation(name)
		if err != nil {
			return nil, err
		}
		all = append(all, number)
	}
	return all, nil
}

// makeRelation returns the number of a relation, and makes the relation if it does not exist.
func (tx *Tx) makeRelation(name string) (uint16, error) {
	number, ok := tx.relationNumber(name)
	if ok {
		return number, nil
	}
	number, err := tx.batch.Relate(index.Relation{Name: name, Directed: tx.meta().Directed})
	if err != nil {
		return 0, inputError(err)
	}
	return number, nil
}

// relation returns the relation of an edge. It returns ErrInput for several relations.
func (s *edgeSpec) relation() (string, error) {
	switch len(s.via) {
	case 0:
		return "", nil
	case 1:
		return s.via[0], nil
	}
	return "", inputf("an edge of %d relations %q: want one", len(s.via), s.via)
}

// GonumNode is a node of the graph that [Tx.Gonum] returns.
type GonumNode = gonum.Node

// Gonum returns the graph for the algorithms of gonum.org/v1/gonum/graph, as a
// [graph.WeightedUndirected] or, for a directed database, a [graph.WeightedDirected]. Both have a
// method WeightedEdges that lists the edges. The graph is not copied, so the transaction must not
// write while it is in use. It is valid until the transaction ends. Nodes are [GonumNode]s.
//
// Weights are the stored ones. Algorithms that take weights as lengths, such as shortest paths,
// therefore treat a strong link as a long way. Edges of several relations between two nodes are one
// edge with the sum of their weights; in a transaction of [Tx.Via] the graph has the edges of its
// relations only. A self-loop is an edge. A node without a self-loop
// has weight 0 to itself, and nodes without an edge between them have weight +Inf.
func (tx *Tx) Gonum() graph.Weighted { return gonum.New(tx.view(), tx.key) }

// GonumNode returns the node as an element of the graph of [Tx.Gonum]. It returns ErrNotFound if
// there is no such node.
func (tx *Tx) GonumNode(key any) (GonumNode, error) {
	id, err := tx.id(key)
	if err != nil {
		return GonumNode{}, err
	}
	return gonum.NewNode(id, tx.key(id)), nil
}

// noEdge returns the error for an edge that does not exist.
func (tx *Tx) noEdge(x index.Edge) error {
	edge := edgeName(tx.key(x.U), tx.meta().Relations[x.Relation].Name, tx.key(x.V))
	return missing(kindEdge, edge, nil, ErrNotFound, "no edge %s", edge)
}
