package index

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// node is a node's record.
type node struct {
	label   uint16
	deleted bool
}

func (n node) append(b []byte) []byte {
	v := uint64(n.label) << 1
	if n.deleted {
		v |= 1
	}
	return binary.AppendUvarint(b, v)
}

func (d *decoder) node() node {
	v := d.uvarint()
	if v>>1 >= maxLabels {
		d.fail("a label")
	}
	return node{label: uint16(v >> 1), deleted: v&1 != 0}
}

// featureBlock is the number of consecutive nodes whose feature vectors are stored in one value.
const featureBlock = 16

// appendFeatures appends the vectors of the nodes of one block. A nil vector means a node without features.
func appendFeatures(b []byte, vectors [][]float32) []byte {
	for _, v := range vectors {
		b = binary.AppendUvarint(b, uint64(len(v)))
		for _, x := range v {
			b = appendFloat32(b, x)
		}
	}
	return b
}

func decodeFeatures(b []byte) ([][]float32, error) {
	d := &decoder{b: b}
	vectors := make([][]float32, featureBlock)
	for i := range vectors {
		n := d.count()
		if n == 0 {
			continue
		}
		v := make([]float32, 0, min(n, len(d.b)/4))
		for ; n > 0 && d.err == nil; n-- {
			v = append(v, d.float32())
		}
		if slices.ContainsFunc(v, notFinite) {
			return nil, fmt.Errorf("%w: a feature is not finite", ErrCorrupt)
		}
		vectors[i] = slices.Clip(v)
	}
	return vectors, d.end()
}

// notFinite reports whether x is infinite or NaN.
func notFinite(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) }
