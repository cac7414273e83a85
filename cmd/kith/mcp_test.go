package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCP checks with a client of the SDK that kith mcp writes nothing but the protocol to standard
// output, ends with its input, and has committed by then what it acknowledged.
func TestMCP(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.kith")
	run := func(statement string) string {
		t.Helper()
		out, err := exec.Command("kith", "shell", "--create", path, "-c", statement).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", statement, err, out)
		}
		return string(out)
	}
	run("INSERT EDGES 1 -> 2;")
	const insert = `{"links": [{"source": 1, "target": "ann"}]}`
	for _, c := range []struct {
		args, want string
		tools      int
	}{
		{"", `unknown tool "insert"`, 8},
		{"--write", "nodes_added | links_added\n1 | 1\n1 row", 10},
	} {
		var stderr bytes.Buffer
		cmd := exec.Command("kith", append([]string{"mcp", path}, strings.Fields(c.args)...)...)
		cmd.Stderr = &stderr
		client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatalf("%v: %s", err, &stderr)
		}
		list, err := client.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != c.tools {
			t.Errorf("%s: %+v, %v", c.args, list, err)
		}
		var got string
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "insert", Arguments: json.RawMessage(insert)})
		if err != nil {
			got = err.Error()
		} else {
			got = r.Content[0].(*mcp.TextContent).Text
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.args, got, c.want)
		}
		if err := client.Close(); err != nil || !cmd.ProcessState.Success() || stderr.Len() > 0 {
			t.Errorf("%s: %v, %v, standard error %q", c.args, err, cmd.ProcessState, &stderr)
		}
	}
	if out := run("NEIGHBORS OF 1;"); !strings.Contains(out, `"target":"ann"`) {
		t.Errorf("what was inserted is lost: %s", out)
	}
}
