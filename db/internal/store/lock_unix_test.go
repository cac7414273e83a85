//go:build unix

package store

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A closed store is not locked, even if a process that was being started when it was closed still
// has a copy of the file that holds the lock.
func TestClosedWhileForking(t *testing.T) {
	t.Parallel()
	path, o := filepath.Join(t.TempDir(), "s"), Options{Memory: 64 << 20, NoSync: true, Logger: slog.New(slog.DiscardHandler)}
	for range 2 {
		s, err := Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		inherited, err := unix.Dup(int(s.lock.(*dirLock).dir.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(inherited)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := Compact(context.Background(), path, o); err != nil {
			t.Fatalf("after the store was closed: %v", err)
		}
	}
}
