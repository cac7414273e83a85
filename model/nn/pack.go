package nn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/vmihailenco/msgpack/v5"
	"gonum.org/v1/gonum/blas/blas32"
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
	return Vectors[float32]{*v}.fill(b)
}

// Vectors are vectors of known lengths that a document stores as the bytes of all their numbers.
// Decoding fills them. It refuses other lengths and numbers that are not finite.
type Vectors[T float32 | float64] [][]T

func (v *Vectors[T]) EncodeMsgpack(e *msgpack.Encoder) error {
	return e.EncodeBytes(PackFloats(slices.Concat(*v...)))
}

func (v *Vectors[T]) DecodeMsgpack(d *msgpack.Decoder) error {
	b, err := d.DecodeBytes()
	if err != nil {
		return err
	}
	return v.fill(b)
}

func (v Vectors[T]) fill(b []byte) error {
	want, all := 0, b
	for _, x := range v {
		size := binary.Size(x)
		want += size
		if want > len(all) {
			break
		}
		if !UnpackFloats(x, b) {
			return errors.New("a number is not finite")
		}
		b = b[size:]
	}
	if want != len(all) {
		return fmt.Errorf("%d bytes of numbers that take %d", len(all), want)
	}
	return nil
}

// PackRows stores 16 bits per entry. Each row is stored as its largest absolute value, a float32,
// followed by the entries in units of 1/32767 of that value.
func PackRows(x blas32.General) []byte {
	b := make([]byte, 0, x.Rows*(4+2*x.Cols))
	for i := range x.Rows {
		largest := float32(0)
		for _, v := range Row(x, i) {
			largest = max(largest, v, -v)
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(largest))
		for _, v := range Row(x, i) {
			q := int16(0)
			if largest > 0 {
				q = int16(math.Round(float64(v) / float64(largest) * math.MaxInt16))
			}
			b = binary.LittleEndian.AppendUint16(b, uint16(q))
		}
	}
	return b
}

// UnpackRows decodes the result of PackRows.
func UnpackRows(b []byte, rows, cols int) (blas32.General, error) {
	if each := 4 + 2*cols; len(b)/each != rows || len(b)%each != 0 {
		return blas32.General{}, fmt.Errorf("%d bytes for %d rows of %d numbers", len(b), rows, cols)
	}
	x := Resize(blas32.General{}, rows, cols)
	for i := range rows {
		largest := math.Float32frombits(binary.LittleEndian.Uint32(b))
		if largest-largest != 0 {
			return x, fmt.Errorf("row %d is not finite", i)
		}
		for j := range cols {
			q := int16(binary.LittleEndian.Uint16(b[4+2*j:]))
			Row(x, i)[j] = float32(float64(q) / math.MaxInt16 * float64(largest))
		}
		b = b[4+2*cols:]
	}
	return x, nil
}
