package dbtest

import (
	"context"
	"sync"
)

// Countdown is a context that counts how often it is checked, and is canceled by one of these checks.
type Countdown struct {
	context.Context
	mu     sync.Mutex // protects following fields
	checks int
	last   int // the check that cancels it; 0: none does
	done   chan struct{}
}

// NewCountdown returns a context that the n-th check finds canceled; of 0 none does.
func NewCountdown(n int) *Countdown {
	return &Countdown{Context: context.Background(), last: n, done: make(chan struct{})}
}

// Err counts a check.
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

// Done is closed by the check that cancels the context.
func (c *Countdown) Done() <-chan struct{} { return c.done }

// Checks returns the number of checks so far.
func (c *Countdown) Checks() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.checks
}
