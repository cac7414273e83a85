package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kith/query"
)

// progressEvery is the least time between two notifications of a call.
const progressEvery = time.Second

// progress tells a client how far a call has come. A statement may work in several steps, whose
// number is not known beforehand, such as training and then asking: the notifications count steps,
// and say in words what the present one does.
type progress struct {
	notify func(*mcp.ProgressNotificationParams) error
	token  any

	mu    sync.Mutex // protects following fields
	last  query.Progress
	steps int       // that have ended
	told  float64   // value of the latest notification, after which values ascend
	at    time.Time // of the latest notification
}

// progressOf returns a function that notifies the client of a call, or nil if the client has not
// asked for that.
func progressOf(ctx context.Context, r *mcp.CallToolRequest) func(query.Progress) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	p := &progress{token: token, notify: func(n *mcp.ProgressNotificationParams) error { return r.Session.NotifyProgress(ctx, n) }}
	return p.tell
}

// tell notifies the client, unless it was notified a moment ago.
func (p *progress) tell(now query.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := p.last.What == ""
	if !first && !sameStep(p.last, now) {
		p.steps++
	}
	p.last = now
	if now.Total <= 0 || time.Since(p.at) < progressEvery {
		return
	}
	value := float64(p.steps) + float64(now.Done)/float64(now.Total)
	if value <= p.told && !first {
		return
	}
	p.told, p.at = value, time.Now()
	params := &mcp.ProgressNotificationParams{ProgressToken: p.token, Progress: value, Message: now.String()}
	_ = p.notify(params) // fails if the client has gone
}

// sameStep reports whether a step of a statement may lead from one state to another.
func sameStep(from, to query.Progress) bool {
	return from.Timed == to.Timed && (to.Timed || from.What == to.What) && from.Done <= to.Done
}
