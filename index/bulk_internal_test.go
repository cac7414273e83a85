package index

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kith/index/internal/block"
)

// paper is an in-memory Scratch.
type paper struct{ b []byte }

func newPaper() (Scratch, error) { return &paper{}, nil }

func (p *paper) WriteAt(b []byte, at int64) (int, error) {
	p.b = slices.Grow(p.b, max(0, int(at)+len(b)-len(p.b)))[:max(len(p.b), int(at)+len(b))]
	return copy(p.b[at:], b), nil
}

func (p *paper) ReadAt(b []byte, at int64) (int, error) {
	n := copy(b, p.b[min(at, int64(len(p.b))):])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// bulkOf loads lines on top of s, and returns the result and the load.
func bulkOf(s *Snapshot, lines []bulkLine, o BulkOptions) (*Snapshot, *Bulk, error) {
	b, err := collect(s, lines, o)
	if err != nil {
		b.Close()
		return nil, b, err
	}
	defer b.Close()
	next, _, err := b.writeTo(context.Background(), newMemory(), s.Meta.Generation+1)
	return next, b, err
}

// collect returns a load of lines on top of s.
func collect(s *Snapshot, lines []bulkLine, o BulkOptions) (*Bulk, error) {
	b := s.Bulk(o)
	for i, l := range lines {
		if i >= len(lines)/2 && s.Meta.Directed { // for half of the lines of half of the tests
			pair := [][2]string{{"from", "to"}, {"", "to"}, {"to", "other"}}[i%3]
			if err := b.SetLabels(pair[0], pair[1]); err != nil {
				return b, err
			}
		}
		if err := l.add(b); err != nil {
			return b, err
		}
	}
	return b, nil
}

// scene returns a graph with nodes that are deleted and edges, and lines to load on top of it.
func scene(t testing.TB, directed bool) (*Snapshot, []bulkLine) {
	t.Helper()
	meta := soundMeta()
	meta.Directed = directed
	rng := rand.New(rand.NewPCG(7, 8))
	key := func() Key {
		if n := rng.Int64N(60); n < 30 {
			return Int(n * 1000)
		} else {
			return Str(strings.Repeat("long", int(n)) + fmt.Sprint(n))
		}
	}
	line := func() bulkLine { return bulkLine{key(), key(), 1, 0, ""} }
	var lines []bulkLine
	for range 40 {
		lines = append(lines, line())
	}
	s, _, err := bulkOf(New(meta), lines, BulkOptions{Scratch: newPaper})
	if err != nil {
		t.Fatal(err)
	}
	batch := s.Begin()
	for id := ID(0); int(id) < s.Graph.nodes; id += 3 {
		if err := batch.DeleteNode(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Write(newMemory(), Commit{}); err != nil {
		t.Fatal(err)
	}
	lines = nil
	for i := range 300 {
		l := line()
		if i%4 == 3 {
			l.weight, l.time = float32(1+rng.IntN(4)), rng.Int64N(9)
		}
		lines = append(lines, l)
	}
	return batch.Snapshot(), lines
}

// TestBulkMemory verifies that a bulk load has the same result whatever its memory: ids, rows,
// labels, events.
func TestBulkMemory(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		s, lines := scene(t, directed)
		want, _, err := bulkOf(s, lines, BulkOptions{Repeats: SumWeights})
		if err != nil {
			t.Fatal(err)
		}
		checkSound(t, want)
		for _, memory := range []int64{1, 500, 3000, 20_000, 1 << 20} {
			got, b, err := bulkOf(s, lines, BulkOptions{Memory: memory, Scratch: newPaper, Repeats: SumWeights})
			if err != nil {
				t.Fatal(err)
			}
			if err := want.Same(got); err != nil {
				t.Errorf("directed %v, memory %d: %v", directed, memory, err)
			}
			if runs := len(b.writer.runs); runs == 0 && memory < 1<<20 || runs == 1 {
				t.Errorf("memory %d: %d runs", memory, runs)
			}
			if want.Meta.Live != got.Meta.Live || !slices.Equal(want.CountLabels(), got.CountLabels()) {
				t.Errorf("memory %d: %d nodes, labels %v; want %d, %v", memory, got.Meta.Live, got.CountLabels(), want.Meta.Live, want.CountLabels())
			}
		}
	}
}

// TestRunKeys verifies that keys are numbered in the order of their first occurrence and listed in
// key order, whether integers are dense, sparse, negative or very large.
func TestRunKeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		genInt := rapid.OneOf(rapid.Int64Range(0, 3000), rapid.Int64Range(-9, 100_000), rapid.Int64())
		var keys runKeys
		for range 2 { // the second time with the tables of the first
			want := map[Key]ID{}
			for range rapid.IntRange(0, 3000).Draw(t, "keys") {
				k := Int(genInt.Draw(t, "key"))
				if len(want)%7 == 6 {
					k = Str(k.Literal())
				}
				next, known := want[k]
				if !known {
					next = ID(len(want))
					want[k] = next
				}
				if id, err := keys.id(k); id != next || err != nil {
					t.Fatalf("key %v has number %d, want %d, %v", k.Literal(), id, next, err)
				}
			}
			inOrder := slices.SortedFunc(maps.Keys(want), Key.Compare)
			for range 2 {
				var got []Key
				for k, id := range keys.ascending {
					if id != want[k.Key] {
						t.Fatalf("key %v is listed with number %d, want %d", k.Key.Literal(), id, want[k.Key])
					}
					got = append(got, k.Key)
				}
				if !slices.Equal(got, inOrder) {
					t.Fatalf("%d keys are listed, %d in order expected", len(got), len(inOrder))
				}
			}
			keys.clear()
		}
	})
}

