package model

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls f for the numbers below n on all processors, in no particular order, until ctx ends.
func parallel(ctx context.Context, n int, f func(i int)) error {
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

// blockLen is the number of nodes that inBlocks processes at a time.
const blockLen = 1024

// inBlocks calls f for consecutive parts of the numbers below n, in parallel, until ctx ends.
func inBlocks(ctx context.Context, n int, f func(first, end int)) error {
	return parallel(ctx, (n+blockLen-1)/blockLen, func(i int) { f(i*blockLen, min((i+1)*blockLen, n)) })
}

// batchLen is the number of pairs that are computed between two checks of ctx, and whose contexts a Scorer holds at
// once. It is a multiple of the rows that multiply processes at a time, so that batching changes no sum.
const batchLen = 1024

// inBatches calls f for consecutive parts of n pairs until ctx ends.
func inBatches(ctx context.Context, n int, f func(first, end int) error) error {
	for first := 0; first < n; first += batchLen {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(first, min(first+batchLen, n)); err != nil {
			return err
		}
	}
	return nil
}
