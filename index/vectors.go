package index

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"

	"kith/index/internal/block"
	"kith/index/internal/pages"
)

// featureBlock is the number of consecutive nodes whose feature vectors are stored in one value.
const featureBlock = 16

// vectorBlock holds the feature vectors of consecutive nodes, nil for a node without features. A
// vector begins at a multiple of 16 bytes, so that kernels which add four numbers at a time always
// add in the same order.
type vectorBlock [featureBlock][]float32

// newVector returns a vector of n numbers. Its capacity is rounded up, because such sizes are
// allocated at multiples of 16 bytes.
func newVector(n int) []float32 { return make([]float32, (n+3)&^3)[:n:n] }

// vectors holds the feature vectors of all nodes. It is persistent, as pages is.
//
// Blocks are read at the version of a base. Commits write them again since, and the store may then
// drop the earlier value. No reader misses it:
//
// INVARIANT: changed has all blocks that were written since the base, in full. So a block that is
// read for a version has not been written between the base and that version, and the store keeps
// its value as long as the version has a reader.
type vectors struct {
	base    *storedVectors // nil: no vectors are in the store only
	changed pages.Array[*vectorBlock]
	kept    int64 // number of bytes of the vectors in changed
}

// at returns the vector of a node, or nil.
func (v *vectors) at(id ID) []float32 {
	if b := v.changed.At(id / featureBlock); b != nil {
		return b[id%featureBlock]
	}
	if v.base == nil {
		return nil
	}
	return v.base.block(id / featureBlock)[id%featureBlock]
}

// block returns a block.
func (v *vectors) block(no uint32) vectorBlock {
	if b := v.changed.At(no); b != nil {
		return *b
	}
	if v.base == nil {
		return vectorBlock{}
	}
	return *v.base.block(no)
}

// set sets the vector of a node.
func (v *vectors) set(by *pages.Owner, id ID, x []float32) {
	no := id / featureBlock
	b := v.block(no)
	if v.changed.At(no) == nil {
		v.kept += b.bytes()
	}
	v.kept += 4 * int64(len(x)-len(b[id%featureBlock]))
	b[id%featureBlock] = x
	v.changed.Set(by, no, &b)
}

// bytes returns the memory of the numbers in bytes.
func (b *vectorBlock) bytes() (n int64) {
	for _, x := range b {
		n += 4 * int64(len(x))
	}
	return n
}

// sinceBase yields the vectors of the blocks that were written since the base.
func (v *vectors) sinceBase() iter.Seq2[ID, []float32] {
	return func(yield func(ID, []float32) bool) {
		for no, b := range v.changed.All() {
			if b == nil {
				continue
			}
			for i, x := range b {
				if x != nil && !yield(no*featureBlock+ID(i), x) {
					return
				}
			}
		}
	}
}

// onto returns the vectors on a new base, which was opened at the version of old, an earlier
// version.
func (v *vectors) onto(base *storedVectors, old *vectors) vectors {
	next, by := vectors{base: base}, new(pages.Owner)
	for no, b := range v.changed.All() {
		if b != old.changed.At(no) {
			next.changed.Set(by, no, b)
			next.kept += b.bytes()
		}
	}
	return next
}

// storedVectors reads feature vectors when they are asked for. Vectors that cannot be read are
// missing, and the cache keeps the error.
type storedVectors struct{ *block.Set[vectorBlock] }

// bytes returns the memory of the base, in bytes, apart from cached blocks. All vectors take the
// given number of bytes.
func (v *vectors) bytes(all int64) int64 {
	switch {
	case v.base == nil:
		return 0
	case v.base.Loaded():
		return 8*int64(v.base.Len()) + all
	}
	return 8 * int64(v.base.Len())
}

// openVectors returns the vectors of a version, which are read on demand, or nil.
func openVectors(cache *blockCache, m *Meta) *storedVectors {
	if m.FeatureBytes == 0 {
		return nil
	}
	read := func(no int, b *vectorBlock) (bytes int64, err error) {
		value, ok, err := getSplit(sourceReader{cache.source}, makeKey(prefixFeature, uint32(no)))
		if ok && err == nil {
			*b, err = decodeFeatures(value)
		}
		if err != nil {
			err = fmt.Errorf("features of nodes %d to %d: %w", no*featureBlock, no*featureBlock+featureBlock-1, err)
		}
		return int64(4*len(value)) + 24*featureBlock + 100, err
	}
	return &storedVectors{block.NewSet(&cache.Cache, int((m.Nodes+featureBlock-1)/featureBlock), read)}
}

// block returns a block.
func (s *storedVectors) block(no uint32) *vectorBlock {
	if int(no) >= s.Len() {
		return new(vectorBlock) // of nodes that are newer
	}
	return s.At(int(no))
}

// sourceReader gets values from a Source.
type sourceReader struct{ Source }

func (r sourceReader) Get(key []byte) ([]byte, bool, error) { return r.Read(key) }

// appendFeatures appends the vectors of a block.
func appendFeatures(b []byte, vectors *vectorBlock) []byte {
	for _, v := range vectors {
		b = binary.AppendUvarint(b, uint64(len(v)))
		for _, x := range v {
			b = block.AppendFloat32(b, x)
		}
	}
	return b
}

func decodeFeatures(b []byte) (vectors vectorBlock, err error) {
	d := &block.Decoder{B: b}
	for i := range vectors {
		n := d.Count()
		if n == 0 {
			continue
		}
		if n > len(d.B)/4 {
			d.Fail("a vector")
			break
		}
		v := newVector(n)
		for j := range v {
			v[j] = d.Float32()
		}
		if slices.ContainsFunc(v, notFinite) {
			return vectorBlock{}, fmt.Errorf("%w: a feature is not finite", ErrCorrupt)
		}
		vectors[i] = v
	}
	return vectors, d.End()
}

// notFinite reports whether x is infinite or NaN.
func notFinite(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) }
