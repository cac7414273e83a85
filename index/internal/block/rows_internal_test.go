package block

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// pack returns the blocks of entries.
func pack(t rapid.TB, entries []entry) (blocks [][]byte) {
	t.Helper()
	p := RowPacker{Emit: func(_ ID, b []byte) error {
		blocks = append(blocks, b)
		return nil
	}}
	for _, e := range entries {
		_ = p.Add(e.row, e.to, e.relation, e.weight, e.time) // returns the errors of Emit
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return blocks
}

// unpack decodes the entries of blocks.
func unpack(blocks [][]byte) (entries []entry, err error) {
	for _, b := range blocks {
		var r Rows
		if err := VerifyChecksum(b).Rows(&r); err != nil {
			return nil, err
		}
		_ = r.Each(func(u ID, e Entries) error {
			for i, v := range e.To {
				w, t := e.At(i)
				entries = append(entries, entry{u, v, e.RelationAt(i), w, t})
			}
			return nil
		})
	}
	return entries, nil
}

func byRow(a, b entry) int {
	return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.to, b.to), cmp.Compare(a.relation, b.relation))
}

func TestRowsRoundTrip(t *testing.T) {
	t.Parallel()
	var relations []uint16
	gen := rapid.Custom(func(t *rapid.T) entry {
		return entry{
			rapid.Uint32Max(40).Draw(t, "row"), rapid.OneOf(rapid.Uint32Max(40), rapid.Uint32()).Draw(t, "to"),
			rapid.SampledFrom(relations).Draw(t, "relation"),
			rapid.SampledFrom([]float32{1, 1, 1, 0.5, 3, 1e-12, 1e12}).Draw(t, "weight"),
			rapid.SampledFrom([]int64{0, 0, 0, 1, -5, 1 << 40}).Draw(t, "time"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		relations = rapid.SampledFrom([][]uint16{{0}, {7}, {0, 1}, {0, 3, 65_535}, {1, 2, 3, 4, 5, 300, 301, 302, 999}}).Draw(t, "relations")
		want := rapid.SliceOfDistinct(gen, func(e entry) [3]ID { return [3]ID{e.row, e.to, ID(e.relation)} }).Draw(t, "entries")
		slices.SortFunc(want, byRow)
		got, err := unpack(pack(t, want))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v: got %v, want %v", err, got, want)
		}
	})
}

// TestPackerKeepsRowsTogether verifies that a row is in one block, or in consecutive blocks that
// begin with it.
func TestPackerKeepsRowsTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var entries []entry
		for u := range ID(rapid.IntRange(1, 20).Draw(t, "rows")) {
			for v := range rapid.SampledFrom([]ID{0, 1, 30, 700, 5 * blockSize}).Draw(t, "entries") {
				entries = append(entries, entry{u, v, 0, 1, 0})
			}
		}
		var blocks []Rows
		for i, b := range pack(t, entries) {
			var r Rows
			if err := VerifyChecksum(b).Rows(&r); err != nil || len(r.Node) == 0 {
				t.Fatalf("block %d: %d rows, %v", i, len(r.Node), err)
			}
			blocks = append(blocks, r)
		}
		last, n := int64(-1), 0
		for i, r := range blocks {
			if int64(r.Node[0]) == last && i > 0 && blocks[i-1].Node[0] != r.Node[0] {
				t.Fatalf("block %d has the rows %v, the one before it %v", i, r.Node, blocks[i-1].Node)
			}
			n += len(r.To)
			last = int64(r.Node[len(r.Node)-1])
		}
		if n != len(entries) {
			t.Fatalf("%d entries, want %d", n, len(entries))
		}
	})
}

// TestBlocksOfALongRow verifies the size of the blocks of a hub, whose row spans several blocks,
// and Row.
func TestBlocksOfALongRow(t *testing.T) {
	t.Parallel()
	for name, weight := range map[string]func(v int) float32{
		"unweighted": func(int) float32 { return 1 },
		"weighted":   func(v int) float32 { return float32(v) },
	} {
		const n = 50_000
		var want []entry
		for v := 1; v < n; v++ {
			want = append(want, entry{0, ID(v), 0, weight(v), int64(v % 2)})
		}
		want = append(want, entry{3, 1, 0, 1, 0}, entry{7, 2, 0, 1, 9})
		blocks := pack(t, want)
		if len(blocks) < 3 {
			t.Errorf("%s: %d blocks, want some", name, len(blocks))
		}
		for i, b := range blocks {
			if len(b) > 3*blockSize {
				t.Errorf("%s: block %d has %d bytes, want about %d", name, i, len(b), blockSize)
			}
		}
		if got, err := unpack(blocks); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %d entries, want %d", name, err, len(got), n)
		}
		var last Rows
		if err := VerifyChecksum(blocks[len(blocks)-1]).Rows(&last); err != nil {
			t.Fatal(err)
		}
		row := last.Row(7)
		if none := last.Row(5); none.To != nil || len(row.To) != 1 || row.To[0] != 2 || row.Time[0] != 9 {
			t.Errorf("%s: row 7 is %v, row 5 %v", name, row, none)
		}
	}
}

