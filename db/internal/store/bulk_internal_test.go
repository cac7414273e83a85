package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"kith/index"
)

// bulk writes n records of two kinds at ts.
func bulk(s *Store, ts uint64, n int, fail error) error {
	return s.Bulk(ts, func(w index.Writer) error {
		for i := range n {
			for _, kind := range []byte{'y', 'x'} {
				if err := w.Set(generationKey(kind, ts, i), generationValue(kind, ts, i)); err != nil {
					return err
				}
			}
		}
		return fail
	})
}

func generationKey(kind byte, ts uint64, i int) []byte {
	return fmt.Appendf(nil, "%c%04d%08d", kind, ts, i)
}

func generationValue(kind byte, ts uint64, i int) []byte {
	return fmt.Appendf(nil, "%c %d at %d, %04000d", kind, i, ts, i)
}

// checkBulk checks that s has what bulk wrote.
func checkBulk(t *testing.T, s *Store, ts uint64, n int) {
	t.Helper()
	from := s.At(s.Newest())
	for i := range n {
		for _, kind := range []byte{'x', 'y'} {
			v, ok, err := from.Read(generationKey(kind, ts, i))
			if want := generationValue(kind, ts, i); !ok || err != nil || string(v) != string(want) {
				t.Fatalf("%c %d: %v, %v, %.20q, want %.20q", kind, i, ok, err, v, want)
			}
		}
	}
}

