package web

import (
	"context"
	"net/http"
	"time"
)

// lane has the limits of the requests that have the token, or of the requests that lack it, so that
// neither keeps requests in the other lane from an answer. Within a lane the clients get equal
// shares.
type lane struct {
	arriving        *places // requests whose body arrives
	watching, feeds *places // requests of GET /events and of GET /changes
	parsing         *turns  // requests that are parsed
	small, large    *turns  // statements
	looks           *turns  // the page's other questions, which do not wait for statements
	held            *budget // bytes of requests and of answers that are not read
}

// newLane returns a lane with the limits of the options, which must not be 0.
func newLane(o Options) *lane {
	return &lane{
		arriving: newPlaces(o.MaxRequests, "send requests"),
		watching: newPlaces(maxWatching, "watch the figures"),
		feeds:    newPlaces(maxFeeds, "read changes"),
		parsing:  newTurns(o.MaxRunning, o.MaxRequests),
		small:    newTurns(o.MaxRunning, o.MaxWaiting),
		large:    newTurns(max(o.MaxRunning/2, 1), o.MaxWaiting),
		looks:    newTurns(1, o.MaxWaiting),
		held:     newBudget(o.MaxBytes),
	}
}

// visitor is the client of a request, and the lane that it is in.
type visitor struct {
	*lane
	client  string
	trusted bool // whether the request has the token
}

// visitor returns the client of a request.
func (h *handler) visitor(r *http.Request) visitor {
	_, trusted := h.token(r)
	v := visitor{lane: h.open, client: clientOf(r), trusted: trusted}
	if trusted {
		v.lane = h.tokened
	}
	return v
}

// quick is how long a statement may run before it counts as large.
const quick = 250 * time.Millisecond

// inTurn calls f, which runs a task, when it is the turn of the client. A statement that trains,
// evaluates or asks for the links of many nodes is large, and so is a task whose like have taken
// long; all other tasks are small. If a small one takes long, it becomes large, so that the next
// small one begins. f may call end when only its commit is left, so that others do not wait for the
// disk.
func (h *handler) inTurn(ctx context.Context, client string, small, large *turns, t *task, f func(end func()) error) error {
	shape, turns := t.shape, small
	if t.lasts || h.costs.of(shape) >= quick {
		turns = large
	}
	turn, err := turns.take(ctx, client)
	if err != nil {
		return err
	}
	defer turn.end()
	stop := h.after(quick, func() {
		h.costs.exceeds(shape, quick)
		turn.move(large, h.MaxRunning)
	})
	defer stop()
	began := time.Now()
	defer func() { h.costs.ended(shape, time.Since(began)) }()
	return f(turn.end)
}
