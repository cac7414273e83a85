package model

import "gonum.org/v1/gonum/blas/blas32"

// conv is a one-dimensional convolution with one channel and a bias: y[j] = b + Σ_i w[i] x[j·stride + i].
type conv struct {
	stride, out int
	w, b        []float32
}

// convOut is the number of positions where the kernel fits into the input.
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
		from, to := row(x, i), row(y, i)
		for j := range to {
			to[j] = c.b[0] + dot(c.w, from[j*c.stride:])
		}
	}
	return y
}

// addGradient adds the gradient with respect to the kernel and the bias, times by, to the front of sum. The deltas are
// those of the dense layer that follows.
func (c conv) addGradient(t *tape, next dense, by float32, sum []float32) {
	delta := t.delta[0]
	kernel, bias := sum[:len(c.w)], &sum[len(c.w)]
	for i := range delta.Rows {
		x := row(t.input, i)
		for j := range c.out {
			d := by * dot(row(delta, i), next.w[j*next.out:]) // derivative with respect to y[j]
			for k, v := range x[j*c.stride:][:len(kernel)] {
				kernel[k] += d * v
			}
			*bias += d
		}
	}
}

func dot(a, b []float32) float32 {
	return blas32.Dot(blas32.Vector{N: len(a), Inc: 1, Data: a}, blas32.Vector{N: len(a), Inc: 1, Data: b})
}
