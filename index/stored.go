package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"kith/index/internal/block"
	"kith/ppr"
)

// storedRows reads the rows in one direction from the blocks of a generation on demand. Decoded
// blocks take memory of the cache. An unreadable row is empty, and the cache keeps the error.
type storedRows struct {
	block.RowDirectory
	nodes  int
	cache  *blockCache
	kind   byte
	blocks *block.Set[rowBlock]
	// long holds the rows of several blocks, each in the place of its first block.
	long *block.Set[rowBlock]
	// parts holds the edges by relation of blocks and long rows, if they have several relations,
	// and a row of at least partedRow entries.
	parts *block.Set[relationBlock]
}

// blockBytes returns the memory that each block takes while it is not decoded, in bytes.
func (s *storedRows) blockBytes() int {
	if s.parts != nil {
		return 28
	}
	return 20
}

// rowBlock has the rows of a block. Unless edges are parallel, all its rows share memory.
type rowBlock struct{ joined, edges block.Rows }

// join makes the joined rows of the edges.
func (b *rowBlock) join() { b.joined = b.edges.Joined() }

// bytes returns the memory of the block, in bytes.
func (b *rowBlock) bytes() int64 {
	n := b.edges.Bytes()
	if len(b.joined.To) < len(b.edges.To) {
		n += b.joined.Bytes()
	}
	return n
}

// relationBlock has the edges of rows by relation: segments numbers the rows by their place in
// node.
type relationBlock struct {
	node []ID
	segments
}

// row returns the row of u.
func (s *storedRows) row(u ID) block.Entries {
	if i := s.find(u); i >= 0 {
		return s.at(i).joined.Row(u)
	}
	return block.Entries{}
}

// edges returns the edges of the row of u.
func (s *storedRows) edges(u ID) block.Entries {
	if i := s.find(u); i >= 0 {
		return s.at(i).edges.Row(u)
	}
	return block.Entries{}
}

// only returns the edges of a relation in the row of u.
func (s *storedRows) only(u ID, relation uint16) block.Entries {
	i := s.find(u)
	if i < 0 {
		return block.Entries{}
	}
	row := s.at(i).edges.Row(u)
	if len(row.To) < partedRow {
		return row.Only(relation)
	}
	p := s.parts.At(i)
	k, _ := slices.BinarySearch(p.node, u)
	return p.segments.only(ID(k), relation)
}

// partedRow is the number of entries from which the edges of a relation are kept: the ones of a
// shorter row are found again in less time than it takes to divide the rows of a block.
const partedRow = 512

// at returns block i, or the long row that begins with it.
func (s *storedRows) at(i int) *rowBlock {
	if s.isLong(i) {
		return s.long.At(i)
	}
	return s.blocks.At(i)
}

// find returns the first block that can have the row of u, or -1.
func (s *storedRows) find(u ID) int {
	i := sort.Search(len(s.First), func(i int) bool { return s.First[i] >= u })
	if i == len(s.First) || s.First[i] != u {
		i--
	}
	return i
}

// head returns the first n nodes of the row of u, or all if there are fewer. It reads no more
// blocks than that takes. With a buffer, which it may use, it decodes only these nodes, and does
// not change what the cache holds.
func (s *storedRows) head(u ID, n int, buffer []ID) []ID {
	i := s.find(u)
	if i < 0 {
		return nil
	}
	if s.isLong(i) {
		if long := s.long.Held(i); long != nil {
			to := long.joined.Row(u).To
			return to[:min(n, len(to))]
		}
	}
	to := s.appendHead(buffer[:0], i, u, n, buffer != nil)
	for j := i + 1; len(to) < n && s.isLong(i) && s.continues(j); j++ {
		to = s.appendHead(to, j, u, n-len(to), buffer != nil)
	}
	return to
}

// appendHead appends the first n nodes that block i has of the row of u. Unless the block is in
// memory, once says that only these nodes are decoded.
func (s *storedRows) appendHead(to []ID, i int, u ID, n int, once bool) []ID {
	if once && s.blocks.Held(i) == nil {
		err := s.cache.decode(s.kind, uint32(i), func(d *block.Decoder) (err error) {
			to, err = d.AppendHead(to, s.First[i], u, n)
			return err
		})
		if err != nil {
			s.cache.Fail(err)
		}
		return to
	}
	row := s.blocks.At(i).joined.Row(u).To
	if row = slices.Clip(row[:min(n, len(row))]); len(to) == 0 {
		return row
	}
	return append(to, row...)
}

