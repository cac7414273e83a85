package index

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The rows of each direction are stored in blocks. A block is a run of entries in the order of rows and neighbours:
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

// blockSize is the approximate size of a full block in bytes. A row that is read on demand costs the decoding of its
// block, and each block costs an entry in the store.
const blockSize = 4 << 10

// packer packs entries into blocks. In an entry, U is the row and V the neighbour.
type packer struct {
	emit func(first ID, block []byte) error // gets the first row of the block, and may keep the block
	run  []Edge                             // entries of the next block
	last int                                // index in run of the first entry of the last row
	size int                                // estimated size of the block of run in bytes
}

// add adds the next entry. Entries must ascend strictly by row and neighbour.
func (p *packer) add(e Edge) error {
	newRow := len(p.run) == 0 || p.run[len(p.run)-1].U != e.U
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

// close emits the last block.
func (p *packer) close() error { return p.flush(len(p.run)) }

// flush emits the first n entries, which end with the end of a row or are all of one row.
func (p *packer) flush(n int) error {
	if n == 0 {
		return nil
	}
	err := p.emit(p.run[0].U, withChecksum(appendBlock(nil, p.run[:n])))
	p.run = append(p.run[:0], p.run[n:]...)
	p.last, p.size = 0, 0
	for i, e := range p.run {
		p.size += entrySize(e, i == 0)
	}
	return err
}

// entrySize estimates the number of bytes that an entry adds to its block.
func entrySize(e Edge, newRow bool) int {
	n := 2
	if newRow {
		n += 4
	}
	if e.Weight != 1 {
		n += 4
	}
	if e.Time != 0 {
		n += 4
	}
	return n
}

// appendBlock appends the block of run without the checksum.
func appendBlock(b []byte, run []Edge) []byte {
	var flags byte
	for _, e := range run {
		if e.Weight != 1 {
			flags |= blockWeights
		}
		if e.Time != 0 {
			flags |= blockTimes
		}
	}
	b = append(b, flags)
	for i, next := 0, ID(0); i < len(run); {
		u, j := run[i].U, i+1
		for j < len(run) && run[j].U == u {
			j++
		}
		if n := uint64(j - i); u == next {
			b = binary.AppendUvarint(b, n<<1)
		} else {
			b = binary.AppendUvarint(b, n<<1|1)
			b = binary.AppendUvarint(b, uint64(u-next))
		}
		next = u + 1
		b = binary.AppendVarint(b, int64(run[i].V)-int64(u))
		for k := i + 1; k < j; k++ {
			b = binary.AppendUvarint(b, uint64(run[k].V-run[k-1].V-1))
		}
		i = j
	}
	b = append(b, 0)
	if flags&blockWeights != 0 {
		for _, e := range run {
			b = appendFloat32(b, e.Weight)
		}
	}
	if flags&blockTimes != 0 {
		last := int64(0)
		for _, e := range run {
			b = binary.AppendVarint(b, e.Time-last)
			last = e.Time
		}
	}
	return b
}

// rows holds the rows of a block: row i is that of node[i] and has the entries end[i-1] to end[i] of the planes.
type rows struct {
	node   []ID
	end    []int
	to     []ID
	weight []float32 // nil: every weight is 1
	time   []int64   // nil: no edge has a time
}

// each passes each row to visit.
func (r *rows) each(visit func(u ID, to []ID, weight []float32, time []int64) error) error {
	lo := 0
	for i, u := range r.node {
		hi := r.end[i]
		if err := visit(u, r.to[lo:hi], subPlane(r.weight, lo, hi), subPlane(r.time, lo, hi)); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

// rows decodes the content of a block into r, whose slices it reuses. Rows and neighbours ascend unless it returns
// ErrCorrupt.
func (d *decoder) rows(r *rows) error {
	flags, begin := d.byte(), d.b
	*r = rows{node: r.node[:0], end: r.end[:0], to: r.to[:0], weight: r.weight[:0], time: r.time[:0]}
	for u := uint64(0); d.err == nil; u++ {
		head := d.uvarint()
		n := head >> 1
		if n == 0 {
			break
		}
		if head&1 != 0 {
			u += min(d.uvarint(), math.MaxUint32)
		}
		if u > math.MaxUint32 || n > uint64(len(begin)) {
			return fmt.Errorf("%w: row %d with %d entries", ErrCorrupt, u, n)
		}
		r.node = append(r.node, ID(u))
		d.neighbours(r, int64(u), int(n))
		r.end = append(r.end, len(r.to))
	}
	if flags&blockWeights == 0 {
		r.weight = nil
	} else {
		d.weights(r)
	}
	if flags&blockTimes == 0 {
		r.time = nil
	} else {
		last := int64(0)
		for range r.to {
			last += d.varint()
			r.time = append(r.time, last)
		}
	}
	return d.end()
}

// neighbours decodes the n neighbours of row u.
func (d *decoder) neighbours(r *rows, u int64, n int) {
	v := uint64(u + d.varint())
	for {
		if v > math.MaxUint32 {
			d.fail("a neighbour of 32 bits")
			return
		}
		r.to = append(r.to, ID(v))
		if n--; n == 0 || d.err != nil {
			return
		}
		v += 1 + min(d.uvarint(), math.MaxUint32)
	}
}

// weights decodes the weights of the entries.
func (d *decoder) weights(r *rows) {
	for range r.to {
		w := d.float32()
		if d.err == nil && !ValidWeight(w) {
			d.err = fmt.Errorf("%w: weight %v", ErrCorrupt, w)
		}
		r.weight = append(r.weight, w)
	}
}
