//go:build unix

package store

import (
	"context"
	"log/slog"
	"os/exec"
	"path/filepath"
	"testing"
)

// A closed store is not locked, even if a process was being started when it was closed.
func TestClosedWhileForking(t *testing.T) {
	t.Parallel()
	path, o := filepath.Join(t.TempDir(), "s"), Options{Memory: 64 << 20, NoSync: true, Logger: slog.New(slog.DiscardHandler)}
	done, stopped := make(chan struct{}), make(chan struct{})
	for range 2 {
		go func() {
			defer func() { stopped <- struct{}{} }()
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := exec.Command("true").Run(); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	for i := range 10 {
		s, err := Open(path, o)
		if err == nil {
			err = s.Close()
		}
		if err == nil {
			err = Compact(context.Background(), path, o)
		}
		if err != nil {
			t.Errorf("round %d: %v", i, err)
			break
		}
	}
	close(done)
	<-stopped
	<-stopped
}
