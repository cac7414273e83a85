package nn

import (
	"context"
	"errors"
	"testing"
)

// The first error ends the context of the other functions and is returned. Without an error, that
// of the context is.
func TestTryParallel(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	err := TryParallel(context.Background(), 2, func(ctx context.Context, i int) error {
		if i == 1 {
			return failed
		}
		if err := TryParallel(ctx, 1, func(context.Context, int) error { return nil }); err != nil {
			return err
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("error %v, want %v", err, failed)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	if err := TryParallel(ctx, 3, func(context.Context, int) error { return nil }); err != nil {
		t.Error(err)
	}
	cancel(failed)
	if err := TryParallel(ctx, 3, func(context.Context, int) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