// TestBulkRunBytes verifies that long keys fill a run: no run takes more memory than half of the
// load's, apart from its last edge.
func TestBulkRunBytes(t *testing.T) {
	t.Parallel()
	const memory = 1 << 16
	b := New(soundMeta()).Bulk(BulkOptions{Memory: memory, Scratch: newPaper})
	defer b.Close()
	most := 0
	for i := range 2000 {
		k := Str(strings.Repeat("x", i%block.MaxKeyLen) + fmt.Sprint(i)[:1])
		if err := b.Edge(k, Int(int64(i)), 0, 1, 0); err != nil {
			t.Fatal(err)
		}
		text := int64(0)
		for _, k := range b.run.keys.strs.keys {
			text += int64(len(k.key))
		}
		if text != b.run.keys.text || b.run.bytes() > memory/2+2*block.MaxKeyLen {
			t.Fatalf("a run of %d bytes, %d of text, counted %d", b.run.bytes(), text, b.run.keys.text)
		}
		most = max(most, b.run.edges.Len())
	}
	if most < 10 || most > memory/2/edgeBytes {
		t.Errorf("up to %d edges in a run", most)
	}
}

// TestBulkEntries verifies the entries of the rows in both directions, whatever the memory, with
// and without edges in the graph before.
func TestBulkEntries(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		meta := soundMeta()
		meta.Directed = rapid.Bool().Draw(t, "directed")
		s := New(meta)
		genLine := rapid.Custom(func(t *rapid.T) bulkLine {
			return bulkLine{Int(rapid.Int64Range(0, 9).Draw(t, "a")), Int(rapid.Int64Range(0, 9).Draw(t, "b")), genWeight.Draw(t, "weight"), genTime.Draw(t, "time"), ""}
		})
		for range 2 {
			lines := rapid.SliceOf(genLine).Draw(t, "lines")
			memory := rapid.Int64Range(0, 3000).Draw(t, "memory")
			next, b, err := bulkOf(s, lines, BulkOptions{Memory: memory, Scratch: newPaper})
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range []bool{false, true} {
				if got, want := loadedEntries(t, b, in), graphEntries(next.Graph, in); !slices.Equal(got, want) {
					t.Fatalf("in %v: %v, want %v", in, got, want)
				}
			}
			s = next
		}
	})
}

// TestBulkWrite verifies that a load writes the same generation without the graph in memory as with
// it.
func TestBulkWrite(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		s, lines := scene(t, directed)
		want := newMemory()
		next, _, err := bulkOf(s, lines, BulkOptions{})
		if err != nil {
			t.Fatal(err)
		}
		next.compactTo(t, want, 3)
		for _, memory := range []int64{0, 1, 20_000} {
			got := newMemory()
			b, err := collect(s, lines, BulkOptions{Memory: memory, Scratch: newPaper})
			if err == nil {
				_, _, err = b.Write(context.Background(), got, 3, new(Stored))
			}
			b.Close()
			if err != nil {
				t.Fatal(err)
			}
			if !maps.EqualFunc(got.entries, want.entries, bytes.Equal) {
				t.Errorf("directed %v, memory %d: the records differ", directed, memory)
			}
		}
	}
}

