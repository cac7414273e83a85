package index

import (
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

// edgesOf decodes the edges of blocks.
func edgesOf(blocks [][]byte) (edges []Edge, err error) {
	for _, b := range blocks {
		if edges, err = verifyChecksum(b).edges(edges); err != nil {
			break
		}
	}
	return edges, err
}

func blocksOf(t rapid.TB, g *Graph) (blocks [][]byte) {
	if err := eachBlock(g, func(b []byte) error { blocks = append(blocks, b); return nil }); err != nil {
		t.Fatal(err)
	}
	return blocks
}

func TestBlocksRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := genEdges(t, rapid.IntRange(1, 40).Draw(t, "nodes"))
		got, err := edgesOf(blocksOf(t, m.base(t)))
		if err != nil || !slices.Equal(got, m.list()) {
			t.Fatalf("%v: got %v, want %v", err, got, m.list())
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
		if got, err := edgesOf(blocks); err != nil || !slices.Equal(got, m.list()) {
			t.Errorf("%s: %v, %d edges, want %d", name, err, len(got), n)
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
			if _, err := edgesOf([][]byte{b}); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("byte %d, bit %d: got %v, want ErrCorrupt", i, bit, err)
			}
		}
		_, err := edgesOf([][]byte{block[:i]})
		wantCorrupt(t, "cut short", err)
	}
}

func TestEachEdgeStops(t *testing.T) {
	t.Parallel()
	m := &edgeMap{nodes: 9, edges: map[[2]ID]Edge{}}
	m.set(1, 2, 1, 0)
	m.set(1, 5, 2, 7)
	stop := errors.New("stop")
	calls := 0
	err := eachEdge([][]byte{blocksOf(t, m.base(t))[0][4:]}, func(Edge) error { calls++; return stop })
	if err != stop || calls != 1 {
		t.Errorf("%v after %d calls, want the caller's error after one", err, calls)
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

// FuzzEachEdge verifies that bytes which are not a block are an error, even with a correct checksum, and that a
// block never decodes to more edges than it has bytes.
func FuzzEachEdge(f *testing.F) {
	m := &edgeMap{nodes: 9, edges: map[[2]ID]Edge{}}
	for i, e := range []Edge{{1, 2, 1, 0}, {1, 5, 2, 7}, {3, 3, 1, 9}, {4, 8, 0.5, -1}} {
		m.set(e.U, e.V, e.Weight, e.Time)
		if i%2 == 1 {
			f.Add(blocksOf(f, m.base(f))[0])
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		edges, err := verifyChecksum(resum(b)).edges(nil)
		for n, e := range edges {
			if n >= len(b) || err == nil && !ValidWeight(e.Weight) {
				t.Fatalf("edge %d of %d bytes is %v", n, len(b), e)
			}
		}
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}
