package ppr

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// adjacency is an editable graph for tests; snapshot makes the Graph.
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

// set gives the pair weight w (0: no edge) and returns the change.
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

// snapshot is the graph as it is now.
func (a *adjacency) snapshot() *csr {
	g := &csr{directed: a.directed, out: make([]row, len(a.rows)), degree: make([]float64, len(a.rows))}
	for u, m := range a.rows {
		g.out[u].to = slices.Sorted(maps.Keys(m))
		for _, v := range g.out[u].to {
			g.out[u].weight = append(g.out[u].weight, m[v])
		}
	}
	return g.finish()
}

type row struct {
	to     []ID
	weight []float32
}

// csr is an immutable graph.
type csr struct {
	directed bool
	out, in  []row
	degree   []float64
	survey   *Survey
}

// finish derives degrees, In rows and, where no weight differs from 1, nil weights.
func (g *csr) finish() *csr {
	ones := true
	for u, r := range g.out {
		g.degree[u] = 0
		for i := range r.to {
			w := float32(1)
			if r.weight != nil {
				w = r.weight[i]
			}
			g.degree[u] += float64(w)
			ones = ones && w == 1
		}
	}
	if ones {
		for u := range g.out {
			g.out[u].weight = nil
		}
	}
	g.in = g.out
	if g.directed {
		g.in = make([]row, len(g.out))
		for u, r := range g.out {
			for i, v := range r.to {
				g.in[v].to = append(g.in[v].to, ID(u))
				if !ones {
					g.in[v].weight = append(g.in[v].weight, r.weight[i])
				}
			}
		}
	}
	return g
}

func (g *csr) NumNodes() int              { return len(g.out) }
func (g *csr) Directed() bool             { return g.directed }
func (g *csr) Degree(u ID) float64        { return g.degree[u] }
func (g *csr) Out(u ID) ([]ID, []float32) { return g.out[u].to, g.out[u].weight }
func (g *csr) In(u ID) ([]ID, []float32)  { return g.in[u].to, g.in[u].weight }

// surveyed is a graph that keeps its survey, as a snapshot of a database would.
type surveyed struct{ *csr }

func (g surveyed) Survey() *Survey {
	if g.survey == nil {
		g.csr.survey = NewSurvey(g.csr)
	}
	return g.csr.survey
}

// withEdits is g with changes applied: only the rows they touch are new.
func (g *csr) withEdits(changes []Change) *csr {
	h := &csr{directed: g.directed, out: slices.Clone(g.out), degree: slices.Clone(g.degree)}
	h.in = h.out
	if g.directed {
		h.in = slices.Clone(g.in)
	}
	for _, c := range changes {
		h.out[c.U] = h.out[c.U].with(c.V, c.New)
		if g.directed {
			h.in[c.V] = h.in[c.V].with(c.U, c.New)
		} else if c.U != c.V {
			h.out[c.V] = h.out[c.V].with(c.U, c.New)
		}
		for _, u := range []ID{c.U, c.V} {
			h.degree[u] = h.out[u].sum()
		}
	}
	return h
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

// with is the row with v's weight set.
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

// readGraph loads an edge list from shared/data, its ids packed in order, or skips. Undirected edges may be listed in
// one or both directions.
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

// fromEdges is the unweighted graph with the given edges.
func fromEdges(n int, directed bool, list [][2]ID) *csr {
	g := &csr{directed: directed, out: make([]row, n), degree: make([]float64, n)}
	for _, e := range list {
		g.out[e[0]].to = append(g.out[e[0]].to, e[1])
		if !directed {
			g.out[e[1]].to = append(g.out[e[1]].to, e[0])
		}
	}
	var flat []ID // one array, so that rows lie in order in memory
	for u := range g.out {
		slices.Sort(g.out[u].to)
		g.out[u].to = slices.Compact(g.out[u].to)
		flat = append(flat, g.out[u].to...)
	}
	for u, r := range g.out {
		k := len(r.to)
		g.out[u].to, flat = flat[:k:k], flat[k:]
	}
	return g.finish()
}
