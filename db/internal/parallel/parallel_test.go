package parallel_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync/atomic"
	"testing"

	"kith/db/internal/parallel"
)

// numbers yields the numbers below n.
func numbers(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// The answers have the order of the questions, and those that are computed at a time fit into the
// memory, except one that is alone.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const memory = 10
	var taken atomic.Int64
	next := 0
	for a, err := range parallel.Answers(t.Context(), numbers(2000), memory, func(_ context.Context, q int) (int64, func() (int, error), error) {
		bytes := int64(q % 13)
		return bytes, func() (int, error) {
			if now := taken.Add(bytes); now > memory+12 {
				t.Errorf("answers of %d bytes at a time", now)
			}
			runtime.Gosched()
			taken.Add(-bytes)
			return q * q, nil
		}, nil
	}) {
		if err != nil || a != next*next {
			t.Fatalf("answer %d is %d, %v", next, a, err)
		}
		next++
	}
	if next != 2000 {
		t.Errorf("%d answers", next)
	}
}

// The iteration ends with the first error, and when its loop or its context does.
func TestAnswersEnd(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	square := func(_ context.Context, q int) (int64, func() (int, error), error) {
		if q == 40 {
			return 0, nil, bad
		}
		return 1, func() (int, error) { return q * q, nil }, nil
	}
	n := 0
	for _, err := range parallel.Answers(t.Context(), numbers(1000), 5, square) {
		if n++; n <= 40 && err != nil || n == 41 && !errors.Is(err, bad) || n > 41 {
			t.Fatalf("answer %d: %v", n, err)
		}
	}
	for range parallel.Answers(t.Context(), numbers(1<<30), 5, square) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	n = 0
	for _, err := range parallel.Answers(ctx, numbers(1<<30), 5, func(_ context.Context, q int) (int64, func() (int, error), error) {
		return 1, func() (int, error) { return q, nil }, nil
	}) {
		if n++; n == 100 {
			cancel()
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if n > 2000 {
			t.Fatal("the iteration goes on after its context has ended")
		}
	}
	cancel()
}
