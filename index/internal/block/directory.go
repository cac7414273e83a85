package block

import (
	"encoding/binary"
	"fmt"
	"math"
)

// RowDirectory says which rows in one direction are in which block, and how large the rows are in
// memory.
type RowDirectory struct {
	First     []ID   // first row of each block, ascending; blocks of the same row have the same number
	Entries   uint64 // entries of the joined rows
	Parallel  uint64 // further edges to a neighbour
	Edges     uint64 // an undirected edge, which is in two rows, counts once
	Loops     uint64
	Low, High uint16 // lowest and highest relation; 0 if there are no entries
	Weights   bool   // some weight is not 1, or edges are parallel
	Times     bool   // some edge has a time
}

// SplitBytes returns the memory of the edges of n nodes by relation, at most, in bytes.
func (d *RowDirectory) SplitBytes(n int) int64 {
	edges := d.Entries + d.Parallel
	return 4*int64(n+1) + 6*int64(edges) + d.bytes(edges)
}

// Several reports whether the edges have several relations.
func (d *RowDirectory) Several() bool { return d.Low != d.High }

// Bytes returns the memory of the joined rows of n nodes in compressed form, in bytes.
func (d *RowDirectory) Bytes(n int) int64 { return 4*int64(n+1) + d.bytes(d.Entries) }

// bytes returns the memory of entries, in bytes.
func (d *RowDirectory) bytes(entries uint64) int64 {
	size := uint64(4)
	if d.Weights {
		size += 4
	}
	if d.Times {
		size += 8
	}
	return int64(entries * size)
}

// Count adds the edges of row u to the neighbours that e has. directed says by relation which edges
// are directed.
func (d *RowDirectory) Count(u ID, e Entries, directed []bool) {
	for i, v := range e.To {
		weight, time := e.At(i)
		d.Add(u, v, e.RelationAt(i), weight, time, i > 0 && v == e.To[i-1], directed)
	}
}

// Add adds an edge of row u to v; parallel says that the row has another one before it.
func (d *RowDirectory) Add(u, v ID, relation uint16, weight float32, time int64, parallel bool, directed []bool) {
	if d.Entries == 0 {
		d.Low = relation
	}
	d.Low, d.High = min(d.Low, relation), max(d.High, relation)
	d.Weights, d.Times = d.Weights || weight != 1 || parallel, d.Times || time != 0
	if u <= v || directed[relation] {
		d.Edges++
	}
	if u == v {
		d.Loops++
	}
	if parallel {
		d.Parallel++
	} else {
		d.Entries++
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
	b := []byte{flags}
	for _, n := range []uint64{d.Entries, d.Parallel, d.Edges, d.Loops, uint64(d.Low), uint64(d.High)} {
		b = binary.AppendUvarint(b, n)
	}
	return AppendIDs(b, d.First)
}

// DecodeRowDirectory is the inverse of Encode.
func DecodeRowDirectory(b []byte) (*RowDirectory, error) {
	d := &Decoder{B: b}
	flags := d.Byte()
	dir := &RowDirectory{
		Weights: flags&blockWeights != 0, Times: flags&blockTimes != 0,
		Entries: d.Uvarint(), Parallel: d.Uvarint(), Edges: d.Uvarint(), Loops: d.Uvarint(),
		Low: d.Relation(), High: d.Relation(),
	}
	dir.First = d.IDs()
	return dir, d.End()
}

// AppendIDs appends the number of the ids, which ascend, and their differences.
func AppendIDs(b []byte, ids []ID) []byte {
	b = binary.AppendUvarint(b, uint64(len(ids)))
	last := ID(0)
	for _, u := range ids {
		b = binary.AppendUvarint(b, uint64(u-last))
		last = u
	}
	return b
}

// IDs decodes what AppendIDs appended.
func (d *Decoder) IDs() []ID {
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
