package index

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"kith/index/internal/block"
	"kith/index/internal/column"
	"kith/index/internal/pages"
	"kith/index/internal/spill"
)

// A generation is the base of the graph on disk: blocks of the dictionary, of the node records, of
// the newest events and of the adjacency, all at the same version. A new generation is written next
// to the old one and becomes valid with the commit of WriteBase, whose meta record names it.
//
// The blocks of the dictionary by id are numbered by their first ids, all other blocks
// consecutively. So the remaining blocks of a damaged generation state which ids they cover.

// content is what a generation stores, as streams.
type content struct {
	directions    spill.Directions
	nodes         int
	labels        int                   // number of labels
	keys          iter.Seq2[Key, error] // the keys of all nodes, by id
	records       *nodeRecords
	numProperties int
	// values passes the values of a property to visit, by node, or blocks to whole; see
	// [properties.merged].
	values func(property uint16, visit func(ID, Value) error, whole func(first ID, block []byte) error) error
	events []Event
	// ascending yields the keys of all nodes in key order. It is used only if ids are not in key
	// order.
	ascending iter.Seq2[block.KeyEntry, error]
	// entries passes the entries of the rows in one direction to visit, ascending by row, neighbour
	// and relation.
	entries func(in bool, visit func(Edge) error) error
}

// WriteGeneration writes the blocks of s to w under the given generation number, and returns them
// as they are read from the given place.
func (s *Snapshot) WriteGeneration(w Writer, generation uint32, from *Stored) (*Base, error) {
	n := s.Graph.nodes
	c := content{directions: s.Graph.directions, nodes: n, labels: len(s.Meta.Labels), records: &s.nodes, events: s.events.all(),
		values: s.properties.merged, numProperties: len(s.Meta.Properties)}
	c.keys = s.keys(n)
	c.ascending = func(yield func(block.KeyEntry, error) bool) { s.ascending(n)(yield) }
	c.entries = s.Graph.entries
	base, err := c.write(w, generation, from)
	return base, cmp.Or(s.Err(), err) // without the error, the blocks lack what could not be read
}

// write writes the blocks of a generation, and returns them as they are read from the given place.
func (c *content) write(w Writer, generation uint32, from *Stored) (*Base, error) {
	put := func(kind byte, no uint32, block []byte) error {
		return w.Set(makeKey(kind, generation, no), block)
	}
	keys, err := c.writeDict(w, generation)
	if err != nil {
		return nil, err
	}
	nodes, err := c.writeNodes(w, generation)
	if err != nil {
		return nil, err
	}
	values, err := c.writeProperties(w, generation)
	if err != nil {
		return nil, err
	}
	if err := writeEvents(c.events, put); err != nil {
		return nil, err
	}
	out, err := c.writeRows(w, prefixOut, generation)
	var in *block.RowDirectory
	if err == nil && slices.Contains(c.directions, true) {
		in, err = c.writeRows(w, prefixIn, generation)
	}
	if err != nil {
		return nil, err
	}
	cache := from.cache(generation)
	base := &Base{
		Graph: pagedGraph(c.directions, c.nodes, out, in, cache), dict: pagedKeys(keys, cache).dict(),
		nodes: pagedNodes(nodes, c.labels, cache), cache: cache,
	}
	if values != nil {
		base.properties = pagedProperties(values, cache)
	}
	return base, nil
}

// writeRows writes the blocks of the rows in one direction and returns their directory.
func (c *content) writeRows(w Writer, kind byte, generation uint32) (*block.RowDirectory, error) {
	rows := c.newRowWriter(w, kind, generation)
	if err := c.entries(kind == prefixIn, rows.add); err != nil {
		return nil, err
	}
	return &rows.directory, rows.close()
}

