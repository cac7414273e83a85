package index

import (
	"encoding/binary"
	"fmt"
	"math"
)

// directory says which rows of one direction are in which block, and how large the rows are in memory.
type directory struct {
	first   []ID // first row of each block, ascending; equal ones are blocks of one row
	entries uint64
	loops   uint64
	weights bool // some weight is not 1
	times   bool // some edge has a time
}

// bytes returns the memory of the rows of n nodes in compressed form, in bytes.
func (d *directory) bytes(n int) int64 {
	entry := uint64(4)
	if d.weights {
		entry += 4
	}
	if d.times {
		entry += 8
	}
	return 4*int64(n+1) + int64(d.entries*entry)
}

// count adds entries of row u.
func (d *directory) count(u ID, to []ID, weight []float32, time []int64) {
	d.entries += uint64(len(to))
	for i, v := range to {
		if u == v {
			d.loops++
		}
		d.weights = d.weights || planeAt(weight, i, 1) != 1
		d.times = d.times || planeAt(time, i, 0) != 0
	}
}

func (d *directory) encode() []byte {
	var flags byte
	if d.weights {
		flags |= blockWeights
	}
	if d.times {
		flags |= blockTimes
	}
	b := binary.AppendUvarint([]byte{flags}, d.entries)
	b = binary.AppendUvarint(b, d.loops)
	b = binary.AppendUvarint(b, uint64(len(d.first)))
	last := ID(0)
	for _, u := range d.first {
		b = binary.AppendUvarint(b, uint64(u-last))
		last = u
	}
	return b
}

func decodeDirectory(b []byte) (*directory, error) {
	d := &decoder{b: b}
	flags := d.byte()
	dir := &directory{entries: d.uvarint(), loops: d.uvarint(), weights: flags&blockWeights != 0, times: flags&blockTimes != 0}
	n := d.count()
	dir.first = make([]ID, 0, n)
	for u := uint64(0); n > 0 && d.err == nil; n-- {
		if u += d.uvarint(); u > math.MaxUint32 {
			return nil, fmt.Errorf("%w: row %d", ErrCorrupt, u)
		}
		dir.first = append(dir.first, ID(u))
	}
	return dir, d.end()
}

// readDirectory reads the directory of one direction of a generation.
func readDirectory(r Reader, kind byte, generation uint32) (*directory, error) {
	return readDirectoryOf(r, kind, generation, decodeDirectory)
}

// readDirectoryOf reads the directory of the blocks of a kind.
func readDirectoryOf[T any](r Reader, kind byte, generation uint32, decode func([]byte) (*T, error)) (*T, error) {
	b, ok, err := getSplit(r, directoryKey(kind, generation))
	if err == nil && !ok {
		err = fmt.Errorf("%w: it is missing", ErrCorrupt)
	}
	var dir *T
	if err == nil {
		dir, err = decode(b)
	}
	if err != nil {
		return nil, fmt.Errorf("directory of the blocks %c of generation %d: %w", kind, generation, err)
	}
	return dir, nil
}

// degreeBlock is the number of nodes whose degrees are stored in one block.
const degreeBlock = 1 << 11

// appendDegrees appends the degrees of consecutive nodes. An integer n is stored as 2n, another number as 1 and its bits.
func appendDegrees(b []byte, degrees []float64) []byte {
	for _, d := range degrees {
		if n := uint64(d); float64(n) == d {
			b = binary.AppendUvarint(b, n<<1)
			continue
		}
		b = binary.LittleEndian.AppendUint64(append(b, 1), math.Float64bits(d))
	}
	return b
}

// degreePage holds the degrees of the nodes of a block.
type degreePage struct {
	count []uint32  // nil if a degree is not an integer of 32 bits
	sum   []float64 // nil if count is not
}

func (p *degreePage) at(i ID) float64 {
	if p.count != nil {
		if int(i) < len(p.count) {
			return float64(p.count[i])
		}
		return 0
	}
	if int(i) < len(p.sum) {
		return p.sum[i]
	}
	return 0
}

func (d *decoder) degrees() (p degreePage, err error) {
	sum, integers := make([]float64, 0, degreeBlock), true
	for len(d.b) > 0 && d.err == nil {
		v := d.uvarint()
		x := float64(v >> 1)
		if v&1 != 0 {
			x = math.Float64frombits(d.littleUint64())
		}
		integers = integers && x <= math.MaxUint32 && x == math.Trunc(x)
		sum = append(sum, x)
		if len(sum) > degreeBlock || !(x >= 0) {
			return p, fmt.Errorf("%w: degree %v at %d", ErrCorrupt, x, len(sum))
		}
	}
	if !integers {
		return degreePage{sum: sum}, d.end()
	}
	p.count = make([]uint32, len(sum))
	for i, x := range sum {
		p.count[i] = uint32(x)
	}
	return p, d.end()
}

// storedDegrees reads the degrees of a generation when they are asked for, a block at a time, and keeps them: 4 bytes a
// node, 8 if there are weights.
type storedDegrees struct{ *blockSet[degreePage] }

func openDegrees(n int, cache *blockCache) *storedDegrees {
	blocks := newBlockSet(cache, (n+degreeBlock-1)/degreeBlock, func(no int, p *degreePage) (bytes int64, err error) {
		err = cache.decode(prefixDegree, uint32(no), func(d *decoder) (err error) {
			*p, err = d.degrees()
			return err
		})
		return 4*int64(cap(p.count)) + 8*int64(cap(p.sum)), err
	})
	blocks.resident = true
	return &storedDegrees{blocks}
}

// of returns the degree of u, 0 for a node that the generation does not have.
func (s *storedDegrees) of(u ID) float64 {
	if no := int(u / degreeBlock); no < len(s.places) {
		return s.at(no).at(u % degreeBlock)
	}
	return 0
}
