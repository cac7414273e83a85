package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func wantCorrupt(t testing.TB, what string, err error) {
	t.Helper()
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("%s: got error %v, want ErrCorrupt", what, err)
	}
}

// entriesOf decodes the entries of blocks.
func entriesOf(blocks [][]byte) (entries []Edge, err error) {
	for _, b := range blocks {
		var r rows
		if err := verifyChecksum(b).rows(&r); err != nil {
			return nil, err
		}
		err := r.each(func(u ID, to []ID, w []float32, t []int64) error {
			for i, v := range to {
				entries = append(entries, Edge{u, v, planeAt(w, i, 1), planeAt(t, i, 0)})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// blocksOf returns the blocks of the out-rows of g.
func blocksOf(t rapid.TB, g *Graph) (blocks [][]byte) {
	store := newMemory()
	if err := writeRows(store, prefixOut, g); err != nil {
		t.Fatal(err)
	}
	for e := range store.Scan([]byte{prefixOut}, nil) {
		blocks = append(blocks, slices.Clone(e.Value))
	}
	return blocks
}

// entries returns the entries of the out-rows of m in order.
func (m *edgeMap) entries() (all []Edge) {
	for _, e := range m.list() {
		all = append(all, e)
		if !m.directed && e.U != e.V {
			all = append(all, Edge{e.V, e.U, e.Weight, e.Time})
		}
	}
	slices.SortFunc(all, func(a, b Edge) int { return cmp.Or(cmp.Compare(a.U, b.U), cmp.Compare(a.V, b.V)) })
	return all
}

func TestBlocksRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := genEdges(t, rapid.IntRange(1, 40).Draw(t, "nodes"))
		got, err := entriesOf(blocksOf(t, m.base(t)))
		if err != nil || !slices.Equal(got, m.entries()) {
			t.Fatalf("%v: got %v, want %v", err, got, m.entries())
		}
	})
}

// TestPackerKeepsRowsTogether verifies that a row is in one block, or in consecutive blocks that begin with it.
func TestPackerKeepsRowsTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var blocks []rows
		p := packer{emit: func(_ ID, b []byte) error {
			var r rows
			err := verifyChecksum(b).rows(&r)
			blocks = append(blocks, r)
			return err
		}}
		entries := 0
		for u := range ID(rapid.IntRange(1, 60).Draw(t, "rows")) {
			n := rapid.SampledFrom([]int{0, 1, 30, 700, 5 * blockSize}).Draw(t, "entries")
			entries += n
			for v := range n {
				if err := p.add(Edge{U: u, V: ID(v), Weight: 1}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		last := int64(-1)
		for i, r := range blocks {
			if len(r.node) == 0 || int64(r.node[0]) == last && i > 0 && blocks[i-1].node[0] != r.node[0] {
				t.Fatalf("block %d has the rows %v, the one before it %v", i, r.node, blocks[i-1].node)
			}
			entries -= len(r.to)
			last = int64(r.node[len(r.node)-1])
		}
		if entries != 0 {
			t.Fatalf("%d entries are missing", entries)
		}
	})
}

// TestBlocksOfALongRow verifies blocks of a hub, whose row spans several blocks, and of many rows.
func TestBlocksOfALongRow(t *testing.T) {
	t.Parallel()
	for name, weight := range map[string]func(v int) float32{
		"unweighted": func(int) float32 { return 1 },
		"weighted":   func(v int) float32 { return float32(v) },
	} {
		const n = 50_000
		m := &edgeMap{directed: true, nodes: n, edges: map[[2]ID]Edge{}}
		for v := 1; v < n; v++ {
			m.set(0, ID(v), weight(v), int64(v%2))
		}
		m.set(3, 1, 1, 0)
		blocks := blocksOf(t, m.base(t))
		if len(blocks) < 3 {
			t.Errorf("%s: %d blocks, want some", name, len(blocks))
		}
		for i, b := range blocks {
			if len(b) > 3*blockSize {
				t.Errorf("%s: block %d has %d bytes, want about %d", name, i, len(b), blockSize)
			}
		}
		if got, err := entriesOf(blocks); err != nil || !slices.Equal(got, m.entries()) {
			t.Errorf("%s: %v, %d entries, want %d", name, err, len(got), n)
		}
	}
}

func TestBlockDamage(t *testing.T) {
	t.Parallel()
	m := &edgeMap{nodes: 9, edges: map[[2]ID]Edge{}}
	m.set(1, 2, 1, 0)
	m.set(1, 5, 2, 7)
	m.set(3, 3, 1, 9)
	block := blocksOf(t, m.base(t))[0]
	for i := range block {
		for bit := range 8 {
			b := slices.Clone(block)
			b[i] ^= 1 << bit
			if _, err := entriesOf([][]byte{b}); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("byte %d, bit %d: got %v, want ErrCorrupt", i, bit, err)
			}
		}
		_, err := entriesOf([][]byte{block[:i]})
		wantCorrupt(t, "cut short", err)
	}
}

// resum returns a copy of a block with a correct checksum of its content.
func resum(b []byte) []byte {
	b = slices.Clone(b)
	if len(b) >= 4 {
		binary.LittleEndian.PutUint32(b, Checksum(b[4:]))
	}
	return b
}

// FuzzRows verifies that bytes which are not a block are an error, even with a correct checksum, and that a block never
// decodes to more entries than it has bytes.
func FuzzRows(f *testing.F) {
	m := &edgeMap{nodes: 9, edges: map[[2]ID]Edge{}}
	for i, e := range []Edge{{1, 2, 1, 0}, {1, 5, 2, 7}, {3, 3, 1, 9}, {4, 8, 0.5, -1}} {
		m.set(e.U, e.V, e.Weight, e.Time)
		if i%2 == 1 {
			f.Add(blocksOf(f, m.base(f))[0])
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r rows
		err := verifyChecksum(resum(b)).rows(&r)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		if n := len(r.to); n > len(b) || err == nil && (r.weight != nil && len(r.weight) != n || r.time != nil && len(r.time) != n) {
			t.Fatalf("%d entries, %d weights and %d times of %d bytes", n, len(r.weight), len(r.time), len(b))
		}
		for i := range r.node {
			if lo := (append([]int{0}, r.end...))[i]; err == nil && (lo >= r.end[i] || !slices.IsSorted(r.to[lo:r.end[i]]) || i > 0 && r.node[i-1] >= r.node[i]) {
				t.Fatalf("rows %+v", r)
			}
		}
	})
}

// writeRows writes the rows of one direction of g as generation 1.
func writeRows(w Writer, kind byte, g *Graph) error {
	rows, a := newRowWriter(w, kind, 1, g.nodes), g.out
	if kind == prefixIn {
		a = g.in
	}
	return errors.Join(a.entries(g.nodes, rows.add), rows.close())
}
