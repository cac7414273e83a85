package index

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"kith/index/internal/block"
	"kith/index/internal/column"
	"kith/index/internal/pages"
)

// Open reads the latest version from r. Keys and rows are read from the given place when they are
// asked for; until then, damage of their blocks is not noticed (see [Snapshot.Err]). If it is nil,
// all are read now. Open returns nil if there is no version, ErrMismatch if the store has another
// format, or ErrCorrupt with the place if the records are inconsistent.
func Open(r Reader, on *Stored) (*Snapshot, error) {
	if meta, err := readMeta(r, []byte{prefixMeta}); meta == nil || err != nil {
		return nil, err
	}
	s, found := read(r, on)
	if len(found) > 0 {
		return nil, found[0]
	}
	return s, nil
}

// opener builds a snapshot from its records. It collects violations and continues with what can be
// read; see salvage.go for the repairs.
type opener struct {
	ctx context.Context
	r   Reader
	s   *Snapshot
	by  *pages.Owner

	on    *Stored        // where blocks of the base are read on demand; nil: all are read now
	cache *blockCache    // of the blocks that are read on demand; nil: none
	times map[Edge]int64 // of edges that the log has changed, by ends and relation, if rows are read on demand

	found        []error
	records      []logged    // records after version Meta.LogStart
	derived      bool        // the meta record was lost or outdated
	damaged      bool        // a block of the base was lost
	lost         []idRange   // ids whose keys are lost
	maybeDeleted []idRange   // ids that may have been deleted
	erased       map[ID]bool // nodes that the log erases
}

// logged is a record of the log, nil if it cannot be read.
type logged struct {
	version uint64
	*record
}

// idRange is the range of ids from first up to but not including end.
type idRange struct{ first, end ID }

func (o *opener) report(format string, args ...any) {
	o.found = append(o.found, fmt.Errorf(format, args...))
}

// damage reports the loss of a part of the base.
func (o *opener) damage(format string, args ...any) {
	o.damaged = true
	o.report(format, args...)
}

// baseMeta checks the copy of the meta record that belongs to the generation.
func (o *opener) baseMeta() error {
	m := &o.s.Meta
	base, err := readMeta(o.r, makeKey(prefixBase, m.Generation))
	if err == nil && (base == nil || base.Generation != m.Generation || base.Version > m.Version) {
		err = fmt.Errorf("%w: it is missing, or of a different version", ErrCorrupt)
	}
	if err != nil {
		return fmt.Errorf("meta record of generation %d: %w", m.Generation, err)
	}
	return nil
}

// readLog reads the records of the log, including those before the base, and reports missing ones.
// The records must form a chain that ends at the version stated by the meta record.
func (o *opener) readLog() error {
	m, last := &o.s.Meta, uint64(0)
	for e, err := range scanSplit(o.r, prefixLog, makeKey(prefixLog, m.LogStart+1)) {
		if err := cmp.Or(err, o.ctx.Err()); err != nil {
			return fmt.Errorf("log: %w", err)
		}
		if e.wrongKey {
			o.report("%w", e.err)
			continue
		}
		l := logged{version: e.numbers[0]}
		if e.err == nil {
			l.record, e.err = decodeRecord(e.Value)
		}
		switch {
		case e.err != nil:
			l.record = nil
			o.report("log of version %d: what that commit did is lost: %w", l.version, e.err)
		case !l.follows(last, m.LogStart):
			o.report("%w: log: what the commits after version %d up to version %d did is lost", ErrCorrupt, max(last, m.LogStart), l.prev)
		}
		o.records = append(o.records, l)
		last = l.version
	}
	if last < m.LogEnd && m.LogEnd > m.LogStart {
		o.report("%w: log: what the commits after version %d up to version %d did is lost", ErrCorrupt, max(last, m.LogStart), m.LogEnd)
	}
	return nil
}

// blocks passes the blocks of a kind of the generation to visit, in order, and reports the errors
// of visit. The decoder of a block with a wrong checksum has an error.
func (o *opener) blocks(kind byte, visit func(no uint32, d *block.Decoder) error) error {
	g := o.s.Meta.Generation
	if g == 0 {
		return nil
	}
	for e, err := range o.r.Scan(makeKey(kind, g), nil) {
		if err := cmp.Or(err, o.ctx.Err()); err != nil {
			return err
		}
		n, ok := keyNumbers(e.Key)
		if !ok {
			return corruptKey(e.Key)
		}
		if err := visit(uint32(n[1]), block.VerifyChecksum(e.Value)); err != nil {
			o.damage("block %c %d of generation %d: %w", kind, n[1], g, err)
		}
	}
	return nil
}

