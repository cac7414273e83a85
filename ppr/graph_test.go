package ppr

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// adjacency is an editable graph for tests; snapshot returns it as a Graph.
type adjacency struct {
	directed bool
	rows     []map[ID]float32
}

func newAdjacency(n int, directed bool) *adjacency {
	a := &adjacency{directed: directed, rows: make([]map[ID]float32, n)}
	for u := range a.rows {
		a.rows[u] = map[ID]float32{}
	}
	return a
}

// set sets the weight of the pair to w (0: no edge) and returns the change.
func (a *adjacency) set(u, v ID, w float32) Change {
	c := Change{u, v, a.rows[u][v], w}
	put := func(u, v ID) {
		if w == 0 {
			delete(a.rows[u], v)
		} else {
			a.rows[u][v] = w
		}
	}
	put(u, v)
	if !a.directed {
		put(v, u)
	}
	return c
}

// snapshot returns the current graph as an immutable copy.
func (a *adjacency) snapshot() *csr {
	rows := make([]row, len(a.rows))
	for u, m := range a.rows {
		rows[u].to = slices.Sorted(maps.Keys(m))
		for _, v := range rows[u].to {
			rows[u].weight = append(rows[u].weight, m[v])
		}
	}
	return newCSR(a.directed, rows)
}

type row struct {
	to     []ID
	weight []float32
}

// csr is an immutable graph: flat rows, plus the edited rows that replace some of them.
type csr struct {
	directed bool
	weighted bool // even if all weights are 1
	out, in  flat
	degree   []float64
	survey   *Survey
}

type flat struct {
	start  []uint32
	to     []ID
	weight []float32
	edited map[ID]row
}

func (f *flat) arcs() int {
	n := len(f.to)
	for u, r := range f.edited {
		n += len(r.to) - int(f.start[u+1]-f.start[u])
	}
	return n
}

func (f *flat) weighted() bool {
	for _, r := range f.edited {
		if r.weight != nil {
			return true
		}
	}
	return f.weight != nil
}

func (f *flat) at(u ID) ([]ID, []float32) {
	if len(f.edited) > 0 {
		if r, ok := f.edited[u]; ok {
			return r.to, r.weight
		}
	}
	i, j := f.start[u], f.start[u+1]
	if f.weight == nil {
		return f.to[i:j], nil
	}
	return f.to[i:j], f.weight[i:j]
}

// pack concatenates rows. If all weights are 1, the result has no weights.
func pack(rows []row) (f flat) {
	ones := true
	for _, r := range rows {
		f.start = append(f.start, uint32(len(f.to)))
		f.to = append(f.to, r.to...)
		if r.weight == nil {
			r.weight = slices.Repeat([]float32{1}, len(r.to))
		}
		f.weight = append(f.weight, r.weight...)
		ones = ones && !slices.ContainsFunc(r.weight, func(w float32) bool { return w != 1 })
	}
	f.start = append(f.start, uint32(len(f.to)))
	if ones {
		f.weight = nil
	}
	return f
}

// newCSR returns the graph with the given Out rows.
func newCSR(directed bool, rows []row) *csr {
	g := &csr{directed: directed, out: pack(rows)}
	in := make([]row, len(rows))
	for u, r := range rows {
		g.degree = append(g.degree, r.sum())
		for i, v := range r.to {
			in[v].to = append(in[v].to, ID(u))
			if r.weight != nil {
				in[v].weight = append(in[v].weight, r.weight[i])
			}
		}
	}
	g.in = pack(in)
	return g
}

func (g *csr) NumNodes() int              { return len(g.degree) }
func (g *csr) Directed() bool             { return g.directed }
func (g *csr) Weighted() bool             { return g.weighted || g.out.weighted() }
func (g *csr) Arcs() int                  { return g.out.arcs() }
func (g *csr) Degree(u ID) float64        { return g.degree[u] }
func (g *csr) Out(u ID) ([]ID, []float32) { return g.out.at(u) }
func (g *csr) In(u ID) ([]ID, []float32)  { return g.in.at(u) }

