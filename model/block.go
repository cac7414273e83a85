package model

import (
	"context"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
)

// blocks is the set of blocks a context is made of. They stand in the order of the constants.
type blocks uint8

const (
	blockSource     blocks = 1 << iota // features of the serving node
	blockTarget                        // features of the candidate
	blockProduct                       // their product, entry by entry
	blockStructural                    // what the graph says of the pair
)

var blockNames = [...]string{"source", "target", "product", "structural"}

func (b blocks) String() string {
	var names []string
	for i, name := range blockNames {
		if b&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// parseBlocks reads names separated by spaces, commas or plus signs.
func parseBlocks(s string) (b blocks, ok bool) {
	split := func(r rune) bool { return r == ' ' || r == ',' || r == '+' }
next:
	for _, word := range strings.FieldsFunc(s, split) {
		for i, name := range blockNames {
			if word == name {
				b |= 1 << i
				continue next
			}
		}
		return 0, false
	}
	return b, b != 0
}

// width is the length of a context made of these blocks. Without feature vectors their blocks are empty.
func (b blocks) width(features int) int {
	n := 0
	for _, f := range []blocks{blockSource, blockTarget, blockProduct} {
		if b&f != 0 {
			n += features
		}
	}
	if b&blockStructural != 0 {
		n += structuralLen
	}
	return n
}

// contexts builds the context of each candidate, a row each.
func (c *config) contexts(ctx context.Context, w World, source ID, candidates []ID) (blas32.General, error) {
	x := resize(blas32.General{}, len(candidates), c.width())
	if c.FeatureLen > 0 && c.Blocks&^blockStructural != 0 {
		if err := c.features(w, source, candidates, x); err != nil {
			return x, err
		}
	}
	if c.Blocks&blockStructural != 0 {
		at := c.width() - structuralLen
		err := structural(ctx, w, source, candidates, func(i, col int, v float64) {
			x.Data[i*x.Stride+at+col] = float32(v)
		})
		if err != nil {
			return x, err
		}
	}
	if c.Unit {
		for i := range x.Rows {
			unit(row(x, i))
		}
	}
	return x, nil
}

// features fills the feature blocks of x.
func (c *config) features(w World, source ID, candidates []ID, x blas32.General) error {
	s, err := c.vector(w, source)
	if err != nil {
		return err
	}
	for i, v := range candidates {
		t, err := c.vector(w, v)
		if err != nil {
			return err
		}
		r := row(x, i)
		if c.Blocks&blockSource != 0 {
			r = r[copy(r, s):]
		}
		if c.Blocks&blockTarget != 0 {
			r = r[copy(r, t):]
		}
		if c.Blocks&blockProduct != 0 {
			for j := range t {
				r[j] = s[j] * t[j]
			}
		}
	}
	return nil
}

// vector returns the features of a node: zeros where it has none, of unit length if the model wants that.
func (c *config) vector(w World, v ID) ([]float32, error) {
	var f []float32
	if w.Features != nil {
		f = w.Features(v)
	}
	if f == nil {
		return make([]float32, c.FeatureLen), nil
	}
	if len(f) != c.FeatureLen {
		return nil, fmt.Errorf("%w: node %d has a feature vector of length %d, the model wants %d", ErrInput, v, len(f), c.FeatureLen)
	}
	if !c.UnitFeatures {
		return f, nil
	}
	f = append([]float32(nil), f...)
	unit(f)
	for i := range f {
		f[i] *= float32(math.Sqrt(float64(len(f))))
	}
	return f, nil
}

// unit scales v to Euclidean length 1; zeros stay zeros.
func unit(v []float32) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
}
