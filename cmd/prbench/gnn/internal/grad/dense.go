package grad

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// MatMul returns a b.
func (t *Tape) MatMul(a, b *Node) *Node {
	out := NewMatrix(a.Rows, b.Cols)
	product(blas.NoTrans, blas.NoTrans, a.Matrix, b.Matrix, out)
	return t.result(out, func(g Matrix) {
		if a.needs {
			product(blas.NoTrans, blas.Trans, g, b.Matrix, a.slot())
		}
		if b.needs {
			product(blas.Trans, blas.NoTrans, a.Matrix, g, b.slot())
		}
	}, a, b)
}

// product adds a b to c, where a and b may be transposed.
func product(ta, tb blas.Transpose, a, b, c Matrix) {
	inner := a.Cols
	if ta == blas.Trans {
		inner = a.Rows
	}
	if c.Rows == 0 || c.Cols == 0 || inner == 0 {
		return
	}
	gonum.Implementation{}.Sgemm(ta, tb, c.Rows, c.Cols, inner, 1, a.Data, a.Cols, b.Data, b.Cols, 1, c.Data, c.Cols)
}

// axpy adds a x to y.
func axpy(a float32, x, y []float32) {
	gonum.Implementation{}.Saxpy(len(x), a, x, 1, y, 1)
}

func dot(x, y []float32) float32 { return gonum.Implementation{}.Sdot(len(x), x, 1, y, 1) }

// Add returns a + b.
func (t *Tape) Add(a, b *Node) *Node {
	out := Matrix{a.Rows, a.Cols, append([]float32(nil), a.Data...)}
	axpy(1, b.Data, out.Data)
	return t.result(out, func(g Matrix) {
		for _, n := range []*Node{a, b} {
			if n.needs {
				axpy(1, g.Data, n.slot().Data)
			}
		}
	}, a, b)
}

// Bias adds the row b to each row of a.
func (t *Tape) Bias(a, b *Node) *Node {
	out := Matrix{a.Rows, a.Cols, append([]float32(nil), a.Data...)}
	for i := range out.Rows {
		axpy(1, b.Data, out.Row(i))
	}
	return t.result(out, func(g Matrix) {
		if a.needs {
			axpy(1, g.Data, a.slot().Data)
		}
		into := b.slot().Data
		for i := range g.Rows {
			axpy(1, g.Row(i), into)
		}
	}, a, b)
}

// Mul returns the elementwise product of a and b.
func (t *Tape) Mul(a, b *Node) *Node {
	out := NewMatrix(a.Rows, a.Cols)
	for i, x := range a.Data {
		out.Data[i] = x * b.Data[i]
	}
	return t.result(out, func(g Matrix) {
		for _, n := range [][2]*Node{{a, b}, {b, a}} {
			if n[0].needs {
				into := n[0].slot().Data
				for i, d := range g.Data {
					into[i] += d * n[1].Data[i]
				}
			}
		}
	}, a, b)
}

// Scale returns a times the entry s of a node of one row, column at.
func (t *Tape) Scale(a, s *Node, at int) *Node {
	out := NewMatrix(a.Rows, a.Cols)
	axpy(s.Data[at], a.Data, out.Data)
	return t.result(out, func(g Matrix) {
		if a.needs {
			axpy(s.Data[at], g.Data, a.slot().Data)
		}
		if s.needs {
			s.slot().Data[at] += dot(g.Data, a.Data)
		}
	}, a, s)
}

// ReLU returns max(a, 0).
func (t *Tape) ReLU(a *Node) *Node {
	out := NewMatrix(a.Rows, a.Cols)
	for i, x := range a.Data {
		out.Data[i] = max(x, 0)
	}
	return t.result(out, func(g Matrix) {
		into := a.slot().Data
		for i, d := range g.Data {
			if a.Data[i] > 0 {
				into[i] += d
			}
		}
	}, a)
}

// Dropout sets each entry to 0 with probability p and divides the others by 1 - p. Without a random
// source it returns a.
func (t *Tape) Dropout(a *Node, p float32) *Node {
	if t.Rand == nil || p == 0 {
		return a
	}
	mask := NewMatrix(a.Rows, a.Cols)
	for i := range mask.Data {
		if t.Rand.Float32() >= p {
			mask.Data[i] = 1 / (1 - p)
		}
	}
	return t.Mul(a, t.Const(mask))
}

