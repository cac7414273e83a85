package index

import (
	"encoding/binary"
	"fmt"
	"math"
)

// An adjacency block is a run of the edges in (U, V) order, each edge once:
//
//	crc32c of the rest        4 bytes
//	flags                     1 byte: blockWeights, blockTimes
//	runs, up to the planes    uvarint: U - previous U, number of edges, V, gaps - 1 between the Vs
//	0 0                       a run with no edges marks the end of the runs
//	weights                   4 bytes per edge, if some weight is not 1
//	times                     varint differences, if some edge has a time
//
// The first V of a run is stored as a zigzag difference to U. A long row spans several blocks.
const (
	blockWeights = 1 << iota
	blockTimes
)

// blockSize is the approximate size of a full block in bytes.
const blockSize = 32 << 10

// eachBlock encodes the edges of g and passes them to emit, block by block. emit may keep the block.
func eachBlock(g *Graph, emit func(block []byte) error) error {
	var run []Edge
	size := 0
	for e := range g.Edges() {
		if size >= blockSize {
			if err := emit(withChecksum(appendBlock(nil, run))); err != nil {
				return err
			}
			run, size = run[:0], 0
		}
		size += edgeSize(e, run)
		run = append(run, e)
	}
	if len(run) == 0 {
		return nil
	}
	return emit(withChecksum(appendBlock(nil, run)))
}

// edgeSize estimates the number of bytes that e adds to the block of run.
func edgeSize(e Edge, run []Edge) int {
	n := 2
	if k := len(run); k == 0 || run[k-1].U != e.U {
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
	for i, u := 0, ID(0); i < len(run); {
		j := i + 1
		for j < len(run) && run[j].U == run[i].U {
			j++
		}
		b = binary.AppendUvarint(b, uint64(run[i].U-u))
		b = binary.AppendUvarint(b, uint64(j-i))
		u = run[i].U
		b = binary.AppendVarint(b, int64(run[i].V)-int64(u))
		for k := i + 1; k < j; k++ {
			b = binary.AppendUvarint(b, uint64(run[k].V-run[k-1].V-1))
		}
		i = j
	}
	b = append(b, 0, 0)
	if flags&blockWeights != 0 {
		for _, e := range run {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(e.Weight))
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

// eachEdge passes the edges of the contents of blocks to visit, in order. It returns ErrCorrupt for contents that are
// not those of a block, or visit's error.
func eachEdge(blocks [][]byte, visit func(Edge) error) (err error) {
	var edges []Edge
	for no, b := range blocks {
		d := decoder{b: b}
		if edges, err = d.edges(edges[:0]); err != nil {
			return fmt.Errorf("adjacency block %d: %w", no, err)
		}
		for _, e := range edges {
			if err := visit(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// edges decodes the content of a block and appends its edges to list.
func (d *decoder) edges(list []Edge) ([]Edge, error) {
	begin, flags := len(list), d.byte()
	for u, n := d.uvarint(), d.uvarint(); n > 0 && d.err == nil; n = d.uvarint() {
		v := uint64(int64(u) + d.varint())
		for ; n > 0 && d.err == nil; n-- {
			if u > math.MaxUint32 || v > math.MaxUint32 {
				return list, fmt.Errorf("%w: node number beyond 32 bits", ErrCorrupt)
			}
			list = append(list, Edge{U: ID(u), V: ID(v), Weight: 1})
			if n > 1 {
				v += 1 + d.uvarint()
			}
		}
		u += d.uvarint()
	}
	block := list[begin:]
	if flags&blockWeights != 0 {
		for i := range block {
			e := &block[i]
			if e.Weight = d.float32(); d.err == nil && !ValidWeight(e.Weight) {
				return list, fmt.Errorf("%w: weight %v of %d -> %d", ErrCorrupt, e.Weight, e.U, e.V)
			}
		}
	}
	if flags&blockTimes != 0 {
		last := int64(0)
		for i := range block {
			last += d.varint()
			block[i].Time = last
		}
	}
	return list, d.end()
}
