package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"kith/index/internal/block"
	"kith/index/internal/spill"
)

// storedGraph writes the graph of m as generation 1 and returns it as it is read on demand, with
// the store.
func storedGraph(t rapid.TB, m *edgeMap, cache int64) (*Graph, *memory) {
	store := newMemory()
	g := m.base()
	must(t, writeRows(store, prefixOut, g))
	if m.directed() {
		must(t, writeRows(store, prefixIn, g))
	}
	return openStored(t, m, store, cache), store
}

// openStored returns the graph of m, which is in the store, as it is read on demand.
func openStored(t rapid.TB, m *edgeMap, store *memory, cache int64) *Graph {
	meta := Meta{Generation: 1, Relations: m.relations(), InRows: m.directed(), BaseNodes: int64(m.nodes)}
	stored, err := openGraph(store, (&Stored{memorySource{store}, cache}).cache(1), &meta)
	must(t, err)
	return stored
}

// writeRows writes the rows of one direction of g as generation 1.
func writeRows(w Writer, kind byte, g *Graph) error {
	c := content{directions: g.directions, nodes: g.nodes}
	rows := c.newRowWriter(w, kind, 1)
	return errors.Join(g.entries(kind == prefixIn, rows.add), rows.close())
}

// someDirections returns the directions of graphs with one relation and with several.
func someDirections() []spill.Directions {
	return []spill.Directions{{false}, {true}, {false, false}, {true, false, true}}
}

// hubs returns a graph with rows of many blocks, rows that share a block, and nodes without edges.
func hubs(directions spill.Directions, weights bool) *edgeMap {
	const n = 40_000
	rng := rand.New(rand.NewPCG(3, 1))
	m := newEdgeMap(n, directions...)
	set := func(u, v ID) {
		w, at := float32(1), int64(0)
		if weights {
			w, at = rng.Float32()+0.1, rng.Int64N(1000)
		}
		x := Edge{Ends: Ends{U: u, V: v}, Weight: w, Time: at}
		if n := len(directions); n > 1 {
			x.Relation = uint16(rng.IntN(n))
		}
		m.set(x)
	}
	for _, hub := range []ID{0, 17, 20_000} {
		for range 9000 {
			set(hub, rng.Uint32N(n))
		}
	}
	for range 30_000 {
		set(rng.Uint32N(n/2), rng.Uint32N(n/2))
	}
	return m
}

// TestStoredRuns verifies that a pass over rows in the store finds those in memory, whatever part
// the cache holds, and that passes fill half of the cache at most.
func TestStoredRuns(t *testing.T) {
	t.Parallel()
	for _, directions := range someDirections() {
		m := hubs(directions, directions[0])
		got, _ := storedGraph(t, m, 1<<20)
		e := got.Edit()
		e.Grow(m.nodes + 40_000)
		e.Set(Edge{Ends: Ends{U: ID(m.nodes + 5), V: 300}, Weight: 1})
		got = e.Graph()
		for _, u := range []ID{5, 17, 900, 20_000} {
			got.Out(u)
		}
		cache := got.out.base.stored.cache
		held := cache.Size()
		for _, in := range []bool{false, true} {
			next := ID(0)
			for first, run := range got.Runs(in) {
				if first != next {
					t.Fatalf("a run begins at %d, want %d", first, next)
				}
				for i := range len(run.Start) - 1 {
					to, w := got.Out(next)
					if in {
						to, w = got.In(next)
					}
					lo, hi := run.Start[i], run.Start[i+1]
					all := block.Entries{To: run.To, Weight: run.Weight}
					if row := all.Sub(int(lo), int(hi)); !row.Equal(block.Entries{To: to, Weight: w}) {
						t.Fatalf("directions %v, in %v: row %d is %v, want %v", directions, in, next, run.To[lo:hi], to)
					}
					next++
				}
			}
			if int(next) != got.NumNodes() {
				t.Errorf("%d rows, want %d", next, got.NumNodes())
			}
		}
		for _, budget := range []int64{1, 1 << 20} {
			paged, _ := storedGraph(t, m, budget)
			var sizes [2]int64
			for i := range sizes {
				for range paged.Runs(false) {
				}
				sizes[i] = paged.out.base.stored.cache.Size()
			}
			if n := sizes[0]; n >= budget || (n > 0) != (budget > 1) || n != sizes[1] || held == 0 {
				t.Errorf("two passes leave %d bytes in a cache of %d, single rows %d", sizes, budget, held)
			}
		}
	}
}

