package edgelist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/sbinet/npyio/npy"
)

// errHeader is the error for a damaged header.
var errHeader = errors.New("edgelist: not a NumPy .npy file of a kind that can be read")

// ReadMatrix reads a NumPy .npy file of one or two dimensions, of floats or integers of any width and byte order. One
// dimension is a single column. data has rows*cols elements, row by row. ReadMatrix rejects elements that are not
// finite in 32 bits, and integers that 32 bits would round; the error gives row and column.
//
// Memory grows with the data that r delivers. At most 4 MiB are allocated on the header's word.
func ReadMatrix(r io.Reader) (rows, cols int, data []float32, err error) {
	h, err := readHeader(r)
	if err != nil {
		return 0, 0, nil, err
	}
	if rows, cols, err = dimensions(h.Descr.Shape); err != nil {
		return 0, 0, nil, err
	}
	place := func(k int) (row, col int) { return k / cols, k % cols }
	if h.Descr.Fortran {
		place = func(k int) (row, col int) { return k % rows, k / rows }
	}
	read, err := readElements(r, h.Descr.Type, rows*cols, place)
	if err == nil {
		err = atEnd(r, int64(rows))
	}
	if err != nil {
		return 0, 0, nil, err
	}
	if !h.Descr.Fortran {
		return rows, cols, read, nil
	}
	data = make([]float32, len(read))
	for k, v := range read {
		row, col := place(k)
		data[row*cols+col] = v
	}
	return rows, cols, data, nil
}

// readHeader reads exactly the header. npy.NewReader parses it; it allocates what the header's length says and indexes
// without bounds checks, so it gets only the bytes of a header of bounded length, and its panic becomes an error.
func readHeader(r io.Reader) (h npy.Header, err error) {
	const longest = 64 << 10
	raw := make([]byte, 10, 128)
	if _, err := io.ReadFull(r, raw); err != nil {
		return h, fmt.Errorf("%w: %w", errHeader, err)
	}
	if !bytes.Equal(raw[:6], npy.Magic[:]) {
		return h, fmt.Errorf("%w: it does not begin with the magic string", errHeader)
	}
	n := int(binary.LittleEndian.Uint16(raw[8:]))
	if raw[6] >= 2 { // the length has 4 bytes
		raw = append(raw, 0, 0)
		if _, err := io.ReadFull(r, raw[10:]); err != nil {
			return h, fmt.Errorf("%w: %w", errHeader, err)
		}
		n = int(min(binary.LittleEndian.Uint32(raw[8:]), longest+1))
	}
	if n > longest {
		return h, fmt.Errorf("%w: header is longer than 64 KiB", errHeader)
	}
	prefix := len(raw)
	raw = append(raw, make([]byte, n)...)
	if _, err := io.ReadFull(r, raw[prefix:]); err != nil {
		return h, fmt.Errorf("%w: %w", errHeader, err)
	}
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%w: damaged header", errHeader)
		}
	}()
	header, err := npy.NewReader(bytes.NewReader(raw))
	if err != nil {
		return h, fmt.Errorf("%w: %w", errHeader, err)
	}
	return header.Header, nil
}

// dimensions checks an array's shape.
func dimensions(shape []int) (rows, cols int, err error) {
	switch len(shape) {
	case 1:
		rows, cols = shape[0], 1
	case 2:
		rows, cols = shape[0], shape[1]
	default:
		return 0, 0, fmt.Errorf("%w: %d dimensions, expected 1 or 2", errHeader, len(shape))
	}
	if rows < 0 || cols < 1 || rows > math.MaxInt/8/cols {
		return 0, 0, fmt.Errorf("%w: shape %v", errHeader, shape)
	}
	return rows, cols, nil
}

