package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/index/internal/block"
)

// labelledGraph returns a graph of n nodes: labels and deleted nodes among those of a few blocks.
func labelledGraph(t testing.TB, n int) *Snapshot {
	rng := rand.New(rand.NewPCG(4, 4))
	b := New(soundMeta()).Begin()
	for i := range n {
		id, _, err := b.AddNode(Int(int64(i)))
		must(t, err)
		if i/nodeBlock%2 == 0 && rng.IntN(3) == 0 {
			must(t, b.SetLabel(id, fmt.Sprint("label ", rng.IntN(100))))
		}
		if i/nodeBlock == 3 && rng.IntN(9) == 0 {
			must(t, b.DeleteNode(id))
		}
	}
	must(t, b.Write(newMemory(), Commit{}))
	return b.Snapshot()
}

// storedSnapshot writes s as generation 1 and opens it again, to be read on demand.
func storedSnapshot(t testing.TB, s *Snapshot, cache int64) (*Snapshot, *memory) {
	t.Helper()
	store := newMemory()
	next, err := s.Rebase(s, s.compactTo(t, store, 1), 1)
	must(t, err)
	next.log, next.Meta.LogStart, next.Meta.LogEnd = changeLog{start: s.Meta.Version}, s.Meta.Version, s.Meta.Version
	must(t, next.WriteBase(store))
	stored, err := Open(store, &Stored{memorySource{store}, cache})
	must(t, err)
	return stored, store
}

// TestStoredNodes verifies that node records that are read on demand are those in memory.
func TestStoredNodes(t *testing.T) {
	t.Parallel()
	const n = 6*nodeBlock + 77
	want := labelledGraph(t, n)
	for _, cache := range []int64{0, 1 << 20} {
		got, _ := storedSnapshot(t, want, cache)
		compare := func() {
			t.Helper()
			for id := range ID(n + 5) {
				if got.Label(id) != want.Label(id) || got.Live(id) != want.Live(id) {
					t.Fatalf("node %d: label %d, live %v, want %d, %v", id, got.Label(id), got.Live(id), want.Label(id), want.Live(id))
				}
			}
			for l := range want.Meta.Labels {
				if got, want := slices.Collect(got.Labelled(uint16(l))), slices.Collect(want.Labelled(uint16(l))); l > 0 && !slices.Equal(got, want) {
					t.Fatalf("label %d: nodes %v, want %v", l, got, want)
				}
			}
			if !slices.Equal(got.CountLabels(), want.CountLabels()) || !slices.Equal(slices.Collect(got.Nodes()), slices.Collect(want.Nodes())) {
				t.Fatalf("%v nodes, want %v", got.CountLabels(), want.CountLabels())
			}
			checkSound(t, got)
		}
		compare()
		if blocks := len(got.nodes.base.stored); got.nodes.base.has(1) || !got.nodes.base.has(2) || blocks != 1 {
			t.Errorf("%d bytes of stored blocks, %v", blocks, got.nodes.base.stored)
		}
		b := got.Begin()
		must(t, b.SetLabel(7, "new"), b.SetLabel(nodeBlock+1, "new"), b.DeleteNode(9), b.Write(newMemory(), Commit{}))
		w := want.Begin()
		must(t, w.SetLabel(7, "new"), w.SetLabel(nodeBlock+1, "new"), w.DeleteNode(9), w.Write(newMemory(), Commit{}))
		before, wanted := got, want
		got, want = b.Snapshot(), w.Snapshot()
		compare()
		must(t, got.Err(), got.Load(context.Background()))
		compare()
		if bytes := got.Graph.out.base.stored.cache.Size(); bytes > 0 {
			t.Errorf("the cache holds %d bytes after everything was loaded", bytes)
		}
		got, want = before, wanted
		compare()
	}
}

// TestStoredNodesDamage verifies that a block of node records that cannot be read is an error that
// stays.
func TestStoredNodesDamage(t *testing.T) {
	t.Parallel()
	s := labelledGraph(t, 3*nodeBlock)
	for name, block := range map[string][]byte{"missing": nil, "altered": []byte("other bytes"), "short": block.WithChecksum(make([]byte, nodeBlock-1)),
		"unknown label": block.WithChecksum(append(make([]byte, nodeBlock-2), 0xf0, 1))} {
		for _, how := range []string{"read", "load"} {
			got, store := storedSnapshot(t, s, 0)
			k := string(makeKey[uint32](prefixNode, 1, 2))
			if store.entries[k] = block; block == nil {
				delete(store.entries, k)
			}
			if got.Label(1); got.Err() != nil {
				t.Errorf("%s: %v", name, got.Err())
			}
			if how == "load" {
				wantCorrupt(t, name, got.Load(context.Background()))
			}
			if got.Label(2*nodeBlock+7) != 0 || !errors.Is(got.Err(), ErrCorrupt) {
				t.Errorf("%s: label %d, %v", name, got.Label(2*nodeBlock+7), got.Err())
			}
			_, found := Salvage(store)
			if name != "unknown label" && len(found) == 0 {
				t.Errorf("%s: salvage finds nothing", name)
			}
		}
	}
}

func FuzzNodes(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0x80, 1}, 4)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		n = min(max(n, 0), nodeBlock)
		records, err := decodeNodes(&block.Decoder{B: b}, n, 9)
		if err == nil && len(records) != n || err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%d records, %v", len(records), err)
		}
	})
}

func FuzzNodeDirectory(f *testing.F) {
	dir := nodeDirectory{nodes: 99_999}
	dir.add(3)
	fuzzDecoder(f, [][]byte{dir.encode()}, decodeNodeDirectory)
}
