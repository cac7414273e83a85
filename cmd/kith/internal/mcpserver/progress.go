package mcpserver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kith/query"
)

// progressEvery is the least time between two notifications of a call.
const progressEvery = time.Second

// progress tells a client how far a call has come. A statement may work in several steps, of which the number is not known
// beforehand, such as training and then asking: the notifications count steps, and say in words what the present one does.
type progress struct {
	notify func(*mcp.ProgressNotificationParams) error
	token  any

	mu    sync.Mutex // protects following fields
	what  string     // unit of the present step
	done  int64      // in the present step
	steps int        // that have ended
	told  float64    // value of the latest notification, after which values ascend
	at    time.Time  // of the latest notification
}

// progressOf returns a function that notifies the client of a call, or nil if the client has not asked for that.
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
	if p.what != "" && (now.What != p.what || now.Done < p.done) {
		p.steps++
	}
	p.what, p.done = now.What, now.Done
	if now.Total <= 0 || time.Since(p.at) < progressEvery {
		return
	}
	value := float64(p.steps) + float64(now.Done)/float64(now.Total)
	if value <= p.told {
		return
	}
	p.told, p.at = value, time.Now()
	message := fmt.Sprintf("%d of %d %s", now.Done, now.Total, now.What)
	_ = p.notify(&mcp.ProgressNotificationParams{ProgressToken: p.token, Progress: value, Message: message}) // fails if the client has gone
}
