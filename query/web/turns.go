package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// errBusy is the error of a request that is refused because there are too many others. It has
// changed nothing.
var errBusy = errors.New("too many requests at the same time: ask again later")

// turns lets a number of statements run at the same time. Others wait, up to a number. Waiting
// clients take turns, each with its earliest statement, so that one with many statements delays one
// with few by only one of them.
type turns struct {
	most    int // statements that run
	waiters int // statements that wait

	mu      sync.Mutex // protects following fields
	running int
	waiting int
	queues  []*queue // of clients with waiting statements, the next one first
}

// queue has the waiting statements of a client.
type queue struct {
	client string
	turns  []*turn // not empty
}

// turn is a statement's turn to run.
type turn struct {
	granted chan error // gets a value when the turn has come, nil, or will not come

	mu sync.Mutex
	in *turns // nil after its end; guarded by mu
}

func newTurns(running, waiting int) *turns { return &turns{most: running, waiters: waiting} }

// take waits for a turn of a client, which the caller must end. If too many are waiting, the last
// one of the client that has most gives way, and gets errBusy.
func (t *turns) take(ctx context.Context, client string) (*turn, error) {
	n := &turn{granted: make(chan error, 1), in: t}
	t.mu.Lock()
	t.enqueue(client, n)
	t.next()
	if t.waiting > t.waiters {
		t.drop()
	}
	t.mu.Unlock()
	select {
	case err := <-n.granted:
		return n, err
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.remove(n) && <-n.granted == nil { // its turn came meanwhile
		t.running--
		t.next()
	}
	return nil, ctx.Err()
}

// enqueue adds a turn to the queue of a client. The caller holds mu.
func (t *turns) enqueue(client string, n *turn) {
	t.waiting++
	i := slices.IndexFunc(t.queues, func(q *queue) bool { return q.client == client })
	if i < 0 {
		t.queues = append(t.queues, &queue{client: client})
		i = len(t.queues) - 1
	}
	t.queues[i].turns = append(t.queues[i].turns, n)
}

// next gives turns to waiters, while there is place. The caller holds mu.
func (t *turns) next() {
	for t.running < t.most && t.waiting > 0 {
		q := t.queues[0]
		n := q.turns[0]
		t.queues = append(t.queues[1:], q) // after all other clients
		t.remove(n)
		t.running++
		n.granted <- nil
	}
}

// drop removes the last turn of the client that has most. The caller holds mu.
func (t *turns) drop() {
	longest := slices.MaxFunc(t.queues, func(a, b *queue) int { return len(a.turns) - len(b.turns) })
	n := longest.turns[len(longest.turns)-1]
	t.remove(n)
	n.granted <- fmt.Errorf("%d statements wait for their turn: %w", t.waiters, errBusy)
}

// remove removes a turn that waits, and reports whether it did wait. The caller holds mu.
func (t *turns) remove(n *turn) bool {
	for i, q := range t.queues {
		j := slices.Index(q.turns, n)
		if j < 0 {
			continue
		}
		t.waiting--
		if q.turns = slices.Delete(q.turns, j, j+1); len(q.turns) == 0 {
			t.queues = slices.Delete(t.queues, i, i+1)
		}
		return true
	}
	return false
}

// end ends a turn, so that the next one begins, unless it has ended.
func (n *turn) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.in != nil {
		n.in.release()
		n.in = nil
	}
}

// release frees the place of a turn.
func (t *turns) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	t.next()
}

// move makes a turn that runs one of others, so that its place is free. Because the statement runs
// already, it waits for no place there, but at most extra more than usual run at a time. Otherwise
// the turn stays.
func (n *turn) move(to *turns, extra int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.in == nil || n.in == to {
		return
	}
	to.mu.Lock()
	has := to.running < to.most+extra
	if has {
		to.running++
	}
	to.mu.Unlock()
	if has {
		n.in.release()
		n.in = to
	}
}
