package store

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"

	"kith/index"
)

// Merges of many small levels change no answer, whichever versions are discarded, and end when no
// level is full.
func TestMerges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	s := testOpen(t, path) // a new store is open for writing at once
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = testOpen(t, path)
	s.opts = s.opts.WithBaseLevelSize(64 << 10).WithBaseTableSize(32 << 10).WithLevelSizeMultiplier(2)
	rng, h := rand.New(rand.NewPCG(3, 4)), history{{}}
	readers, open := map[uint64]*Reader{}, map[uint64]int{}
	deepest := 0
	// A merge in the background may empty level 0 before each look at it, so there may be more
	// commits.
	for ts := uint64(1); ts <= 200 || deepest < 2 && ts <= 2000; ts++ {
		h.commit(t, s, rng)
		if rng.IntN(10) == 0 {
			readers[ts], open[ts] = s.Read(ts), 1
		}
		for _, at := range slices.Sorted(maps.Keys(readers)) {
			if rng.IntN(10) == 0 {
				h.check(t, s, readers[at], at)
				readers[at].Close()
				delete(readers, at)
				delete(open, at)
			}
		}
		s.Discard(ts, open)
		deepest = max(deepest, checkLevels(t, s))
		if ts%10 == 0 { // the merger in the background may not get a turn
			mergeFull(t, s.badger.Load().merge)
		}
	}
	if deepest < 2 {
		t.Errorf("at most %d levels had tables", deepest)
	}
	m := s.badger.Load().merge
	mergeFull(t, m)
	if n := len(m.levels[0].tables()); n >= m.opts.NumLevelZeroTables {
		t.Errorf("level 0 has %d tables", n)
	}
	for at, r := range readers {
		h.check(t, s, r, at)
		r.Close()
	}
	last := uint64(len(h) - 1)
	s.Discard(last, nil)
	if _, err := s.Merge(); err != nil {
		t.Fatal(err)
	}
	if n := checkLevels(t, s); n != 1 {
		t.Errorf("after Merge %d levels have tables", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err := examineFiles(s.opts, true); err != nil || len(f.faults) > 0 {
		t.Errorf("%v, %v", err, f.faults)
	}
	s = testOpen(t, path)
	r := s.Read(last)
	h.check(t, s, r, last)
	r.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// mergeFull merges tables until no level is full.
func mergeFull(t *testing.T, m *merger) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = m.step(m.pick); err != nil {
			t.Fatal(err)
		}
	}
}

// checkLevels checks that the tables of each level but 0 do not overlap, and returns how many
// levels have tables.
func checkLevels(t *testing.T, s *Store) (used int) {
	t.Helper()
	m := s.badger.Load().merge
	m.merging.Lock()
	defer m.merging.Unlock()
	for i, l := range m.levels {
		tables := l.tables()
		used += min(len(tables), 1)
		for j := 1; i > 0 && j < len(tables); j++ {
			if a, b := tables[j-1], tables[j]; string(y.ParseKey(a.Biggest())) >= string(y.ParseKey(b.Smallest())) {
				t.Fatalf("level %d: tables %d and %d overlap", i, a.ID(), b.ID())
			}
		}
	}
	return used
}

// A merge drops a deletion only when no level below may have the key, and the older versions only
// when every reader sees a newer one.
func TestKeeper(t *testing.T) {
	t.Parallel()
	value, deletion := y.ValueStruct{}, y.ValueStruct{Meta: deleteMark}
	for _, c := range []struct {
		about   string
		deletes bool
		values  []y.ValueStruct // of versions 9, 7, 5, ... of one key
		want    string
	}{
		{"values", false, []y.ValueStruct{value, value, value, value}, "9 7 5"},
		{"a deletion that some readers do not see", false, []y.ValueStruct{deletion, deletion, value, value}, "9 7 5"},
		{"a deletion that all see", false, []y.ValueStruct{value, value, deletion, value}, "9 7"},
		{"a deletion above another level", true, []y.ValueStruct{value, value, deletion, value}, "9 7 5"},
	} {
		k := &keeper{oldest: 6, deletes: c.deletes}
		got := ""
		for i, v := range c.values {
			if ts := uint64(9 - 2*i); k.keeps(y.KeyWithTs([]byte("a"), ts), v) {
				got += " " + string(rune('0'+ts))
			}
		}
		if got != " "+c.want {
			t.Errorf("%s: kept%s, want %s", c.about, got, c.want)
		}
		if !k.begins([]byte("b12345678")) || !k.keeps(y.KeyWithTs([]byte("b"), 1), value) {
			t.Errorf("%s: the next key was dropped", c.about)
		}
	}
}

// A merge that meets a damaged block keeps the tables, so no record after the block is lost, and
// nothing more is written.
func TestMergeOfDamage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	s := filled(t, path, 500)
	fill(t, s, 2, 'b', 10)
	names, err := filepath.Glob(filepath.Join(path, "*"+tableSuffix))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	f, err := os.OpenFile(names[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, 20); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x40
	if _, err := f.WriteAt(b, 20); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Merge(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Merge: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(path, "*"+tableSuffix)); err != nil || !slices.Equal(left, names) {
		t.Errorf("the tables are %v, want %v", left, names)
	}
	b[0] ^= 0x40
	if _, err := f.WriteAt(b, 20); err != nil {
		t.Fatal(err)
	}
	_, err = s.Merge()
	if err := errors.Join(f.Close(), err, s.Close()); err != nil {
		t.Error(err)
	}
}

// A table that was merged is there for its readers, and is closed when they have ended. One that
// cannot be written changes nothing.
func TestMergeWithoutSpace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	s := filled(t, path, 100)
	fill(t, s, 2, 'a', 10)
	m := s.badger.Load().merge
	taken := table.NewFilename(m.number.Load(), path)
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before := s.badger.Load().Tables()
	if _, err := s.Merge(); err == nil {
		t.Error("Merge took a file that exists")
	}
	if now := s.badger.Load().Tables(); len(now) != len(before) || s.Failure() != nil {
		t.Errorf("%d tables, want %d: %v", len(now), len(before), s.Failure())
	}
	if err := os.Remove(taken); err != nil {
		t.Fatal(err)
	}
	r := s.Read(2)
	defer r.Close()
	entries, done := 0, false
	for _, err := range r.Scan([]byte("a"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if entries++; !done {
			if _, err := s.Merge(); err != nil {
				t.Fatal(err)
			}
			done = true
		}
	}
	if entries != 100 {
		t.Errorf("the reader saw %d records", entries)
	}
	for deadline := time.Now().Add(10 * time.Second); m.nextSweep() != nil && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if m.nextSweep() != nil {
		t.Error("a table that was merged is still open")
	}
	if err := s.Commit(3, func(w index.Writer) error { return w.Set(testKey('b', 1), nil) }); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
