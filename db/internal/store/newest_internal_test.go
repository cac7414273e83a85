package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"kith/index"
)

// The position is found again after Badger has passed over logs that are tables by now.
func TestPositionAfterDeletedLogs(t *testing.T) {
	t.Parallel()
	s := testOpen(t, filepath.Join(t.TempDir(), "s"))
	defer s.Close()
	fill(t, s, 1, 'a', 10)
	now := s.position(true)
	s.newest.at.log = "00000" + logSuffix
	const deleted = 2 // the log after it is missing too
	for range deleted {
		if got := s.position(true); got != now {
			t.Errorf("position %v, want %v", got, now)
		}
	}
	s.newest.at.log = "99998" + logSuffix
	if got := s.position(true); got != now {
		t.Errorf("position %v after a log that does not exist, want %v", got, now)
	}
}

// The next open finds no log foreign, although it is not known in which log a commit is.
func TestNoLogIsForeign(t *testing.T) {
	t.Parallel()
	s := testOpen(t, filepath.Join(t.TempDir(), "s"))
	defer s.Close()
	for ts := uint64(1); ts <= 3; ts++ {
		r := s.NewRecords()
		must(t, r.Set(index.MetaKey(), []byte{byte(ts)}))
		_, err := s.commit(ts, r)
		must(t, err)
		s.note(ts, r, position{}) // as if Badger had begun a log since before
		checkLogs(t, s)
	}
}

// checkLogs reports the logs that the next open would refuse.
func checkLogs(t *testing.T, s *Store) {
	t.Helper()
	n := readNewest(s.Dir())
	names, err := fileNames(s.Dir())
	must(t, err)
	for _, name := range withSuffix(names, logSuffix) {
		b, err := os.ReadFile(filepath.Join(s.Dir(), name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is a table now
		}
		must(t, err)
		if log := summarize(b); n.foreign(name, b, &log) {
			t.Fatalf("%s is foreign to %+v", name, *n)
		}
	}
}

// The file stays as it is if the last log cannot be read, and forgets deleted logs.
func TestNoteOfUnreadableLog(t *testing.T) {
	t.Parallel()
	s := testOpen(t, filepath.Join(t.TempDir(), "s"))
	defer s.Close()
	r := s.NewRecords()
	must(t, r.Set(index.MetaKey(), []byte{1}), s.Write(1, r))
	known := readNewest(s.Dir())
	if known.Commit != 1 || len(known.Logs) != 1 {
		t.Fatalf("%+v after the first commit", *known)
	}
	log := s.position(true).log
	delete(s.newest.Logs, log)
	must(t, os.Rename(filepath.Join(s.Dir(), log), filepath.Join(s.Dir(), "away")))
	must(t, os.WriteFile(filepath.Join(s.Dir(), log), []byte("short"), 0o600))
	s.note(2, r, s.position(false))
	if got := readNewest(s.Dir()); got.Commit != 1 {
		t.Errorf("%+v after a log that cannot be read", *got)
	}
	must(t, os.Rename(filepath.Join(s.Dir(), "away"), filepath.Join(s.Dir(), log)))
	s.note(2, r, s.position(false))
	if got := readNewest(s.Dir()); got.Commit != 2 || got.Logs[log].Commit != 2 {
		t.Errorf("%+v after the log can be read again", *got)
	}
}
