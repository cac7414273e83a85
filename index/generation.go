package index

import (
	"errors"
	"fmt"
	"iter"
)

// A generation is the base of the graph on disk: blocks of the dictionary, of the node records, of the newest
// events and of the adjacency, all of one version. A new generation is written next to the old one and becomes
// valid with the commit of WriteBase, whose meta record names it.
//
// The blocks of the dictionary by id are numbered by their first ids, the others consecutively. So the remaining
// blocks of a damaged generation state which ids they cover.

// generationKinds are the prefixes of a generation's blocks.
var generationKinds = [...]byte{prefixDict, prefixKeyOrder, prefixNode, prefixEvent, prefixOut, prefixIn, prefixDirectory, prefixDegree}

// content is what a generation stores, as streams.
type content struct {
	directed bool
	nodes    int
	keys     iter.Seq2[Key, error] // the keys of all nodes, by id
	records  *nodeRecords
	events   []Event
	// ascending yields the keys of all nodes in key order. It is used only if ids are not in key order.
	ascending iter.Seq2[keyEntry, error]
	// entries passes the entries of the rows of one direction to visit, ascending by row and neighbour.
	entries func(in bool, visit func(Edge) error) error
}

// WriteGeneration writes the blocks of s to w under the given generation number.
func (s *Snapshot) WriteGeneration(w Writer, generation uint32) error {
	n := s.Graph.nodes
	c := content{directed: s.Graph.directed, nodes: n, records: &s.nodes, events: s.Events.All()}
	c.keys = s.Dict.first(n)
	c.ascending = func(yield func(keyEntry, error) bool) { s.Dict.ascending(n)(yield) }
	c.entries = func(in bool, visit func(Edge) error) error {
		if in {
			return s.Graph.in.entries(n, visit)
		}
		return s.Graph.out.entries(n, visit)
	}
	return c.write(w, generation)
}

// write writes the blocks of a generation.
func (c *content) write(w Writer, generation uint32) error {
	put := func(kind byte, no uint32, block []byte) error {
		return w.Set(makeKey(kind, generation, no), block)
	}
	if err := c.writeDict(w, generation); err != nil {
		return err
	}
	if err := c.writeNodes(w, generation); err != nil {
		return err
	}
	if err := writeEvents(c.events, put); err != nil {
		return err
	}
	for _, kind := range []byte{prefixOut, prefixIn} {
		if kind == prefixIn && !c.directed {
			break
		}
		rows := newRowWriter(w, kind, generation, c.nodes)
		if err := c.entries(kind == prefixIn, rows.add); err != nil {
			return err
		}
		if err := rows.close(); err != nil {
			return err
		}
	}
	return nil
}

// entries passes the entries of the rows of n nodes to visit.
func (a *adjacency) entries(n int, visit func(Edge) error) error {
	for u := range ID(n) {
		to, weight, time := a.row(u)
		for i, v := range to {
			if err := visit(Edge{U: u, V: v, Weight: planeAt(weight, i, 1), Time: planeAt(time, i, 0)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Base is what a generation holds. Its blocks are read when they are asked for, or loaded into memory.
type Base struct {
	Graph *Graph
	keys  *storedKeys
	nodes *storedNodes
}

// OpenBase returns the generation that was written from s.
func (s *Snapshot) OpenBase(r Reader, from *Stored, generation uint32) (b *Base, err error) {
	m := Meta{Directed: s.Meta.Directed, Generation: generation, BaseNodes: s.Meta.Nodes, Labels: s.Meta.Labels}
	cache := from.cache(generation)
	b = new(Base)
	if b.keys, err = openKeys(r, cache, &m); err != nil {
		return nil, err
	}
	if b.nodes, err = openNodes(r, cache, &m); err != nil {
		return nil, err
	}
	b.Graph, err = openGraph(r, cache, &m)
	return b, err
}

// Rebase returns s with its base replaced by the generation written from old, an earlier version of s. Keys that are in
// memory stay there. The edges changed since are applied again. The log drops the changes older than the previous base.
func (s *Snapshot) Rebase(old *Snapshot, base *Base, generation uint32) (*Snapshot, error) {
	next := *s
	changes, ok := s.Log.Since(old.Meta.Version)
	if !ok {
		return nil, fmt.Errorf("index: the log does not reach back to version %d", old.Meta.Version)
	}
	e := base.Graph.Edit()
	e.Grow(s.Graph.nodes)
	for _, c := range changes {
		now, _ := s.Graph.Edge(c.U, c.V)
		e.Set(c.U, c.V, now.Weight, now.Time)
	}
	next.Graph = e.Graph()
	next.Dict = s.Dict.onto(base.keys)
	next.nodes = s.nodes.onto(base.nodes, &old.nodes)
	next.Log = s.Log.from(s.Meta.Base)
	next.Meta.LogStart = next.Log.start
	next.Meta.Generation = generation
	next.Meta.Base, next.Meta.BaseNodes, next.Meta.BaseEdges = old.Meta.Version, old.Meta.Nodes, old.Meta.Edges
	next.Meta.BaseEvents = int64(len(old.Events.All()))
	return &next, nil
}

// replace returns the next version of s with another graph, dictionary and generation, as a bulk load makes it. The
// log starts empty.
func (s *Snapshot) replace(g *Graph, d *Dict, generation uint32) *Snapshot {
	next := *s
	m := &next.Meta
	m.Version++
	m.Generation, m.Base, m.LogStart = generation, m.Version, m.Version
	m.Live += int64(g.nodes - s.Graph.nodes)
	m.Nodes, m.Edges, m.Loops = int64(g.nodes), g.edges, g.loops
	m.BaseNodes, m.BaseEdges = m.Nodes, m.Edges
	next.Graph, next.Dict, next.Log = g, d, Log{start: m.Version}
	return &next
}

// WriteBase writes the meta record of s to w, and a copy of it for the generation that it names. If the meta record
// is damaged, it can be derived from the copy and the log.
func (s *Snapshot) WriteBase(w Writer) error {
	return errors.Join(putMeta(w, makeKey(prefixBase, s.Meta.Generation), &s.Meta), putMeta(w, []byte{prefixMeta}, &s.Meta))
}

// DropGenerations deletes the records of the generations up to last, except keep. Later generations are kept
// because one may be in progress.
func DropGenerations(r Reader, w Writer, keep, last uint32) error {
	for _, kind := range append(generationKinds[:], prefixBase) {
		all := []byte{kind}
		if err := deleteRange(r, w, all, nil, makeKey(kind, min(keep, last+1))); err != nil {
			return err
		}
		if err := deleteRange(r, w, all, makeKey(kind, keep+1), makeKey(kind, last+1)); err != nil {
			return err
		}
	}
	return nil
}

// DropLog deletes the log up to version start.
func DropLog(r Reader, w Writer, start uint64) error {
	return deleteRange(r, w, []byte{prefixLog}, nil, makeKey(prefixLog, start+1))
}

// LastGeneration returns the highest generation number in use: that of the present generation or of a leftover
// block. A new generation must have a higher number, so that no leftover block can mix with its blocks.
func LastGeneration(r Reader, present uint32) (uint32, error) {
	last := uint64(present)
	for _, kind := range generationKinds {
		var err error
		if last, err = newest(r, kind, last); err != nil {
			return 0, err
		}
	}
	return uint32(last), nil
}
