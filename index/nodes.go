package index

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"

	"kith/index/internal/block"
	"kith/index/internal/pages"
)

// nodeBlock is the number of consecutive ids in one block of node records: those below a span of
// pages.
const nodeBlock = pages.SpanSize * pages.SpanSize * pages.SpanSize

// node is a node's record.
type node struct {
	label   uint16
	deleted bool
}

// encode returns the record as a number.
func (n node) encode() uint16 {
	v := n.label << 1
	if n.deleted {
		v |= 1
	}
	return v
}

func decodeNode(v uint16) node { return node{label: v >> 1, deleted: v&1 != 0} }

// counted returns the label under which the node counts, 0 for none.
func (n node) counted() uint16 {
	if n.deleted {
		return 0
	}
	return n.label
}

func (n node) append(b []byte) []byte { return binary.AppendUvarint(b, uint64(n.encode())) }

func decodeNodeRecord(d *block.Decoder) node {
	v := d.Uvarint()
	if v>>1 >= maxLabels {
		d.Fail("a label")
	}
	return decodeNode(uint16(v))
}

// count counts a node whose record has changed.
func (m *Meta) count(old, now node) {
	if l := old.counted(); l > 0 {
		m.Labels[l].Nodes--
	}
	if l := now.counted(); l > 0 {
		m.Labels[l].Nodes++
	}
}

// nodeRecords holds the records of all nodes: the records of the base, and the records set since.
// It is persistent, as pages is.
type nodeRecords struct {
	base    *storedNodes // nil: no base
	changed pages.Array[nodeSet]
}

// nodeSet is a record that was set since the base.
type nodeSet struct {
	node
	set bool
}

// at returns the record of a node.
func (r *nodeRecords) at(id ID) node {
	if c := r.changed.At(id); c.set {
		return c.node
	}
	return r.base.of(id)
}

func (r *nodeRecords) set(by *pages.Owner, id ID, n node) { r.changed.Set(by, id, nodeSet{n, true}) }

// labelled yields the nodes below n that have the label l > 0 and are not deleted, ascending.
func (r *nodeRecords) labelled(l uint16, n int) iter.Seq[ID] {
	record := node{label: l}.encode()
	return func(yield func(ID) bool) {
		for first := ID(0); int(first) < n; first += nodeBlock {
			count := min(nodeBlock, n-int(first))
			if r.changed.Has(first) {
				for id := first; id < first+ID(count); id++ {
					if r.at(id).encode() == record && !yield(id) {
						return
					}
				}
			} else if records := r.base.block(first / nodeBlock); records != nil {
				for i, v := range records[:count] {
					if v == record && !yield(first+ID(i)) {
						return
					}
				}
			}
		}
	}
}

// sinceBase yields the records that were set since the base.
func (r *nodeRecords) sinceBase(yield func(ID, node) bool) {
	for id, c := range r.changed.All() {
		if c.set && !yield(id, c.node) {
			return
		}
	}
}

// onto returns the records on a new base, which holds the records of old, an earlier version.
func (r *nodeRecords) onto(base *storedNodes, old *nodeRecords) nodeRecords {
	next, by := nodeRecords{base: base}, new(pages.Owner)
	for id, c := range r.changed.All() {
		if c.set && c != old.changed.At(id) {
			next.set(by, id, c.node)
		}
	}
	return next
}

// storedNodes reads the node records of a generation when they are asked for. It takes 8 bytes of
// memory for each block of 4096 nodes, and 8 KB for each block that is in memory. What cannot be
// read is a zero record, and the cache keeps the error.
type storedNodes struct {
	nodeDirectory
	*block.Set[[]uint16] // a record of each node, as in node.encode
}

