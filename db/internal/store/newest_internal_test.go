package store

import (
	"path/filepath"
	"testing"
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
