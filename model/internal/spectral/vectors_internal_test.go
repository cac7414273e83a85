package spectral

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"kith/model/internal/column"
	"kith/model/internal/graphtest"
	"kith/model/nn"
)

// vectorsFor computes the vectors of a world with features of 12 numbers or without features.
func vectorsFor(t *testing.T, w World, g Graph) *Vectors {
	t.Helper()
	length := 0
	if w.Features != nil {
		length = 12
	}
	content, err := contentOf(context.Background(), featuresOf(length), w, maxTopics)
	if err != nil {
		t.Fatal(err)
	}
	v, err := vectorsOf(context.Background(), rand.New(rand.NewPCG(1, 2)), &Plan{content: content, budget: 1 << 20}, g)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// table returns the columns of all pairs, ordered by source and target.
func (v *Vectors) table(t *testing.T, w World) [][]float32 {
	t.Helper()
	n := w.Graph.NumNodes()
	all := make([]ID, n)
	for u := range all {
		all[u] = ID(u)
	}
	var rows [][]float32
	for u := range all {
		x := nn.Resize(blas32.General{}, n, Len(v.profile != nil))
		var source Source
		var read column.Features
		read.Open(w)
		source.Columns(v, &read, pairsOf(ID(u), all), slices.Repeat([]float64{-1}, n), x, 0)
		for i := range all {
			rows = append(rows, nn.Row(x, i))
		}
	}
	return rows
}

func about(a, b float64) bool { return math.Abs(a-b) <= 2e-3*(1+math.Abs(b)) }

// The parts of a profile match latent vectors averaged by dense matrices.
func TestProfileCosines(t *testing.T) {
	t.Parallel()
	g, features := graphtest.Groups()
	w := worldOf(g, features)
	v := vectorsFor(t, w, g)
	content, err := contentOf(context.Background(), featuresOf(12), w, maxTopics)
	if err != nil {
		t.Fatal(err)
	}
	z := mat.NewDense(40, content.Vector.Cols, nil)
	for u := range 40 {
		for i, x := range nn.Row(content.Vector, u) {
			z.Set(u, i, float64(x))
		}
	}
	rows := v.table(t, w)
	x := mat.DenseCopyOf(z)
	for i := range profileParts {
		switch {
		case i == 1+profileHops:
			x = averaged(g, content.Kin, z)
		case i > 1+profileHops:
			x = averaged(g, content.Kin, x)
		case i > 0:
			x = averaged(g, nil, x)
		}
		for u := range 40 {
			for v := range 40 {
				a, b := x.RowView(u), x.RowView(v)
				want := mat.Dot(a, b) / (mat.Norm(a, 2) * mat.Norm(b, 2))
				if got := float64(rows[u*40+v][spectralLen+profileCosine+i]); !about(got, want) {
					t.Fatalf("part %d of pair %d, %d has %v, want %v", i, u, v, got, want)
				}
			}
		}
	}
	dense := content.Dense()
	for u := range 40 {
		for v := range 40 {
			want := content.Rows[u].Times(nn.Row(dense, v))
			if got := float64(rows[u*40+v][spectralLen+profileWords]); !about(got, want) {
				t.Fatalf("words of pair %d, %d have %v, want %v", u, v, got, want)
			}
			if !slices.Equal(rows[u*40+v][spectralLen:], rows[v*40+u][spectralLen:]) && !aboutRows(rows[u*40+v][spectralLen:], rows[v*40+u][spectralLen:]) {
				t.Fatalf("pair %d, %d: %v, reversed %v", u, v, rows[u*40+v][spectralLen:], rows[v*40+u][spectralLen:])
			}
		}
	}
}

func aboutRows(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return about(float64(x), float64(y)) })
}

// averaged returns (D + I)⁻¹(A + I)x, where A has the links of both g and kin.
func averaged(g Graph, kin adjacency, x *mat.Dense) *mat.Dense {
	a := denseOf(g)
	for u, r := range kin {
		for _, v := range r {
			a.Set(u, int(v), 1)
		}
	}
	n, _ := a.Dims()
	for u := range n {
		a.Set(u, u, 1)
		row := a.RowView(u).(*mat.VecDense)
		row.ScaleVec(1/mat.Sum(row), row)
	}
	var y mat.Dense
	y.Mul(a, x)
	return &y
}

