package index

import (
	"errors"
	"fmt"
)

// A generation is the base of the graph on disk: blocks of the dictionary, of the node records, of the newest
// events and of the adjacency, all of one version. A new generation is written next to the old one and becomes
// valid with the commit of WriteBase, whose meta record names it.
//
// A block of the dictionary is numbered by its first id, the others have consecutive numbers. So the remaining
// blocks of a damaged generation state which ids they cover.

// dictBlock and nodeBlock are the numbers of consecutive ids in one block. A block of the dictionary has fewer ids
// if its keys are long, as a stored value must stay below maxPart.
const (
	dictBlock = 4096
	nodeBlock = 16384
)

// generationKinds are the prefixes of a generation's blocks.
var generationKinds = [...]byte{prefixDict, prefixNode, prefixEvent, prefixOut, prefixIn, prefixDirectory, prefixDegree}

// WriteGeneration writes the blocks of s to w under the given generation number.
func (s *Snapshot) WriteGeneration(w Writer, generation uint32) error {
	put := func(kind byte, no uint32, block []byte) error {
		return w.Set(makeKey(kind, generation, no), block)
	}
	if err := s.writeDict(put); err != nil {
		return err
	}
	if err := s.writeNodes(put); err != nil {
		return err
	}
	if err := s.writeEvents(put); err != nil {
		return err
	}
	out := newRowWriter(w, prefixOut, generation, s.Graph.nodes)
	if err := s.Graph.out.write(out, s.Graph.nodes); err != nil || !s.Graph.directed {
		return err
	}
	return s.Graph.in.write(newRowWriter(w, prefixIn, generation, s.Graph.nodes), s.Graph.nodes)
}

// write writes the rows of n nodes.
func (a *adjacency) write(w *rowWriter, n int) error {
	for u := range ID(n) {
		to, weight, time := a.row(u)
		for i, v := range to {
			if err := w.add(Edge{U: u, V: v, Weight: planeAt(weight, i, 1), Time: planeAt(time, i, 0)}); err != nil {
				return err
			}
		}
	}
	return w.close()
}

// writeDict writes the blocks of the dictionary.
func (s *Snapshot) writeDict(put func(kind byte, no uint32, block []byte) error) error {
	n := s.Graph.nodes
	for id := 0; id < n; {
		var b []byte
		first := uint32(id)
		last := int64(0)
		for end := min(n, id+dictBlock); id < end && len(b) < maxPart/2; id++ {
			b = appendKey(b, s.Dict.Key(ID(id)), &last)
		}
		if err := put(prefixDict, first, withChecksum(b)); err != nil {
			return err
		}
	}
	return nil
}

// writeNodes writes the blocks of node records. A block whose records are all zero is empty.
func (s *Snapshot) writeNodes(put func(kind byte, no uint32, block []byte) error) error {
	n := s.Graph.nodes
	for no := 0; no*nodeBlock < n; no++ {
		var b []byte
		zero := true
		for id := no * nodeBlock; id < min(n, (no+1)*nodeBlock); id++ {
			rec := s.nodes.at(ID(id))
			zero = zero && rec == node{}
			b = rec.append(b)
		}
		if zero {
			b = nil
		}
		if err := put(prefixNode, uint32(no), withChecksum(b)); err != nil {
			return err
		}
	}
	return nil
}

// Rebase returns s with its base replaced by the generation written from old, an earlier version of s. base must be
// the compacted graph of old. The edges changed since are applied to it again. The log drops the changes older than
// the previous base.
func (s *Snapshot) Rebase(old *Snapshot, base *Graph, generation uint32) (*Snapshot, error) {
	next := *s
	changes, ok := s.Log.Since(old.Meta.Version)
	if !ok {
		return nil, fmt.Errorf("index: the log does not reach back to version %d", old.Meta.Version)
	}
	e := base.Edit()
	e.Grow(s.Graph.nodes)
	for _, c := range changes {
		now, _ := s.Graph.Edge(c.U, c.V)
		e.Set(c.U, c.V, now.Weight, now.Time)
	}
	next.Graph = e.Graph()
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
