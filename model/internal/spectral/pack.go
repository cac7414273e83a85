package spectral

import (
	"encoding/binary"
	"errors"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// packedLen returns the number of bytes of a packed row.
func packedLen(cols int) int { return 4 + 2*cols }

// appendRows appends the rows of x with 16 bits per entry. Each row is stored as its largest
// absolute value, a float32, followed by the entries in units of 1/32767 of that value.
func appendRows(b []byte, x blas32.General) []byte {
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

// unpackRows sets the rows of x to those that appendRows appended, and returns the rest of b. It
// returns an error at the first row that is not finite.
func unpackRows(b []byte, x blas32.General) ([]byte, error) {
	for i := range x.Rows {
		largest := math.Float32frombits(binary.LittleEndian.Uint32(b))
		if largest-largest != 0 {
			return nil, errors.New("a row is not finite")
		}
		row := nn.Row(x, i)
		for j := range row {
			q := int16(binary.LittleEndian.Uint16(b[4+2*j:]))
			row[j] = float32(float64(q) / math.MaxInt16 * float64(largest))
		}
		b = b[packedLen(len(row)):]
	}
	return b, nil
}
