package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"kith/ppr"
)

// storedRows reads the rows of one direction from the blocks of a generation when they are asked for. It takes 12 bytes
// of memory for each block, and what its cache allows for decoded blocks. An unreadable row is empty, and the cache keeps
// the error.
type storedRows struct {
	directory
	nodes  int
	cache  *blockCache
	kind   byte
	blocks *blockSet[rows] // if the row of a block continues in the next ones, its place has that row, in full, and no other
}

// row returns the row of u.
func (s *storedRows) row(u ID) ([]ID, []float32, []int64) {
	i := sort.Search(len(s.first), func(i int) bool { return s.first[i] >= u })
	if i == len(s.first) || s.first[i] != u {
		i--
	}
	if i < 0 {
		return nil, nil, nil
	}
	b := s.blocks.at(i)
	k, ok := slices.BinarySearch(b.node, u)
	if !ok {
		return nil, nil, nil
	}
	lo, hi := 0, b.end[k]
	if k > 0 {
		lo = b.end[k-1]
	}
	return b.to[lo:hi:hi], subPlane(b.weight, lo, hi), subPlane(b.time, lo, hi)
}

// readRow decodes block i and, if its row continues in the next ones, the rest of the row. It returns their size in memory.
func (s *storedRows) readRow(i int, b *rows) (bytes int64, err error) {
	err = s.read(i, b)
	for j := i + 1; err == nil && s.continues(j) && !s.continues(i); j++ {
		var more rows
		err = s.read(j, &more)
		b.extend(&more)
	}
	return b.bytes(), err
}

// runs yields the rows of the nodes from lo up to but not including hi, a block at a time, and reports whether to go on. It
// does not change what the cache holds: a pass must not evict what answers need.
func (s *storedRows) runs(lo, hi ID, yield func(ID, ppr.Run) bool) bool {
	i, found := slices.BinarySearch(s.first, lo)
	if !found {
		i = max(i-1, 0)
	}
	var buffer rows
	var start []uint32
	for next := lo; next < hi; i++ {
		if i >= len(s.first) || s.first[i] >= hi { // no more rows
			n := min(hi-next, 1<<14)
			if !yield(next, ppr.Run{Start: make([]uint32, n+1)}) {
				return false
			}
			next += n
			continue
		}
		b, err := s.blocks.peek(i, &buffer)
		if err != nil {
			s.cache.fail(err)
			return false
		}
		first, end := next, 0
		start = start[:0]
		for k, u := range b.node {
			begin := end
			if end = b.end[k]; u >= hi {
				end = begin
				break
			}
			for ; next <= u; next++ {
				start = append(start, uint32(begin))
			}
		}
		if len(start) > 0 && !yield(first, ppr.Run{Start: append(start, uint32(end)), To: b.to, Weight: b.weight}) {
			return false
		}
	}
	return true
}

// continues reports whether block j begins within a row.
func (s *storedRows) continues(j int) bool {
	return 0 < j && j < len(s.first) && s.first[j] == s.first[j-1]
}

// read decodes block i.
func (s *storedRows) read(i int, r *rows) error {
	return s.cache.decode(s.kind, uint32(i), func(d *decoder) error {
		err := d.rows(r)
		if err == nil && (len(r.node) == 0 || r.node[0] != s.first[i]) {
			err = fmt.Errorf("%w: it does not begin with row %d", ErrCorrupt, s.first[i])
		}
		return err
	})
}

// extend appends the entries of the first row of more to the only row of r.
func (r *rows) extend(more *rows) {
	if len(more.node) == 0 {
		return
	}
	n := more.end[0]
	r.weight = appendRun(r.weight, len(r.to), subPlane(more.weight, 0, n), n, 1)
	r.time = appendRun(r.time, len(r.to), subPlane(more.time, 0, n), n, 0)
	r.to = append(r.to, more.to[:n]...)
	r.end[0] = len(r.to)
}

// bytes returns the memory of r in bytes.
func (r *rows) bytes() int64 {
	return 160 + 4*int64(cap(r.node)+cap(r.to)+cap(r.weight)) + 8*int64(cap(r.end)+cap(r.time))
}

// openGraph returns the graph of a generation of n nodes, whose rows are read when they are asked for.
func openGraph(r Reader, cache *blockCache, m *Meta) (*Graph, error) {
	out, err := readDirectory(r, prefixOut, m.Generation)
	var in *directory
	if err == nil && m.Directed {
		in, err = readDirectory(r, prefixIn, m.Generation)
	}
	if err != nil {
		return nil, err
	}
	return pagedGraph(int(m.BaseNodes), out, in, cache), nil
}