// TestJoined verifies the joined rows of a block, and the entries of one relation.
func TestJoined(t *testing.T) {
	t.Parallel()
	blocks := pack(t, []entry{
		{1, 2, 0, 1, 5}, {1, 2, 3, 0.5, -9}, {1, 7, 3, 2, 0},
		{4, 4, 1, MaxWeight, 0}, {4, 4, 2, MaxWeight, -3}, {4, 5, 0, 1, 0},
	})
	var r Rows
	if err := VerifyChecksum(blocks[0]).Rows(&r); err != nil {
		t.Fatal(err)
	}
	row := r.Row(1)
	for relation, want := range map[uint16]Entries{
		0: {To: []ID{2}, Time: []int64{5}}, 1: {}, 3: {To: []ID{2, 7}, Weight: []float32{0.5, 2}, Time: []int64{-9, 0}},
	} {
		if got := row.Only(relation); !got.Equal(want) {
			t.Errorf("relation %d has %v, want %v", relation, got, want)
		}
	}
	joined := r.Joined()
	for u, want := range map[ID]Entries{
		1: {To: []ID{2, 7}, Weight: []float32{1.5, 2}, Time: []int64{5, 0}},
		4: {To: []ID{4, 5}, Weight: []float32{MaxWeight, 1}, Time: []int64{-3, 0}},
	} {
		if got := joined.Row(u); !got.Equal(want) {
			t.Errorf("the joined row of %d is %v, want %v", u, got, want)
		}
	}
}

// TestSorter verifies that rows are sorted by relation, and that a row leaves nothing for the next
// one.
func TestSorter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s Sorter
		var got Entries
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			var row Entries
			for v := range ID(rapid.IntRange(0, 10).Draw(t, "neighbours")) {
				for r := range rapid.Uint16Range(0, 4).Draw(t, "relations") {
					row.Add(v, 3*r, rapid.SampledFrom([]float32{1, 2}).Draw(t, "weight"), rapid.Int64Range(0, 1).Draw(t, "time"))
				}
			}
			begin := len(got.To)
			var relations []uint16
			var ends []int
			s.Append(&got, row, func(relation uint16, end int) {
				relations, ends = append(relations, relation), append(ends, end)
			})
			if want := row.Relations(); !slices.Equal(relations, want) {
				t.Fatalf("relations %v, want %v", relations, want)
			}
			for i, r := range relations {
				if segment, want := got.Sub(begin, ends[i]), row.Only(r); !segment.Equal(want) {
					t.Fatalf("relation %d: %v, want %v", r, segment, want)
				}
				begin = ends[i]
			}
		}
	})
}

// TestAppendHead verifies that the first neighbours of each row are those of the decoded block, and
// that a block which begins with another row is an error.
func TestAppendHead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var entries []entry
		parallel := rapid.SampledFrom([][]int{{1}, {1, 2, 3}}).Draw(t, "parallel")
		for u := ID(rapid.IntRange(0, 3).Draw(t, "first")); len(entries) < 300; u += ID(rapid.IntRange(1, 2).Draw(t, "step")) {
			v := ID(0)
			for range rapid.IntRange(1, 40).Draw(t, "entries") {
				v += 1 + rapid.SampledFrom([]ID{0, 1, 127, 128, 1 << 14, 1 << 21}).Draw(t, "gap")
				for r := range rapid.SampledFrom(parallel).Draw(t, "edges") {
					entries = append(entries, entry{u, v, uint16(r), 1, int64(v % 2)})
				}
			}
		}
		b := pack(t, entries)[0]
		var r Rows
		if err := VerifyChecksum(b).Rows(&r); err != nil {
			t.Fatal(err)
		}
		for u := range r.Node[len(r.Node)-1] + 2 {
			row := r.Row(u)
			want := row.Joined().To
			for _, n := range []int{1, 3, 100} {
				got, err := VerifyChecksum(b).AppendHead([]ID{5}, r.Node[0], u, n)
				if err != nil || got[0] != 5 || !slices.Equal(got[1:], want[:min(n, len(want))]) {
					t.Fatalf("%v: the first %d neighbours of %d are %v, of %v", err, n, u, got[1:], want)
				}
			}
		}
		if _, err := VerifyChecksum(b).AppendHead(nil, r.Node[0]+1, r.Node[0]+1, 1); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("the first row of another block: %v", err)
		}
	})
}