// Runs returns the flat rows as one run. A graph with edited rows has a run for each row.
func (g *csr) Runs(in bool) iter.Seq2[ID, Run] {
	f := &g.out
	if in {
		f = &g.in
	}
	if len(f.edited) > 0 {
		return runsOf(struct{ Graph }{g}, in)
	}
	return func(yield func(ID, Run) bool) { yield(0, Run{f.start, f.to, f.weight}) }
}

// surveyed is a graph that keeps its survey, as a snapshot of a database would.
type surveyed struct{ *csr }

func (g surveyed) Survey() *Survey {
	if g.survey == nil {
		g.csr.survey = NewSurvey(g.csr)
	}
	return g.csr.survey
}

// withEdits returns g with the changes applied. The result shares all unchanged rows.
func (g *csr) withEdits(changes []Change) *csr {
	h := &csr{directed: g.directed, out: g.out, in: g.in, degree: slices.Clone(g.degree)}
	h.out.edited, h.in.edited = maps.Clone(g.out.edited), maps.Clone(g.in.edited)
	for _, c := range changes {
		h.out.edit(c.U, c.V, c.New)
		h.in.edit(c.V, c.U, c.New)
		if !g.directed && c.U != c.V {
			h.out.edit(c.V, c.U, c.New)
			h.in.edit(c.U, c.V, c.New)
		}
		for _, u := range []ID{c.U, c.V} {
			to, weight := h.out.at(u)
			h.degree[u] = row{to, weight}.sum()
		}
	}
	return h
}

func (f *flat) edit(u, v ID, w float32) {
	if f.edited == nil {
		f.edited = map[ID]row{}
	}
	to, weight := f.at(u)
	f.edited[u] = row{to, weight}.with(v, w)
}

func (r row) sum() (s float64) {
	for i := range r.to {
		if r.weight == nil {
			s++
		} else {
			s += float64(r.weight[i])
		}
	}
	return s
}

// with returns the row with v's weight set to w.
func (r row) with(v ID, w float32) row {
	n := row{to: slices.Clone(r.to), weight: slices.Clone(r.weight)}
	if n.weight == nil && w != 0 && w != 1 {
		n.weight = slices.Repeat([]float32{1}, len(n.to))
	}
	i, ok := slices.BinarySearch(n.to, v)
	switch {
	case ok && w == 0:
		n.to = slices.Delete(n.to, i, i+1)
		if n.weight != nil {
			n.weight = slices.Delete(n.weight, i, i+1)
		}
	case ok:
		if n.weight != nil {
			n.weight[i] = w
		}
	case w != 0:
		n.to = slices.Insert(n.to, i, v)
		if n.weight != nil {
			n.weight = slices.Insert(n.weight, i, w)
		}
	}
	return n
}

// readGraph loads an edge list from shared/data and renumbers its ids densely, in order. It skips
// the test if the file is missing. Undirected edges may be listed in one or both directions.
func readGraph(tb testing.TB, name string, directed bool) *csr {
	tb.Helper()
	f, err := os.Open("../../shared/data/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		tb.Skipf("no shared/data/%s beside the repository", name)
	}
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			tb.Fatal(err)
		}
	}
	var list [][2]ID
	var ids []ID
	for sc := bufio.NewScanner(r); sc.Scan(); {
		if f := strings.Fields(sc.Text()); len(f) > 1 && f[0][0] != '#' {
			u, errU := strconv.ParseUint(f[0], 10, 32)
			v, errV := strconv.ParseUint(f[1], 10, 32)
			if err := errors.Join(errU, errV); err != nil {
				tb.Fatal(err)
			}
			list, ids = append(list, [2]ID{ID(u), ID(v)}), append(ids, ID(u), ID(v))
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for i, e := range list {
		list[i] = [2]ID{ID(find(ids, e[0])), ID(find(ids, e[1]))}
	}
	return fromEdges(len(ids), directed, list)
}

// fromEdges returns the unweighted graph with the given edges.
func fromEdges(n int, directed bool, list [][2]ID) *csr {
	rows := make([]row, n)
	for _, e := range list {
		rows[e[0]].to = append(rows[e[0]].to, e[1])
		if !directed {
			rows[e[1]].to = append(rows[e[1]].to, e[0])
		}
	}
	for u := range rows {
		slices.Sort(rows[u].to)
		rows[u].to = slices.Compact(rows[u].to)
	}
	return newCSR(directed, rows)
}