// Norm gives each row mean 0 and variance 1, then multiplies by gain and adds shift, both of one
// row (Ba et al., Layer Normalization, 2016).
func (t *Tape) Norm(a, gain, shift *Node) *Node {
	unit, out := NewMatrix(a.Rows, a.Cols), NewMatrix(a.Rows, a.Cols)
	scale := make([]float32, a.Rows)
	for i := range a.Rows {
		scale[i] = normalize(a.Row(i), unit.Row(i))
		for j, u := range unit.Row(i) {
			out.Row(i)[j] = u*gain.Data[j] + shift.Data[j]
		}
	}
	return t.result(out, func(g Matrix) {
		gains, shifts, into, n := gain.slot().Data, shift.slot().Data, a.slot(), float32(a.Cols)
		d := make([]float32, a.Cols)
		for i := range g.Rows {
			var sum, along float32
			for j, x := range g.Row(i) {
				u := unit.Row(i)[j]
				shifts[j] += x
				gains[j] += x * u
				d[j] = x * gain.Data[j]
				sum += d[j]
				along += d[j] * u
			}
			for j := range d {
				into.Row(i)[j] += scale[i] * (d[j] - sum/n - unit.Row(i)[j]*along/n)
			}
		}
	}, a, gain, shift)
}

// normalize writes x with mean 0 and variance 1 to out, and returns the factor that it multiplied
// by.
func normalize(x, out []float32) float32 {
	var mean, square float64
	for _, v := range x {
		mean += float64(v)
	}
	mean /= float64(len(x))
	for _, v := range x {
		square += (float64(v) - mean) * (float64(v) - mean)
	}
	scale := 1 / math.Sqrt(square/float64(len(x))+1e-5)
	for i, v := range x {
		out[i] = float32((float64(v) - mean) * scale)
	}
	return float32(scale)
}

// Concat returns the nodes side by side.
func (t *Tape) Concat(nodes ...*Node) *Node {
	cols := 0
	for _, n := range nodes {
		cols += n.Cols
	}
	out := NewMatrix(nodes[0].Rows, cols)
	for i := range out.Rows {
		row := out.Row(i)[:0]
		for _, n := range nodes {
			row = append(row, n.Row(i)...)
		}
	}
	return t.result(out, func(g Matrix) {
		at := 0
		for _, n := range nodes {
			if n.needs {
				into := n.slot()
				for i := range g.Rows {
					axpy(1, g.Row(i)[at:at+n.Cols], into.Row(i))
				}
			}
			at += n.Cols
		}
	}, nodes...)
}

// Logistic returns the mean logistic loss of the logits of links, plus the mean logistic loss of
// the logits of pairs without a link. The first links rows of the column are links.
func (t *Tape) Logistic(logits *Node, links int) *Node {
	out := NewMatrix(1, 1)
	slopes := make([]float32, logits.Rows)
	var sum float64
	for i, x := range logits.Data {
		sign, n := 1.0, float64(links)
		if i >= links {
			sign, n = -1, float64(logits.Rows-links)
		}
		z := sign * float64(x)
		sum += (math.Log1p(math.Exp(-math.Abs(z))) + max(-z, 0)) / n
		slopes[i] = float32(-sign / (1 + math.Exp(z)) / n)
	}
	out.Data[0] = float32(sum)
	return t.result(out, func(g Matrix) { axpy(g.Data[0], slopes, logits.slot().Data) }, logits)
}

// Part returns the columns from up to to, which is not included.
func (t *Tape) Part(a *Node, from, to int) *Node {
	out := NewMatrix(a.Rows, to-from)
	for i := range a.Rows {
		copy(out.Row(i), a.Row(i)[from:to])
	}
	return t.result(out, func(g Matrix) {
		into := a.slot()
		for i := range g.Rows {
			axpy(1, g.Row(i), into.Row(i)[from:to])
		}
	}, a)
}