// readElements reads n elements of a type. place returns the row and column of element k, for errors.
func readElements(r io.Reader, dtype string, n int, place func(k int) (row, col int)) ([]float32, error) {
	size, decode, err := decoder(dtype)
	if err != nil {
		return nil, err
	}
	const chunk = 8 << 10 // elements
	buf := make([]byte, size*min(n, chunk))
	data := make([]float32, 0, min(n, 1<<20))
	for len(data) < n {
		b := buf[:size*min(n-len(data), chunk)]
		got, err := io.ReadFull(r, b)
		for ; got >= size; got -= size {
			v, ok := decode(b)
			if !ok {
				row, col := place(len(data))
				return nil, fmt.Errorf("edgelist: row %d, column %d (from 0) is not finite in 32 bits, or an integer that 32 bits would round", row, col)
			}
			data = append(data, v)
			b = b[size:]
		}
		if err != nil {
			return nil, fmt.Errorf("edgelist: %d of %d elements: %w", len(data), n, truncated(err))
		}
	}
	return data, nil
}

// atEnd returns an error if a file continues after the end that its header states. The rest would be lost silently if,
// for example, the header was written before the data was complete.
func atEnd(r io.Reader, rows int64) error {
	var b [1]byte
	switch n, err := io.ReadFull(r, b[:]); {
	case n > 0:
		return longer(rows)
	case err != io.EOF:
		return fmt.Errorf("edgelist: %w", err)
	}
	return nil
}

// longer returns the error for a file with more rows than its header states.
func longer(rows int64) error {
	return fmt.Errorf("edgelist: the array has more rows than its header says: %d; write it again, or correct the header", rows)
}

// truncated turns io.EOF into io.ErrUnexpectedEOF.
func truncated(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// decoder returns the size of an element in bytes and a function that decodes one. The function's second result is
// false for a value that float32 cannot hold. dtype is NumPy's name of the type, such as "<f8".
func decoder(dtype string) (size int, decode func([]byte) (float32, bool), err error) {
	unknown := fmt.Errorf("%w: elements of type %q", errHeader, dtype)
	if len(dtype) != 3 {
		return 0, nil, unknown
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case dtype[0] == '>':
		order = binary.BigEndian
	case dtype[0] != '<' && (dtype[0] != '|' || dtype[2] != '1'):
		return 0, nil, unknown
	}
	signed := func(n int64) (float32, bool) {
		if n < 0 {
			return float32(n), exact(-uint64(n))
		}
		return float32(n), exact(uint64(n))
	}
	unsigned := func(n uint64) (float32, bool) { return float32(n), exact(n) }
	switch dtype[1:] {
	case "f4":
		return 4, func(b []byte) (float32, bool) { return finite(float64(math.Float32frombits(order.Uint32(b)))) }, nil
	case "f8":
		return 8, func(b []byte) (float32, bool) { return finite(math.Float64frombits(order.Uint64(b))) }, nil
	case "i1":
		return 1, func(b []byte) (float32, bool) { return signed(int64(int8(b[0]))) }, nil
	case "i2":
		return 2, func(b []byte) (float32, bool) { return signed(int64(int16(order.Uint16(b)))) }, nil
	case "i4":
		return 4, func(b []byte) (float32, bool) { return signed(int64(int32(order.Uint32(b)))) }, nil
	case "i8":
		return 8, func(b []byte) (float32, bool) { return signed(int64(order.Uint64(b))) }, nil
	case "u1":
		return 1, func(b []byte) (float32, bool) { return unsigned(uint64(b[0])) }, nil
	case "u2":
		return 2, func(b []byte) (float32, bool) { return unsigned(uint64(order.Uint16(b))) }, nil
	case "u4":
		return 4, func(b []byte) (float32, bool) { return unsigned(uint64(order.Uint32(b))) }, nil
	case "u8":
		return 8, func(b []byte) (float32, bool) { return unsigned(order.Uint64(b)) }, nil
	}
	return 0, nil, unknown
}

// finite rounds v to 32 bits. It returns false if the result is infinite or NaN.
func finite(v float64) (float32, bool) {
	f := float32(v)
	return f, f-f == 0
}

// exact reports whether float32 holds n without rounding: its significand has 24 bits.
func exact(n uint64) bool {
	return bits.Len64(n)-bits.TrailingZeros64(n|1<<63) <= 24
}