// pagedGraph returns the graph of the blocks of a generation with the given directories, whose rows are read when they are
// asked for. in is nil for an undirected graph.
func pagedGraph(n int, out, in *directory, cache *blockCache) *Graph {
	open := func(kind byte, dir *directory) *base {
		s := &storedRows{directory: *dir, nodes: n, cache: cache, kind: kind}
		s.blocks = newBlockSet(cache, len(dir.first), s.readRow)
		return &base{stored: s}
	}
	g := NewGraph(in != nil)
	g.nodes = n
	g.out.base = open(prefixOut, out)
	g.out.base.degrees = openDegrees(n, cache)
	if in != nil {
		g.in.base = open(prefixIn, in)
	}
	g.edges, g.loops = out.edges(in != nil)
	return g
}

// edges returns the number of edges and of loops of a graph with these out-rows.
func (d *directory) edges(directed bool) (edges, loops int64) {
	if directed {
		return int64(d.entries), int64(d.loops)
	}
	return int64(d.entries+d.loops) / 2, int64(d.loops)
}

// Loaded reports whether all rows are in memory.
func (g *Graph) Loaded() bool {
	return g.out.base.memory.Load() != nil && g.in.base.memory.Load() != nil
}

// Err returns the error of the first row that could not be read, after which answers may be wrong.
func (g *Graph) Err() error {
	if s := g.out.base.stored; s != nil {
		return s.cache.err()
	}
	return nil
}

// Load reads all rows of the base into memory. All versions with this base use them from then on. It returns ErrCorrupt,
// which Err returns from then on, too, or the error of ctx.
func (g *Graph) Load(ctx context.Context) error {
	if g.Loaded() {
		return g.Err()
	}
	stored := g.out.base.stored
	out, in := rowBuilder{expected: stored.directory}, rowBuilder{expected: g.in.base.stored.directory}
	if err := g.eachStored(ctx, out.add, in.add); err != nil {
		return err
	}
	n := stored.nodes
	loaded := graphOf(g.directed, n, out.rows(n), in.rows(n))
	if g.directed {
		g.in.base.memory.Store(loaded.in.base.memory.Load())
	}
	g.out.base.memory.Store(loaded.out.base.memory.Load())
	stored.cache.clear()
	return nil
}

// CheckStored reads all blocks of the rows of the base. It returns ErrCorrupt, which Err returns from then on, too, or the
// error of ctx.
func (g *Graph) CheckStored(ctx context.Context) error {
	none := func(ID, []ID, []float32, []int64) error { return nil }
	return g.eachStored(ctx, none, none)
}

// eachStored reads the blocks of all rows of the base, and passes the rows to out and in. An undirected graph has no
// in-rows. It returns ErrCorrupt, which Err returns from then on, too, or the error of ctx.
func (g *Graph) eachStored(ctx context.Context, out, in func(u ID, to []ID, weight []float32, time []int64) error) error {
	sum := balance{directed: g.directed}
	err := g.out.base.stored.each(ctx, func(u ID, to []ID, weight []float32, time []int64) error {
		sum.add(u, to, weight, time, false)
		return out(u, to, weight, time)
	})
	if err == nil && g.directed {
		err = g.in.base.stored.each(ctx, func(u ID, to []ID, weight []float32, time []int64) error {
			sum.add(u, to, weight, time, true)
			return in(u, to, weight, time)
		})
	}
	if err == nil {
		err = sum.err()
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrTooLarge) {
		g.out.base.stored.cache.fail(err)
	}
	return err
}

// each reads all blocks and passes their rows to visit. A long row is passed in several parts.
func (s *storedRows) each(ctx context.Context, visit func(u ID, to []ID, weight []float32, time []int64) error) error {
	order := rowOrder{nodes: s.nodes, last: -1}
	entries := uint64(0)
	var r rows
	for i := range s.first {
		if i%blocksPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.read(i, &r); err != nil {
			return err
		}
		entries += uint64(len(r.to))
		err := r.each(func(u ID, to []ID, weight []float32, time []int64) error {
			if err := order.check(u, to); err != nil {
				return err
			}
			return visit(u, to, weight, time)
		})
		if err != nil {
			return s.cache.wrong(s.kind, uint32(i), err)
		}
	}
	if entries != s.entries {
		return fmt.Errorf("%w: the blocks %c have %d entries, the directory says %d", ErrCorrupt, s.kind, entries, s.entries)
	}
	return nil
}
