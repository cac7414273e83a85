package column

import (
	"encoding/binary"
	"sort"

	"kith/index/internal/block"
)

// Directory says which blocks have the values of which properties. Blocks are numbered by property
// and first node.
type Directory struct {
	// First holds, for each property, the first node of each of its blocks, ascending.
	First [][]block.ID
	start []int // number of the first block of each property
}

// Add adds the next block.
func (d *Directory) Add(property uint16, first block.ID) {
	for len(d.First) <= int(property) {
		d.start = append(d.start, d.Len())
		d.First = append(d.First, nil)
	}
	d.First[property] = append(d.First[property], first)
}

// Len returns the number of blocks.
func (d *Directory) Len() int {
	last := len(d.First) - 1
	if last < 0 {
		return 0
	}
	return d.start[last] + len(d.First[last])
}

// Blocks returns the range of the numbers of the blocks of a property.
func (d *Directory) Blocks(property uint16) (lo, hi int) {
	if int(property) >= len(d.First) {
		return 0, 0
	}
	return d.start[property], d.start[property] + len(d.First[property])
}

// Find returns the number of the block that may have the value of a node, or -1.
func (d *Directory) Find(property uint16, id block.ID) int {
	if int(property) >= len(d.First) {
		return -1
	}
	first := d.First[property]
	i := sort.Search(len(first), func(i int) bool { return first[i] > id }) - 1
	if i < 0 || id-first[i] >= Span {
		return -1
	}
	return d.start[property] + i
}

// Encode returns the stored form.
func (d *Directory) Encode() []byte {
	b := binary.AppendUvarint(nil, uint64(len(d.First)))
	for _, first := range d.First {
		b = block.AppendIDs(b, first)
	}
	return b
}

// DecodeDirectory is the inverse of Encode.
func DecodeDirectory(b []byte) (*Directory, error) {
	d := &block.Decoder{B: b}
	dir := new(Directory)
	for n := d.Count(); n > 0 && d.Err == nil; n-- {
		dir.start = append(dir.start, dir.Len())
		dir.First = append(dir.First, d.IDs())
	}
	return dir, d.End()
}