// isLong reports whether block i begins with a row that continues in the next block.
func (s *storedRows) isLong(i int) bool { return s.continues(i+1) && !s.continues(i) }

// readLong decodes the row that begins with block i, and returns its size in memory.
func (s *storedRows) readLong(i int, long *rowBlock) (bytes int64, err error) {
	b := &long.edges
	err = s.readEdges(i, b)
	last := i
	for s.continues(last + 1) {
		last++
	}
	if n := (last - i) * len(b.To); n > 0 { // all blocks of a row have about as many entries
		b.Entries = b.Grown(n)
	}
	var more block.Rows
	for j := i + 1; err == nil && j <= last; j++ {
		if err = s.readEdges(j, &more); len(more.End) > 0 {
			b.Append(more.Sub(0, more.End[0]))
			b.End[0] = len(b.To)
		}
	}
	long.join()
	return long.bytes(), err
}

// readParts makes the edges by relation of block i, or of the long row that begins with it.
func (s *storedRows) readParts(i int, p *relationBlock) (bytes int64, err error) {
	edges := &s.at(i).edges
	p.node = edges.Node
	lo := 0
	for k, hi := range edges.End {
		p.add(ID(k), edges.Sub(lo, hi))
		lo = hi
	}
	p.finish()
	return 160 + p.segments.bytes() + 4*int64(len(p.node)), s.cache.Err()
}

// runs yields the rows of the nodes from lo up to but not including hi, a block at a time, and
// reports whether to go on. It keeps blocks while the cache is less than half full, as PageRank
// passes over the rows again and again. After that it changes nothing: a pass must not evict what
// answers need.
func (s *storedRows) runs(lo, hi ID, yield func(ID, ppr.Run) bool) bool {
	i, found := slices.BinarySearch(s.First, lo)
	if !found {
		i = max(i-1, 0)
	}
	var buffer rowBlock
	var start []uint32
	for next := lo; next < hi; i++ {
		if i >= len(s.First) || s.First[i] >= hi { // no more rows
			n := min(hi-next, 1<<14)
			if !yield(next, ppr.Run{Start: make([]uint32, n+1)}) {
				return false
			}
			next += n
			continue
		}
		set := s.blocks
		if s.isLong(i) {
			set = s.long
		}
		held, err := set.PeekOrKeep(i, &buffer)
		if err != nil {
			s.cache.Fail(err)
			return false
		}
		b, first, end := &held.joined, next, 0
		start = start[:0]
		for k, u := range b.Node {
			begin := end
			if end = b.End[k]; u >= hi {
				end = begin
				break
			}
			for ; next <= u; next++ {
				start = append(start, uint32(begin))
			}
		}
		if len(start) > 0 && !yield(first, ppr.Run{Start: append(start, uint32(end)), To: b.To, Weight: b.Weight}) {
			return false
		}
	}
	return true
}

// continues reports whether block j begins within a row.
func (s *storedRows) continues(j int) bool {
	return 0 < j && j < len(s.First) && s.First[j] == s.First[j-1]
}

// read decodes block i, and returns its size in memory.
func (s *storedRows) read(i int, b *rowBlock) (bytes int64, err error) {
	err = s.readEdges(i, &b.edges)
	b.join()
	return b.bytes(), err
}

// readEdges decodes the edges of block i.
func (s *storedRows) readEdges(i int, r *block.Rows) error {
	return s.cache.decode(s.kind, uint32(i), func(d *block.Decoder) error {
		err := d.Rows(r)
		if err == nil && (len(r.Node) == 0 || r.Node[0] != s.First[i]) {
			err = fmt.Errorf("%w: it does not begin with row %d", ErrCorrupt, s.First[i])
		}
		return err
	})
}

// openRows returns the rows of the blocks of a kind.
func openRows(dir *block.RowDirectory, n int, kind byte, cache *blockCache) *storedRows {
	s := &storedRows{RowDirectory: *dir, nodes: n, cache: cache, kind: kind}
	s.blocks = block.NewSet(&cache.Cache, len(dir.First), s.read)
	s.long = block.NewSet(&cache.Cache, len(dir.First), s.readLong)
	if dir.Several() {
		s.parts = block.NewSet(&cache.Cache, len(dir.First), s.readParts)
	}
	return s
}

