package spectral

import (
	"encoding/binary"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// packRows stores 16 bits per entry. Each row is stored as its largest absolute value, a float32,
// followed by the entries in units of 1/32767 of that value.
func packRows(x blas32.General) []byte {
	b := make([]byte, 0, x.Rows*(4+2*x.Cols))
	for i := range x.Rows {
		largest := float32(0)
		for _, v := range nn.Row(x, i) {
			largest = max(largest, v, -v)
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(largest))
		for _, v := range nn.Row(x, i) {
			q := int16(0)
			if largest > 0 {
				q = int16(math.Round(float64(v) / float64(largest) * math.MaxInt16))
			}
			b = binary.LittleEndian.AppendUint16(b, uint16(q))
		}
	}
	return b
}

// unpackRows decodes the result of packRows.
func unpackRows(b []byte, rows, cols int) (blas32.General, error) {
	if each := 4 + 2*cols; len(b)/each != rows || len(b)%each != 0 {
		return blas32.General{}, fmt.Errorf("%d bytes for %d rows of %d numbers", len(b), rows, cols)
	}
	x := nn.Resize(blas32.General{}, rows, cols)
	for i := range rows {
		largest := math.Float32frombits(binary.LittleEndian.Uint32(b))
		if largest-largest != 0 {
			return x, fmt.Errorf("row %d is not finite", i)
		}
		for j := range cols {
			q := int16(binary.LittleEndian.Uint16(b[4+2*j:]))
			nn.Row(x, i)[j] = float32(float64(q) / math.MaxInt16 * float64(largest))
		}
		b = b[4+2*cols:]
	}
	return x, nil
}
