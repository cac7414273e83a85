package mcpserver

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kith/db/dbtest"
)

// endlessLine is a line without an end.
type endlessLine struct{}

func (endlessLine) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// TestEndlessLine checks that a line that never ends is refused when it is too long.
func TestEndlessLine(t *testing.T) {
	t.Parallel()
	m := &messages{in: bufio.NewReader(endlessLine{})}
	line, err := m.line()
	if err != nil || len(line) > mcp.DefaultMaxLineLength+2 {
		t.Errorf("%d bytes, %v", len(line), err)
	}
	if _, fault := faultOf(line); fault == nil {
		t.Error("it is a message")
	}
}

// TestBrokenLines checks that a line that is no message gets an error, and that the server goes on.
func TestBrokenLines(t *testing.T) {
	t.Parallel()
	const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	for name, c := range map[string]struct {
		line string
		code int
	}{
		"words": {"hello", -32700}, "half a message": {ping[:20], -32700}, "two messages": {ping + ping, -32700}, "bytes": {"\xff\x00", -32700},
		"a number": {"5", -32600}, "an empty object": {"{}", -32600}, "a batch": {"[" + ping + "]", -32600},
		"an empty line": {"", 0}, "the end of a line of another system": {"\r", 0},
		"a line that is too long": {strings.Repeat(" ", mcp.DefaultMaxLineLength) + ping, -32700},
		"a long line":             {`{"jsonrpc":"2.0","method":"` + strings.Repeat("x", 1<<20) + `"}`, 0},
	} {
		var out bytes.Buffer
		in := strings.NewReader(c.line + "\n" + ping) // the last line has no end
		if err := (Server{DB: dbtest.Friends(t)}).Serve(t.Context(), in, &out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if answer := lines[len(lines)-1]; !strings.Contains(answer, `"id":7`) || !strings.Contains(answer, `"result"`) {
			t.Errorf("%s: the next answer is %s", name, answer)
		}
		if want := fmt.Sprintf(`"code":%d`, c.code); (len(lines) == 2) != (c.code != 0) || c.code != 0 && !strings.Contains(lines[0], want) {
			t.Errorf("%s: %q, want %s", name, lines, want)
		}
	}
}