// writeNodes writes the blocks of node records that are not all zero, and their directory, which it
// returns.
func (c *content) writeNodes(w Writer, generation uint32) (*nodeDirectory, error) {
	dir := nodeDirectory{nodes: c.nodes}
	for no := range uint32(dir.numBlocks()) {
		var b []byte
		zero := true
		for i := range dir.sizeOf(no) {
			rec := c.records.at(no*nodeBlock + ID(i))
			zero = zero && rec == node{}
			b = rec.append(b)
		}
		if zero {
			continue
		}
		dir.add(no)
		if err := w.Set(makeKey(prefixNode, generation, no), block.WithChecksum(b)); err != nil {
			return nil, err
		}
	}
	return &dir, putSplit(w, directoryKey(prefixNode, generation), dir.encode())
}

// writeDict writes the dictionary of a generation: its blocks by id, those by key if ids are not in
// key order, and their directory.
func (c *content) writeDict(w Writer, generation uint32) (*block.KeyDirectory, error) {
	var dir block.KeyDirectory
	var low []Key
	byID := block.KeyPacker{Emit: func(first block.KeyEntry, block []byte) error {
		dir.First, low = append(dir.First, first.ID), append(low, first.Key)
		return w.Set(makeKey(prefixDict, generation, first.ID), block)
	}}
	if err := byID.Pack(counted(&dir, c.keys)); err != nil {
		return nil, err
	}
	if dir.Order {
		low = nil
		byKey := block.KeyPacker{WithIDs: true, Emit: func(first block.KeyEntry, block []byte) error {
			low = append(low, first.Key)
			return w.Set(makeKey(prefixKeyOrder, generation, uint32(len(low)-1)), block)
		}}
		if err := byKey.Pack(c.ascending); err != nil {
			return nil, err
		}
	}
	dir.Low = block.ListOf(low)
	return &dir, putSplit(w, directoryKey(prefixDict, generation), dir.Encode())
}

// counted yields the keys with their ids, and counts them in the directory.
func counted(c *block.KeyDirectory, keys iter.Seq2[Key, error]) iter.Seq2[block.KeyEntry, error] {
	return func(yield func(block.KeyEntry, error) bool) {
		for k, err := range keys {
			id := ID(c.Keys)
			if err == nil {
				c.Count(k)
			}
			if !yield(block.KeyEntry{Key: k, ID: id}, err) {
				return
			}
		}
	}
}

// rowWriter writes one direction of a generation from its entries, in which U is the row and V the
// neighbour: the blocks, their directory and, for out-rows, the degrees.
type rowWriter struct {
	*content
	w          Writer
	kind       byte // prefixOut or prefixIn
	generation uint32
	pack       block.RowPacker
	directory  block.RowDirectory
	last       Edge         // the last entry; its weight is 0 if there is none
	joined     block.Joiner // of it and the entries before it between the same two nodes
	degrees    []float64    // degrees of the nodes of the next block of degrees that has entries
	block      uint32       // its number
}

func (c *content) newRowWriter(w Writer, kind byte, generation uint32) *rowWriter {
	r := &rowWriter{content: c, w: w, kind: kind, generation: generation}
	r.pack.Emit = func(first ID, block []byte) error {
		no := uint32(len(r.directory.First))
		r.directory.First = append(r.directory.First, first)
		return w.Set(makeKey(kind, generation, no), block)
	}
	return r
}

// add adds the next entry. Entries must ascend strictly by row, neighbour and relation.
func (r *rowWriter) add(e Edge) error {
	parallel := r.last.Weight != 0 && e.U == r.last.U && e.V == r.last.V
	if !parallel {
		if err := r.count(); err != nil {
			return err
		}
	}
	r.last = e
	r.joined.Add(e.Weight, e.Time)
	r.directory.Add(e.U, e.V, e.Relation, e.Weight, e.Time, parallel, r.directions)
	return r.pack.Add(e.U, e.V, e.Relation, e.Weight, e.Time)
}

