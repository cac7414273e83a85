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

// maxColumns is the maximal length of a row.
const maxColumns = 1 << 20

// blockBytes is the approximate size of the buffer for an array that is stored by columns.
const blockBytes = 1 << 20

// arrayRows reads the rows of a NumPy array in order, whether it is stored by rows or by columns.
type arrayRows struct {
	rows, cols int
	row        int // number of rows read
	element    element
	in         io.Reader   // for an array stored by rows
	at         io.ReaderAt // for an array stored by columns
	buf        []byte      // block rows, in the order in which they are stored
	block      int
}

// newArrayRows returns a reader of the elements of the type dtype that follow the header.
func newArrayRows(r io.Reader, dtype string, rows, cols int, byColumn bool, o Options) (a *arrayRows, err error) {
	if cols > maxColumns {
		return nil, fmt.Errorf("%w: rows of %d numbers, at most %d", errHeader, cols, maxColumns)
	}
	a = &arrayRows{rows: rows, cols: cols, in: r, block: 1}
	if a.element, err = elementOf(dtype); err != nil {
		return nil, err
	}
	if byColumn && cols > 1 {
		a.block = max(1, min(rows, blockBytes/a.element.size/cols))
		if err := a.spool(r, o); err != nil {
			return nil, err
		}
	}
	a.buf = make([]byte, a.block*cols*a.element.size)
	return a, nil
}

// spool copies an array that is stored by columns to a place where it can be read out of order.
func (a *arrayRows) spool(r io.Reader, o Options) error {
	at, n, err := fill(o.Spool, r)
	if err != nil {
		return err
	}
	switch want := int64(a.rows) * int64(a.cols) * int64(a.element.size); {
	case n < want:
		return fmt.Errorf("edgelist: array of %d bytes, expected %d: %w", n, want, io.ErrUnexpectedEOF)
	case n > want:
		return a.longer()
	}
	a.at = at
	return nil
}

// next moves to the next row. After the last one it returns io.EOF.
func (a *arrayRows) next() error {
	if a.row == a.rows {
		return a.atEnd()
	}
	if a.row%a.block == 0 {
		if err := a.read(); err != nil {
			return fmt.Errorf("edgelist: %d of %d rows: %w", a.row, a.rows, truncated(err))
		}
	}
	a.row++
	return nil
}

// read fills buf with the next rows: one row, or block rows of each column.
func (a *arrayRows) read() error {
	if a.at == nil {
		_, err := io.ReadFull(a.in, a.buf)
		return err
	}
	size := a.element.size
	n := min(a.block, a.rows-a.row) * size
	for c := range a.cols {
		if _, err := a.at.ReadAt(a.buf[c*a.block*size:][:n], int64(c*a.rows+a.row)*int64(size)); err != nil {
			return err
		}
	}
	return nil
}

// number returns an element of the current row.
func (a *arrayRows) number(column int) number {
	return a.element.decode(a.buf[(column*a.block+(a.row-1)%a.block)*a.element.size:])
}

// float32s appends the current row to row, or returns a *LineError if float32 cannot hold one of
// its elements.
func (a *arrayRows) float32s(row []float32) ([]float32, error) {
	for c := range a.cols {
		n := a.number(c)
		v, ok := finite(n.real)
		if !ok || n.rounds {
			return nil, &LineError{Line: int64(a.row), Msg: fmt.Sprintf("number %d (from 0) is not finite in 32 bits, or an integer that 32 bits would round", c)}
		}
		row = append(row, v)
	}
	return row, nil
}

// atEnd returns io.EOF, or an error if a file continues after the end that its header states. The
// rest would be lost silently if, for example, the header was written before the data was complete.
func (a *arrayRows) atEnd() error {
	if a.at != nil {
		return io.EOF // spool has checked the length
	}
	var b [1]byte
	switch n, err := io.ReadFull(a.in, b[:]); {
	case n > 0:
		return a.longer()
	case err != io.EOF:
		return fmt.Errorf("edgelist: %w", err)
	}
	return io.EOF
}

