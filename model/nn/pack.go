package nn

import (
	"encoding/binary"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

func Finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// Finite32 reports whether every entry is finite.
func Finite32(v []float32) bool {
	for _, x := range v {
		if x-x != 0 { // inf-inf and NaN-NaN are NaN
			return false
		}
	}
	return true
}

func PackFloats(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// UnpackFloats fills v and reports whether all entries are finite.
func UnpackFloats(v []float32, b []byte) bool {
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return Finite32(v)
}

func Pack64(v []float64) []byte {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// Unpack64 fills v and reports whether all entries are finite.
func Unpack64(v []float64, b []byte) bool {
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return Finite(v...)
}

func PackAll(v [][]float32) (all [][]byte) {
	for _, x := range v {
		all = append(all, PackFloats(x))
	}
	return all
}

// PackRows stores 16 bits per entry. Each row is stored as its largest absolute value, a float32, followed by the
// entries in units of 1/32767 of that value.
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
