package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4/table"
)

// If Badger cannot write a table, Close returns the reason, and the directory stays locked while Badger tries again.
func TestCloseThatCannotWrite(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	path := filepath.Join(t.TempDir(), "s")
	s := testOpen(t, path)
	fill(t, s, 1, 'a', 1)
	for id := range uint64(100) { // Badger does not overwrite a table
		if err := os.WriteFile(table.NewFilename(id, path), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The last log is the next one, which is empty.
	for ts := uint64(2); len(logs(t, path)) < 3; ts++ {
		fill(t, s, ts, 'a', 100)
	}
	if err := s.Close(); !errors.Is(err, errUnfinished) {
		t.Errorf("Close: %v", err)
	}
	if _, err := Open(path, testOptions()); !errors.Is(err, ErrLocked) {
		t.Errorf("Open: %v", err)
	}
	if got := logs(t, path); len(got) < 2 {
		t.Errorf("the logs that are left are %v", got)
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
