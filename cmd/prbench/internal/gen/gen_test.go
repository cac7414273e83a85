package gen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"testing"
)

// collect returns the edges of a random graph.
func collect(g randomGraph, seed uint64) (list [][2]int64) {
	for u, v := range g.edges(context.Background(), seed) {
		list = append(list, [2]int64{u, v})
	}
	return list
}

// The output of a seed does not change between versions.
func TestGenBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		graph randomGraph
		lines int
		crc   uint32
	}{
		{&rmat{10, 2000, 0.57, 0.19, 0.19}, 2000, 0x1b849e2b},
		{&blocks{300, 7, 0.2, 0.01}, 1673, 0x243e1a07},
		{&attachment{500, 3}, 1500, 0x56f83d6c},
	} {
		var a, b, other bytes.Buffer
		err := errors.Join(writePairs(t.Context(), &a, c.graph.edges(t.Context(), 1)), writePairs(t.Context(), &b, c.graph.edges(t.Context(), 1)),
			writePairs(t.Context(), &other, c.graph.edges(t.Context(), 2)))
		if err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) || bytes.Equal(a.Bytes(), other.Bytes()) {
			t.Errorf("%T: one seed gives two graphs, or two seeds one; %v", c.graph, err)
		}
		lines, crc := bytes.Count(a.Bytes(), []byte("\n")), crc32.ChecksumIEEE(a.Bytes())
		if lines != c.lines || crc != c.crc {
			t.Errorf("%T: %d lines with checksum %#x, want %d with %#x", c.graph, lines, crc, c.lines, c.crc)
		}
	}
}

// A quarter that has all the probability gets all the edges.
func TestRMATQuarters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		g    rmat
		u, v int64
	}{
		{rmat{4, 9, 1, 0, 0}, 0, 0}, {rmat{4, 9, 0, 1, 0}, 0, 15}, {rmat{4, 9, 0, 0, 1}, 15, 0}, {rmat{32, 9, 0, 0, 0}, 1<<32 - 1, 1<<32 - 1},
	} {
		if got := collect(&c.g, 1); len(got) != 9 || slices.ContainsFunc(got, func(e [2]int64) bool { return e != [2]int64{c.u, c.v} }) {
			t.Errorf("%+v: %v", c.g, got)
		}
	}
}

// The blocks have as many edges as their probabilities say, within five standard deviations.
func TestBlockModel(t *testing.T) {
	t.Parallel()
	for _, g := range []blocks{{1000, 7, 0.05, 0.003}, {50, 50, 1, 0.5}, {60, 4, 1, 0}, {60, 4, 0, 1}, {9, 1, 1, 1}, {100, 3, 0, 0}} {
		count := map[bool]int{}
		possible := map[bool]int{}
		block := make([]int, g.nodes)
		for i := range g.count {
			for u := g.begin(i); u < g.begin(i+1); u++ {
				block[u] = int(i)
			}
		}
		for u := range block {
			for v := u + 1; v < len(block); v++ {
				possible[block[u] == block[v]]++
			}
		}
		seen := map[[2]int64]bool{}
		for _, e := range collect(&g, 5) {
			if e[0] >= e[1] || e[0] < 0 || e[1] >= g.nodes || seen[e] {
				t.Fatalf("%+v: edge %v", g, e)
			}
			seen[e] = true
			count[block[e[0]] == block[e[1]]]++
		}
		for same, p := range map[bool]float64{true: g.inside, false: g.between} {
			n := float64(possible[same])
			if off := math.Abs(float64(count[same]) - n*p); off > 5*math.Sqrt(n*p*(1-p)) {
				t.Errorf("%+v: %d edges inside blocks (%v), expected %v", g, count[same], same, n*p)
			}
		}
	}
}

// Nodes have edges to earlier nodes, and the first nodes have far more edges than later ones.
func TestPreferentialAttachment(t *testing.T) {
	t.Parallel()
	g := attachment{20000, 4}
	degree := make([]int, g.nodes)
	for i, e := range collect(&g, 3) {
		if e[0] != int64(i)/g.degree || e[1] < 0 || e[1] > e[0] {
			t.Fatalf("edge %d is %v", i, e)
		}
		degree[e[0]]++
		degree[e[1]]++
	}
	// The degree of the i-th node is about degree * sqrt(nodes / i) in expectation.
	early, late := 0, 0
	for i := range 1000 {
		early += degree[i]
		late += degree[len(degree)-1-i]
	}
	if ratio := float64(early) / float64(late); ratio < 5 || ratio > 12 {
		t.Errorf("the first nodes have %.2f times the edges of the last, want about 8", ratio)
	}
}

func TestGenRefuses(t *testing.T) {
	t.Parallel()
	for _, g := range []randomGraph{
		&rmat{0, 1, 0, 0, 0}, &rmat{33, 1, 0, 0, 0}, &rmat{3, -1, 0, 0, 0}, &rmat{3, 1, 0.9, 0.2, 0}, &rmat{3, 1, math.NaN(), 0, 0},
		&blocks{0, 1, 0, 0}, &blocks{5, 6, 0, 0}, &blocks{5, 0, 0, 0}, &blocks{5, 1, 1.5, 0}, &blocks{5, 1, 0, -1}, &blocks{1<<32 + 1, 1, 0, 0},
		&attachment{0, 1}, &attachment{1, 0}, &attachment{1, 1<<16 + 1},
	} {
		if g.valid() == nil {
			t.Errorf("%+v was accepted", g)
		}
	}
}

// A stream ends when its reader or its context does.
func TestGenEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	huge := &rmat{30, math.MaxInt64, 0.5, 0.2, 0.2}
	if err := writePairs(ctx, &bytes.Buffer{}, huge.edges(ctx, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := writePairs(t.Context(), brokenPipe{}, huge.edges(ctx, 1)); !errors.Is(err, errPipe) {
		t.Errorf("broken pipe: %v", err)
	}
	for _, sparse := range []*blocks{{1 << 32, 1 << 32, 0, 0}, {1 << 32, 1, 1e-40, 0}} { // there is no edge
		if err := writePairs(ctx, &bytes.Buffer{}, sparse.edges(ctx, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	for _, g := range []randomGraph{huge, &blocks{1 << 32, 3, 0.5, 0.5}, &blocks{1 << 20, 3, 1e-19, 1e-19}, &attachment{1 << 32, 1 << 16}} {
		n := 0
		for range g.edges(t.Context(), 1) {
			if n++; n == 10 {
				break
			}
		}
		if n > 10 {
			t.Errorf("%T went on", g)
		}
	}
}

type brokenPipe struct{}

var errPipe = fmt.Errorf("nobody reads")

func (brokenPipe) Write([]byte) (int, error) { return 0, errPipe }
