package nn

import (
	"encoding/binary"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// Finite reports whether all values are finite.
func Finite[T float32 | float64](values ...T) bool {
	for _, x := range values {
		if x-x != 0 { // inf-inf and NaN-NaN are NaN
			return false
		}
	}
	return true
}

// PackFloats returns the numbers as little-endian bytes.
func PackFloats[T float32 | float64](v []T) []byte {
	b, _ := binary.Append(make([]byte, 0, binary.Size(v)), binary.LittleEndian, v)
	return b
}

// UnpackFloats fills v and reports whether b is long enough and all numbers are finite.
func UnpackFloats[T float32 | float64](v []T, b []byte) bool {
	_, err := binary.Decode(b, binary.LittleEndian, v)
	return err == nil && Finite(v...)
}

// Floats is a vector that a document stores as bytes. Decoding refuses numbers that are not finite.
type Floats []float32

func (v Floats) EncodeMsgpack(e *msgpack.Encoder) error { return e.EncodeBytes(PackFloats(v)) }

func (v *Floats) DecodeMsgpack(d *msgpack.Decoder) error {
	b, err := d.DecodeBytes()
	if err != nil {
		return err
	}
	*v = make(Floats, len(b)/4)
	if len(b)%4 != 0 || !UnpackFloats(*v, b) {
		return fmt.Errorf("%d bytes are no finite numbers of 4 bytes", len(b))
	}
	return nil
}
