package web

import (
	"context"
	"errors"
	"fmt"
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

// take takes a part of the budget, which the caller must give back, and reports whether there is as much. A part that is
// larger than the budget is the whole.
func (b *budget) take(n int64) (give func(), ok bool) {
	n = min(n, b.most)
	if b.used.Add(n) > b.most {
		b.used.Add(-n)
		return nil, false
	}
	return func() { b.used.Add(-n) }, true
}
