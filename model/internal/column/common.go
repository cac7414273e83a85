package column

import (
	"context"
	"math/bits"

	"kith/model/internal/graph"
)

// Number is a number of a common neighbour, which depends on its degree.
type Number func(degree float64) float64

// SumOf returns the sum of a number over the common neighbours of a pair.
func SumOf(g graph.Graph, p graph.Pair, number Number) (sum float64) {
	eachCommon(p, graph.Out(g, p.Source), graph.In(g, p.Target), func(w graph.ID) { sum += number(degree(g, w)) })
	return sum
}

// Common sums a number of the common neighbours of a source and each of many targets. It follows
// the paths of two edges from the source once, instead of intersecting the rows of each pair. It
// reuses its memory.
type Common struct {
	member []uint64 // bit i: node first+i is a target
	before []uint32 // number of targets before each word of member
	first  graph.ID
	sum    []float64
}

// pathsPerEntry is the number of paths that are followed in the time in which the rows of a pair
// are intersected, for each entry of the shorter one.
const pathsPerEntry = 4

// Pays reports whether Sum takes less time than SumOf for each target, as far as lengths of
// rows tell.
func (c *Common) Pays(g graph.Graph, source graph.ID, targets []graph.ID) bool {
	out := graph.Out(g, source)
	left := 0
	for _, v := range targets {
		left += pathsPerEntry * min(len(out), graph.InLen(g, v))
	}
	for _, w := range out {
		if left -= graph.OutLen(g, w); left < 0 {
			return false
		}
	}
	return true
}

// Sum returns SumOf of each target, bit for bit. The targets must ascend. The result is valid until
// the next call.
func (c *Common) Sum(ctx context.Context, g graph.Graph, source graph.ID, targets []graph.ID, number Number) ([]float64, error) {
	c.mark(targets)
	paths := pathsPerCheck // since the last check
	for _, w := range graph.Out(g, source) {
		if w == source {
			continue
		}
		next := graph.Out(g, w)
		if paths += len(next); paths >= pathsPerCheck {
			paths = 0
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		x := number(degree(g, w))
		for _, u := range next {
			at := u - c.first
			if int(at/64) >= len(c.member) {
				continue
			}
			word, bit := c.member[at/64], uint64(1)<<(at%64)
			if word&bit != 0 && u != w {
				c.sum[int(c.before[at/64])+bits.OnesCount64(word&(bit-1))] += x
			}
		}
	}
	return c.sum, nil
}

// pathsPerCheck is the number of paths that are followed between two checks of a context.
const pathsPerCheck = 1 << 16

// mark fills member and before, and clears the sums.
func (c *Common) mark(targets []graph.ID) {
	c.first = targets[0] &^ 63
	words := int(targets[len(targets)-1]-c.first)/64 + 1
	c.member, c.before = cleared(c.member, words), cleared(c.before, words)
	c.sum = cleared(c.sum, len(targets))
	for i, v := range targets {
		at := v - c.first
		if c.member[at/64] == 0 {
			c.before[at/64] = uint32(i)
		}
		c.member[at/64] |= 1 << (at % 64)
	}
}

// cleared returns n zeros, in the memory of x if that is large enough.
func cleared[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	x = x[:n]
	clear(x)
	return x
}
