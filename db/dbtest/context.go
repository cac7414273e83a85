package dbtest

import (
	"context"
	"sync/atomic"
)

// Countdown is a context that counts how often Err is called, and is canceled by one of these
// calls.
type Countdown struct {
	context.Context
	cancel context.CancelFunc
	checks atomic.Int64
	last   int64 // number of the call that cancels it; 0 means none
}

// NewCountdown returns a context that is canceled by the n-th call of Err, or by none if n is 0.
func NewCountdown(n int) *Countdown {
	ctx, cancel := context.WithCancel(context.Background())
	return &Countdown{Context: ctx, cancel: cancel, last: int64(n)}
}

// Err implements [context.Context] and counts the call.
func (c *Countdown) Err() error {
	if c.checks.Add(1) == c.last {
		c.cancel()
	}
	return c.Context.Err()
}

// Checks returns the number of calls of Err so far.
func (c *Countdown) Checks() int { return int(c.checks.Load()) }
