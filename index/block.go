package index

import (
	"cmp"
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
	flush := func() error {
		if len(run) == 0 {
			return nil
		}
		b := withChecksum(appendBlock(nil, run))
		run = run[:0]
		return emit(b)
	}
	size := 0
	for e := range g.Edges() {
		if size >= blockSize {
			if err := flush(); err != nil {
				return err
			}
			size = 0
		}
		size += edgeSize(e, run)
		run = append(run, e)
	}
	return flush()
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

// eachEdge decodes a block and passes its edges to visit, in order. It returns ErrCorrupt for a damaged block, or
// visit's error.
func eachEdge(block []byte, visit func(Edge) error) error {
	d, flags, err := openBlock(block)
	if err != nil {
		return err
	}
	planes, err := planesOf(d, flags)
	if err != nil {
		return err
	}
	for u := uint64(0); ; {
		u += d.uvarint()
		n := d.uvarint()
		if n == 0 || d.err != nil {
			return cmp.Or(d.err, planes.err())
		}
		v := uint64(int64(u) + d.varint())
		for ; n > 0 && d.err == nil; n-- {
			if u > math.MaxUint32 || v > math.MaxUint32 {
				return fmt.Errorf("%w: node number beyond 32 bits", ErrCorrupt)
			}
			e := Edge{U: ID(u), V: ID(v), Weight: 1}
			planes.next(&e)
			if !ValidWeight(e.Weight) {
				return fmt.Errorf("%w: weight %v of %d -> %d", ErrCorrupt, e.Weight, u, v)
			}
			if err := visit(e); err != nil {
				return err
			}
			if n > 1 {
				v += 1 + d.uvarint()
			}
		}
	}
}

// openBlock verifies the checksum of a block and returns a decoder of the bytes after its flags.
func openBlock(block []byte) (*decoder, byte, error) {
	b, err := verifyChecksum(block)
	if err != nil {
		return nil, 0, err
	}
	d := &decoder{b: b}
	flags := d.byte()
	return d, flags, d.err
}

// blockPlanes decodes the weights and times, which follow the runs.
type blockPlanes struct {
	weight, time *decoder // nil for a block without weights, or without times
	last         int64
}

func (p *blockPlanes) next(e *Edge) {
	if p.weight != nil {
		e.Weight = p.weight.float32()
	}
	if p.time != nil {
		p.last += p.time.varint()
		e.Time = p.last
	}
}

func (p *blockPlanes) err() error {
	if p.time != nil {
		return p.time.err
	}
	return nil // planesOf has checked the length of the weights
}

// planesOf finds the planes by skipping over the runs in a copy of d.
func planesOf(d *decoder, flags byte) (*blockPlanes, error) {
	p := &blockPlanes{}
	if flags == 0 {
		return p, nil
	}
	skip := *d
	total := uint64(0)
	for {
		skip.uvarint()
		n := skip.uvarint()
		if skip.err != nil || n > uint64(len(skip.b)) {
			return nil, fmt.Errorf("%w: runs of a block", ErrCorrupt)
		}
		if n == 0 {
			break
		}
		total += n
		for ; n > 0; n-- {
			skip.uvarint()
		}
	}
	rest := skip.b
	if flags&blockWeights != 0 {
		if uint64(len(rest)) < 4*total {
			return nil, fmt.Errorf("%w: weights of a block", ErrCorrupt)
		}
		p.weight = &decoder{b: rest[:4*total]}
		rest = rest[4*total:]
	}
	if flags&blockTimes != 0 {
		p.time = &decoder{b: rest}
	}
	return p, nil
}