func TestBlockDamage(t *testing.T) {
	t.Parallel()
	for _, entries := range [][]entry{
		{{1, 2, 0, 1, 0}, {1, 5, 0, 2, 7}, {3, 3, 0, 1, 9}},
		{{1, 2, 5, 1, 0}, {1, 2, 6, 2, 7}, {3, 3, 0, 1, 9}},
	} {
		damageBlock(t, pack(t, entries)[0])
	}
}

// damageBlock verifies that each flipped bit of a block is noticed, and each end that is missing.
func damageBlock(t *testing.T, block []byte) {
	t.Helper()
	for i := range block {
		for bit := range 8 {
			b := slices.Clone(block)
			b[i] ^= 1 << bit
			if _, err := unpack([][]byte{b}); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("byte %d, bit %d: got %v, want ErrCorrupt", i, bit, err)
			}
		}
		if _, err := unpack([][]byte{block[:i]}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut to %d bytes: got %v, want ErrCorrupt", i, err)
		}
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

// FuzzRows verifies that bytes which are not a block are an error, even with a correct checksum,
// and that a block never decodes to more entries than it has bytes.
func FuzzRows(f *testing.F) {
	entries := []entry{{1, 2, 0, 1, 0}, {1, 5, 0, 2, 7}, {3, 3, 0, 1, 9}, {4, 8, 2, 0.5, -1}, {4, 8, 3, 1, 0}, {4, 9, 0, 1, 0}}
	f.Add(pack(f, entries[:2])[0])
	f.Add(pack(f, entries[:4])[0])
	f.Add(pack(f, entries)[0])
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Rows
		err := VerifyChecksum(resum(b)).Rows(&r)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		if n := len(r.To); n > len(b) || err == nil && (r.Relation != nil && len(r.Relation) != n || r.Weight != nil && len(r.Weight) != n || r.Time != nil && len(r.Time) != n) {
			t.Fatalf("%d entries, %d relations, %d weights and %d times of %d bytes", n, len(r.Relation), len(r.Weight), len(r.Time), len(b))
		}
		for i, u := range r.Node {
			head, headErr := VerifyChecksum(resum(b)).AppendHead(nil, r.Node[0], u, 3)
			if row := slices.Compact(slices.Clone(r.Row(u).To)); err == nil && (headErr != nil || !slices.Equal(head, row[:min(3, len(row))])) {
				t.Fatalf("row %d begins %v, %v; want %v", u, head, headErr, row)
			}
			if lo := (append([]int{0}, r.End...))[i]; err == nil && (lo >= r.End[i] || !ascends(r.Sub(lo, r.End[i])) || i > 0 && r.Node[i-1] >= r.Node[i]) {
				t.Fatalf("rows %+v", r)
			}
		}
	})
}

// ascends reports whether the entries of a row ascend strictly by neighbour and relation.
func ascends(row Entries) bool {
	for i := range row.To {
		if at, ok := row.Find(row.To[i], row.RelationAt(i)); !ok || at != i {
			return false
		}
	}
	return true
}

// BenchmarkRows measures the decoding of blocks, in nanoseconds an entry: of short rows and of a
// hub, in a graph of a million nodes.
func BenchmarkRows(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name string
		gap  uint32 // about the difference between neighbours
		row  int    // about the number of entries of a row
	}{{"near", 50, 10}, {"far", 50_000, 10}, {"hub", 100, 1 << 20}, {"mixed", 300, 1 << 20}} {
		var entries []entry
		for u := ID(0); len(entries) < 1_000_000; u++ {
			v := rng.Uint32N(c.gap)
			for range min(1+rng.IntN(2*c.row), 20_000) {
				entries = append(entries, entry{u, v, 0, 1, 0})
				v += 1 + rng.Uint32N(2*c.gap)
			}
		}
		blocks := pack(b, entries)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var r Rows
			for b.Loop() {
				for _, block := range blocks {
					if err := (&Decoder{B: block[4:]}).Rows(&r); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(entries)), "ns/entry")
		})
	}
}
