package mcpserver

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// script is a connection whose input is calls, and which takes all answers.
type script struct {
	mcp.Connection
	calls []jsonrpc.ID
}

func (s *script) Connect(context.Context) (mcp.Connection, error) { return s, nil }

func (s *script) Read(context.Context) (jsonrpc.Message, error) {
	if len(s.calls) == 0 {
		return nil, io.EOF
	}
	id := s.calls[0]
	s.calls = s.calls[1:]
	return &jsonrpc.Request{ID: id}, nil
}

func (s *script) Write(context.Context, jsonrpc.Message) error { return nil }

// The end of the input waits for many slow answers, but not for a call that is never answered.
func TestFarewell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const calls, pause = 10, farewell - time.Second
		s := &script{}
		for i := range calls {
			id, err := jsonrpc.MakeID(float64(i))
			if err != nil {
				t.Fatal(err)
			}
			s.calls = append(s.calls, id)
		}
		ids := s.calls
		c, err := (&patient{s}).Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for _, id := range ids[1:] {
				time.Sleep(pause)
				if err := c.Write(t.Context(), &jsonrpc.Response{ID: id}); err != nil {
					t.Error(err)
				}
			}
		}()
		began := time.Now()
		for err == nil {
			_, err = c.Read(t.Context())
		}
		if took, want := time.Since(began), (calls-1)*pause+farewell; !errors.Is(err, io.EOF) || took != want {
			t.Errorf("the input ended with %v after %v, want %v", err, took, want)
		}
	})
}