// TestStoredRows verifies that rows read on demand are those in memory, whatever the cache holds
// and however many readers there are, and that the cache stays within its budget.
func TestStoredRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		directions spill.Directions
		weights    bool
		cache      int64
	}{
		{spill.Directions{false}, false, 0}, {spill.Directions{false}, true, 40 << 10},
		{spill.Directions{true}, false, 40 << 10}, {spill.Directions{true}, true, 1 << 30},
		{spill.Directions{false, false}, false, 40 << 10}, {spill.Directions{false, true, false}, true, 1 << 30},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			if testing.Short() && c.cache != 40<<10 {
				t.Skip("the two graphs with a small cache with -short")
			}
			m := hubs(c.directions, c.weights)
			want := m.base()
			g, _ := storedGraph(t, m, c.cache)
			var all sync.WaitGroup
			for reader := range 4 {
				all.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(reader), 1))
					for range 1000 {
						compareRow(t, g, want, rng.Uint32N(uint32(m.nodes)))
					}
					compareRow(t, g, want, 17)
				})
			}
			all.Wait()
			cache := g.out.base.stored.cache
			longest := int64(12 * 16 * 9100)
			if cache.Size() > c.cache+longest {
				t.Errorf("the cache holds %d bytes, its budget is %d", cache.Size(), c.cache)
			}
			if got, w := slices.Collect(g.Edges()), slices.Collect(want.Edges()); !slices.Equal(got, w) {
				t.Errorf("%d edges, want %d", len(got), len(w))
			}
			if g.edges != want.edges || g.loops != want.loops {
				t.Errorf("%d edges, %d loops; want %d, %d", g.edges, g.loops, want.edges, want.loops)
			}
			bytes := g.LoadedBytes()
			must(t, g.err(), g.Load(context.Background()))
			several := len(c.directions) > 1 // then the bytes foretold are an upper bound
			if resident := bytes - want.Bytes(); (g.Bytes() != bytes && !several) || g.Bytes() > bytes || resident < 0 || resident > 12*int64(m.nodes) && !several {
				t.Errorf("%d bytes, foretold were %d; the rows take %d", g.Bytes(), bytes, want.Bytes())
			}
			if cache.Size() != 0 || !g.Loaded() {
				t.Errorf("the cache holds %d bytes after all rows were loaded", cache.Size())
			}
			for u := range ID(m.nodes) {
				compareRow(t, g, want, u)
			}
		})
	}
}

func compareRow(t *testing.T, got, want *Graph, u ID) {
	for _, side := range [][2]*adjacency{{got.out, want.out}, {got.in, want.in}} {
		row, other := side[0].row(u), side[1].row(u)
		if !row.Equal(other) {
			t.Errorf("row of %d has %d entries, want %d, or other values", u, len(row.To), len(other.To))
		}
		row, other = side[0].edges(u), side[1].edges(u)
		if !row.Equal(other) {
			t.Errorf("node %d has %d edges, want %d, or other ones", u, len(row.To), len(other.To))
		}
		row, other = side[0].only(u, 1), side[1].only(u, 1)
		if !row.Equal(other) {
			t.Errorf("node %d has %d edges of relation 1, want %d, or other ones", u, len(row.To), len(other.To))
		}
		for _, n := range []int{0, 3, 3000, math.MaxInt} {
			compareHead(t, side, u, n, nil)
		}
	}
	if in, _ := want.In(u); got.OutLen(u) != want.OutLen(u) || got.InLen(u) != len(in) {
		t.Errorf("lengths of the rows of %d are %d and %d, want %d and %d", u, got.OutLen(u), got.InLen(u), want.OutLen(u), len(in))
	}
	if got.Degree(u) != want.Degree(u) {
		t.Errorf("degree of %d is %v, want %v", u, got.Degree(u), want.Degree(u))
	}
}

func compareHead(t *testing.T, side [2]*adjacency, u ID, n int, buffer []ID) {
	t.Helper()
	want := side[1].row(u).To
	if want = want[:min(n, len(want))]; !slices.Equal(side[0].head(u, n, buffer), want) {
		t.Errorf("the head of row %d with a buffer of %d differs from %d entries", u, len(buffer), len(want))
	}
}

