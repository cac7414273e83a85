package index

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"kith/index/internal/pages"
)

// vectorGraph returns a graph of n nodes, about half of which have vectors of d numbers, and its
// store.
func vectorGraph(t testing.TB, n, d int) (*Snapshot, *memory) {
	rng, store := rand.New(rand.NewPCG(5, 5)), newMemory()
	b := New(soundMeta()).Begin()
	for i := range n {
		id, _, err := b.AddNode(Int(int64(i)))
		must(t, err)
		if i/100%3 != 1 && rng.IntN(2) == 0 {
			must(t, b.SetFeatures(id, randomVector(rng, d)))
		}
	}
	must(t, b.Write(store, Commit{}))
	s := b.Snapshot()
	based, err := s.Rebase(s, s.compactTo(t, store, 1), 1)
	must(t, err, based.WriteBase(store))
	s.Meta = based.Meta
	return s, store
}

func randomVector(rng *rand.Rand, d int) []float32 {
	x := make([]float32, d)
	for i := range x {
		x[i] = rng.Float32()
	}
	return x
}

// compareVectors fails t unless got has the vectors of want, all of which begin at multiples of 16
// bytes.
func compareVectors(t testing.TB, got, want *Snapshot) {
	t.Helper()
	for id := range ID(want.Graph.nodes + 3) {
		x := got.Features(id)
		if !slices.Equal(x, want.Features(id)) || (x == nil) != (want.Features(id) == nil) {
			t.Fatalf("features of %d are %v, want %v", id, x, want.Features(id))
		}
		if at := uintptr(unsafe.Pointer(unsafe.SliceData(x))); at%16 != 0 {
			t.Fatalf("%d features of node %d begin at %x", len(x), id, at)
		}
	}
	checkSound(t, got)
}

// TestStoredVectors verifies that vectors that are read on demand are those in memory, whatever the
// cache holds, after commits that wrote some blocks again, on a new base and once they are loaded.
// Readers of earlier versions keep theirs. All vectors begin at multiples of 16 bytes, so that sums
// over their numbers have the same bits.
func TestStoredVectors(t *testing.T) {
	t.Parallel()
	for d := 1; d <= 20; d++ {
		for _, cache := range []int64{0, 1 << 20} {
			rng := rand.New(rand.NewPCG(5, uint64(d)))
			want, store := vectorGraph(t, 1000, d)
			got, err := Open(store, &Stored{memorySource{store.clone()}, cache})
			must(t, err)
			compareVectors(t, got, want)
			versions := [][2]*Snapshot{{got, want}}
			for range 3 {
				g, w := got.Begin(), want.Begin()
				for range 5 {
					id, x := ID(rng.IntN(1000)), randomVector(rng, d)
					must(t, g.SetFeatures(id, x), w.SetFeatures(id, x))
					id = ID(rng.IntN(1000))
					must(t, g.SetFeatures(id, nil), w.SetFeatures(id, nil))
				}
				must(t, g.Write(store, Commit{}), w.Write(newMemory(), Commit{}))
				got, want = g.Snapshot(), w.Snapshot()
				versions = append(versions, [2]*Snapshot{got, want})
			}
			old := got
			base := old.compactTo(t, store, 2)
			g, w, x := got.Begin(), want.Begin(), randomVector(rng, d)
			must(t, g.SetFeatures(77, x), w.SetFeatures(77, x), g.Write(store, Commit{}), w.Write(newMemory(), Commit{}))
			got, want = g.Snapshot(), w.Snapshot()
			got, err = got.Rebase(old, base, 2)
			must(t, err)
			changed := 0
			for range got.features.changed.All() {
				changed++
			}
			if changed != pages.SpanSize { // one block of 16, and the empty places beside it
				t.Errorf("%d blocks since the base", changed)
			}
			for _, v := range append(versions, [2]*Snapshot{got, want}) {
				compareVectors(t, v[0], v[1])
			}
			must(t, got.Err(), got.Load(context.Background()), got.Load(context.Background()))
			compareVectors(t, got, want)
		}
	}
}

// TestStoredVectorsDamage verifies that a block of vectors which cannot be read is an error that
// stays.
func TestStoredVectorsDamage(t *testing.T) {
	t.Parallel()
	_, store := vectorGraph(t, 1000, 3)
	k := string(partKey(makeKey[uint32](prefixFeature, 3), 0))
	store.entries[k] = append([]byte("other bytes"), store.entries[k]...)
	for _, how := range []string{"read", "load"} {
		s, err := Open(store, &Stored{memorySource{store}, 1 << 20})
		must(t, err)
		if how == "load" {
			wantCorrupt(t, how, s.Load(context.Background()))
		}
		for id := range ID(1000) {
			s.Features(id)
		}
		if !errors.Is(s.Err(), ErrCorrupt) {
			t.Errorf("%s: %v", how, s.Err())
		}
	}
	delete(store.entries, k)
	s, found := Salvage(store)
	if s == nil || len(found) != 1 {
		t.Errorf("without a block: found %v", found)
	}
}
