// Package grad computes functions of matrices and their gradients by reverse accumulation. A Tape
// records the operations of one step; Backward visits them from last to first. It has the
// operations that graph neural networks for links need: dense and sparse products, gathers, and the
// usual elementwise functions.
//
// Same inputs and seed give the same bits: products are parallel only over blocks of their results.
package grad

import "math/rand/v2"

// Matrix is a dense matrix. Row i is Data[i*Cols : (i+1)*Cols].
type Matrix struct {
	Rows, Cols int
	Data       []float32
}

// NewMatrix returns a matrix of zeros.
func NewMatrix(rows, cols int) Matrix {
	return Matrix{rows, cols, make([]float32, rows*cols)}
}

// Row returns row i, not a copy.
func (m Matrix) Row(i int) []float32 { return m.Data[i*m.Cols : (i+1)*m.Cols : (i+1)*m.Cols] }

// Node is the result of an operation.
type Node struct {
	Matrix
	grad  []float32 // gradient of the loss, as long as Data; nil until something depends on it
	needs bool      // depends on a parameter
}

// slot returns the gradient of n to add to.
func (n *Node) slot() Matrix {
	if n.grad == nil {
		n.grad = make([]float32, len(n.Data))
	}
	return Matrix{n.Rows, n.Cols, n.grad}
}

// Tape records operations. A nil Rand turns dropout off: a tape for answers, which records nothing.
type Tape struct {
	Rand *rand.Rand
	back []func()
}

// Const returns a node without a gradient.
func (t *Tape) Const(m Matrix) *Node { return &Node{Matrix: m} }

// Use returns the node of a parameter. Backward adds to the parameter's gradient.
func (t *Tape) Use(p *Param) *Node { return &Node{Matrix: p.Value, grad: p.grad, needs: true} }

// result returns the node of an operation on inputs. back adds to the gradients of the inputs that
// need one; it is called with the gradient of the result.
func (t *Tape) result(m Matrix, back func(g Matrix), inputs ...*Node) *Node {
	n := &Node{Matrix: m}
	for _, in := range inputs {
		n.needs = n.needs || in.needs
	}
	if n.needs && t.Rand != nil {
		t.back = append(t.back, func() {
			if n.grad != nil {
				back(Matrix{n.Rows, n.Cols, n.grad})
			}
		})
	}
	return n
}

// Backward adds the gradient of the sum of the entries of n to all parameters that n depends on. It
// is called once.
func (t *Tape) Backward(n *Node) {
	g := n.slot()
	for i := range g.Data {
		g.Data[i] = 1
	}
	for i := len(t.back) - 1; i >= 0; i-- {
		t.back[i]()
	}
	t.back = nil
}
