package block

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"kith/ppr"
)

// ID is the number of a node.
type ID = ppr.ID

// ErrCorrupt is returned when stored bytes differ from those written.
var ErrCorrupt = errors.New("index: corrupt")

// Decoder decodes values from the front of stored bytes. After the first value that is missing or
// invalid, Err is ErrCorrupt and every value is 0.
type Decoder struct {
	B   []byte // what has not been decoded yet
	Err error
}

// Fail sets Err, which says that the bytes end within something, unless it is set.
func (d *Decoder) Fail(what string) {
	if d.Err == nil {
		d.Err = fmt.Errorf("%w: cut short in %s", ErrCorrupt, what)
	}
	d.B = nil
}

// End returns ErrCorrupt unless all bytes have been decoded.
func (d *Decoder) End() error {
	if d.Err == nil && len(d.B) > 0 {
		d.Err = fmt.Errorf("%w: %d bytes too many", ErrCorrupt, len(d.B))
	}
	return d.Err
}

// Uvarint decodes a number stored by binary.AppendUvarint.
func (d *Decoder) Uvarint() uint64 {
	v, n := binary.Uvarint(d.B)
	if n <= 0 {
		d.Fail("a number")
		return 0
	}
	d.B = d.B[n:]
	return v
}

// Varint decodes a number stored by binary.AppendVarint.
func (d *Decoder) Varint() int64 {
	v := d.Uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// Take returns the next n bytes, which are part of the stored bytes, or nil. what says in what they
// are.
func (d *Decoder) Take(n int, what string) []byte { return d.take(uint64(n), what) }

// String decodes a string that AppendString appended.
func (d *Decoder) String() string { return string(d.bytes()) }

// take returns the next n bytes, which are part of the stored bytes, or nil.
func (d *Decoder) take(n uint64, what string) []byte {
	if n > uint64(len(d.B)) {
		d.Fail(what)
		return nil
	}
	v := d.B[:n:n]
	d.B = d.B[n:]
	return v
}

// Byte decodes a byte.
func (d *Decoder) Byte() byte {
	if v := d.take(1, "a byte"); v != nil {
		return v[0]
	}
	return 0
}

// Float32 decodes a number stored by AppendFloat32.
func (d *Decoder) Float32() float32 {
	if v := d.take(4, "a float"); v != nil {
		return math.Float32frombits(binary.LittleEndian.Uint32(v))
	}
	return 0
}

// Uint32 decodes a big-endian number.
func (d *Decoder) Uint32() uint32 {
	if v := d.take(4, "a number"); v != nil {
		return binary.BigEndian.Uint32(v)
	}
	return 0
}

// Uint64 decodes a big-endian number.
func (d *Decoder) Uint64() uint64 { return uint64(d.Uint32())<<32 | uint64(d.Uint32()) }

// LittleUint64 decodes a little-endian number.
func (d *Decoder) LittleUint64() uint64 {
	if v := d.take(8, "a float"); v != nil {
		return binary.LittleEndian.Uint64(v)
	}
	return 0
}

// bytes decodes a string with a uvarint length. The result is part of the stored bytes.
func (d *Decoder) bytes() []byte { return d.take(d.Uvarint(), "a string") }

// Count decodes a number of items of at least one byte each.
func (d *Decoder) Count() int {
	n := d.Uvarint()
	if n > uint64(len(d.B)) {
		d.Fail("a list")
		return 0
	}
	return int(n)
}

// ID decodes the number of a node.
func (d *Decoder) ID() ID {
	v := d.Uvarint()
	if v > math.MaxUint32 {
		d.Fail("a node number")
		return 0
	}
	return ID(v)
}

// Relation decodes the number of a relation.
func (d *Decoder) Relation() uint16 {
	v := d.Uvarint()
	if v > math.MaxUint16 {
		d.Fail("a relation")
		return 0
	}
	return uint16(v)
}

// Bounds of the weight of an edge. PageRank needs degrees between 2^-40 and 2^60.
const (
	MinWeight = 0x1p-40
	MaxWeight = 0x1p40
)

// ValidWeight reports whether w can be the weight of an edge.
func ValidWeight(w float32) bool { return w >= MinWeight && w <= MaxWeight }

// Weight decodes the weight of an edge, in the form of Float32.
func (d *Decoder) Weight() float32 {
	w := d.Float32()
	if d.Err == nil && !ValidWeight(w) {
		d.Err = fmt.Errorf("%w: weight %v", ErrCorrupt, w)
	}
	return w
}

// AppendString appends the length and the bytes of a string.
func AppendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendFloat32 appends the 4 bytes of v.
func AppendFloat32(b []byte, v float32) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
}

// Checksum returns the crc32c of b.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// WithChecksum returns b preceded by its checksum.
func WithChecksum(b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(b)), Checksum(b)), b...)
}

// VerifyChecksum returns a decoder of the bytes that WithChecksum was given. Its Err is set if the
// checksum is wrong.
func VerifyChecksum(b []byte) *Decoder {
	if len(b) < 4 || binary.LittleEndian.Uint32(b) != Checksum(b[4:]) {
		return &Decoder{Err: fmt.Errorf("%w: checksum", ErrCorrupt)}
	}
	return &Decoder{B: b[4:]}
}
