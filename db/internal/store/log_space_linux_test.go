package store

import (
	"os"
	"path/filepath"
	"testing"

	"kith/index"
)

// What Badger has written to a log always has blocks that were reserved before, also in a log that
// it has just begun.
func TestLogSpace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	s := testOpen(t, path)
	seen, known := map[string]bool{}, 0
	for ts := uint64(1); len(seen) < 4; ts++ {
		r := s.NewRecords()
		for i := range 1 + int(ts%7) {
			if err := r.Set(testKey('a', i), make([]byte, 100_000)); err != nil {
				t.Fatal(err)
			}
		}
		err := s.Reserve(r)
		b := s.badger.Load()
		promised := max(b.space.log.blocks, b.space.next.blocks)
		if err != nil || promised < r.logBytes() {
			t.Fatalf("at %d: %d bytes are reserved for %d: %v", ts, promised, r.logBytes(), err)
		}
		if err := s.Write(ts, r); err != nil {
			t.Fatal(err)
		}
		if b.space.promised != 0 {
			t.Fatalf("at %d: %d bytes are still promised", ts, b.space.promised)
		}
		log := logs(t, path)
		name := newestLog(path, log)
		seen[name] = true
		if log := b.space.present(); log != nil {
			if known++; filepath.Base(log.Name()) != name {
				t.Fatalf("at %d: %s is taken for the log, which is %s", ts, log.Name(), name)
			}
		}
		content, err := os.ReadFile(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		_, end := committed(content)
		blocks := b.space.log.blocks
		if name == filepath.Base(b.space.path()) {
			blocks = b.space.next.blocks
		}
		if int64(end) > blocks {
			t.Fatalf("at %d: %s has %d bytes and blocks for %d", ts, name, end, blocks)
		}
	}
	if known == 0 {
		t.Error("the log was never known")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left := logs(t, path); len(left) > 0 {
		t.Errorf("Close leaves %v", left)
	}
	s = testOpen(t, path)
	if err := s.Commit(s.Newest()+1, func(w index.Writer) error { return w.Set(testKey('b', 1), nil) }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