// TestHeadsPassByTheCache verifies that heads that are read into a buffer are those of the rows,
// whether their blocks are in the cache or not, and leave the cache as it is.
func TestHeadsPassByTheCache(t *testing.T) {
	t.Parallel()
	for _, directions := range someDirections() {
		m := hubs(directions, directions[0])
		g, _ := storedGraph(t, m, 1<<20)
		want, cache, buffer := m.base(), g.out.base.stored.cache, make([]ID, 100)
		for _, read := range []ID{0, 17, 900} { // 0: none
			if read > 0 {
				g.Out(read)
			}
			size := cache.Size()
			for u := ID(0); int(u) < m.nodes; u += 17 {
				for _, n := range []int{3, 3000, m.nodes} {
					compareHead(t, [2]*adjacency{g.out, want.out}, u, n, buffer)
					compareHead(t, [2]*adjacency{g.in, want.in}, u, n, buffer)
				}
			}
			if n := cache.Size(); n != size || (n > 0) != (read > 0) {
				t.Errorf("the heads make a cache of %d bytes one of %d", size, n)
			}
		}
		for _, u := range []ID{17, 900} { // no head has changed a cached row
			compareRow(t, g, want, u)
		}
		must(t, g.err())
	}
}

// TestStoredDamage verifies that a block which cannot be read is an error that stays.
func TestStoredDamage(t *testing.T) {
	t.Parallel()
	m := hubs(spill.Directions{false}, true)
	_, sound := storedGraph(t, m, 1<<20)
	lost := errors.New("lost")
	for name, damage := range map[string]func(g *Graph, store *memory){
		"block altered": func(g *Graph, store *memory) { store.alter(makeKey[uint32](prefixOut, 1, 3), 20) },
		"block missing": func(g *Graph, store *memory) { delete(store.entries, string(makeKey[uint32](prefixOut, 1, 3))) },
		"other block": func(g *Graph, store *memory) {
			store.entries[string(makeKey[uint32](prefixOut, 1, 9))] = store.entries[string(makeKey[uint32](prefixOut, 1, 30))]
		},
		"degrees":       func(g *Graph, store *memory) { store.alter(makeKey[uint32](prefixDegree, 1, 1), 9) },
		"error of disk": func(g *Graph, store *memory) { g.out.base.stored.cache.source = failingSource{lost} },
	} {
		for _, how := range []string{"read", "head", "load"} {
			if testing.Short() && how == "head" {
				continue
			}
			store := sound.clone()
			g := openStored(t, m, store, 1<<20)
			damage(g, store)
			if how == "load" && name != "degrees" {
				if err := g.Load(context.Background()); err == nil || g.Loaded() {
					t.Errorf("%s: loaded", name)
				}
			}
			for u := range ID(m.nodes) {
				if how == "head" {
					g.OutHead(u, m.nodes, []ID{0})
				} else {
					g.Out(u)
				}
				g.Degree(u)
			}
			if err := g.err(); !errors.Is(err, ErrCorrupt) && !errors.Is(err, lost) {
				t.Errorf("%s, %s: %v", name, how, err)
			}
			edit := g.Edit()
			edit.Grow(m.nodes + 1)
			if edit.Graph().err() == nil {
				t.Errorf("%s: a later version has no error", name)
			}
		}
	}
	g := openStored(t, m, sound, 1<<20)
	ended, end := context.WithCancel(context.Background())
	end()
	if err := g.Load(ended); !errors.Is(err, context.Canceled) || g.err() != nil || g.Loaded() {
		t.Errorf("an ended load: %v, %v", err, g.err())
	}
	must(t, g.Load(context.Background()))
}

// countingSource counts the values that are read.
type countingSource struct {
	Source
	reads int
}

func (s *countingSource) Read(key []byte) ([]byte, bool, error) {
	s.reads++
	return s.Source.Read(key)
}

// TestHeadReadsLittle verifies that the beginning of a long row costs the blocks it is in, and its
// length none of them, even if nodes are hidden.
func TestHeadReadsLittle(t *testing.T) {
	t.Parallel()
	g, _ := storedGraph(t, hubs(spill.Directions{false}, false), 1<<20)
	to, _ := g.Out(17)
	hidden, err := g.Hide(context.Background(), []Edge{{Ends: Ends{U: 17, V: to[2]}}, {Ends: Ends{U: 17, V: to[5000]}}})
	must(t, err)
	for name, g := range map[string]*Graph{"stored": g, "hidden": hidden} {
		cache := g.out.base.stored.cache
		cache.Clear()
		source := &countingSource{Source: cache.source}
		cache.source = source
		g.OutLen(17) // a block of degrees, which stays
		before := source.reads
		g.OutLen(17)
		g.InHead(17, 100, nil)
		if n := source.reads - before; n != 1 {
			t.Errorf("%s: %d reads of 100 neighbours, want 1", name, n)
		}
		if n := g.OutLen(17); len(g.InHead(17, n, nil)) != n || source.reads-before < 4 {
			t.Errorf("%s: %d reads of all %d neighbours", name, source.reads-before, n)
		}
		cache.source = source.Source
	}
}