// longer returns the error for a file with more rows than its header states.
func (a *arrayRows) longer() error {
	return fmt.Errorf("edgelist: the array has more rows than its header says: %d; write it again, or correct the header", a.rows)
}

// truncated turns io.EOF into io.ErrUnexpectedEOF.
func truncated(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// element is the type of the elements of an array.
type element struct {
	kind  byte // i, u or f: signed, unsigned or floating point
	size  int  // in bytes
	order binary.ByteOrder
}

// elementOf parses NumPy's name of a type, such as "<f8".
func elementOf(dtype string) (element, error) {
	order, ok := map[byte]binary.ByteOrder{'<': binary.LittleEndian, '>': binary.BigEndian, '|': binary.LittleEndian}[(dtype + " ")[0]]
	if !ok || len(dtype) != 3 || dtype[0] == '|' && dtype[2] != '1' {
		return element{}, fmt.Errorf("%w: elements of type %q", errHeader, dtype)
	}
	switch dtype[1:] {
	case "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8":
		return element{dtype[1], int(dtype[2] - '0'), order}, nil
	}
	return element{}, fmt.Errorf("%w: elements of type %q", errHeader, dtype)
}

// number is an element of an array.
type number struct {
	whole  int64
	real   float64
	isInt  bool // whole is the value
	rounds bool // the element is an integer that float32 would round
}

func (e element) decode(b []byte) number {
	var raw uint64
	switch e.size {
	case 1:
		raw = uint64(b[0])
	case 2:
		raw = uint64(e.order.Uint16(b))
	case 4:
		raw = uint64(e.order.Uint32(b))
	default:
		raw = e.order.Uint64(b)
	}
	switch {
	case e.kind == 'u':
		return number{int64(raw), float64(raw), raw <= math.MaxInt64, !exact(raw)}
	case e.kind == 'i':
		shift := 64 - 8*e.size
		n := int64(raw<<shift) >> shift
		return number{n, float64(n), true, !exact(uint64(max(n, -n)))}
	case e.size == 4:
		return realNumber(float64(math.Float32frombits(uint32(raw))), 1<<24)
	}
	return realNumber(math.Float64frombits(raw), 1<<53)
}

// realNumber returns a number of floating point. Integers from exact on may have been rounded and
// do not count as integers.
func realNumber(f, exact float64) number {
	n := number{real: f}
	if f == math.Trunc(f) && math.Abs(f) < exact {
		n.whole, n.isInt = int64(f), true
	}
	return n
}

func (n number) String() string {
	if n.isInt {
		return fmt.Sprint(n.whole)
	}
	return fmt.Sprint(n.real)
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

// readHeader reads exactly the header. npy.NewReader parses it; it allocates what the header's
// length says and indexes without bounds checks, so it gets only the bytes of a header of bounded
// length, and its panic becomes an error.
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

// newMatrix reads the header of an array with one or two dimensions.
func newMatrix(r io.Reader, o Options) (*arrayRows, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	rows, cols, err := dimensions(h.Descr.Shape)
	if err != nil {
		return nil, err
	}
	return newArrayRows(r, h.Descr.Type, rows, cols, h.Descr.Fortran, o)
}

// nodes returns a function that yields the rows as nodes from 0. value stores a row in a node and
// returns an error message, or "".
func (a *arrayRows) nodes(value func(*Node, []float32) string) func(*Node) error {
	return func(n *Node) error {
		if err := a.next(); err != nil {
			return err
		}
		row, err := a.float32s(make([]float32, 0, a.cols))
		if err != nil {
			return err
		}
		*n = Node{Line: int64(a.row), Key: Token{Int: int64(a.row - 1), IsInt: true}}
		if msg := value(n, row); msg != "" {
			return &LineError{Line: n.Line, Msg: msg}
		}
		return nil
	}
}
