package mcpserver

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patient is a transport whose input ends only when the calls that it has read are answered, or
// none is for farewell. The SDK cancels all calls at the end of the input, so that a client that
// writes its requests and closes its end would get no answer.
type patient struct{ mcp.Transport }

// Connect implements mcp.Transport.
func (t *patient) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &patientConn{Connection: c, open: map[jsonrpc.ID]bool{}, changed: make(chan struct{}, 1)}, nil
}

type patientConn struct {
	mcp.Connection
	mu      sync.Mutex
	open    map[jsonrpc.ID]bool // calls without an answer; guarded by mu
	changed chan struct{}       // gets a value after an answer
}

// Read implements mcp.Connection.
func (c *patientConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, isRequest := m.(*jsonrpc.Request); isRequest && r.IsCall() {
		c.mu.Lock()
		c.open[r.ID] = true
		c.mu.Unlock()
	}
	if errors.Is(err, io.EOF) {
		c.wait(ctx)
	}
	return m, err
}

// Write implements mcp.Connection.
func (c *patientConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if r, isResponse := m.(*jsonrpc.Response); isResponse {
		c.mu.Lock()
		delete(c.open, r.ID)
		c.mu.Unlock()
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
	return err
}

// wait waits until all calls are answered, or none is for farewell.
func (c *patientConn) wait(ctx context.Context) {
	late := time.NewTimer(farewell)
	defer late.Stop()
	for {
		c.mu.Lock()
		n := len(c.open)
		c.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-c.changed:
			late.Reset(farewell)
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
