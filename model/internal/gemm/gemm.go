// Package gemm multiplies small matrices of float32. On processors with AVX2, and more so with
// AVX-512, it is several times as fast as blas32, with the same bits.
package gemm

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Size of a tile of c that a kernel computes, and the most rows of b in a call.
const (
	tileRows = 4
	wideRows = 8
	tileCols = 16
	depth    = 256
)

// Add computes c += by op(a) op(b), as blas32.Gemm with the same bits: each number of c is summed
// in the order of the columns of op(a), and every product and every sum is rounded. Add starts no
// goroutines. It is only fast if b is not transposed.
func Add(ta, tb blas.Transpose, by float32, a, b, c blas32.General) {
	top, left := 0, 0 // the rows and columns of c that are whole tiles
	if hasKernel && tb == blas.NoTrans && c.Rows >= tileRows && c.Cols >= tileCols {
		top, left = c.Rows-c.Rows%tileRows, c.Cols-c.Cols%tileCols
		tiles(ta, by, a, b, c)
		portable(ta, tb, by, rowsOf(ta, a, 0, top), part(b, 0, b.Rows, left, b.Cols), part(c, 0, top, left, c.Cols))
	}
	portable(ta, tb, by, rowsOf(ta, a, top, c.Rows), b, part(c, top, c.Rows, 0, c.Cols))
}

// tiles computes the part of c that consists of whole tiles.
func tiles(ta blas.Transpose, by float32, a, b, c blas32.General) {
	down, right := a.Stride, 1
	if ta == blas.Trans {
		down, right = right, down
	}
	var scaled [wideRows * depth]float32
	for first := 0; first < b.Rows; first += depth {
		n := min(depth, b.Rows-first)
		for i, rows := 0, wideRows; i+tileRows <= c.Rows; i += rows {
			if !hasWideKernel || i+wideRows > c.Rows {
				rows = tileRows
			}
			from, down, right := a.Data[i*down+first*right:], down, right
			if by != 1 {
				for k := range n {
					for r := range rows {
						scaled[k*rows+r] = by * from[r*down+k*right]
					}
				}
				from, down, right = scaled[:], 1, rows
			}
			for j := 0; j+tileCols <= c.Cols; j += tileCols {
				by, sum := &b.Data[first*b.Stride+j], &c.Data[i*c.Stride+j]
				if rows == wideRows {
					wideKernel(n, &from[0], down, right, by, b.Stride, sum, c.Stride)
				} else {
					kernel(n, &from[0], down, right, by, b.Stride, sum, c.Stride)
				}
			}
		}
	}
}

// portable is Add by blas32.Gemm, which starts goroutines from four blocks of 64 x 64 on: that
// costs more than it gains at these sizes. It gets this many rows of the result at a time.
func portable(ta, tb blas.Transpose, by float32, a, b, c blas32.General) {
	const most = 64
	for top := 0; top < c.Rows && c.Cols > 0; top += most {
		end := min(top+most, c.Rows)
		blas32.Gemm(ta, tb, by, rowsOf(ta, a, top, end), b, 1, part(c, top, end, 0, c.Cols))
	}
}

// rowsOf returns some rows of op(a).
func rowsOf(ta blas.Transpose, a blas32.General, top, bottom int) blas32.General {
	if ta == blas.Trans {
		return part(a, 0, a.Rows, top, bottom)
	}
	return part(a, top, bottom, 0, a.Cols)
}

// part returns a view of some rows and columns of m.
func part(m blas32.General, top, bottom, left, right int) blas32.General {
	m.Data = m.Data[min(top*m.Stride+left, len(m.Data)):]
	m.Rows, m.Cols = bottom-top, right-left
	return m
}
