package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"kith/query"
)

// errBusy is the error of a request that is refused because there are too many others. It has changed nothing.
var errBusy = errors.New("too many requests at the same time: ask again later")

// turns lets a number of statements run at the same time. Others wait, up to a number.
type turns struct {
	running chan struct{} // holds a token for each running statement
	waiting chan struct{} // holds a token for each waiting statement
}

func newTurns(running, waiting int) turns {
	return turns{make(chan struct{}, running), make(chan struct{}, waiting)}
}

// take waits for a turn, which the caller must end. It returns errBusy at once if too many are waiting.
func (t *turns) take(ctx context.Context) (end func(), err error) {
	end = func() { <-t.running }
	select {
	case t.running <- struct{}{}:
		return end, nil
	default:
	}
	select {
	case t.waiting <- struct{}{}:
		defer func() { <-t.waiting }()
	default:
		return nil, fmt.Errorf("%d statements wait for their turn: %w", cap(t.waiting), errBusy)
	}
	select {
	case t.running <- struct{}{}:
		return end, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run runs a statement in turn.
func (t *turns) run(ctx context.Context, f func() (*query.Rows, error)) (*query.Rows, error) {
	end, err := t.take(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return f()
}

// budget is a number of bytes, or of requests, that all requests share.
type budget struct {
	used atomic.Int64
	most int64
}

// share is the part of a budget that a request takes.
type share struct {
	of *budget
	n  int64
}

// grow makes a share as large as n, or as the budget if that is smaller, and reports whether the budget has as much.
func (s *share) grow(n int64) bool {
	more := min(n, s.of.most) - s.n
	if more <= 0 {
		return true
	}
	if s.of.used.Add(more) > s.of.most {
		s.of.used.Add(-more)
		return false
	}
	s.n += more
	return true
}

// release gives a share back.
func (s *share) release() {
	s.of.used.Add(-s.n)
	s.n = 0
}

// metered is a reader of a body whose bytes are counted as they arrive. It fails with errBusy if there are too many.
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
