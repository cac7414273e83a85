package index

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestSavepointTakesBack verifies that a savepoint undoes all changes, including changes of long rows and new
// nodes, also after a panic.
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
					if _, err := b.SetEdge(hub, u, 2, i); err != nil {
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
		if !b.Empty() || len(b.pending) > 0 || b.Grows() || len(b.edit.changes) > 0 {
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