// each reads all blocks and passes the edges of their rows to visit. A long row is passed in
// several parts.
func (s *storedRows) each(ctx context.Context, visit func(u ID, e block.Entries) error) error {
	order := rowOrder{nodes: s.nodes, last: -1}
	entries := uint64(0)
	var r block.Rows
	for i := range s.First {
		if i%block.PerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.readEdges(i, &r); err != nil {
			return err
		}
		entries += uint64(len(r.To))
		err := r.Each(func(u ID, e block.Entries) error {
			if err := order.check(u, e.To); err != nil {
				return err
			}
			return visit(u, e)
		})
		if err != nil {
			return s.cache.wrong(s.kind, uint32(i), err)
		}
	}
	if all := s.Entries + s.Parallel; entries != all {
		return fmt.Errorf("%w: the blocks %c have %d entries, the directory says %d", ErrCorrupt, s.kind, entries, all)
	}
	return nil
}

// rowOrder checks that entries come in the order of rows and neighbours.
type rowOrder struct {
	nodes int
	last  int64 // row and neighbour of the last entry
}

// check checks entries of row u, whose neighbours ascend.
func (o *rowOrder) check(u ID, to []ID) error {
	first, end := int64(u)<<32|int64(to[0]), to[len(to)-1]
	if first <= o.last || int(u) >= o.nodes || int(end) >= o.nodes {
		return fmt.Errorf("%w: row %d from node %d to %d among %d nodes, after row %d", ErrCorrupt, u, to[0], end, o.nodes, o.last>>32)
	}
	o.last = int64(u)<<32 | int64(end)
	return nil
}

// storedDegrees reads the degrees of a generation when they are asked for, a block at a time, and
// keeps them: 4 bytes a node, 8 if there are weights.
type storedDegrees struct{ *block.Set[block.Degrees] }

func openDegrees(n int, cache *blockCache) *storedDegrees {
	blocks := block.NewSet(&cache.Cache, (n+block.DegreeBlock-1)/block.DegreeBlock, func(no int, p *block.Degrees) (bytes int64, err error) {
		err = cache.decode(prefixDegree, uint32(no), func(d *block.Decoder) (err error) {
			*p, err = d.Degrees()
			return err
		})
		return p.Bytes(), err
	})
	blocks.Resident = true
	return &storedDegrees{blocks}
}

// of returns the degree of u, 0 for a node that the generation does not have.
func (s *storedDegrees) of(u ID) float64 {
	if no := int(u / block.DegreeBlock); no < s.Len() {
		return s.At(no).At(u % block.DegreeBlock)
	}
	return 0
}

// Stored is where the blocks of a generation come from.
type Stored struct {
	Source Source
	Cache  int64 // memory for decoded blocks, in bytes
}

// cache returns an empty cache of the blocks of a generation.
func (s *Stored) cache(generation uint32) *blockCache {
	return &blockCache{Cache: block.Cache{Budget: s.Cache}, source: s.Source, generation: generation}
}

// blockCache reads the blocks of a generation, and holds decoded ones.
type blockCache struct {
	block.Cache
	source     Source
	generation uint32
}

// decode reads a block and passes its content to decode.
func (c *blockCache) decode(kind byte, no uint32, decode func(*block.Decoder) error) error {
	_, d, err := c.read(kind, no)
	if err = cmp.Or(err, d.Err); err == nil {
		err = decode(d)
	}
	if err != nil {
		return c.wrong(kind, no, err)
	}
	return nil
}

// read returns a block as it is stored, and a decoder of its content, whose Err is set if the
// checksum is wrong. The error does not say which block it is about.
func (c *blockCache) read(kind byte, no uint32) (stored []byte, d *block.Decoder, err error) {
	stored, ok, err := c.source.Read(makeKey(kind, c.generation, no))
	if err == nil && !ok {
		err = fmt.Errorf("%w: it is missing", ErrCorrupt)
	}
	if err != nil {
		return nil, new(block.Decoder), err
	}
	return stored, block.VerifyChecksum(stored), nil
}

// wrong says which block an error is about.
func (c *blockCache) wrong(kind byte, no uint32, err error) error {
	return fmt.Errorf("block %c %d of generation %d: %w", kind, no, c.generation, err)
}

// readDirectory reads the directory of the blocks of a kind.
func readDirectory[T any](r Reader, kind byte, generation uint32, decode func([]byte) (*T, error)) (*T, error) {
	b, ok, err := getSplit(r, directoryKey(kind, generation))
	if err == nil && !ok {
		err = fmt.Errorf("%w: it is missing", ErrCorrupt)
	}
	var dir *T
	if err == nil {
		dir, err = decode(b)
	}
	if err != nil {
		return nil, fmt.Errorf("directory of the blocks %c of generation %d: %w", kind, generation, err)
	}
	return dir, nil
}
