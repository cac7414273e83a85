package block

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// The rows of each direction are stored in blocks. A block is a run of entries in the order of rows
// and neighbours:
//
//	crc32c of the rest        4 bytes
//	flags                     1 byte: blockWeights, blockTimes, blockRelations
//	rows, up to the planes    uvarint: twice the number of entries, plus 1 if the row does not follow the previous one;
//	                          then how many rows it skips; its first neighbour; gaps between neighbours, less 1
//	                          unless the block has relations, where a neighbour may repeat
//	0                         a row with no entries marks the end of the rows
//	relations                 if some relation is not 0: how many relations there are, the first one, gaps - 1
//	                          between them; for each entry, the index of its relation in as many bits as the
//	                          highest index takes
//	weights                   4 bytes per entry, if some weight is not 1
//	times                     varint differences, if some edge has a time
//
// The first neighbour of a row is stored as a zigzag difference to the row.
//
// INVARIANT: a row is in one block, or in consecutive blocks that begin with it. All entries of two
// nodes are in the same block.
const (
	blockWeights = 1 << iota
	blockTimes
	blockRelations
)

// blockSize is the approximate size of a full block in bytes. A row that is read on demand costs
// the decoding of its block, and each block costs an entry in the store.
const blockSize = 4 << 10

// RowPacker packs the entries of rows into blocks.
type RowPacker struct {
	// Emit gets a block and its first row, and may keep the block.
	Emit func(first ID, block []byte) error
	run  []entry // entries of the next block
	last int     // index in run of the first entry of the last row
	size int     // estimated size of the block of run in bytes
	b    []byte  // for reuse
}

// entry is an entry of a row.
type entry struct {
	row, to  ID
	relation uint16
	weight   float32
	time     int64
}

// Add adds the next entry: the neighbour to of a row. Entries must ascend strictly by row,
// neighbour and relation.
func (p *RowPacker) Add(row, to ID, relation uint16, weight float32, time int64) error {
	e := entry{row, to, relation, weight, time}
	newRow := len(p.run) == 0 || p.run[len(p.run)-1].row != row
	if p.size >= blockSize && (newRow || p.run[len(p.run)-1].to != to) {
		full := len(p.run)
		if !newRow && p.last > 0 {
			full = p.last // the last row begins a block
		}
		if err := p.flush(full); err != nil {
			return err
		}
	}
	if newRow {
		p.last = len(p.run)
	}
	p.size += entrySize(e, newRow)
	p.run = append(p.run, e)
	return nil
}

// Close emits the last block.
func (p *RowPacker) Close() error { return p.flush(len(p.run)) }

// flush emits the first n entries, which end with the end of a row or all belong to the same row.
func (p *RowPacker) flush(n int) error {
	if n == 0 {
		return nil
	}
	p.b = appendBlock(p.b[:0], p.run[:n])
	err := p.Emit(p.run[0].row, WithChecksum(p.b))
	p.run = append(p.run[:0], p.run[n:]...)
	p.last, p.size = 0, 0
	for i, e := range p.run {
		p.size += entrySize(e, i == 0)
	}
	return err
}

// entrySize estimates the number of bytes that an entry adds to its block.
func entrySize(e entry, newRow bool) int {
	n := 2
	if newRow {
		n += 4
	}
	if e.weight != 1 {
		n += 4
	}
	if e.time != 0 {
		n += 4
	}
	if e.relation != 0 {
		n++
	}
	return n
}

// appendBlock appends the block of run without the checksum.
func appendBlock(b []byte, run []entry) []byte {
	var flags byte
	for _, e := range run {
		if e.weight != 1 {
			flags |= blockWeights
		}
		if e.time != 0 {
			flags |= blockTimes
		}
		if e.relation != 0 {
			flags |= blockRelations
		}
	}
	b = append(b, flags)
	gap := leastGap(flags)
	for i, next := 0, ID(0); i < len(run); {
		u, j := run[i].row, i+1
		for j < len(run) && run[j].row == u {
			j++
		}
		if n := uint64(j - i); u == next {
			b = binary.AppendUvarint(b, n<<1)
		} else {
			b = binary.AppendUvarint(b, n<<1|1)
			b = binary.AppendUvarint(b, uint64(u-next))
		}
		next = u + 1
		b = binary.AppendVarint(b, int64(run[i].to)-int64(u))
		for k := i + 1; k < j; k++ {
			b = binary.AppendUvarint(b, uint64(run[k].to-run[k-1].to-gap))
		}
		i = j
	}
	b = append(b, 0)
	if flags&blockRelations != 0 {
		b = appendRelations(b, run)
	}
	if flags&blockWeights != 0 {
		for _, e := range run {
			b = AppendFloat32(b, e.weight)
		}
	}
	if flags&blockTimes != 0 {
		last := int64(0)
		for _, e := range run {
			b = binary.AppendVarint(b, e.time-last)
			last = e.time
		}
	}
	return b
}

// leastGap returns the smallest gap between the neighbours of a row in a block with these flags.
func leastGap(flags byte) ID {
	if flags&blockRelations != 0 {
		return 0
	}
	return 1
}