// nodes reads the node records of the base, or prepares to read them on demand.
func (o *opener) nodes() (err error) {
	if o.cache != nil {
		o.s.nodes.base, err = openNodes(o.r, o.cache, &o.s.Meta)
		return err
	}
	return o.eachNode(func(id ID, n node) error {
		if n != (node{}) {
			o.s.nodes.set(o.by, id, n)
		}
		return nil
	})
}

// eachNode passes the node records of the base to visit, by id, and reports the errors of visit.
// Records that are lost are left out.
func (o *opener) eachNode(visit func(ID, node) error) error {
	m := &o.s.Meta
	if m.Generation == 0 {
		return nil
	}
	dir, unreadable := readDirectory(o.r, prefixNode, m.Generation, decodeNodeDirectory)
	if unreadable == nil && int64(dir.nodes) != m.BaseNodes {
		unreadable = fmt.Errorf("%w: the directory of the blocks %c has %d nodes, the meta record says %d", ErrCorrupt, prefixNode, dir.nodes, m.BaseNodes)
	}
	if unreadable != nil {
		o.damage("%w", unreadable)
		dir = &nodeDirectory{nodes: int(m.BaseNodes)}
		dir.stored = bytes.Repeat([]byte{0xff}, dir.numBlocks()/8+1)
	}
	next, zero := uint32(0), make([]uint16, nodeBlock)
	pass := func(no uint32, records []uint16) error {
		next = no + 1
		for i, rec := range records {
			if err := visit(no*nodeBlock+ID(i), decodeNode(rec)); err != nil {
				return err
			}
		}
		return nil
	}
	skip := func(end int) error { // the blocks from next up to end are not stored
		for int(next) < min(end, dir.numBlocks()) {
			no := next
			if dir.has(no) {
				o.loseNodes(dir, no, fmt.Errorf("%w: block %c %d is missing", ErrCorrupt, prefixNode, no))
				next++
			} else if err := pass(no, zero[:dir.sizeOf(no)]); err != nil {
				return err
			}
		}
		return nil
	}
	err := o.blocks(prefixNode, func(no uint32, d *block.Decoder) error {
		if err := skip(int(no)); err != nil {
			return err
		}
		if !dir.has(no) || int(no) >= dir.numBlocks() {
			return fmt.Errorf("%w: the directory does not have it", ErrCorrupt)
		}
		records, err := decodeNodes(d, dir.sizeOf(no), maxLabels)
		if err != nil {
			o.loseNodes(dir, no, err)
			next = no + 1
			return nil
		}
		return pass(no, records)
	})
	return cmp.Or(err, skip(dir.numBlocks()))
}

// loseNodes reports that a block of node records cannot be read.
func (o *opener) loseNodes(dir *nodeDirectory, no uint32, err error) {
	first := ID(no) * nodeBlock
	end := first + ID(dir.sizeOf(no))
	o.damage("the labels of nodes %d to %d are lost, and which of them were deleted: %w", first, end-1, err)
	o.maybeDeleted = append(o.maybeDeleted, idRange{first, end})
}

// checkID checks that the id of a record has been assigned.
func (o *opener) checkID(id uint64) error {
	if id >= uint64(o.s.Meta.Nodes) {
		return fmt.Errorf("%w: record of node %d of %d", ErrCorrupt, id, o.s.Meta.Nodes)
	}
	return nil
}

