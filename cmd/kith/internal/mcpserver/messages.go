package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// messages is a reader of the lines of in that are messages of JSON-RPC. It answers any other line
// with an error on out and goes on; the SDK would end the server.
type messages struct {
	in   *bufio.Reader
	out  io.Writer
	rest []byte // of the present message
	long bool   // the next byte is within a line that was too long
}

// Read implements io.Reader.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		line, err := m.line()
		if err != nil {
			return 0, err
		}
		if code, fault := faultOf(line); fault != nil {
			if err := m.refuse(code, fault); err != nil {
				return 0, err
			}
			continue
		}
		m.rest = line
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// line returns the next line that is not blank, with one newline at its end. Of a line that is too
// long it returns the beginning and then a zero byte, so that it is no message, as soon as the line
// is too long.
func (m *messages) line() ([]byte, error) {
	var line []byte
	for {
		part, err := m.in.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		if m.long {
			m.long = full
			if err == nil || full {
				continue
			}
			part = nil
		}
		if room := mcp.DefaultMaxLineLength - len(line); len(part) > room {
			m.long = full
			return append(append(line, part[:room]...), 0), nil
		}
		line = append(line, part...)
		if full {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if whole := bytes.TrimSpace(line); len(whole) > 0 {
			return append(whole, '\n'), nil
		}
		if err != nil {
			return nil, err
		}
		line = line[:0]
	}
}

// faultOf returns why a line is no message, and the code of that in JSON-RPC, or nil.
func faultOf(line []byte) (code int, err error) {
	if !json.Valid(line) {
		return jsonrpc.CodeParseError, fmt.Errorf("a message must be JSON in one line of at most %d bytes, got %.100q", mcp.DefaultMaxLineLength, line)
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return jsonrpc.CodeInvalidRequest, fmt.Errorf("a line must be one message of JSON-RPC 2.0, got %.100q", line)
	}
	return 0, nil
}

// refuse answers a line that is no message.
func (m *messages) refuse(code int, err error) error {
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": err.Error()},
	})
	if err != nil {
		return err
	}
	_, err = m.out.Write(append(text, '\n'))
	return err
}

// locked is a writer for several goroutines that write whole lines.
type locked struct {
	mu sync.Mutex
	io.Writer
}

// Write implements io.Writer.
func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Writer.Write(p)
}

// Close implements io.Closer. The writer stays open.
func (l *locked) Close() error { return nil }
