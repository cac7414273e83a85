package edgelist

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// errArray is the error for an array that holds no edges.
var errArray = errors.New("edgelist: not an array of edges")

// edgeArray reads edges from a NumPy array. An array of shape (m, 2) or (m, 3) has an edge a row, one of shape (2, m)
// or (3, m) an edge a column: source, target, and optionally weight or time. If both shapes match, a row is an edge. An
// array of shape (n, k, 2) has k edges in each of n rows.
type edgeArray struct {
	columns Columns
	times   TimeFormat
	planes  []io.Reader // the elements of each column; one reader for all if the columns alternate
	fields  int         // numbers in an edge
	size    int         // bytes of an element
	decode  func([]byte) number
	row, n  int64 // number of edges read, and in total
	buf     []byte
}

// number is an element of an array. If isInt is false, real holds a value that is not a 64-bit integer.
type number struct {
	whole int64
	real  float64
	isInt bool
}

func newArray(r io.Reader, o Options) (*edgeArray, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	a := &edgeArray{columns: o.Columns, times: max(o.Times, Seconds)}
	shape := h.Descr.Shape
	if len(shape) == 3 && shape[2] == 2 && min(shape[0], shape[1]) >= 0 && max(shape[0], shape[1]) <= math.MaxInt32 && !h.Descr.Fortran {
		shape = []int{shape[0] * shape[1], 2}
	}
	edge := func(n int) bool { return n == 2 || n == 3 }
	if len(shape) != 2 || !edge(shape[0]) && !edge(shape[1]) || shape[0] < 0 || shape[1] < 0 || max(shape[0], shape[1]) > math.MaxInt/32 {
		return nil, fmt.Errorf("%w: shape %v, expected (m, 2), (m, 3), (2, m), (3, m) or (n, k, 2)", errArray, shape)
	}
	byRow := edge(shape[1])
	a.fields, a.n = shape[1], int64(shape[0])
	if !byRow {
		a.fields, a.n = shape[0], int64(shape[1])
	}
	if a.size, a.decode, err = numberDecoder(h.Descr.Type); err != nil {
		return nil, err
	}
	if err := a.means(); err != nil {
		return nil, err
	}
	if byRow != h.Descr.Fortran { // the numbers of an edge are adjacent
		a.planes = []io.Reader{r}
		a.buf = make([]byte, a.size*a.fields)
		return a, nil
	}
	a.buf = make([]byte, a.size)
	return a, a.apart(r, o.Spool)
}

// means resolves the columns.
func (a *edgeArray) means() error {
	switch {
	case a.columns == Auto && a.fields == 2, a.columns == SrcDst:
		a.columns = SrcDst
	case a.fields < 3:
		return fmt.Errorf("%w: two columns, expected %v", errArray, a.columns)
	case a.columns == Auto:
		a.columns = SrcDstWeight
	}
	return nil
}

// apart makes a reader for each column of an array that is stored column by column.
func (a *edgeArray) apart(r io.Reader, spool func() (Spool, error)) error {
	plane := a.n * int64(a.size)
	at, n, err := fill(spool, r)
	if err != nil {
		return err
	}
	switch want := plane * int64(a.fields); {
	case n < want:
		return fmt.Errorf("edgelist: array of %d bytes, expected %d: %w", n, want, io.ErrUnexpectedEOF)
	case n > want:
		return longer(a.n)
	}
	for i := range int64(a.fields) {
		a.planes = append(a.planes, buffered(io.NewSectionReader(at, i*plane, plane)))
	}
	return nil
}

func (a *edgeArray) next(e *Edge) error {
	if a.row == a.n {
		if len(a.planes) == 1 {
			if err := atEnd(a.planes[0], a.n); err != nil {
				return err
			}
		}
		return io.EOF
	}
	var fields [3]number
	for i := range a.fields {
		if len(a.planes) > 1 || i == 0 {
			if _, err := io.ReadFull(a.planes[i], a.buf); err != nil {
				return fmt.Errorf("edgelist: %d of %d edges: %w", a.row, a.n, truncated(err))
			}
		}
		at := 0
		if len(a.planes) == 1 {
			at = i * a.size
		}
		fields[i] = a.decode(a.buf[at:])
	}
	a.row++
	e.Line = a.row
	return a.edge(fields, e)
}

func (a *edgeArray) edge(fields [3]number, e *Edge) error {
	bad := func(msg string) error {
		var text []string
		for _, f := range fields[:a.fields] {
			text = append(text, f.String())
		}
		return &LineError{Line: a.row, Text: strings.Join(text, " "), Msg: msg}
	}
	if !fields[0].isInt || !fields[1].isInt {
		return bad("key is not an integer (64 bits)")
	}
	e.Src, e.Dst = Token{Int: fields[0].whole, IsInt: true}, Token{Int: fields[1].whole, IsInt: true}
	switch third := fields[2]; a.columns {
	case SrcDstWeight:
		ok := false
		if e.Weight, ok = finite(third.real); !ok || e.Weight <= 0 {
			return bad("weight is not a finite number above 0 (32 bits)")
		}
	case SrcDstTime:
		if !third.isInt {
			return bad("time is not an integer (64 bits)")
		}
		e.Time = a.times.seconds(third.whole)
	}
	return nil
}

func (n number) String() string {
	if n.isInt {
		return fmt.Sprint(n.whole)
	}
	return fmt.Sprint(n.real)
}

func wholeNumber(n int64) number { return number{n, float64(n), true} }

func realNumber(f float64) number {
	n := number{real: f}
	if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
		n.whole, n.isInt = int64(f), true
	}
	return n
}

// numberDecoder returns the size of an element in bytes and a function that decodes one. dtype is NumPy's name of the
// type, such as "<i8".
func numberDecoder(dtype string) (size int, decode func([]byte) number, err error) {
	unknown := fmt.Errorf("%w: elements of type %q", errArray, dtype)
	if len(dtype) != 3 {
		return 0, nil, unknown
	}
	var order binary.ByteOrder = binary.LittleEndian
	if dtype[0] == '>' {
		order = binary.BigEndian
	}
	switch dtype[1:] {
	case "i1":
		return 1, func(b []byte) number { return wholeNumber(int64(int8(b[0]))) }, nil
	case "u1":
		return 1, func(b []byte) number { return wholeNumber(int64(b[0])) }, nil
	case "i2":
		return 2, func(b []byte) number { return wholeNumber(int64(int16(order.Uint16(b)))) }, nil
	case "u2":
		return 2, func(b []byte) number { return wholeNumber(int64(order.Uint16(b))) }, nil
	case "i4":
		return 4, func(b []byte) number { return wholeNumber(int64(int32(order.Uint32(b)))) }, nil
	case "u4":
		return 4, func(b []byte) number { return wholeNumber(int64(order.Uint32(b))) }, nil
	case "i8":
		return 8, func(b []byte) number { return wholeNumber(int64(order.Uint64(b))) }, nil
	case "u8":
		return 8, func(b []byte) number {
			if n := order.Uint64(b); n > math.MaxInt64 {
				return number{real: float64(n)}
			}
			return wholeNumber(int64(order.Uint64(b)))
		}, nil
	case "f4":
		return 4, func(b []byte) number { return realNumber(float64(math.Float32frombits(order.Uint32(b)))) }, nil
	case "f8":
		return 8, func(b []byte) number { return realNumber(math.Float64frombits(order.Uint64(b))) }, nil
	}
	return 0, nil, unknown
}