// adjacency reads the rows of the base. If a block is damaged, an edge is kept if one of its two
// rows has it.
func (o *opener) adjacency() (err error) {
	m := &o.s.Meta
	if o.cache != nil {
		if o.s.Graph, err = openGraph(o.r, o.cache, m); err == nil {
			o.countEdges(o.s.Graph.edges)
		}
		return err
	}
	expected := block.RowDirectory{Entries: uint64(m.BaseEdges)}
	if !m.InRows {
		expected.Entries *= 2
	}
	out, in := rowBuilder{expected: expected}, rowBuilder{expected: expected}
	sum := balance{directions: m.directions(), directed: m.InRows}
	err = o.eachRow(prefixOut, func(u ID, e block.Entries) error {
		sum.add(u, e, false)
		return out.add(u, e)
	})
	if err == nil && m.InRows {
		err = o.eachRow(prefixIn, func(u ID, e block.Entries) error {
			sum.add(u, e, true)
			return in.add(u, e)
		})
	}
	if err != nil {
		return err
	}
	n := int(m.BaseNodes)
	from, to := out.rows(n), in.rows(n)
	if !m.InRows {
		to = from
	}
	g := graphOf(m.directions(), n, from, to)
	if err := sum.err(); err != nil && !o.damaged {
		o.damage("%w", err)
	}
	if o.damaged {
		g = g.mended()
	}
	o.s.Graph = g
	o.countEdges(g.edges)
	return o.degrees(g.Degree)
}

// eachRow passes the rows in one direction to visit, in order, and reports damage. A long row is
// passed in several parts.
func (o *opener) eachRow(kind byte, visit func(u ID, e block.Entries) error) error {
	if o.s.Meta.Generation == 0 {
		return nil
	}
	var r block.Rows
	var read block.RowDirectory // of the blocks that were read
	order := rowOrder{nodes: int(o.s.Meta.BaseNodes), last: -1}
	directions := o.s.Meta.directions()
	err := o.blocks(kind, func(no uint32, d *block.Decoder) error {
		if next := uint32(len(read.First)); no != next {
			o.damage("%w: block %c %d is missing", ErrCorrupt, kind, next)
			read.First = make([]ID, no)
		}
		read.First = append(read.First, 0)
		if err := cmp.Or(d.Err, d.Rows(&r)); err != nil {
			return err
		}
		if len(r.Node) > 0 {
			read.First[no] = r.Node[0]
		}
		return r.Each(func(u ID, e block.Entries) error {
			if err := order.check(u, e.To); err != nil {
				return err
			}
			if n := len(directions); int(slices.Max(e.Relations())) >= n {
				return fmt.Errorf("%w: row %d has an edge of relation %d of %d", ErrCorrupt, u, slices.Max(e.Relations()), n)
			}
			read.Count(u, e, directions)
			return visit(u, e)
		})
	})
	stored, unreadable := readDirectory(o.r, kind, o.s.Meta.Generation, block.DecodeRowDirectory)
	switch {
	case unreadable != nil:
		o.report("%w", unreadable)
	case err == nil && !o.damaged && !bytes.Equal(stored.Encode(), read.Encode()):
		o.report("%w: the directory of the blocks %c is not that of the blocks", ErrCorrupt, kind)
	}
	return err
}

// degrees compares the stored degrees with the degrees of the rows.
func (o *opener) degrees(degree func(ID) float64) error {
	next := uint32(0)
	compare := !o.damaged
	err := o.blocks(prefixDegree, func(no uint32, d *block.Decoder) error {
		page, err := d.Degrees()
		if err != nil || no != next {
			return cmp.Or(err, fmt.Errorf("%w: block %d is missing", ErrCorrupt, next))
		}
		next++
		for i := range ID(block.DegreeBlock) {
			if u := no*block.DegreeBlock + i; compare && int64(u) < o.s.Meta.BaseNodes && page.At(i) != degree(u) {
				return fmt.Errorf("%w: the degree of node %d is %v, its row sums to %v", ErrCorrupt, u, page.At(i), degree(u))
			}
		}
		return nil
	})
	if o.s.Meta.Generation > 0 && int64(next)*block.DegreeBlock < o.s.Meta.BaseNodes && !o.damaged {
		o.damage("%w: block %c %d is missing", ErrCorrupt, prefixDegree, next)
	}
	return err
}

// countEdges compares the number of edges of the base with the meta record.
func (o *opener) countEdges(n int64) {
	if base := o.s.Meta.BaseEdges; n != base && !o.damaged {
		o.damage("%w: the base has %d edges, the meta record says %d", ErrCorrupt, n, base)
	}
}

// events reads the newest events of the base.
func (o *opener) events() error {
	n := int64(0)
	err := o.blocks(prefixEvent, func(_ uint32, d *block.Decoder) error {
		list, err := decodeEvents(d, o.s.Meta.Nodes, len(o.s.Meta.Relations))
		n += int64(len(list))
		o.s.events = o.s.events.add(list...)
		return err
	})
	if most := o.s.Meta.BaseEvents; err == nil && n != most {
		o.report("%w: %d of the %d newest events of the base are lost", ErrCorrupt, most-n, most)
	}
	return err
}