// count adds the weight of the last entries to the degree of their row.
func (r *rowWriter) count() error {
	weight := r.joined.Weight()
	r.joined = block.Joiner{}
	if r.kind != prefixOut || r.last.Weight == 0 {
		return nil
	}
	for r.block < r.last.U/block.DegreeBlock {
		if err := r.writeDegrees(); err != nil {
			return err
		}
	}
	i := int(r.last.U % block.DegreeBlock)
	for len(r.degrees) <= i {
		r.degrees = append(r.degrees, 0)
	}
	r.degrees[i] += float64(weight)
	return nil
}

// writeDegrees writes the next block of degrees. Nodes after its last one have degree 0.
func (r *rowWriter) writeDegrees() error {
	err := r.w.Set(makeKey(prefixDegree, r.generation, r.block), block.WithChecksum(block.AppendDegrees(nil, r.degrees)))
	r.degrees = r.degrees[:0]
	r.block++
	return err
}

// close writes the last block and the directory.
func (r *rowWriter) close() error {
	if err := cmp.Or(r.count(), r.pack.Close()); err != nil {
		return err
	}
	for r.kind == prefixOut && int(r.block)*block.DegreeBlock < r.nodes {
		if err := r.writeDegrees(); err != nil {
			return err
		}
	}
	return putSplit(r.w, directoryKey(r.kind, r.generation), r.directory.Encode())
}

