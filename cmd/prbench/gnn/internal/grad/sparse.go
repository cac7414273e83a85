package grad

// CSR is a sparse matrix by rows. The entries of row i are numbers Ptr[i] to Ptr[i+1]-1 of Col and
// Val.
type CSR struct {
	Cols int
	Ptr  []int32
	Col  []int32
	Val  []float32 // nil means that all entries are 1
}

// Rows returns the number of rows.
func (s *CSR) Rows() int { return len(s.Ptr) - 1 }

func (s *CSR) at(e int32) float32 {
	if s.Val == nil {
		return 1
	}
	return s.Val[e]
}

// Append adds a row. A nil val means that its entries are 1; either all rows have values or none
// has.
func (s *CSR) Append(col []int32, val []float32) {
	if len(s.Ptr) == 0 {
		s.Ptr = []int32{0}
	}
	s.Col, s.Val = append(s.Col, col...), append(s.Val, val...)
	s.Ptr = append(s.Ptr, int32(len(s.Col)))
}

// Sparse returns s x. Entries of s are constants.
func (t *Tape) Sparse(s *CSR, x *Node) *Node {
	out := NewMatrix(s.Rows(), x.Cols)
	for i := range s.Rows() {
		for e := s.Ptr[i]; e < s.Ptr[i+1]; e++ {
			axpy(s.at(e), x.Row(int(s.Col[e])), out.Row(i))
		}
	}
	return t.result(out, func(g Matrix) {
		into := x.slot()
		for i := range s.Rows() {
			for e := s.Ptr[i]; e < s.Ptr[i+1]; e++ {
				axpy(s.at(e), g.Row(i), into.Row(int(s.Col[e])))
			}
		}
	}, x)
}

// SparseDropout returns s x after a dropout of the entries of s.
func (t *Tape) SparseDropout(s *CSR, p float32, x *Node) *Node {
	if t.Rand == nil || p == 0 {
		return t.Sparse(s, x)
	}
	kept := &CSR{Cols: s.Cols, Ptr: make([]int32, 1, len(s.Ptr))}
	for i := range s.Rows() {
		for e := s.Ptr[i]; e < s.Ptr[i+1]; e++ {
			if t.Rand.Float32() >= p {
				kept.Col, kept.Val = append(kept.Col, s.Col[e]), append(kept.Val, s.at(e)/(1-p))
			}
		}
		kept.Ptr = append(kept.Ptr, int32(len(kept.Col)))
	}
	return t.Sparse(kept, x)
}

// Gather returns the rows of x with the numbers in rows.
func (t *Tape) Gather(x *Node, rows []int32) *Node {
	out := NewMatrix(len(rows), x.Cols)
	for i, r := range rows {
		copy(out.Row(i), x.Row(int(r)))
	}
	return t.result(out, func(g Matrix) {
		into := x.slot()
		for i, r := range rows {
			axpy(1, g.Row(i), into.Row(int(r)))
		}
	}, x)
}
