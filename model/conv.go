package model

import "gonum.org/v1/gonum/blas/blas32"

// conv is a one-dimensional convolution with one channel and a bias: y[j] = b + Σ_i w[i] x[j·stride + i].
type conv struct {
	stride, out int
	w, b        []float32
}

// convOut is the number of places where the kernel fits into the input.
func convOut(s shape) int {
	return (s.In-s.Kernel)/s.Stride + 1
}

func newConv(s shape, theta []float32) (conv, []float32) {
	return conv{
		stride: s.Stride,
		out:    convOut(s),
		w:      theta[:s.Kernel],
		b:      theta[s.Kernel : s.Kernel+1],
	}, theta[s.Kernel+1:]
}

func (c conv) forward(x, y blas32.General) blas32.General {
	y = resize(y, x.Rows, c.out)
	for i := range x.Rows {
		row := x.Data[i*x.Stride : i*x.Stride+x.Cols]
		for j := range c.out {
			sum := c.b[0]
			for k, w := range c.w {
				sum += w * row[j*c.stride+k]
			}
			y.Data[i*y.Stride+j] = sum
		}
	}
	return y
}

// gradient adds the gradient by the kernel and the bias to the front of grad, given the deltas of the dense layer that
// follows, and returns how many entries those are.
func (c conv) gradient(t *tape, next dense, grad []float32) int {
	delta := t.delta[0]
	for i := range delta.Rows {
		row := t.input.Data[i*t.input.Stride : i*t.input.Stride+t.input.Cols]
		for j := range c.out {
			var d float32 // derivative by y[j]
			for o, v := range delta.Data[i*delta.Stride : i*delta.Stride+delta.Cols] {
				d += v * next.w[o*next.in+j]
			}
			for k := range c.w {
				grad[k] += d * row[j*c.stride+k]
			}
			grad[len(c.w)] += d
		}
	}
	return len(c.w) + 1
}