// appendRelations appends the relations of entries.
func appendRelations(b []byte, run []entry) []byte {
	var all []uint16
	for _, e := range run {
		all = append(all, e.relation)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	b = binary.AppendUvarint(b, uint64(len(all)))
	next := uint16(0)
	for _, r := range all {
		b = binary.AppendUvarint(b, uint64(r-next))
		next = r + 1
	}
	width := bits.Len(uint(len(all) - 1))
	held, n := uint64(0), 0
	for _, e := range run {
		i, _ := slices.BinarySearch(all, e.relation)
		held |= uint64(i) << n
		for n += width; n >= 8; n -= 8 {
			b, held = append(b, byte(held)), held>>8
		}
	}
	if n > 0 {
		b = append(b, byte(held))
	}
	return b
}

// relations decodes the relations of n entries, and appends them to to.
func (d *Decoder) relations(to []uint16, n int) []uint16 {
	all := make([]uint16, 0, d.Count())
	for next := uint64(0); len(all) < cap(all) && d.Err == nil; {
		next += d.Uvarint()
		if next > math.MaxUint16 {
			d.Fail("a relation")
		}
		all = append(all, uint16(next))
		next++
	}
	if d.Err == nil && len(all) == 0 {
		d.Fail("the relations")
	}
	width := bits.Len(uint(max(len(all), 1) - 1))
	packed := d.take((uint64(n)*uint64(width)+7)/8, "the relations")
	held, have := uint64(0), 0
	for range n {
		if have < width {
			if len(packed) >= 4 { // an index takes at most two bytes
				held |= uint64(binary.LittleEndian.Uint32(packed)) << have
				packed, have = packed[4:], have+32
			}
			for have < width && len(packed) > 0 {
				held |= uint64(packed[0]) << have
				packed, have = packed[1:], have+8
			}
		}
		i := int(held & (1<<width - 1))
		if held, have = held>>width, have-width; i >= len(all) {
			d.Fail("a relation")
			return to
		}
		to = append(to, all[i])
	}
	return to
}

// checkRelations checks that the relations of the entries of two nodes ascend.
func (d *Decoder) checkRelations(r *Rows) {
	lo := 0
	for _, hi := range r.End {
		last := int64(-1)
		for i := lo; i < min(hi, len(r.Relation)); i++ {
			entry := int64(r.To[i])<<16 | int64(r.Relation[i])
			if entry <= last {
				d.Fail("relations that ascend")
			}
			last = entry
		}
		lo = hi
	}
}

// Rows holds the rows of a block: row i belongs to Node[i] and has the entries End[i-1] to End[i].
type Rows struct {
	Node []ID
	End  []int
	Entries
}

// Row returns the entries of the row of u, none if the block does not have it.
func (r *Rows) Row(u ID) Entries {
	k, ok := slices.BinarySearch(r.Node, u)
	if !ok {
		return Entries{}
	}
	lo := 0
	if k > 0 {
		lo = r.End[k-1]
	}
	return r.Sub(lo, r.End[k])
}

// Bytes returns the memory of r in bytes.
func (r *Rows) Bytes() int64 {
	return 160 + r.Entries.Bytes() + 4*int64(cap(r.Node)) + 8*int64(cap(r.End))
}

// Each passes each row to visit.
func (r *Rows) Each(visit func(ID, Entries) error) error {
	lo := 0
	for i, u := range r.Node {
		if err := visit(u, r.Sub(lo, r.End[i])); err != nil {
			return err
		}
		lo = r.End[i]
	}
	return nil
}

// Joined returns the joined rows. If no row has parallel edges, they share all memory with r.
func (r *Rows) Joined() Rows {
	joined := *r
	if joined.Relation = nil; !r.parallel() {
		return joined
	}
	joined.End, joined.Entries = make([]int, 0, len(r.End)), Entries{To: make([]ID, 0, len(r.To)), Weight: make([]float32, 0, len(r.To))}
	lo := 0
	for _, hi := range r.End {
		joined.AppendJoined(r.Sub(lo, hi))
		lo, joined.End = hi, append(joined.End, len(joined.To))
	}
	return joined
}

// parallel reports whether a row has several edges to a neighbour.
func (r *Rows) parallel() bool {
	lo := 0
	for _, hi := range r.End {
		if r.Relation != nil && repeats(r.To[lo:hi]) {
			return true
		}
		lo = hi
	}
	return false
}

// Rows decodes the content of a block into r, whose slices it reuses. Rows ascend, and their
// entries, unless it returns ErrCorrupt.
func (d *Decoder) Rows(r *Rows) error {
	flags := d.Byte()
	*r = Rows{r.Node[:0], r.End[:0], Entries{r.To[:0], r.Relation[:0], r.Weight[:0], r.Time[:0]}}
	rows, entries := d.count()
	r.Node, r.End, r.To = slices.Grow(r.Node, rows), slices.Grow(r.End, rows), slices.Grow(r.To, entries)
	for u, n := d.row(0); n > 0; u, n = d.row(u + 1) {
		r.Node = append(r.Node, ID(u))
		r.To = d.neighbours(r.To, int64(u), n, leastGap(flags))
		r.End = append(r.End, len(r.To))
	}
	if flags&blockRelations == 0 {
		r.Relation = nil
	} else {
		r.Relation = d.relations(slices.Grow(r.Relation, len(r.To)), len(r.To))
		d.checkRelations(r)
	}
	if flags&blockWeights == 0 {
		r.Weight = nil
	} else {
		for range r.To {
			r.Weight = append(r.Weight, d.Weight())
		}
	}
	if flags&blockTimes == 0 {
		r.Time = nil
	} else {
		last := int64(0)
		for range r.To {
			last += d.Varint()
			r.Time = append(r.Time, last)
		}
	}
	return d.End()
}

// count returns the number of rows of a block, whose rows follow, and of their entries.
func (d *Decoder) count() (rows, entries int) {
	ahead := *d
	for u, n := ahead.row(0); n > 0; u, n = ahead.row(u + 1) {
		rows, entries = rows+1, entries+n
		ahead.skip(n)
	}
	return rows, entries
}

// AppendHead decodes the content of a block as far as the first n neighbours of the row of u, which
// it appends to to, or all if there are fewer. A neighbour that repeats counts once. AppendHead
// skips the rows before. It returns ErrCorrupt unless the block begins with the row of first.
func (d *Decoder) AppendHead(to []ID, first, u ID, n int) ([]ID, error) {
	gap := leastGap(d.Byte())
	v, entries := d.row(0)
	if d.Err == nil && (entries == 0 || v != uint64(first)) {
		return to, fmt.Errorf("%w: it does not begin with row %d", ErrCorrupt, first)
	}
	for ; entries > 0 && v <= uint64(u); v, entries = d.row(v + 1) {
		if v == uint64(u) {
			return d.appendNeighbours(to, int64(v), entries, n, gap), d.Err
		}
		d.skip(entries)
	}
	return to, d.Err
}

// appendNeighbours appends the first n neighbours of row u, which has the given number of entries.
func (d *Decoder) appendNeighbours(to []ID, u int64, entries, n int, gap ID) []ID {
	if gap > 0 {
		return d.neighbours(to, u, min(n, entries), gap)
	}
	begin := len(to)
	to = d.neighbours(to, u, entries, gap)
	all := slices.Compact(to[begin:])
	return to[:begin+min(n, len(all))]
}

// row decodes the beginning of a row: its node, where next is the one after the last row's, and the
// number of its entries, 0 after the last row.
func (d *Decoder) row(next uint64) (u uint64, entries int) {
	head := d.Uvarint()
	if u = next; head&1 != 0 && head > 1 {
		u += min(d.Uvarint(), math.MaxUint32)
	}
	if u > math.MaxUint32 || head>>1 > uint64(len(d.B)) {
		d.Fail("a row")
		return 0, 0
	}
	return u, int(head >> 1)
}

// skip skips n numbers.
func (d *Decoder) skip(n int) {
	b := d.B
	for len(b) >= 8 {
		// A number ends with a byte below 0x80.
		ends := bits.OnesCount64(^binary.LittleEndian.Uint64(b) & 0x8080808080808080)
		if ends >= n {
			break
		}
		n, b = n-ends, b[8:]
	}
	for ; n > 0 && len(b) > 0; b = b[1:] {
		if b[0] < 0x80 {
			n--
		}
	}
	if d.B = b; n > 0 {
		d.Fail("a row")
	}
}

// neighbours decodes the first n > 0 neighbours of row u, which differ by at least the given gap,
// and appends them to to.
func (d *Decoder) neighbours(to []ID, u int64, n int, least ID) []ID {
	v := uint64(u + d.Varint())
	if v > math.MaxUint32 || n > len(d.B)+1 {
		d.Fail("a row")
		return to
	}
	begin := len(to)
	to = slices.Grow(to, n)[:begin+n]
	row, b := to[begin:], d.B
	row[0] = ID(v)
	for k := 1; k < len(row); k++ {
		var gap uint64
		switch { // most gaps take at most three bytes, and are decoded without a call
		case len(b) > 0 && b[0] < 0x80:
			gap, b = uint64(b[0]), b[1:]
		case len(b) > 1 && b[1] < 0x80:
			gap, b = uint64(b[0]&0x7f)|uint64(b[1])<<7, b[2:]
		case len(b) > 2 && b[2] < 0x80:
			gap, b = uint64(b[0]&0x7f)|uint64(b[1]&0x7f)<<7|uint64(b[2])<<14, b[3:]
		default:
			size := 0
			if gap, size = binary.Uvarint(b); size <= 0 {
				d.Fail("a number")
				return to[:begin]
			}
			gap, b = min(gap, math.MaxUint32), b[size:]
		}
		v += uint64(least) + gap
		row[k] = ID(v)
	}
	if d.B = b; v > math.MaxUint32 { // neighbours ascend, so the previous ones fit
		d.Fail("a neighbour of 32 bits")
	}
	return to
}
