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
