package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOpenReadsNoRows verifies that an open with a long log reads no row, and that the rows that
// the log has changed are those of an open that reads all: edges that are added, changed and
// removed, also in one commit, with weights and with times.
func TestOpenReadsNoRows(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		for _, timed := range []bool{false, true} {
			meta := soundMeta()
			meta.Directed = directed
			h := &history{now: New(meta), store: newMemory()}
			rng := rand.New(rand.NewPCG(5, 5))
			commit := func(edges int, nodes int64) {
				b := h.now.Begin()
				for range edges {
					u, _, err := b.AddNode(Int(rng.Int64N(nodes)))
					must(t, err)
					v, _, err := b.AddNode(Int(rng.Int64N(nodes)))
					must(t, err)
					w, at := float32(rng.IntN(3)), int64(0)
					if timed {
						at = rng.Int64N(5)
					}
					_, err = b.SetEdge(Edge{Ends: Ends{U: u, V: v}, Weight: w, Time: at})
					must(t, err)
				}
				must(t, b.Write(h.store, Commit{}))
				h.now = b.Snapshot()
			}
			commit(5000, 300)
			var err error
			h.now, err = h.now.Rebase(h.now, h.now.compactTo(t, h.store, 1), 1)
			must(t, err, h.now.WriteBase(h.store))
			for range 20 {
				commit(40, 400)
			}
			source := &countingSource{Source: memorySource{h.store}}
			got, err := Open(h.store, &Stored{source, 1 << 20})
			must(t, err)
			if source.reads > 0 && !timed {
				t.Errorf("directed %v: %d reads of blocks at open", directed, source.reads)
			}
			want, err := Open(h.store, nil)
			must(t, err)
			what := fmt.Sprintf("directed %v, timed %v", directed, timed)
			if !slices.Equal(got.events.all(), want.events.all()) || got.Graph.NumEdges() != want.Graph.NumEdges() || got.Graph.NumLoops() != want.Graph.NumLoops() {
				t.Errorf("%s: %d edges and %d loops, want %d and %d, or other events", what, got.Graph.NumEdges(), got.Graph.NumLoops(), want.Graph.NumEdges(), want.Graph.NumLoops())
			}
			before := got.Graph.changedBytes()
			for u := range ID(got.Graph.NumNodes()) {
				compareRow(t, got.Graph, want.Graph, u)
			}
			if after := got.Graph.changedBytes(); after <= before {
				t.Errorf("%s: changed rows take %d bytes, %d before they were read", what, after, before)
			}
			checkSound(t, got)
		}
	}
}
