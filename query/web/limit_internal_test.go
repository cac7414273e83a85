package web

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	b := &budget{most: 10}
	one, two := share{of: b}, share{of: b}
	for _, step := range []struct {
		of       *share
		n        int64
		ok       bool
		used     int64
		releases bool
	}{
		{of: &one, n: 7, ok: true, used: 7},
		{of: &one, n: 5, ok: true, used: 7},
		{of: &two, n: 4, ok: false, used: 7},
		{of: &two, n: 3, ok: true, used: 10},
		{of: &two, n: 1000, ok: false, used: 10},
		{of: &one, releases: true, used: 3},
		{of: &one, releases: true, used: 3},
		{of: &two, n: 1000, ok: true, used: 10},
		{of: &two, releases: true},
	} {
		if step.releases {
			step.of.release()
		} else if ok := step.of.grow(step.n); ok != step.ok {
			t.Errorf("%+v: %t", step, ok)
		}
		if used := b.used.Load(); used != step.used {
			t.Errorf("%+v: %d are used", step, used)
		}
	}
}

// A body is counted as it arrives, unless it is small.
func TestMetered(t *testing.T) {
	t.Parallel()
	b := &budget{most: 100_000}
	s := share{of: b}
	if _, err := io.Copy(io.Discard, &metered{Reader: strings.NewReader(strings.Repeat("x", smallBytes)), share: &s}); err != nil || s.n != 0 {
		t.Errorf("a small body: %v, %d counted", err, s.n)
	}
	if _, err := io.Copy(io.Discard, &metered{Reader: strings.NewReader(strings.Repeat("x", 60_000)), share: &s}); err != nil || s.n != 60_000 {
		t.Errorf("a body: %v, %d counted", err, s.n)
	}
	other := share{of: b}
	if _, err := io.Copy(io.Discard, &metered{Reader: strings.NewReader(strings.Repeat("x", 60_000)), share: &other}); !errors.Is(err, errBusy) {
		t.Errorf("a body beyond the budget: %v", err)
	}
}

// Statements leave a processor to other requests, where there are several.
func TestMaxRunning(t *testing.T) {
	t.Parallel()
	if got, want := cap(Options{}.handler(nil).turns.running), max(runtime.GOMAXPROCS(0)-1, 1); got != want {
		t.Errorf("%d statements run at the same time, want %d", got, want)
	}
	if got := cap(Options{MaxRunning: 7}.handler(nil).turns.running); got != 7 {
		t.Errorf("%d statements run at the same time, want 7", got)
	}
}