// openNodes returns the node records of a generation, which are read when they are asked for.
func openNodes(r Reader, cache *blockCache, m *Meta) (*storedNodes, error) {
	dir, err := readDirectory(r, prefixNode, m.Generation, decodeNodeDirectory)
	if err != nil {
		return nil, err
	}
	if int64(dir.nodes) != m.BaseNodes {
		return nil, fmt.Errorf("%w: the base has the records of %d nodes, the meta record says %d", ErrCorrupt, dir.nodes, m.BaseNodes)
	}
	return pagedNodes(dir, len(m.Labels), cache), nil
}

// pagedNodes returns the node records of the blocks with the given directory, in a graph with the
// given number of labels.
func pagedNodes(dir *nodeDirectory, labels int, cache *blockCache) *storedNodes {
	s := &storedNodes{nodeDirectory: *dir}
	s.Set = block.NewSet(&cache.Cache, dir.numBlocks(), func(i int, b *[]uint16) (bytes int64, err error) {
		no := uint32(i)
		if !s.has(no) {
			return 0, nil
		}
		err = cache.decode(prefixNode, no, func(d *block.Decoder) error {
			records, err := decodeNodes(d, s.sizeOf(no), labels)
			*b = append(records, make([]uint16, nodeBlock-len(records))...)
			return err
		})
		return 2*nodeBlock + 100, err
	})
	return s
}

// of returns the record of a node.
func (s *storedNodes) of(id ID) node {
	if b := s.block(id / nodeBlock); b != nil {
		return decodeNode(b[id%nodeBlock])
	}
	return node{}
}

// block returns the records of a block, nil if it is not stored or cannot be read.
func (s *storedNodes) block(no uint32) []uint16 {
	if s == nil || !s.has(no) {
		return nil
	}
	return *s.At(int(no))
}

// loadedBytes returns the memory of the records once they are loaded, in bytes.
func (s *storedNodes) loadedBytes() (n int64) {
	for _, b := range s.stored {
		n += 2 * nodeBlock * int64(bits.OnesCount8(b))
	}
	return n
}

// nodeDirectory says which blocks of node records are stored. Blocks that are not stored have only
// zero records.
type nodeDirectory struct {
	nodes  int
	stored []byte // a bit for each block
}

func (d *nodeDirectory) numBlocks() int { return (d.nodes + nodeBlock - 1) / nodeBlock }

// sizeOf returns the number of records in a block.
func (d *nodeDirectory) sizeOf(no uint32) int { return min(nodeBlock, d.nodes-int(no)*nodeBlock) }

// has reports whether a block is stored.
func (d *nodeDirectory) has(no uint32) bool {
	return int(no/8) < len(d.stored) && d.stored[no/8]>>(no%8)&1 != 0
}

// add adds a block.
func (d *nodeDirectory) add(no uint32) {
	for int(no/8) >= len(d.stored) {
		d.stored = append(d.stored, 0)
	}
	d.stored[no/8] |= 1 << (no % 8)
}

func (d *nodeDirectory) encode() []byte {
	return append(binary.AppendUvarint(nil, uint64(d.nodes)), d.stored...)
}

func decodeNodeDirectory(b []byte) (*nodeDirectory, error) {
	d := &block.Decoder{B: b}
	n := d.Uvarint()
	dir := &nodeDirectory{nodes: int(n), stored: d.B}
	if d.Err == nil && (n > MaxNodes || len(dir.stored) > (dir.numBlocks()+7)/8) {
		d.Err = fmt.Errorf("%w: %d nodes, and the blocks of more", ErrCorrupt, n)
	}
	return dir, d.Err
}

// decodeNodes decodes a block of n node records, in the form of node.encode, in a graph with the
// given number of labels.
func decodeNodes(d *block.Decoder, n, labels int) ([]uint16, error) {
	b := make([]uint16, 0, nodeBlock)
	for range n {
		rec := decodeNodeRecord(d)
		if d.Err == nil && int(rec.label) >= labels {
			d.Err = fmt.Errorf("%w: label %d of %d", ErrCorrupt, rec.label, labels)
		}
		b = append(b, rec.encode())
	}
	return b, d.End()
}

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
