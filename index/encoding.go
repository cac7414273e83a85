package index

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// decoder decodes values from the front of stored bytes. After the first value that is missing or invalid, err is
// ErrCorrupt and every value is 0.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: cut short in %s", ErrCorrupt, what)
	}
	d.b = nil
}

// end returns ErrCorrupt unless all bytes have been decoded.
func (d *decoder) end() error {
	if d.err == nil && len(d.b) > 0 {
		d.err = fmt.Errorf("%w: %d bytes too many", ErrCorrupt, len(d.b))
	}
	return d.err
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail("a number")
		return 0
	}
	d.b = d.b[n:]
	return v
}

// varint decodes a number stored by binary.AppendVarint.
func (d *decoder) varint() int64 {
	v := d.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// take returns the next n bytes, which are part of the stored bytes, or nil.
func (d *decoder) take(n uint64, what string) []byte {
	if n > uint64(len(d.b)) {
		d.fail(what)
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) byte() byte {
	if v := d.take(1, "a byte"); v != nil {
		return v[0]
	}
	return 0
}

func (d *decoder) float32() float32 {
	if v := d.take(4, "a float"); v != nil {
		return math.Float32frombits(binary.LittleEndian.Uint32(v))
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if v := d.take(4, "a number"); v != nil {
		return binary.BigEndian.Uint32(v)
	}
	return 0
}

func (d *decoder) uint64() uint64 { return uint64(d.uint32())<<32 | uint64(d.uint32()) }

func (d *decoder) littleUint64() uint64 {
	if v := d.take(8, "a float"); v != nil {
		return binary.LittleEndian.Uint64(v)
	}
	return 0
}

// bytes decodes a string with a uvarint length. The result is part of the stored bytes.
func (d *decoder) bytes() []byte { return d.take(d.uvarint(), "a string") }

// count decodes a number of items of at least one byte each.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.fail("a list")
		return 0
	}
	return int(n)
}

func appendBytes(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendFloat32(b []byte, v float32) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
}

// Checksum returns the crc32c of b.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// withChecksum returns b preceded by its checksum.
func withChecksum(b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(b)), Checksum(b)), b...)
}

// verifyChecksum returns a decoder of the bytes that withChecksum was given. Its error is set if the checksum is
// wrong.
func verifyChecksum(b []byte) *decoder {
	if len(b) < 4 || binary.LittleEndian.Uint32(b) != Checksum(b[4:]) {
		return &decoder{err: fmt.Errorf("%w: checksum", ErrCorrupt)}
	}
	return &decoder{b: b[4:]}
}

// node is a node's record.
type node struct {
	label   uint16
	deleted bool
}

// encode returns the record as a number.
func (n node) encode() uint16 {
	v := n.label << 1
	if n.deleted {
		v |= 1
	}
	return v
}

func decodeNode(v uint16) node { return node{label: v >> 1, deleted: v&1 != 0} }

// counted returns the label under which the node counts, 0 for none.
func (n node) counted() uint16 {
	if n.deleted {
		return 0
	}
	return n.label
}

func (n node) append(b []byte) []byte { return binary.AppendUvarint(b, uint64(n.encode())) }

func (d *decoder) node() node {
	v := d.uvarint()
	if v>>1 >= maxLabels {
		d.fail("a label")
	}
	return decodeNode(uint16(v))
}