// A node gets vectors from its edges and words if the training knew neither: it was added later, it
// was empty, or its id is a gap in an imported model. They are near those of a training with the
// node.
func TestVectorsOfNewcomers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("computes several spectra")
	}
	g, features := graphtest.Groups()
	all := vectorsFor(t, worldOf(g, features), g)
	known := graphtest.New(39, false) // without node 39
	empty := graphtest.New(40, false) // all but the edges of node 39
	moved := graphtest.New(39, false) // without node 25; the ids above are smaller by one
	down := func(u ID) ID {
		if u > 25 {
			return u - 1
		}
		return u
	}
	eachEdge(g, func(u, v ID) {
		if v < 39 {
			known.Add(u, v)
			empty.Add(u, v)
		}
		if u != 25 && v != 25 {
			moved.Add(down(u), down(v))
		}
	})
	up := func(u ID) ID {
		if u >= 25 {
			return u + 1
		}
		return u
	}
	lacks := func(u ID) []float32 {
		if u == 39 {
			return nil
		}
		return features(u)
	}
	imported := vectorsFor(t, worldOf(moved, func(u ID) []float32 { return features(up(u)) }), moved)
	for _, c := range []struct {
		name string
		node int
		*Vectors
	}{
		{"added", 39, vectorsFor(t, worldOf(known, features), known)},
		{"empty", 39, vectorsFor(t, worldOf(empty, lacks), empty)},
		{"gap", 25, imported.Renamed(func(u ID) (ID, bool) { return up(u), true })},
	} {
		mean := func(v *Vectors, col int) (inside, outside float64) {
			for u, x := range v.table(t, worldOf(g, features))[c.node*40 : c.node*40+40] {
				switch {
				case u < 20:
					outside += float64(x[col]) / 20
				case u != c.node:
					inside += float64(x[col]) / 19
				}
			}
			return inside, outside
		}
		for _, col := range []int{
			spectralRidge, spectralEase, spectralReverse, spectralLen + profileCosine, spectralLen + profileCosine + 2,
			spectralLen + profileProducts, spectralLen + profileProducts + productW,
		} {
			inside, outside := mean(all, col)
			if a, b := mean(c.Vectors, col); a <= b || inside <= outside || a > 2*inside {
				t.Errorf("%s, column %d: the node's own group has %v, the other %v; known %v and %v", c.name, col, a, b, inside, outside)
			}
		}
	}
}

// Words of any size have finite columns.
func TestVectorsOfLargeWords(t *testing.T) {
	t.Parallel()
	g, features := graphtest.Groups()
	for _, by := range []float32{1e38, 1e-44} {
		w := worldOf(g, func(u ID) []float32 {
			f := slices.Clone(features(u))
			for i := range f {
				f[i] *= by
			}
			return f
		})
		plain, scaled := vectorsFor(t, worldOf(g, features), g).table(t, worldOf(g, features)), vectorsFor(t, w, g).table(t, w)
		for i := range plain {
			if !aboutRows(plain[i], scaled[i]) {
				t.Fatalf("words times %v: pair %d has %v, want %v", by, i, scaled[i], plain[i])
			}
		}
	}
}

// Loops change no column of a profile.
func TestProfileIgnoresLoops(t *testing.T) {
	t.Parallel()
	g, features := graphtest.Groups()
	plain := vectorsFor(t, worldOf(g, features), g).table(t, worldOf(g, features))
	for u := range ID(40) {
		if u%3 == 0 {
			g.Add(u, u)
		}
	}
	loops := vectorsFor(t, worldOf(g, features), g).table(t, worldOf(g, features))
	for i := range plain {
		if !slices.Equal(plain[i][spectralLen:], loops[i][spectralLen:]) {
			t.Fatalf("pair %d has %v, with loops %v", i, plain[i][spectralLen:], loops[i][spectralLen:])
		}
	}
}

