package dbtest

import (
	"context"
	"sync"
)

// Countdown is a context that counts how often Err is called, and is canceled by one of these calls.
type Countdown struct {
	context.Context
	mu     sync.Mutex // protects following fields
	checks int
	last   int // number of the call that cancels it; 0 means none
	done   chan struct{}
}

// NewCountdown returns a context that is canceled by the n-th call of Err, or by none if n is 0.
func NewCountdown(n int) *Countdown {
	return &Countdown{Context: context.Background(), last: n, done: make(chan struct{})}
}

// Err implements [context.Context] and counts the call.
func (c *Countdown) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checks++
	if c.checks == c.last {
		close(c.done)
	}
	if c.last > 0 && c.checks >= c.last {
		return context.Canceled
	}
	return nil
}

// Done returns a channel that is closed when the context is canceled.
func (c *Countdown) Done() <-chan struct{} { return c.done }

// Checks returns the number of calls of Err so far.
func (c *Countdown) Checks() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.checks
}
