package model

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"kith/model/column"
	"kith/model/nn"
)

// levelOf fits a level to the scores of a network by logistic regression of links and of the candidates, weighted by
// the number of pairs they represent. The prior is slope 1 and 0 for the rest; it counts as much as one link.
func levelOf(n *nn.Network, all []choice) level {
	var r calibration
	p := new(choiceShard)
	for i := range all {
		c := &all[i]
		if c.stands == 0 {
			continue
		}
		p.forward(n, nil, all, []int{i})
		source := float64(nn.Row(*c.x, c.link)[c.x.Cols-column.StructuralLen+column.ColSource])
		for k, f := range p.score {
			e := example{[3]float64{f, source, 1}, 0, c.stands}
			if k == 0 {
				e.y, e.weight = 1, 1
			}
			r.examples = append(r.examples, e)
		}
	}
	r.before, r.precision = [3]float64{1, 0, 0}, [3]float64{1, 1, 0.01}
	w := r.fit()
	return level{rounded(max(w[0], 1e-3)), rounded(w[1]), rounded(w[2])}
}

// calibration is a logistic regression with three weights. Each has a normal prior with mean before and the given
// precision.
type calibration struct {
	examples          []example
	before, precision [3]float64
}

type example struct {
	z         [3]float64 // score, out-neighbours of the source, 1
	y, weight float64
}

// fit returns the weights with the least loss by Newton's method with step halving.
func (r *calibration) fit() [3]float64 {
	w := r.before
	loss := r.loss(w)
	for range 50 {
		d, ok := r.step(w)
		if !ok {
			break
		}
		next, now := w, loss
		for by := 1.0; by > 1e-6; by /= 2 {
			for a := range w {
				next[a] = w[a] + by*d[a]
			}
			if now = r.loss(next); now < loss {
				break
			}
		}
		if !(now < loss-1e-9*math.Abs(loss)) {
			break
		}
		w, loss = next, now
	}
	return w
}

// loss is the negative log-likelihood and log-prior, up to a constant.
func (r *calibration) loss(w [3]float64) (sum float64) {
	for a := range w {
		sum += r.precision[a] * (w[a] - r.before[a]) * (w[a] - r.before[a]) / 2
	}
	for i := range r.examples {
		e := &r.examples[i]
		f := e.z[0]*w[0] + e.z[1]*w[1] + e.z[2]*w[2]
		sum += e.weight * (max(f, 0) + math.Log1p(math.Exp(-math.Abs(f))) - e.y*f)
	}
	return sum
}

// step returns Newton's step. It reports false if the Hessian is not positive definite.
func (r *calibration) step(w [3]float64) (d [3]float64, ok bool) {
	var g [3]float64
	h := mat.NewSymDense(3, nil)
	for a := range w {
		g[a] = r.precision[a] * (r.before[a] - w[a])
		h.SetSym(a, a, r.precision[a])
	}
	for i := range r.examples {
		e := &r.examples[i]
		q := nn.Sigmoid(e.z[0]*w[0] + e.z[1]*w[1] + e.z[2]*w[2])
		for a := range w {
			g[a] += e.weight * (e.y - q) * e.z[a]
			for b := a; b < len(w); b++ {
				h.SetSym(a, b, h.At(a, b)+e.weight*q*(1-q)*e.z[a]*e.z[b])
			}
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return d, false
	}
	err := chol.SolveVecTo(mat.NewVecDense(3, d[:]), mat.NewVecDense(3, g[:]))
	return d, err == nil
}