// loadedEntries returns the entries of the rows of a load.
func loadedEntries(t rapid.TB, b *Bulk, in bool) (all []Edge) {
	err := b.entries(context.Background(), in, func(e Edge) error {
		all = append(all, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// graphEntries returns the entries of the rows of a graph.
func graphEntries(g *Graph, in bool) []Edge {
	m := newEdgeMap(g.nodes, g.directions...)
	for e := range g.Edges() {
		m.set(e)
	}
	return m.entries(in)
}

// faulty is a Scratch that fails from some operation on.
type faulty struct {
	paper
	left *int // operations before the fault
}

var errFault = errors.New("fault")

func (f *faulty) fault() bool {
	*f.left--
	return *f.left < 0
}

func (f *faulty) WriteAt(b []byte, at int64) (int, error) {
	if f.fault() {
		return 0, errFault
	}
	return f.paper.WriteAt(b, at)
}

func (f *faulty) ReadAt(b []byte, at int64) (int, error) {
	if f.fault() {
		return 0, errFault
	}
	return f.paper.ReadAt(b, at)
}

// TestBulkFaults verifies that an error of each operation on the scratch files ends a load.
func TestBulkFaults(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		s, lines := scene(t, directed)
		var want *Snapshot
		for fault := 0; want == nil; fault++ {
			left := fault
			create := func() (Scratch, error) {
				if left--; left < 0 {
					return nil, errFault
				}
				return &faulty{left: &left}, nil
			}
			next, b, err := bulkOf(s, lines, BulkOptions{Memory: 20_000, Scratch: create})
			if err == nil {
				err = cmp.Or(b.entries(context.Background(), true, func(Edge) error { return nil }), b.entries(context.Background(), false, func(Edge) error { return nil }))
			}
			if err == nil && left >= 0 {
				want = next
			} else if !errors.Is(err, errFault) {
				t.Fatalf("directed %v, operation %d fails: %v", directed, fault, err)
			}
		}
		if same, _, err := bulkOf(s, lines, BulkOptions{}); err != nil || want.Same(same) != nil {
			t.Errorf("directed %v: another result, %v", directed, err)
		}
	}
}

// garbled is a Scratch that loses or changes all data.
type garbled struct {
	paper
	by byte // replaces all bytes; 0 means that they are lost
}

func (g *garbled) ReadAt(b []byte, at int64) (int, error) {
	if g.by == 0 {
		return 0, io.EOF
	}
	for i := range b {
		b[i] = g.by
	}
	return len(b), nil
}

// TestBulkGarbled verifies that a scratch file with other data than was written ends a load with an
// error.
func TestBulkGarbled(t *testing.T) {
	t.Parallel()
	for _, by := range []byte{0, 1, 2, 0x7f, 0xff} {
		s, lines := scene(t, false)
		_, _, err := bulkOf(s, lines, BulkOptions{Memory: 20_000, Scratch: func() (Scratch, error) { return &garbled{by: by}, nil }})
		if err == nil {
			t.Errorf("%#x: no error", by)
		}
	}
}

// TestBulkEnds verifies that the end of a context ends each part of a load.
func TestBulkEnds(t *testing.T) {
	t.Parallel()
	s, lines := scene(t, true)
	for len(lines) < 2*edgesPerCheck {
		lines = append(lines, lines...)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	for _, memory := range []int64{0, 1 << 20} {
		b := s.Bulk(BulkOptions{Memory: memory, Scratch: newPaper})
		defer b.Close()
		for i, l := range lines {
			if err := b.Edge(l.src, Int(int64(i)), 0, l.weight, l.time); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := b.Write(ended, newMemory(), 1, new(Stored)); !errors.Is(err, context.Canceled) {
			t.Errorf("memory %d: %v", memory, err)
		}
	}
}

// TestManyRelationsAreSmall verifies the size of a graph of 500 relations and 300,000 edges: its
// rows are stored once, whatever the number of relations.
func TestManyRelationsAreSmall(t *testing.T) {
	t.Parallel()
	sizes := map[int]int64{}
	for _, relations := range []int{1, 500} {
		bulk := New(soundMeta()).Bulk(BulkOptions{})
		for r := 1; r < relations; r++ {
			if _, _, err := bulk.Relation(fmt.Sprint("r", r), false); err != nil {
				t.Fatal(err)
			}
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 300_000 {
			u, v, r := random.Int64N(20_000), random.Int64N(20_000), uint16(random.IntN(500)%relations)
			must(t, bulk.Edge(Int(u*u/20_000), Int(v), r, 1, 0))
		}
		written := new(sizeOf)
		_, _, err := bulk.Write(context.Background(), written, 1, new(Stored))
		must(t, err)
		bulk.Close()
		sizes[relations] = int64(*written)
	}
	if one, many := sizes[1], sizes[500]; many > one+300_000*2*2 {
		t.Errorf("%d bytes without relations, %d with 500: more than two bytes for each of the two entries of an edge", one, many)
	}
}