// cancelSource cancels a context with its first read.
type cancelSource struct {
	countingSource
	cancel context.CancelFunc
}

func (s *cancelSource) Read(key []byte) ([]byte, bool, error) {
	s.cancel()
	return s.countingSource.Read(key)
}

// A load of the rows that is cancelled ends after a few blocks, so that closing a database does not
// wait for it.
func TestLoadCancelled(t *testing.T) {
	t.Parallel()
	g, _ := storedGraph(t, hubs(spill.Directions{false}, false), 1<<20)
	ctx, cancel := context.WithCancel(context.Background())
	cache := g.out.base.stored.cache
	source := &cancelSource{countingSource{Source: cache.source}, cancel}
	cache.source = source
	if err := g.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled load: %v", err)
	}
	if n := len(g.out.base.stored.First); source.reads > block.PerCheck || n <= block.PerCheck {
		t.Errorf("a cancelled load read %d of %d blocks", source.reads, n)
	}
}

// failingSource cannot be read.
type failingSource struct{ err error }

func (s failingSource) Read([]byte) ([]byte, bool, error) { return nil, false, s.err }

// Hide gives the graph that an Edit gives, from rows in memory and from stored rows, in one step
// and in several.
func TestHide(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for i, directions := range someDirections() {
		if testing.Short() && i%2 == 0 {
			continue
		}
		m := hubs(directions, !directions[0])
		m.set(Edge{Ends: Ends{U: 17, V: 17}, Weight: 1})
		m.set(Edge{Ends: Ends{U: 39_000, V: 39_000}, Weight: 1})
		memory := m.base()
		stored, _ := storedGraph(t, m, 1<<20)
		edges := []Edge{{Ends: Ends{U: 17, V: 17}}, {Ends: Ends{U: 39_000, V: 39_000}}, {Ends: Ends{U: 39_999, V: 39_998}}, {Ends: Ends{U: 39_999, V: 39_998}}}
		rng := rand.New(rand.NewPCG(4, 1))
		for e := range memory.Edges() {
			if rng.IntN(20) == 0 {
				x := Edge{Ends: Ends{U: e.U, V: e.V}, Relation: e.Relation}
				if edges = append(edges, x); !directions[e.Relation] {
					x.U, x.V = e.V, e.U
					edges = append(edges, x)
				}
			}
		}
		for _, g := range []*Graph{memory, stored} {
			edit := g.Edit()
			edit.Set(Edge{Ends: Ends{U: 20_000, V: 5}, Weight: 2.5, Time: 7}) // a long row that is not that of the base
			g = edit.Graph()
			edit = g.Edit()
			for _, x := range edges {
				edit.Set(x)
			}
			want := edit.Graph()
			half, err := g.Hide(ctx, edges[:len(edges)/2])
			must(t, err)
			got, err := half.Hide(ctx, edges[len(edges)/3:])
			must(t, err)
			for u := range ID(m.nodes) {
				compareRow(t, got, want, u)
			}
			if got.edges != want.edges || got.loops != want.loops || !slices.Equal(slices.Collect(got.Edges()), slices.Collect(want.Edges())) {
				t.Errorf("%d edges and %d loops, want %d and %d", got.edges, got.loops, want.edges, want.loops)
			}
			for u, r := range got.Runs(true) {
				if in, _ := want.In(u); len(r.Start) == 2 && !slices.Equal(r.To[r.Start[0]:r.Start[1]], in) {
					t.Errorf("the run of %d has %d entries, want %d", u, len(r.To), len(in))
				}
			}
			edit = got.Edit()
			for _, x := range edges {
				x.Weight = 1
				edit.Set(x)
			}
			if back := edit.Graph(); back.edges < g.edges {
				t.Errorf("%d edges after they were added again, want %d or more", back.edges, g.edges)
			}
		}
	}
}
