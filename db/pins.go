package db

import (
	"sync"
	"sync/atomic"
)

// pins counts the open transactions by the timestamp they read at, so that the store keeps what
// they may read and Close can wait for them.
type pins struct {
	mu     sync.Mutex // protects following fields
	at     map[uint64]int
	closed bool
	idle   *sync.Cond // signals that no transaction is open
}

func (p *pins) init() {
	p.at = map[uint64]int{}
	p.idle = sync.NewCond(&p.mu)
}

// pin counts and returns the present snapshot. It returns ErrClosed if the database is closed.
func (p *pins) pin(now *atomic.Pointer[snapshot]) (*snapshot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	s := now.Load()
	p.at[s.ts]++
	return s, nil
}

func (p *pins) unpin(s *snapshot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at[s.ts]--; p.at[s.ts] == 0 {
		delete(p.at, s.ts)
	}
	if len(p.at) == 0 {
		p.idle.Broadcast()
	}
}

// oldest returns the smallest timestamp at which a transaction reads, or newest if there is no transaction.
func (p *pins) oldest(newest uint64) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ts := range p.at {
		newest = min(newest, ts)
	}
	return newest
}

// close refuses new transactions and reports whether it was the first to do so.
func (p *pins) close() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.closed
	p.closed = true
	return first
}

// wait returns when no transaction is open.
func (p *pins) wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.at) > 0 {
		p.idle.Wait()
	}
}

// open returns the number of open transactions.
func (p *pins) open() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, of := range p.at {
		n += of
	}
	return n
}
