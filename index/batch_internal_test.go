package index

import (
	"errors"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestSavepointTakesBack verifies that a savepoint undoes all changes, including changes of long
// rows and new nodes, also after a panic.
func TestSavepointTakesBack(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		s, _ := sample(t, directed)
		s.Graph.Survey() // changes are tracked from here on
		b := s.Begin()
		labels := slices.Clone(b.now.Meta.Labels)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is gone")
				}
			}()
			_ = b.Savepoint(func() error {
				hub, _, _ := b.AddNode(Str("hub"))
				for i := range int64(2 * longRow) {
					u, _, _ := b.AddNode(Int(100 + i))
					if _, err := b.SetEdge(Edge{Ends: Ends{U: hub, V: u}, Weight: 2, Time: i}); err != nil {
						t.Fatal(err)
					}
					if i%100 == 0 {
						b.View()
					}
				}
				if err := b.SetLabel(hub, "new"); err != nil {
					t.Fatal(err)
				}
				if err := b.SetFeatures(hub, []float32{1, 2, 3}); err != nil {
					t.Fatal(err)
				}
				panic("on purpose")
			})
		}()
		if _, known := b.Known(Str("hub")); known {
			t.Errorf("directed %v: its keys are left", directed)
		}
		if !b.Empty() || b.Grows() || len(b.edit.changes) > 0 {
			t.Errorf("directed %v: something is left of it", directed)
		}
		if !gocmp.Equal(b.now.Meta.Labels, labels) {
			t.Errorf("labels are %v, want %v", b.now.Meta.Labels, labels)
		}
		if err := b.View().Same(s); err != nil {
			t.Error(err)
		}
		checkSound(t, b.View())
		b.now.Graph.Survey()
	}
}

// TestSavepointTakesBackRows verifies that no row of a node remains that a savepoint has taken
// back. PageRank reads all rows, and has no place for one of a node that does not exist.
func TestSavepointTakesBackRows(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		for _, edges := range []int{1, 2 * longRow} {
			b := New(Meta{Directed: directed}).Begin()
			for i := range int64(edges) {
				_, _, err := b.AddNode(Int(i))
				must(t, err)
			}
			failed := errors.New("failed")
			err := b.Savepoint(func() error {
				id, _, err := b.AddNode(Str("new"))
				must(t, err)
				for i := range ID(edges) {
					_, err := b.SetEdge(Edge{Ends: Ends{U: id, V: i}, Weight: 1})
					_, other := b.SetEdge(Edge{Ends: Ends{U: i, V: id}, Weight: 1})
					must(t, err, other)
				}
				return failed
			})
			if !errors.Is(err, failed) {
				t.Fatal(err)
			}
			must(t, b.Write(newMemory(), Commit{}))
			g := b.Snapshot().Graph
			for _, in := range []bool{false, true} {
				for u, run := range g.Runs(in) {
					if end := int(u) + len(run.Start) - 1; end > g.NumNodes() {
						t.Errorf("directed: %v, %d edges: rows up to that of node %d of %d", directed, edges, end-1, g.NumNodes())
					}
				}
			}
		}
	}
}
