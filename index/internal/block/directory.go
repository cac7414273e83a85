package block

import (
	"encoding/binary"
	"fmt"
	"math"
)

// RowDirectory says which rows in one direction are in which block, and how large the rows are in
// memory.
type RowDirectory struct {
	First   []ID // first row of each block, ascending; blocks of the same row have the same number
	Entries uint64
	Loops   uint64
	Weights bool // some weight is not 1
	Times   bool // some edge has a time
}

// Bytes returns the memory of the rows of n nodes in compressed form, in bytes.
func (d *RowDirectory) Bytes(n int) int64 {
	entry := uint64(4)
	if d.Weights {
		entry += 4
	}
	if d.Times {
		entry += 8
	}
	return 4*int64(n+1) + int64(d.Entries*entry)
}

// Count adds entries of row u.
func (d *RowDirectory) Count(u ID, e Entries) {
	d.Entries += uint64(len(e.To))
	for i, v := range e.To {
		if u == v {
			d.Loops++
		}
		weight, time := e.At(i)
		d.Weights, d.Times = d.Weights || weight != 1, d.Times || time != 0
	}
}

// Encode returns the stored form.
func (d *RowDirectory) Encode() []byte {
	var flags byte
	if d.Weights {
		flags |= blockWeights
	}
	if d.Times {
		flags |= blockTimes
	}
	b := binary.AppendUvarint([]byte{flags}, d.Entries)
	b = binary.AppendUvarint(b, d.Loops)
	return appendIDs(b, d.First)
}

// DecodeRowDirectory is the inverse of Encode.
func DecodeRowDirectory(b []byte) (*RowDirectory, error) {
	d := &Decoder{B: b}
	flags := d.Byte()
	dir := &RowDirectory{Entries: d.Uvarint(), Loops: d.Uvarint(), Weights: flags&blockWeights != 0, Times: flags&blockTimes != 0}
	dir.First = d.ids()
	return dir, d.End()
}

// appendIDs appends the number of the ids, which ascend, and their differences.
func appendIDs(b []byte, ids []ID) []byte {
	b = binary.AppendUvarint(b, uint64(len(ids)))
	last := ID(0)
	for _, u := range ids {
		b = binary.AppendUvarint(b, uint64(u-last))
		last = u
	}
	return b
}

// ids decodes what appendIDs appended.
func (d *Decoder) ids() []ID {
	n := d.Count()
	ids := make([]ID, 0, n)
	for u := uint64(0); n > 0 && d.Err == nil; n-- {
		if u += d.Uvarint(); u > math.MaxUint32 {
			d.Err = fmt.Errorf("%w: node %d", ErrCorrupt, u)
		}
		ids = append(ids, ID(u))
	}
	return ids
}

// Edges returns the number of edges and of loops of a graph with these out-rows.
func (d *RowDirectory) Edges(directed bool) (edges, loops int64) {
	if directed {
		return int64(d.Entries), int64(d.Loops)
	}
	return int64(d.Entries+d.Loops) / 2, int64(d.Loops)
}
