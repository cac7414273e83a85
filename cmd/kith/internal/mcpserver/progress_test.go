package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kith/query"
)

// TestProgress checks that a client that sends a token learns how far its call has come, in values
// that ascend.
func TestProgress(t *testing.T) {
	t.Parallel()
	here, there := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- Server{DB: community(t, 30), Write: true}.serve(t.Context(), here) }()
	told := make(chan *mcp.ProgressNotificationParams, 100)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told <- r.Params },
	}).Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []*mcp.CallToolParams{
		{Name: "evaluate", Arguments: map[string]any{"model": "default", "nodes": 50}},
		{Name: runStatement, Arguments: map[string]any{"statement": "CREATE MODEL m"}},
		{Name: runStatement, Arguments: map[string]any{"statement": "TRAIN MODEL m WITH (samples = 100, epochs = 1)"}},
	} {
		c.SetProgressToken(fmt.Sprint("call ", i))
		if r, err := client.CallTool(t.Context(), c); err != nil || r.IsError {
			t.Fatalf("%v, %v", r, err)
		}
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	<-ended
	close(told)
	last := map[any]float64{}
	for p := range told {
		before, told := last[p.ProgressToken]
		if told && p.Progress <= before || !told && !strings.Contains(p.Message, "about ") {
			t.Errorf("%+v after %v", p, last)
		}
		last[p.ProgressToken] = p.Progress
	}
	if len(last) != 2 {
		t.Errorf("notifications of %v", last)
	}
}

// TestProgressSteps checks the values of notifications of a statement that works in several steps.
func TestProgressSteps(t *testing.T) {
	t.Parallel()
	var got []string
	p := &progress{notify: func(n *mcp.ProgressNotificationParams) error {
		got = append(got, fmt.Sprintf("%g: %s", n.Progress, n.Message))
		return nil
	}}
	for _, step := range []query.Progress{
		{What: "training steps", Done: 1, Total: 4}, {What: "training steps", Done: 4, Total: 4}, {What: "nodes", Done: 1, Total: 2},
		{What: "training steps", Done: 1, Total: 4}, {What: "training steps", Done: 1, Total: 4}, {What: "records", Done: 7},
		{What: "reading", Done: 100, Total: 1000, Timed: true, Left: 9 * time.Second}, {What: "learning", Done: 500, Total: 1000, Timed: true, Left: 5 * time.Second},
	} {
		p.at = time.Time{} // long ago
		p.tell(step)
	}
	p.at = time.Time{}
	p.tell(query.Progress{What: "nodes", Done: 1, Total: 2})
	p.at = time.Now().Add(time.Hour)
	p.tell(query.Progress{What: "nodes", Done: 2, Total: 2}) // too soon
	want := []string{"0.25: 1 of 4 training steps", "1: 4 of 4 training steps", "1.5: 1 of 2 nodes", "2.25: 1 of 4 training steps",
		"4.1: reading, about 9s left", "4.5: learning, about 5s left", "5.5: 1 of 2 nodes"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
