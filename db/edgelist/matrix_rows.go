package edgelist

import (
	"fmt"
	"io"
)

// maxColumns is the maximal length of a row of a matrix that is read row by row.
const maxColumns = 1 << 20

// matrixRows reads the rows of a NumPy matrix in order, whether it is stored by rows or by columns.
type matrixRows struct {
	rows, cols int
	row        int // index of the next row
	size       int // bytes of an element
	decode     func([]byte) (float32, bool)
	in         io.Reader   // for a matrix stored by rows
	at         io.ReaderAt // for a matrix stored by columns
	buf        []byte      // block rows, in the order in which they are stored
	block      int
}

// blockBytes is the approximate size of buf for a matrix stored by columns.
const blockBytes = 1 << 20

func newMatrixRows(r io.Reader, o Options) (*matrixRows, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	m := &matrixRows{in: r, block: 1}
	if m.rows, m.cols, err = dimensions(h.Descr.Shape); err != nil {
		return nil, err
	}
	if m.cols > maxColumns {
		return nil, fmt.Errorf("%w: rows of %d numbers, at most %d", errHeader, m.cols, maxColumns)
	}
	if m.size, m.decode, err = decoder(h.Descr.Type); err != nil {
		return nil, err
	}
	if h.Descr.Fortran && m.cols > 1 {
		m.block = max(1, blockBytes/m.size/m.cols)
		if err := m.spool(r, o); err != nil {
			return nil, err
		}
	}
	m.buf = make([]byte, m.block*m.cols*m.size)
	return m, nil
}

// spool copies a matrix that is stored by columns to a place where it can be read out of order.
func (m *matrixRows) spool(r io.Reader, o Options) error {
	at, n, err := fill(o.Spool, r)
	if err != nil {
		return err
	}
	switch want := int64(m.rows) * int64(m.cols) * int64(m.size); {
	case n < want:
		return fmt.Errorf("edgelist: matrix of %d bytes, expected %d: %w", n, want, io.ErrUnexpectedEOF)
	case n > want:
		return longer(int64(m.rows))
	}
	m.at = at
	return nil
}

// next returns the next row, or a *LineError for a row with an element that float32 cannot hold.
func (m *matrixRows) next() ([]float32, error) {
	if m.row == m.rows {
		if m.at == nil {
			if err := atEnd(m.in, int64(m.rows)); err != nil {
				return nil, err
			}
		}
		return nil, io.EOF
	}
	first := m.row % m.block // index of the row in buf
	if first == 0 {
		if err := m.read(); err != nil {
			return nil, fmt.Errorf("edgelist: %d of %d rows: %w", m.row, m.rows, truncated(err))
		}
	}
	m.row++
	row := make([]float32, m.cols)
	for c := range row {
		v, ok := m.decode(m.buf[(c*m.block+first)*m.size:])
		if !ok {
			return nil, &LineError{Line: int64(m.row), Msg: fmt.Sprintf("number %d (from 0) is not finite in 32 bits, or an integer that 32 bits would round", c)}
		}
		row[c] = v
	}
	return row, nil
}

// read fills buf with the next rows: one row, or block rows of each column.
func (m *matrixRows) read() error {
	if m.at == nil {
		_, err := io.ReadFull(m.in, m.buf)
		return err
	}
	n := min(m.block, m.rows-m.row) * m.size
	for c := range m.cols {
		if _, err := m.at.ReadAt(m.buf[c*m.block*m.size:][:n], int64(c*m.rows+m.row)*int64(m.size)); err != nil {
			return err
		}
	}
	return nil
}

// nodes returns a function that yields the rows as nodes from 0. value stores a row in a node and returns an error
// message, or "".
func (m *matrixRows) nodes(value func(*Node, []float32) string) func(*Node) error {
	return func(n *Node) error {
		row, err := m.next()
		if err != nil {
			return err
		}
		*n = Node{Line: int64(m.row), Key: Token{Int: int64(m.row - 1), IsInt: true}}
		if msg := value(n, row); msg != "" {
			return &LineError{Line: n.Line, Msg: msg}
		}
		return nil
	}
}