// drafts returns the names of the tables that are not complete.
func drafts(t *testing.T, s *Store) []string {
	t.Helper()
	names, err := fileNames(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return withSuffix(names, draftSuffix)
}

// Records of a bulk are there when it returns and after the store was opened again, next to commits
// before, between and after, whether it could write tables or a reader kept Badger from opening
// them.
func TestBulk(t *testing.T) {
	t.Parallel()
	const records = 400 // 1.6 MB of each kind: several tables
	for _, c := range []struct {
		name   string
		reader bool
		level  int
	}{{"without readers", false, lastLevel}, {"with a reader", true, 0}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s")
			s := testOpen(t, path)
			fill(t, s, 1, 'a', 10)
			if c.reader {
				defer s.Read(1).Close()
			}
			for ts := uint64(1); ts <= 3; ts++ {
				if err := bulk(s, ts, records, nil); err != nil {
					t.Fatal(err)
				}
				fill(t, s, ts+1, 'a', 10)
				for earlier := uint64(1); earlier <= ts; earlier++ {
					checkBulk(t, s, earlier, records)
				}
			}
			for _, info := range s.badger.Load().Tables() {
				if info.Left[0] != 'a' && info.Level != c.level {
					t.Errorf("table %q to %q in level %d, want %d", info.Left, info.Right, info.Level, c.level)
				}
			}
			if names := drafts(t, s); len(names) > 0 {
				t.Errorf("%v are left", names)
			}
			if c.reader {
				return
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = testOpen(t, path)
			checkBulk(t, s, 3, records)
			if err := s.Verify(); err != nil {
				t.Error(err)
			}
			s.Discard(4, nil)
			if _, err := s.Merge(); err != nil {
				t.Fatal(err)
			}
			checkBulk(t, s, 1, records)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Records of a bulk that fit into one table are there when it returns, while readers read and after
// the store was opened again, and Badger is not started again for them.
func TestBulkOfOneTable(t *testing.T) {
	t.Parallel()
	const records = 60 // 0.5 MB
	path := filepath.Join(t.TempDir(), "s")
	s := testOpen(t, path)
	fill(t, s, 1, 'a', 10)
	defer s.Read(1).Close()
	runs := s.runs.Load()
	for ts := uint64(1); ts <= 8; ts++ { // more than level 0 holds
		if err := bulk(s, ts, records, nil); err != nil {
			t.Fatal(err)
		}
		fill(t, s, ts+1, 'a', 10)
		checkBulk(t, s, ts, records)
		if ts == 1 { // later tables may be merged meanwhile
			if _, ok := readInventory(path).Tables[1]; !ok {
				t.Error("the inventory does not have the table")
			}
		}
	}
	if n := s.runs.Load() - runs; n > 0 {
		t.Errorf("Badger was started %d times", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = testOpen(t, path)
	for ts := uint64(1); ts <= 8; ts++ {
		checkBulk(t, s, ts, records)
	}
	if err := errors.Join(s.Verify(), s.Close()); err != nil {
		t.Error(err)
	}
}

// A bulk removes the tables of an earlier one whose records are all deleted, unless a reader may
// see them, and no others.
func TestBulkRemovesDeadTables(t *testing.T) {
	t.Parallel()
	const records = 600
	path := filepath.Join(t.TempDir(), "s")
	s := testOpen(t, path)
	drop := func(ts uint64, n int) {
		t.Helper()
		err := s.Batch(ts+1, func(w index.Writer) error {
			for i := range n {
				for _, kind := range []byte{'x', 'y'} {
					if err := w.Delete(generationKey(kind, ts, i)); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const generations = 8
	sizes := make([]int64, generations+1)
	for ts := uint64(1); ts <= generations; ts++ {
		if err := bulk(s, ts, records, nil); err != nil {
			t.Fatal(err)
		}
		fill(t, s, ts, 'a', 10)
		checkBulk(t, s, ts, records)
		sizes[ts] = tableBytes(t, s)
		switch {
		case ts == 1: // it is kept in part
			drop(ts, records-1)
			s.Discard(ts+1, nil)
		case ts < generations-1:
			drop(ts, records)
			s.Discard(ts+1, nil)
		default: // a reader may see it
			drop(ts, records)
		}
	}
	one := sizes[1]
	if sizes[generations-1] > 4*one || sizes[generations] < sizes[generations-1]+one/2 {
		t.Errorf("tables of %v bytes", sizes)
	}
	for _, kind := range []byte{'x', 'y'} {
		v, ok, err := s.At(s.Newest()).Read(generationKey(kind, 1, records-1))
		if want := generationValue(kind, 1, records-1); !ok || err != nil || string(v) != string(want) {
			t.Errorf("the record that was not deleted: %v, %v", ok, err)
		}
	}
	for ts := uint64(1); ts <= generations; ts++ {
		for i := range records - 1 {
			if _, ok, err := s.At(s.Newest()).Read(generationKey('x', ts, i)); ok || err != nil {
				t.Fatalf("a record of %d that was deleted is there: %v", ts, err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = testOpen(t, path)
	if err := errors.Join(s.Verify(), s.Close()); err != nil {
		t.Error(err)
	}
}

// tableBytes returns the size of all tables.
func tableBytes(t *testing.T, s *Store) (sum int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.Dir(), "*"+tableSuffix))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		switch {
		case err == nil:
			sum += info.Size()
		case !errors.Is(err, fs.ErrNotExist): // a table may be removed meanwhile
			t.Fatal(err)
		}
	}
	return sum
}

// A bulk that fails leaves nothing, and what a kill leaves is deleted by the next Open. A small
// bulk is a batch.
func TestBulkFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	s := testOpen(t, path)
	broken := errors.New("broken")
	if err := bulk(s, 1, 600, broken); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
	if names := drafts(t, s); len(names) > 0 {
		t.Errorf("%v are left", names)
	}
	if _, ok, err := s.At(1).Read(generationKey('x', 1, 0)); ok || err != nil {
		t.Errorf("a record is there: %v", err)
	}
	if err := bulk(s, 1, 10, nil); err != nil {
		t.Fatal(err)
	}
	checkBulk(t, s, 1, 10)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "000007"+draftSuffix), []byte("part"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = testOpen(t, path)
	defer s.Close()
	if names := drafts(t, s); len(names) > 0 {
		t.Errorf("%v are left", names)
	}
	checkBulk(t, s, 1, 10)
}

// A kill before the manifest names the tables of a bulk leaves the store without the bulk.
func TestBulkInterrupted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	s := testOpen(t, path)
	fill(t, s, 1, 'a', 10)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := map[string][]byte{badger.ManifestFilename: nil, inventoryFile: nil}
	for name := range before {
		b, err := os.ReadFile(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		before[name] = b
	}
	s = testOpen(t, path)
	if err := bulk(s, 1, 600, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, b := range before {
		if err := os.WriteFile(filepath.Join(path, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = testOpen(t, path)
	defer s.Close()
	if _, ok, err := s.At(1).Read(generationKey('x', 1, 0)); ok || err != nil {
		t.Errorf("a record is there: %v", err)
	}
	if _, ok, err := s.At(1).Read(testKey('a', 9)); !ok || err != nil {
		t.Errorf("an earlier record: %v, %v", ok, err)
	}
	if err := bulk(s, 1, 600, nil); err != nil {
		t.Fatal(err)
	}
	checkBulk(t, s, 1, 600)
}
