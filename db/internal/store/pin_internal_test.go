package store

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"kith/index"
)

// history is what a store held at each timestamp.
type history []map[string][]byte

// commit writes random values to some keys. It also writes a block of a generation, and deletes an
// earlier one.
func (h *history) commit(t *testing.T, s *Store, rng *rand.Rand) {
	t.Helper()
	ts := len(*h)
	now := maps.Clone((*h)[ts-1])
	err := s.Commit(uint64(ts), func(w index.Writer) error {
		set := func(key string) error {
			now[key] = make([]byte, 24<<10)
			_, _ = rand.NewChaCha8([32]byte{byte(ts), byte(ts >> 8), key[0], key[1]}).Read(now[key]) // never fails
			return w.Set([]byte(key), now[key])
		}
		for range 12 {
			key := fmt.Sprint("f", rng.IntN(16))
			if rng.IntN(8) == 0 {
				delete(now, key)
				if err := w.Delete([]byte(key)); err != nil {
					return err
				}
			} else if err := set(key); err != nil {
				return err
			}
		}
		old := fmt.Sprintf("x%04d", ts-10)
		delete(now, old)
		if err := w.Delete([]byte(old)); err != nil {
			return err
		}
		return set(fmt.Sprintf("x%04d", ts))
	})
	if err != nil {
		t.Fatal(err)
	}
	*h = append(*h, now)
}

// check compares what a reader and a source at ts read.
func (h history) check(t *testing.T, s *Store, r *Reader, ts uint64) {
	t.Helper()
	want, source := h[ts], s.At(ts)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if v, ok, err := r.Get([]byte(key)); err != nil || !ok || !bytes.Equal(v, want[key]) {
			t.Fatalf("reader at %d: %s: %d bytes, %v, %v", ts, key, len(v), ok, err)
		}
		if v, ok, err := source.Read([]byte(key)); err != nil || !ok || !bytes.Equal(v, want[key]) {
			t.Fatalf("source at %d: %s: %d bytes, %v, %v", ts, key, len(v), ok, err)
		}
	}
	n := 0
	for e, err := range r.Scan(nil, nil) {
		if err != nil || !bytes.Equal(e.Value, want[string(e.Key)]) {
			t.Fatalf("scan at %d: %s: %d bytes, %v", ts, e.Key, len(e.Value), err)
		}
		if _, ok, err := r.Get([]byte("f0")); err != nil || ok != (want["f0"] != nil) { // between two entries
			t.Fatalf("reader at %d: %v, %v", ts, ok, err)
		}
		n++
	}
	if n != len(want) {
		t.Fatalf("scan at %d: %d entries, want %d", ts, n, len(want))
	}
	for _, err := range r.Scan([]byte("x"), nil) { // stops early
		if err != nil {
			t.Fatal(err)
		}
		break
	}
}

// Readers see what the store held at their timestamps, however much is written meanwhile and
// whichever versions the store has discarded. Readers that never end make the store keep the
// versions of the last memtable's worth of commits at most.
func TestPins(t *testing.T) {
	t.Parallel()
	for _, inMemory := range []bool{false, true} {
		t.Run(fmt.Sprintf("inMemory=%v", inMemory), func(t *testing.T) {
			t.Parallel()
			o, path := testOptions(), ""
			o.InMemory, o.NoSync = inMemory, true
			if !inMemory {
				path = filepath.Join(t.TempDir(), "s")
			}
			s, err := Open(path, o)
			if err != nil {
				t.Fatal(err)
			}
			rng, h := rand.New(rand.NewPCG(1, 2)), history{{}}
			readers, open, most, late := map[uint64]*Reader{}, map[uint64]int{}, 0, uint64(0)
			const commits = 200
			for ts := uint64(1); ts <= commits; ts++ {
				h.commit(t, s, rng)
				for _, at := range slices.Sorted(maps.Keys(readers)) {
					if at > 1 && rng.IntN(20) == 0 {
						readers[at].Close()
						delete(readers, at)
						delete(open, at)
					}
				}
				if ts == 1 || rng.IntN(20) == 0 {
					readers[ts] = s.Read(ts)
					open[ts]++
				}
				s.Discard(ts, open)
				most, late = max(most, len(s.pins)), max(late, ts-s.discarded.Load())
				if ts%50 == 0 {
					if _, err := s.Merge(); err != nil {
						t.Fatal(err)
					}
					for at, r := range readers {
						h.check(t, s, r, at)
					}
				}
			}
			const least = 200 << 10 // bytes of a commit
			if bound := uint64(s.opts.MemTableSize/least) + 1; late > bound || bound > commits/4 || most < 2 {
				t.Errorf("versions of %d commits are kept, want at most %d; %d pins", late, bound, most)
			}
			for _, r := range readers {
				r.Close()
			}
			s.Discard(commits, nil)
			if n := s.badger.Load().users.Load(); s.Pins() || n != 1 {
				t.Errorf("%d users are left", n)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
