package store

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4/table"

	"kith/index"
)

func testOptions() Options {
	return Options{Memory: 13 << 20, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

func testOpen(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Accept(); err != nil {
		t.Fatal(err)
	}
	return s
}

// filled returns a store that was opened again with n records of kind a at timestamp 1.
func filled(t *testing.T, path string, n int) *Store {
	t.Helper()
	s := testOpen(t, path)
	fill(t, s, 1, 'a', n)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return testOpen(t, path)
}

// fill writes n records of a kind at ts.
func fill(t *testing.T, s *Store, ts uint64, kind byte, n int) {
	t.Helper()
	rng := rand.NewChaCha8([32]byte{kind})
	err := s.Batch(ts, func(w index.Writer) error {
		for i := range n {
			noise := make([]byte, 1000)
			_, _ = rng.Read(noise) // never fails
			if err := w.Set(testKey(kind, i), fmt.Appendf(nil, "%c %d at %d, %s", kind, i, ts, noise)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func testKey(kind byte, i int) []byte { return fmt.Appendf(nil, "%c%08d", kind, i) }

// states returns the names, lengths and times of the files in a directory.
func states(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = fmt.Sprint(info.Size(), info.ModTime())
	}
	return all
}

// A store that is only read leaves its files as they are. Readers that began before the first write
// read what they did before, whatever is written and merged.
func TestFirstWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	s := testOpen(t, path)
	fill(t, s, 1, 'a', 100)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := states(t, path)
	s = testOpen(t, path)
	early := s.Read(s.Newest())
	if err := s.Batch(1, func(index.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	delete(before, lockFile)
	now := states(t, path)
	delete(now, lockFile)
	if !maps.Equal(before, now) {
		t.Errorf("files were %v, they are %v", before, now)
	}
	fill(t, s, 2, 'a', 200)
	s.Discard(2, nil)
	if _, err := s.Merge(); err != nil {
		t.Fatal(err)
	}
	for i, r := range []*Reader{early, s.Read(2)} {
		n := 0
		for e, err := range r.Scan([]byte("a"), nil) {
			if want := fmt.Sprintf("a %d at %d, ", n, i+1); err != nil || string(e.Value[:len(want)]) != want {
				t.Fatalf("reader %d: %.20s, %v, want %s", i, e.Value, err, want)
			}
			n++
		}
		if n != 100*(i+1) {
			t.Errorf("reader %d: %d records", i, n)
		}
		r.Close()
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Damage to records that are read on demand is found when they are read, before the first write,
// and by Verify; other damage when the store is opened.
func TestDamageOnDemand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   byte
		record int
		opens  bool
	}{{'x', 50, true}, {'x', 99, false}, {'a', 50, false}} { // the last block of a table is read
		path := filepath.Join(t.TempDir(), "s")
		s := testOpen(t, path)
		fill(t, s, 1, c.kind, 100)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		damageRecord(t, path, testKey(c.kind, c.record))
		s, err := Open(path, testOptions())
		if errors.Is(err, ErrCorrupt) == c.opens {
			t.Fatalf("%c %d: %v", c.kind, c.record, err)
		}
		if !c.opens {
			continue
		}
		if _, ok, err := s.At(1).Read(testKey(c.kind, c.record)); ok {
			t.Errorf("the damaged record is read: %v", err)
		}
		if _, ok, err := s.At(1).Read(testKey(c.kind, 0)); !ok || err != nil {
			t.Errorf("another record: %v, %v", ok, err)
		}
		if err := s.Verify(); !errors.Is(err, ErrCorrupt) {
			t.Errorf("verify: %v", err)
		}
		if err := s.Commit(2, func(w index.Writer) error { return w.Set([]byte("a"), nil) }); !errors.Is(err, ErrCorrupt) {
			t.Errorf("write: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// damageRecord alters a byte of the block with a record.
func damageRecord(t *testing.T, path string, key []byte) {
	t.Helper()
	name := table.NewFilename(1, path)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	work := scanWork * len(b)
	for at := 0; at < len(b); {
		entries, n := readBlock(b[at:], &work)
		if n == 0 {
			break
		}
		for _, e := range entries {
			if string(e.key[:len(key)]) == string(key) {
				b[at+n/2] ^= 1
				if err := os.WriteFile(name, b, 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
		}
		at += n
	}
	t.Fatalf("%s has no record %s", name, key)
}