// features reads the feature vectors, or prepares to read them on demand.
func (o *opener) features() error {
	if o.cache != nil {
		o.s.features.base = openVectors(o.cache, &o.s.Meta)
		return nil
	}
	return o.eachVector(func(id ID, v []float32) error {
		o.s.features.set(o.by, id, v)
		return nil
	})
}

// values reads the values of properties, or prepares to read them on demand.
func (o *opener) values() (err error) {
	o.s.properties.words = newVocabularies(len(o.s.Meta.Properties))
	if o.cache != nil {
		o.s.properties.base, err = openProperties(o.r, o.cache, &o.s.Meta)
		return err
	}
	return o.eachValue(func(property uint16, id ID, v Value) error {
		o.s.properties.set(o.by, property, id, v)
		return nil
	})
}

// eachValue passes the values of the base to visit, by property and node, and reports the errors of
// visit. Values that are lost are left out.
func (o *opener) eachValue(visit func(property uint16, id ID, v Value) error) error {
	m := &o.s.Meta
	if m.BaseProperties == 0 {
		return nil
	}
	stored, unreadable := readDirectory(o.r, prefixProperty, m.Generation, column.DecodeDirectory)
	if unreadable != nil {
		o.report("%w", unreadable)
	}
	read := new(column.Directory)
	err := o.blocks(prefixProperty, func(no uint32, d *block.Decoder) error {
		c, err := column.Decode(d)
		if err != nil {
			return err
		}
		if int(c.Property) >= len(m.Properties) || int64(c.First)+int64(c.N) > m.Nodes {
			return fmt.Errorf("%w: property %d of %d, nodes from %d on", ErrCorrupt, c.Property, len(m.Properties), c.First)
		}
		for read.Len() <= int(no) {
			read.Add(c.Property, c.First)
		}
		for i := range c.N {
			if !c.Has(i) {
				continue
			}
			if err := visit(c.Property, c.First+ID(i), c.At(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && unreadable == nil && !bytes.Equal(stored.Encode(), read.Encode()) && !o.damaged {
		o.report("%w: the directory of the blocks %c is not that of the blocks", ErrCorrupt, prefixProperty)
	}
	return err
}

// eachVector passes the stored feature vectors to visit, and reports the errors of visit.
func (o *opener) eachVector(visit func(ID, []float32) error) error {
	for f, err := range scanSplit(o.r, prefixFeature, nil) {
		if err := cmp.Or(err, o.ctx.Err()); err != nil {
			return fmt.Errorf("features: %w", err)
		}
		if f.wrongKey {
			o.report("%w", f.err)
			continue
		}
		first := f.numbers[0] * featureBlock
		if f.err == nil {
			f.err = o.featureBlock(first, f.Value, visit)
		}
		if f.err != nil {
			o.report("features of nodes %d to %d are lost: %w", first, first+featureBlock-1, f.err)
		}
	}
	return nil
}

// featureBlock passes the vectors of a block to visit. The first vector belongs to the node first.
func (o *opener) featureBlock(first uint64, block []byte, visit func(ID, []float32) error) error {
	vectors, err := decodeFeatures(block)
	for i, v := range vectors {
		if id := first + uint64(i); v != nil && err == nil {
			if err = o.checkID(id); err == nil {
				err = visit(ID(id), v)
			}
		}
	}
	return err
}

// variables reads the variables, and reports those that cannot be read.
func (o *opener) variables() error {
	for v, err := range scanSplit(o.r, prefixVariable, nil) {
		if err != nil {
			return err
		}
		n := len(v.Key) - 1
		if v.err == nil && (n < 2 || v.Key[n] != 0) {
			v.err = corruptKey(v.Key)
		}
		if v.err != nil {
			o.report("variable: %w", v.err)
			continue
		}
		o.s.variables = append(o.s.variables, Variable{Name: string(v.Key[1:n]), Value: v.Value})
	}
	// In key order a name precedes its extensions, because a zero byte ends it.
	if n := len(o.s.variables); n != o.s.Meta.Variables {
		if !o.derived {
			o.report("%w: %d variables can be read, the meta record says %d", ErrCorrupt, n, o.s.Meta.Variables)
		}
		o.s.Meta.Variables = n
	}
	return nil
}
