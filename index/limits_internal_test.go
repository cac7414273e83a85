package index

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kith/index/internal/pages"
)

// TestNodeLimit verifies that a node beyond the last id is refused with a clear error, by a commit
// and by a load, and that a commit goes on without it. The graph only claims to have so many nodes.
func TestNodeLimit(t *testing.T) {
	t.Parallel()
	s, _ := sample(t, false)
	full := *s
	full.Meta.Nodes = MaxNodes
	b := full.Begin()
	live := b.now.Meta.Live
	_, added, err := b.AddNode(Str("one more"))
	checkFull(t, "commit", err)
	if added || b.now.Meta.Live != live || !b.Empty() {
		t.Errorf("added %v, %d live nodes, were %d", added, b.now.Meta.Live, live)
	}
	if _, _, err := b.AddNode(s.Key(0)); err != nil {
		t.Errorf("a node that exists: %v", err)
	}
	graph := *s.Graph
	graph.nodes = MaxNodes - 1
	full.Graph = &graph
	n := numbering{s: &full, nodes: full.nodes, counts: map[uint16]int64{}, by: new(pages.Owner), fresh: func(labelledKey) {}}
	id, err := n.id(labelledKey{Key: Str("last")})
	if err != nil || id != MaxNodes-1 {
		t.Errorf("the last id is %d, %v", id, err)
	}
	_, err = n.id(labelledKey{Key: Str("one more")})
	checkFull(t, "load", err)
}

func checkFull(t *testing.T, what string, err error) {
	t.Helper()
	const want = "the graph has 4294967295 nodes, deleted ones included, and cannot have more"
	if !errors.Is(err, ErrTooLarge) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%s: %v, want ...%s", what, err, want)
	}
}

// TestEntryLimit verifies that rows with too many entries for memory are refused before any of them
// is read.
func TestEntryLimit(t *testing.T) {
	t.Parallel()
	s, m := sample(t, false)
	g := s.compactTo(t, m, 7).Graph
	g.out.base.stored.Entries = MaxEntries
	if !g.Loadable() {
		t.Errorf("%d entries are not loadable", uint64(MaxEntries))
	}
	g.out.base.stored.Entries++
	if g.Loadable() {
		t.Errorf("%d entries are loadable", g.out.base.stored.Entries)
	}
	if err := g.Load(context.Background()); !errors.Is(err, ErrTooLarge) || g.err() != nil {
		t.Errorf("Load: %v, then %v", err, g.err())
	}
}
