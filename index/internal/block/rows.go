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
//	flags                     1 byte: blockWeights, blockTimes
//	rows, up to the planes    uvarint: twice the number of entries, plus 1 if the row does not follow the previous one;
//	                          then how many rows it skips; its first neighbour; gaps - 1 between neighbours
//	0                         a row with no entries marks the end of the rows
//	weights                   4 bytes per entry, if some weight is not 1
//	times                     varint differences, if some edge has a time
//
// The first neighbour of a row is stored as a zigzag difference to the row.
//
// INVARIANT: a row is in one block, or in consecutive blocks that begin with it.
const (
	blockWeights = 1 << iota
	blockTimes
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
}

// entry is an entry of a row.
type entry struct {
	row, to ID
	weight  float32
	time    int64
}

// Add adds the next entry: the neighbour to of a row. Entries must ascend strictly by row and
// neighbour.
func (p *RowPacker) Add(row, to ID, weight float32, time int64) error {
	e := entry{row, to, weight, time}
	newRow := len(p.run) == 0 || p.run[len(p.run)-1].row != row
	if p.size >= blockSize {
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
	err := p.Emit(p.run[0].row, WithChecksum(appendBlock(nil, p.run[:n])))
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
	}
	b = append(b, flags)
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
			b = binary.AppendUvarint(b, uint64(run[k].to-run[k-1].to-1))
		}
		i = j
	}
	b = append(b, 0)
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

// Rows decodes the content of a block into r, whose slices it reuses. Rows and neighbours ascend
// unless it returns ErrCorrupt.
func (d *Decoder) Rows(r *Rows) error {
	flags := d.Byte()
	*r = Rows{r.Node[:0], r.End[:0], Entries{r.To[:0], r.Weight[:0], r.Time[:0]}}
	for u, n := d.row(0); n > 0; u, n = d.row(u + 1) {
		r.Node = append(r.Node, ID(u))
		r.To = d.neighbours(r.To, int64(u), n)
		r.End = append(r.End, len(r.To))
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

// AppendHead decodes the content of a block as far as the first n neighbours of the row of u, which
// it appends to to, or all if there are fewer. It skips the rows before. It returns ErrCorrupt
// unless the block begins with the row of first.
func (d *Decoder) AppendHead(to []ID, first, u ID, n int) ([]ID, error) {
	d.Byte()
	v, entries := d.row(0)
	if d.Err == nil && (entries == 0 || v != uint64(first)) {
		return to, fmt.Errorf("%w: it does not begin with row %d", ErrCorrupt, first)
	}
	for ; entries > 0 && v <= uint64(u); v, entries = d.row(v + 1) {
		if v == uint64(u) {
			to = d.neighbours(to, int64(v), min(n, entries))
			break
		}
		d.skip(entries)
	}
	return to, d.Err
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

// neighbours decodes the first n > 0 neighbours of row u, and appends them to to.
func (d *Decoder) neighbours(to []ID, u int64, n int) []ID {
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
		v += 1 + gap
		row[k] = ID(v)
	}
	if d.B = b; v > math.MaxUint32 { // neighbours ascend, so the previous ones fit
		d.Fail("a neighbour of 32 bits")
	}
	return to
}