// entries passes the entries of the rows in one direction to visit, ascending by row, neighbour and
// relation.
func (g *Graph) entries(in bool, visit func(Edge) error) error {
	rows := g.out
	if in {
		rows = g.in
	}
	for u := range ID(g.nodes) {
		row := rows.edges(u)
		for i := range row.To {
			if err := visit(edgeAt(u, &row, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Base is what a generation holds. Its blocks are read when they are asked for, or loaded into
// memory.
type Base struct {
	Graph      *Graph
	dict       *dict
	nodes      *storedNodes
	properties *storedProperties // nil: there are no properties
	cache      *blockCache
}

// Load reads the base into memory, apart from vectors. It returns ErrCorrupt, or the error of ctx.
func (b *Base) Load(ctx context.Context) error {
	for _, p := range []storedPart{b.Graph, b.dict, b.nodes} {
		if err := p.Load(ctx); err != nil {
			return err
		}
	}
	return nil
}

// LoadedBytes returns the memory of the base once it is loaded, in bytes.
func (b *Base) LoadedBytes() int64 {
	return b.Graph.LoadedBytes() + b.dict.loadedBytes() + b.nodes.loadedBytes()
}

// Rebase returns s with its base replaced by the generation written from old, an earlier version of
// s, which becomes a part of the result. What has changed since is applied again. The log drops the
// changes older than the previous base.
func (s *Snapshot) Rebase(old *Snapshot, base *Base, generation uint32) (*Snapshot, error) {
	next := *s
	changes, ok := s.log.since(old.Meta.Version)
	if !ok {
		return nil, fmt.Errorf("index: the log does not reach back to version %d", old.Meta.Version)
	}
	next.Graph = base.Graph.with(s.Graph, changes)
	next.dict = base.dict
	next.dict.add(s.dict.since(base.dict.n))
	next.erased = s.erasedSince(old)
	next.nodes = s.nodes.onto(base.nodes, &old.nodes)
	next.features = s.features.onto(openVectors(base.cache, &old.Meta), &old.features)
	next.properties = s.properties.onto(base.properties, &old.properties)
	next.log = s.log.from(s.Meta.Base)
	next.Meta.LogStart = next.log.start
	next.Meta.Generation = generation
	next.Meta.Base, next.Meta.BaseNodes, next.Meta.BaseEdges = old.Meta.Version, old.Meta.Nodes, old.Meta.Edges
	next.Meta.BaseEvents = int64(len(old.events.all()))
	next.Meta.InRows, next.Meta.BaseProperties = old.Graph.directed, len(old.Meta.Properties)
	return &next, nil
}

// erasedSince returns the nodes that were erased after old, an earlier version with the same base.
func (s *Snapshot) erasedSince(old *Snapshot) (since pages.Array[bool]) {
	by := new(pages.Owner)
	for id, is := range s.erased.All() {
		if is && !old.erased.At(id) {
			since.Set(by, id, true)
		}
	}
	return since
}

// with returns the graph with the relations of a later version, and with its edges where they have
// changed since.
func (g *Graph) with(later *Graph, changes []weightChange) *Graph {
	e := g.Edit()
	e.Grow(later.nodes)
	for _, directed := range later.directions[len(g.directions):] {
		e.Relate(directed)
	}
	for _, c := range changes {
		x := Edge{Ends: c.Ends, Relation: c.Relation}
		now, _ := later.EdgeOf(x)
		x.Weight, x.Time = now.Weight, now.Time
		e.Set(x)
	}
	return e.Graph()
}

// replace returns the next version of s with another base, as a bulk load makes it. The log starts
// empty.
func (s *Snapshot) replace(base *Base, generation uint32, now int64) *Snapshot {
	next, g := *s, base.Graph
	m := &next.Meta
	m.advance(now, uint32(g.nodes)*31+uint32(g.edges))
	m.keepNone() // a load is no change that can be kept
	m.Generation, m.Base, m.LogStart = generation, m.Version, m.Version
	m.Live += int64(g.nodes - s.Graph.nodes)
	m.Nodes, m.Edges, m.Loops = int64(g.nodes), g.edges, g.loops
	m.BaseNodes, m.BaseEdges, m.InRows, m.BaseProperties = m.Nodes, m.Edges, g.directed, len(m.Properties)
	next.Graph, next.dict, next.nodes, next.log = g, base.dict, nodeRecords{base: base.nodes}, changeLog{start: m.Version}
	next.features, next.erased = vectors{base: openVectors(base.cache, &s.Meta)}, pages.Array[bool]{}
	next.properties = properties{base: base.properties, words: newVocabularies(len(m.Properties))}
	return &next
}

// WriteBase writes the meta record of s to w, and a copy of it for the generation that it names. If
// the meta record is damaged, it can be derived from the copy and the log.
func (s *Snapshot) WriteBase(w Writer) error {
	return errors.Join(putMeta(w, makeKey(prefixBase, s.Meta.Generation), &s.Meta), putMeta(w, []byte{prefixMeta}, &s.Meta))
}

// DropGenerations deletes the records of the generations up to last, except keep, the copies of
// meta at the end. Later generations are kept because one may be in progress.
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

// LeftGenerations reports whether records of generations up to last, except keep, may be there. The
// copy of meta is the last record of a generation that DropGenerations deletes, so it tells without
// a pass over the records that were deleted: until the store is compacted, that takes as long as
// reading them.
func LeftGenerations(r Reader, keep, last uint32) (bool, error) {
	for e, err := range r.Scan([]byte{prefixBase}, nil) {
		if err != nil {
			return false, err
		}
		return last > keep || bytes.Compare(e.Key, makeKey(prefixBase, keep)) < 0, nil
	}
	return true, nil
}

// LastGeneration returns the highest generation number in use, by the present generation or by a
// leftover block. A new generation must have a higher number, so that no leftover block can mix
// with its blocks.
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

// writeProperties writes the blocks of the values, and their directory, which it returns. It
// returns nil if there are no properties.
func (c *content) writeProperties(w Writer, generation uint32) (*column.Directory, error) {
	if c.numProperties == 0 {
		return nil, nil
	}
	dir := new(column.Directory)
	emit := func(property uint16, first ID, b []byte) error {
		no := uint32(dir.Len())
		dir.Add(property, first)
		return w.Set(makeKey(prefixProperty, generation, no), b)
	}
	for property := range uint16(c.numProperties) {
		p := column.Packer{Emit: emit}
		err := c.values(property, func(id ID, v Value) error { return p.Add(property, id, v) },
			func(first ID, b []byte) error { return cmp.Or(p.Close(), emit(property, first, b)) })
		if err = cmp.Or(err, p.Close()); err != nil {
			return nil, err
		}
	}
	return dir, putSplit(w, directoryKey(prefixProperty, generation), dir.Encode())
}
