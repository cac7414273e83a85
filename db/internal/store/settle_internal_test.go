package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4/table"

	"kith/index"
)

// While a table cannot be written, the commits stay in their log, and writes are refused before
// they wait for ever. Close leaves the log or makes a table of it, and nothing is lost.
func TestFullLogStays(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	path := filepath.Join(t.TempDir(), "s")
	s := testOpen(t, path)
	fill(t, s, 1, 'a', 1)
	for id := range uint64(1000) { // no table is overwritten
		if err := os.WriteFile(table.NewFilename(id, path), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done, err := uint64(1), error(nil)
	for ; err == nil && done < 10_000; done++ {
		err = s.Commit(done+1, func(w index.Writer) error { return w.Set(testKey('b', int(done+1)), make([]byte, 100_000)) })
	}
	if !errors.Is(err, ErrFull) {
		t.Fatalf("the commits end with %v", err)
	}
	if got := logs(t, path); len(got) < 3 { // the last is the next one, which is empty
		t.Errorf("the logs are %v", got)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	for id := range uint64(1000) {
		if err := os.Remove(table.NewFilename(id, path)); err != nil {
			t.Fatal(err)
		}
	}
	s = testOpen(t, path)
	r := s.Read(done)
	defer r.Close()
	for ts := uint64(2); ts < done; ts++ {
		if v, _, err := r.Get(testKey('b', int(ts))); len(v) != 100_000 || err != nil {
			t.Fatalf("the commit at %d of %d has %d bytes: %v", ts, done, len(v), err)
		}
	}
}

func logs(t *testing.T, path string) []string {
	names, err := fileNames(path)
	if err != nil {
		t.Fatal(err)
	}
	return withSuffix(names, logSuffix)
}

// What a store reads from logs is what Badger reads, wherever a log ends.
func TestCommitted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	s := testOpen(t, path)
	for ts := range uint64(3) {
		fill(t, s, ts+1, 'a', 2)
	}
	name := filepath.Join(path, logs(t, path)[0])
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	whole, end := committed(b)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(whole) != 6 {
		t.Fatalf("%d entries, want 6", len(whole))
	}
	for cut := logHeader; cut <= end; cut += 97 {
		got, at := committed(b[:cut])
		again, same := committed(b[:at])
		if len(got)%2 != 0 || len(got) > len(whole) || at > cut || len(again) != len(got) || same != at {
			t.Errorf("cut at %d: %d entries up to %d, then %d up to %d", cut, len(got), at, len(again), same)
		}
		for i, e := range got {
			if fmt.Sprint(e) != fmt.Sprint(whole[i]) {
				t.Errorf("cut at %d: entry %d differs", cut, i)
			}
		}
	}
}
