package web

import (
	"io"
	"sync"
)

// budget is a number of bytes that all requests share. No client gets more than half of it.
type budget struct {
	most int64

	mu   sync.Mutex // protects following fields
	used int64
	by   map[string]int64 // by client
}

func newBudget(most int64) *budget { return &budget{most: most, by: map[string]int64{}} }

// share is the part of a budget that a request of a client takes.
type share struct {
	of     *budget
	client string
	n      int64
}

// grow makes a share as large as n, or as half of the budget if that is smaller, and reports
// whether the client may have as much.
func (s *share) grow(n int64) bool {
	b := s.of
	half := (b.most + 1) / 2
	b.mu.Lock()
	defer b.mu.Unlock()
	more := min(n, half) - s.n
	if more <= 0 {
		return true
	}
	if b.used+more > b.most || b.by[s.client]+more > half {
		return false
	}
	b.used += more
	b.by[s.client] += more
	s.n += more
	return true
}

// release gives a share back.
func (s *share) release() {
	b := s.of
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= s.n
	if b.by[s.client] -= s.n; b.by[s.client] == 0 {
		delete(b.by, s.client)
	}
	s.n = 0
}

// metered is a reader of a body whose bytes are counted as they arrive. It fails with errBusy if
// there are too many.
type metered struct {
	io.Reader
	share *share
	n     int64 // bytes read
}

// Read implements io.Reader.
func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.n += int64(n)
	if m.n > smallBytes && !m.share.grow(m.n) {
		return n, errBusy
	}
	return n, err
}
