// Package mcpserver serves a database over the Model Context Protocol (MCP), so that a language
// model can use it: it offers tools with descriptions and JSON Schemas, and answers their calls.
//
// A tool is a row of a table (see tools): its arguments, the columns of its answer, and a function
// that asks the database. The schemas, the checks of arguments and the messages about them follow
// from the row.
//
// INVARIANT: without Write nothing changes the database: every statement runs in a session that
// only reads, and the tools that write are not offered. With Write no statement accesses a file.
package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kith/db"
	"kith/query"
)

// Server serves a database. The zero value of each field but DB is a good default.
type Server struct {
	DB *db.DB
	// Write offers the tools that change the database too.
	Write bool
	// Version is the version of the program, for clients.
	Version string
	// Timeout is how long a call may take, including waiting for its turn. 0 means five minutes.
	Timeout time.Duration
}

// farewell is how long the calls may run after the end of the input, or after the last answer since
// then.
const farewell = 5 * time.Second

// Serve answers the requests that it reads from r, with a line of JSON for each on w, until the end
// of r or of ctx. It answers a line that is no message with an error. At the end of r it answers
// the calls that it has read, as long as there is an answer every few seconds. When it returns, no
// call is running.
func (s Server) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	out := &locked{Writer: w}
	in := &messages{in: bufio.NewReader(r), out: out}
	err := s.serve(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: out})
	if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("the Model Context Protocol ended: %w", err)
}

func (s Server) serve(ctx context.Context, t mcp.Transport) error {
	if s.Timeout == 0 {
		s.Timeout = 5 * time.Minute
	}
	h := &handler{Server: s, ctx: ctx, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
	defer h.running.Wait()
	return h.protocol().Run(ctx, &patient{t})
}

// handler answers the calls of tools.
type handler struct {
	Server
	ctx     context.Context // ends all calls
	slots   chan struct{}   // holds a token for each statement that runs
	running sync.WaitGroup  // the calls
}

// protocol returns a server of the SDK with the tools.
func (h *handler) protocol() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "kith", Title: "kith graph database", Version: h.Version}, &mcp.ServerOptions{
		Instructions: instructions(h.Write), Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, t := range tools() {
		if h.Write || !t.writes {
			server.AddTool(t.listed(h.Write), func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return h.handle(ctx, &t, r.Params.Arguments, progressOf(ctx, r)), nil
			})
		}
	}
	return server
}

// handle answers a call of a tool. An error is an answer too, which the model reads. progress may
// be nil.
func (h *handler) handle(ctx context.Context, t *tool, raw json.RawMessage, progress func(query.Progress)) *mcp.CallToolResult {
	h.running.Add(1)
	defer h.running.Done()
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	c := &call{handler: h, ctx: ctx, tool: t, progress: progress}
	a, err := c.answer(raw)
	if err != nil {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: c.advise(err)}}}
	}
	return &mcp.CallToolResult{StructuredContent: a, Content: []mcp.Content{&mcp.TextContent{Text: a.String()}}}
}

// call is a call of a tool.
type call struct {
	*handler
	ctx      context.Context
	tool     *tool
	progress func(query.Progress)
	arguments
}

// answer checks the arguments of the call and runs it in its turn.
func (c *call) answer(raw json.RawMessage) (answer, error) {
	var err error
	if c.arguments, err = decode(raw, c.tool.arguments); err != nil {
		return nil, err
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
		return c.tool.run(c)
	case <-c.ctx.Done():
		return nil, c.ctx.Err()
	}
}
