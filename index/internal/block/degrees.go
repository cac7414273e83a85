package block

import (
	"encoding/binary"
	"fmt"
	"math"
)

// DegreeBlock is the number of nodes whose degrees are stored in one block.
const DegreeBlock = 1 << 11

// AppendDegrees appends the degrees of consecutive nodes. An integer n is stored as 2n, another
// number as 1 and its bits.
func AppendDegrees(b []byte, degrees []float64) []byte {
	for _, d := range degrees {
		if n := uint64(d); float64(n) == d {
			b = binary.AppendUvarint(b, n<<1)
			continue
		}
		b = binary.LittleEndian.AppendUint64(append(b, 1), math.Float64bits(d))
	}
	return b
}

// Degrees holds the degrees of the nodes of a block.
type Degrees struct {
	count []uint32  // nil if a degree is not an integer of 32 bits
	sum   []float64 // nil if count is not
}

// At returns the degree of node i of the block.
func (p *Degrees) At(i ID) float64 {
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

// Bytes returns the memory of p in bytes.
func (p *Degrees) Bytes() int64 { return 4*int64(cap(p.count)) + 8*int64(cap(p.sum)) }

// Degrees decodes the content of a block of degrees.
func (d *Decoder) Degrees() (p Degrees, err error) {
	if p.count = counts(d.B); p.count != nil {
		return p, d.Err
	}
	p.sum = make([]float64, 0, DegreeBlock)
	for len(d.B) > 0 && d.Err == nil {
		v := d.Uvarint()
		x := float64(v >> 1)
		if v&1 != 0 {
			x = math.Float64frombits(d.LittleUint64())
		}
		p.sum = append(p.sum, x)
		if len(p.sum) > DegreeBlock || !(x >= 0) {
			return p, fmt.Errorf("%w: degree %v at %d", ErrCorrupt, x, len(p.sum))
		}
	}
	return p, d.End()
}

// counts decodes a block of degrees that are all integers of 32 bits. It returns nil if b is no
// such block.
func counts(b []byte) []uint32 {
	all := make([]uint32, 0, DegreeBlock)
	for len(b) > 0 && len(all) < DegreeBlock {
		v, size := uint64(b[0]), 1
		if v >= 0x80 {
			v, size = binary.Uvarint(b)
		}
		if size <= 0 || v&1 != 0 || v>>1 > math.MaxUint32 {
			return nil
		}
		all, b = append(all, uint32(v>>1)), b[size:]
	}
	if len(b) > 0 {
		return nil
	}
	return all
}