func TestVectorsDocument(t *testing.T) {
	t.Parallel()
	g, features := graphtest.Groups()
	directed := randomMesh(30, 100, true)
	for name, w := range map[string]World{"features": worldOf(g, features), "none": worldOf(g, nil), "directed": worldOf(directed, nil), "bipartite": worldOf(bipartite(20, 10, 80), nil)} {
		v := vectorsFor(t, w, w.Graph)
		b := packed(t, v)
		d, pages := unpacked(t, b)
		again, err := d.Vectors(bytes.NewReader(pages))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, packed(t, again)) {
			t.Errorf("%s: vectors that were read are written differently", name)
		}
		x, y := v.table(t, w), again.table(t, w)
		for i := range x {
			if !aboutRows(x[i], y[i]) {
				t.Fatalf("%s: pair %d has %v, and %v after reading", name, i, x[i], y[i])
			}
		}
		if _, err := d.Vectors(bytes.NewReader(pages[1:])); err == nil {
			t.Errorf("%s: a document that lacks a byte is read", name)
		}
	}
}

// packed returns a document and its pages, each preceded by its length.
func packed(t *testing.T, v *Vectors) []byte {
	t.Helper()
	doc, err := msgpack.Marshal(v.Document())
	if err != nil {
		t.Fatal(err)
	}
	pages, err := v.AppendPages(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := msgpack.Marshal([][]byte{doc, pages})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// unpacked is the reverse of packed.
func unpacked(t *testing.T, b []byte) (d Document, pages []byte) {
	t.Helper()
	var parts [][]byte
	if err := msgpack.Unmarshal(b, &parts); err != nil {
		t.Fatal(err)
	}
	if err := msgpack.Unmarshal(parts[0], &d); err != nil {
		t.Fatal(err)
	}
	return d, parts[1]
}

// Of stored vectors only the pages of the asked nodes are read, once, by any number of readers. A
// damaged page is an error when one of its nodes is asked for.
func TestPages(t *testing.T) {
	t.Parallel()
	g := randomMesh(10*pageNodes, 4000, true)
	w := worldOf(g, nil)
	v := vectorsFor(t, w, g)
	d, b := unpacked(t, packed(t, v))
	want, err := d.Vectors(bytes.NewReader(b))
	if err == nil {
		want, err = want.Load()
	}
	if err != nil {
		t.Fatal(err)
	}
	stored := &counted{Reader: bytes.NewReader(b)}
	got, err := d.Vectors(stored)
	if err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for _, u := range []ID{3, 4, pageNodes, 3 * pageNodes} {
				for _, of := range []func(*rows, ID) ([]float32, float32){(*rows).ofIn, (*rows).ofOut} {
					row, root := of(got.spectrum.rowsOf(u), u)
					if other, otherRoot := of(&want.spectrum.rows, u); !slices.Equal(row, other) || root != otherRoot {
						t.Errorf("another row of node %d", u)
					}
				}
				if got.spectrum.targetNumbers(u, nil) != want.spectrum.targets[u] {
					t.Errorf("other numbers of node %d", u)
				}
			}
		})
	}
	readers.Wait()
	if n := stored.reads.Load(); n != 3 || got.Err() != nil {
		t.Errorf("%d pages were read (%v), want 3", n, got.Err())
	}
	whole, err := got.Load()
	if again, _ := got.Load(); err != nil || again != whole || stored.reads.Load() != 3+10 || !reflect.DeepEqual(whole, want) {
		t.Errorf("%d pages were read (%v), want all 10 and 3 again, or another row", stored.reads.Load(), err)
	}
	if got.spectrum.rowsOf(7) != &whole.spectrum.rows {
		t.Error("rows are twice in memory")
	}
	damaged := slices.Clone(b)
	damaged[len(b)/2] ^= 1
	if got, err = d.Vectors(bytes.NewReader(damaged)); err != nil {
		t.Fatal(err)
	}
	if got.spectrum.rowsOf(0); got.Err() != nil {
		t.Errorf("node 0, whose page is whole: %v", got.Err())
	}
	for u := range ID(10 * pageNodes) {
		got.spectrum.rowsOf(u)
	}
	if got.Err() == nil {
		t.Error("a damaged page is read")
	}
	if _, err := got.Load(); err == nil {
		t.Error("a damaged page is loaded")
	}
	if _, err := got.AppendPages(nil); err == nil {
		t.Error("a damaged page is written again")
	}
}

