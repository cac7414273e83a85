package edgelist

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// errArray is the error for an array that holds no edges.
var errArray = errors.New("edgelist: not an array of edges")

// arrayEdges reads edges from a NumPy array. An array of shape (m, 2) or (m, 3) has an edge a row, one of shape (2, m)
// or (3, m) an edge a column: source, target, and optionally weight or time. If both shapes match, a row is an edge. An
// array of shape (n, k, 2) has k edges in each of n rows.
type arrayEdges struct {
	*arrayRows
	Detected
}

func newArrayEdges(r io.Reader, o Options) (*arrayEdges, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	a := &arrayEdges{Detected: Detected{Format: o.Format, Columns: o.Columns}}
	shape := h.Descr.Shape
	if len(shape) == 3 && shape[2] == 2 && min(shape[0], shape[1]) >= 0 && max(shape[0], shape[1]) <= math.MaxInt32 && !h.Descr.Fortran {
		shape = []int{shape[0] * shape[1], 2}
	}
	edge := func(n int) bool { return n == 2 || n == 3 }
	if len(shape) != 2 || !edge(shape[0]) && !edge(shape[1]) || shape[0] < 0 || shape[1] < 0 || max(shape[0], shape[1]) > math.MaxInt/32 {
		return nil, fmt.Errorf("%w: shape %v, expected (m, 2), (m, 3), (2, m), (3, m) or (n, k, 2)", errArray, shape)
	}
	n, fields, byColumn := shape[0], shape[1], h.Descr.Fortran
	if !edge(fields) {
		n, fields, byColumn = fields, n, !byColumn
	}
	switch {
	case a.Columns == Auto && fields == 2, a.Columns == SrcDst:
		a.Columns = SrcDst
	case fields < 3:
		return nil, fmt.Errorf("%w: two columns, expected %v", errArray, a.Columns)
	case a.Columns == Auto:
		a.Columns = SrcDstWeight
	}
	a.setUnit(o)
	a.arrayRows, err = newArrayRows(r, h.Descr.Type, n, fields, byColumn, o)
	return a, err
}

func (a *arrayEdges) next(e *Edge) error {
	err := a.arrayRows.next()
	e.Line = int64(a.row)
	if err != nil {
		return err
	}
	src, dst := a.number(0), a.number(1)
	if !src.isInt || !dst.isInt {
		return a.bad("key is not an integer (64 bits)")
	}
	e.Src, e.Dst = Token{Int: src.whole, IsInt: true}, Token{Int: dst.whole, IsInt: true}
	switch a.Columns {
	case SrcDstWeight:
		ok := false
		if e.Weight, ok = finite(a.number(2).real); !ok || e.Weight <= 0 {
			return a.bad("weight is not a finite number above 0 (32 bits)")
		}
	case SrcDstTime:
		time := a.number(2)
		ok := false
		if e.Time, ok = a.Times.ofNumber(time); !ok {
			msg, _ := a.Times.wrongTime([]byte(time.String()))
			return a.bad(msg)
		}
	}
	return nil
}

// bad returns the error for the current row.
func (a *arrayEdges) bad(msg string) error {
	var text []string
	for i := range a.cols {
		text = append(text, a.number(i).String())
	}
	return &LineError{Line: int64(a.row), Text: strings.Join(text, " "), Msg: msg}
}
