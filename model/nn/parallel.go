package nn

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// Parallel calls f for the numbers below n on all processors, in no particular order, until ctx
// ends.
func Parallel(ctx context.Context, n int, f func(i int)) error {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		all.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	all.Wait()
	return ctx.Err()
}

// TryParallel is Parallel for functions that can fail. It ends their context at the first error and
// returns that error.
func TryParallel(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	_ = Parallel(within, n, func(i int) {
		if err := f(within, i); err != nil {
			stop(err)
		}
	})
	return cmp.Or(ctx.Err(), context.Cause(within))
}

// Shards is the number of parts that a batch is split into for parallel work. It is a constant, so
// that sums do not depend on the number of processors.
const Shards = 8

// blockLen is the number of nodes that InBlocks processes at a time.
const blockLen = 1024

// InBlocks calls f for consecutive parts of the numbers below n, in parallel, until ctx ends.
func InBlocks(ctx context.Context, n int, f func(first, end int)) error {
	return Parallel(ctx, (n+blockLen-1)/blockLen, func(i int) { f(i*blockLen, min((i+1)*blockLen, n)) })
}

// BatchLen is the number of pairs that are computed between two checks of ctx, and whose contexts a
// Scorer holds at once. It is a multiple of the rows of a tile of a product, so that batching
// changes no sum.
const BatchLen = 1024

// InBatches calls f for consecutive parts of n pairs until ctx ends.
func InBatches(ctx context.Context, n int, f func(first, end int) error) error {
	for first := 0; first < n; first += BatchLen {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(first, min(first+BatchLen, n)); err != nil {
			return err
		}
	}
	return nil
}

// ShareBatches is InBatches on all processors: each call of work gets some of the batches, in
// ascending order. ShareBatches returns the first error of a call.
func ShareBatches(ctx context.Context, n int, work func(batches iter.Seq2[int, int]) error) error {
	var next atomic.Int64
	batches := func(yield func(first, end int) bool) {
		for ctx.Err() == nil {
			first := int(next.Add(BatchLen)) - BatchLen
			if first >= n || !yield(first, min(first+BatchLen, n)) {
				return
			}
		}
	}
	if n <= BatchLen {
		return cmp.Or(work(batches), ctx.Err())
	}
	errs := make([]error, min(runtime.GOMAXPROCS(0), (n+BatchLen-1)/BatchLen))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = work(batches) })
	}
	all.Wait()
	return cmp.Or(append(errs, ctx.Err())...)
}