// counted counts reads.
type counted struct {
	*bytes.Reader
	reads atomic.Int32
}

func (c *counted) ReadAt(b []byte, off int64) (int, error) {
	c.reads.Add(1)
	return c.Reader.ReadAt(b, off)
}

// BenchmarkOpenVectors opens the stored vectors of a graph and reads the rows that a question
// needs.
func BenchmarkOpenVectors(b *testing.B) {
	v := &Vectors{spectrum: &spectrum{value: make([]float32, largeRank)}}
	v.spectrum.in.row, v.spectrum.in.root = nn.Resize(blas32.General{}, 1<<17, largeRank), nn.Resize(blas32.General{}, 1<<17, 1)
	v.spectrum.out = v.spectrum.in
	pages, err := v.AppendPages(nil)
	if err != nil {
		b.Fatal(err)
	}
	d := v.Document()
	for _, n := range []int{100, v.Nodes()} {
		b.Run(fmt.Sprint(n, " nodes"), func(b *testing.B) {
			for b.Loop() {
				v, err := d.Vectors(bytes.NewReader(pages))
				if err != nil {
					b.Fatal(err)
				}
				for i := range n {
					v.spectrum.rowsOf(ID(i * (v.Nodes() / n)))
				}
			}
		})
	}
}

func TestVectorsRefuseParts(t *testing.T) {
	t.Parallel()
	g := bipartite(20, 10, 80)
	for _, parts := range [][]byte{make([]byte, 29), slices.Repeat([]byte{3}, 30)} {
		d := vectorsFor(t, worldOf(g, nil), g).Document()
		d.Parts = parts
		if _, err := d.Vectors(bytes.NewReader(nil)); err == nil || !strings.Contains(err.Error(), "parts of") {
			t.Errorf("parts %v are read", parts)
		}
	}
}

// A user who is added to a bipartite graph is close to the items of its own group, and to no user;
// also under new ids.
func TestVectorsOfBipartiteGraph(t *testing.T) {
	t.Parallel()
	const users, items = 30, 20 // even users have even items
	g := graphtest.New(users+items+1, false)
	for u := range users {
		for i := range 6 {
			g.Add(ID(u), ID(users+(u+2*(u/2+i*i))%items))
		}
	}
	before := graphtest.New(users+items, false)
	eachEdge(g, before.Add)
	late := ID(users + items)
	for i := range 4 {
		g.Add(late, ID(users+2*i))
	}
	flip := func(u ID) (ID, bool) { return users + items - 1 - u, true }
	turned := graphtest.New(users+items+1, false)
	at := func(u ID) ID {
		if u < users+items {
			u, _ = flip(u)
		}
		return u
	}
	eachEdge(g, func(u, v ID) { turned.Add(at(u), at(v)) })
	v := vectorsFor(t, worldOf(before, nil), before)
	for name, c := range map[string]struct {
		g  *mesh
		v  *Vectors
		at func(ID) ID
	}{"same ids": {g, v, func(u ID) ID { return u }}, "new ids": {turned, v.Renamed(flip), at}} {
		w := worldOf(c.g, nil)
		close, rows := c.v.Closeness(w, late), c.v.table(t, w)[int(late)*c.g.NumNodes():]
		for u := range ID(users) {
			if several := c.v.ClosenessOf(w, late, []ID{c.at(u)}); several[0] != 0 {
				t.Fatalf("%s: user %d of a list has closeness %v", name, u, several[0])
			}
			if x := rows[c.at(u)]; close(c.at(u)) != 0 || slices.ContainsFunc(x[:spectralLen], func(y float32) bool { return y != 0 }) {
				t.Fatalf("%s: user %d has closeness %v and %v", name, u, close(c.at(u)), x)
			}
		}
		for i := range ID(items / 2) {
			own, other := c.at(users+2*i), c.at(users+2*i+1)
			if !(close(own) > 10*float32(math.Abs(float64(close(other))))) || rows[own][spectralRidge] < 10*rows[other][spectralRidge] {
				t.Errorf("%s: own item %d has %v, the other %v", name, i, close(own), close(other))
			}
		}
	}
}

