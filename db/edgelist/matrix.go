package edgelist

import "io"

// ReadMatrix reads a NumPy .npy file of one or two dimensions, of floats or integers of any width and byte order. One
// dimension is a single column. data has rows*cols elements, row by row. ReadMatrix rejects elements that are not
// finite in 32 bits, and integers that 32 bits would round; the error gives row and column.
//
// Memory grows with the data that r delivers. At most 12 MiB are allocated on the header's word.
func ReadMatrix(r io.Reader) (rows, cols int, data []float32, err error) {
	m, err := newMatrix(buffered(r), Options{})
	if err != nil {
		return 0, 0, nil, err
	}
	data = make([]float32, 0, min(m.rows*m.cols, 1<<20))
	for err = m.next(); err == nil; err = m.next() {
		if data, err = m.float32s(data); err != nil {
			return 0, 0, nil, err
		}
	}
	if err != io.EOF {
		return 0, 0, nil, err
	}
	return m.rows, m.cols, data, nil
}

// newMatrix reads the header of an array of one or two dimensions.
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

// nodes returns a function that yields the rows as nodes from 0. value stores a row in a node and returns an error
// message, or "".
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