func TestVectorsRefuseKin(t *testing.T) {
	t.Parallel()
	g, features := graphtest.Groups()
	for name, row := range map[string][]ID{"no such node": {1, 40}, "twice": {3, 3}, "not ascending": {5, 2}} {
		d := vectorsFor(t, worldOf(g, features), g).Document()
		d.Profile.Kin[7] = row
		if _, err := d.Vectors(bytes.NewReader(nil)); err == nil || !strings.Contains(err.Error(), "kin") {
			t.Errorf("%s: kin %v are read", name, row)
		}
		d.Profile.Kin = d.Profile.Kin[1:]
		if _, err := d.Vectors(bytes.NewReader(nil)); err == nil || !strings.Contains(err.Error(), "kin of") {
			t.Errorf("kin of %d nodes of %d are read", len(d.Profile.Kin), d.Nodes)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	g, features := graphtest.Groups()
	for name, w := range map[string]World{"features": worldOf(g, features), "none": worldOf(g, nil)} {
		v := vectorsFor(t, w, g)
		of := v.Closeness(w, 3)
		some := []ID{0, 1, 2, 5, 6, 9, 20, 21, 38, 39}
		for i, y := range v.ClosenessOf(w, 3, some) {
			if want := of(some[i]); math.Abs(float64(y-want)) > 1e-6*math.Abs(float64(want)) {
				t.Errorf("%s: node %d of several is %v close, alone %v", name, some[i], y, want)
			}
		}
		even := func(u ID) bool { return u%2 == 0 }
		var want []ID
		for u := range ID(40) {
			if u != 3 && even(u) && of(u) > minClose {
				want = append(want, u)
			}
		}
		slices.SortStableFunc(want, func(a, b ID) int { return cmp.Compare(of(b), of(a)) })
		for _, n := range []int{0, 1, 5, 100} {
			got, err := Nearest(context.Background(), w, v.Closeness(w, 3), 3, n, even)
			if err != nil || !slices.Equal(got, want[:min(n, len(want))]) {
				t.Errorf("%s: the %d nearest are %v (%v), want %v", name, n, got, err, want)
			}
		}
		if slices.Max(want[:5]) >= 20 {
			t.Errorf("%s: the nearest of a node in the first group are %v", name, want[:5])
		}
	}
}

func TestVectorsRepeat(t *testing.T) {
	g, features := graphtest.Groups()
	var all [][]byte
	for _, n := range []int{1, 4} {
		before := runtime.GOMAXPROCS(n)
		v := vectorsFor(t, worldOf(g, features), g)
		runtime.GOMAXPROCS(before)
		all = append(all, packed(t, v))
	}
	if !bytes.Equal(all[0], all[1]) {
		t.Error("another number of processors, other vectors")
	}
}

func TestVectorsStop(t *testing.T) {
	t.Parallel()
	g, features := graphtest.Groups()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := contentOf(ctx, featuresOf(12), worldOf(g, features), 8); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	v := vectorsFor(t, worldOf(g, features), g)
	if _, err := Nearest(ctx, worldOf(g, features), v.Closeness(worldOf(g, features), 1), 1, 5, func(ID) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestVectorsFitTheBudget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nodes  int
		budget int64
		rank   int
		topics int
	}{
		{4000, 1 << 28, maxRank, 32}, {1 << 16, 1 << 28, 128, 32}, {300000, 1 << 30, largeRank, 32}, {10, 1 << 28, 10, 32}, {0, 1 << 28, 0, 32}, {1 << 20, 1 << 30, 26, 28}, {1 << 24, 1 << 20, minRank, minTopics},
	} {
		if r, l := rankFor(c.nodes, c.budget), topicsFor(c.nodes, c.budget); r != c.rank || l != c.topics {
			t.Errorf("%d nodes, %d bytes: rank %d and topics %d, want %d and %d", c.nodes, c.budget, r, l, c.rank, c.topics)
		}
	}
}
