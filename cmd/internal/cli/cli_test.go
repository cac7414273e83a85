package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/spf13/cobra"
)

// tool returns a command with a subcommand that ends with err.
func tool(err error) *cobra.Command {
	root := &cobra.Command{Use: "tool SUBCOMMAND", Args: Known,
		RunE: func(*cobra.Command, []string) error { return errors.New("a subcommand is missing") }}
	root.AddCommand(&cobra.Command{Use: "work", Args: cobra.NoArgs, RunE: Action(func(*cobra.Command, []string) error { return err })})
	return root
}

func TestRun(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk gone\nno more disks")
	for _, c := range []struct {
		args   string
		err    error
		code   int
		stderr string
	}{
		{"work", nil, 0, ""},
		{"work", broken, 1, "tool: disk gone\ntool: no more disks\n"},
		{"work", fmt.Errorf("round 3: %w", context.Canceled), 1, "tool: interrupted\n"},
		{"work", fmt.Errorf("statement: %w", ErrReported), 1, ""},
		{"work hard", nil, 2, "tool: unknown command \"hard\" for \"tool work\"\nusage: tool work [flags]\n'tool work --help' tells more\n"},
		{"wrk", nil, 2, "tool: unknown subcommand \"wrk\"; did you mean work?\nusage: tool SUBCOMMAND"},
		{"", nil, 2, "tool: a subcommand is missing\n"},
	} {
		var stderr bytes.Buffer
		code := Run(tool(c.err), strings.Fields(c.args), nil, nil, &stderr)
		if code != c.code || !strings.HasPrefix(stderr.String(), c.stderr) || (c.stderr == "") != (stderr.Len() == 0) {
			t.Errorf("%q, %v: exit code %d, %q", c.args, c.err, code, stderr.String())
		}
	}
}

func TestPrintError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"db: bad input: option Memory is 1":             "option Memory is 1",
		`model "m": model: bad input: index: no node 3`: `model "m": no node 3`,
		"graph.db: edgelist: line 2: weight 0":          "graph.db: line 2: weight 0",
		"db: closed\nmodel: no":                         "closed\ntool: no",
	} {
		var b strings.Builder
		PrintError(&b, "tool", errors.New(text))
		if got := b.String(); got != "tool: "+want+"\n" {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A bar without a terminal shows nothing.
func TestBarWithoutTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b := NewBar(&out, false)
	b.Show(State{What: "work", Done: 1, Total: 2})
	b.End()
	if IsTerminal(&out) || out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
}

// A bar of lines prints the first state at once, and others at intervals.
func TestBarOfLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b := NewBar(&out, true)
	for done := range int64(9) {
		b.Show(State{What: "nodes", Done: done, Total: 9})
	}
	b.End()
	if got, want := out.String(), "nodes: 0 of 9\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for want, s := range map[string]State{
		"34 %: learning, about 5s left": {What: "learning", Done: 340, Total: 1000, Timed: true, Left: 5 * time.Second},
		"lines: 12":                     {What: "lines", Done: 12},
		"a.csv: 2.00KB of 3.00MB":       {What: "a.csv", Units: progress.UnitsBytes, Done: 2000, Total: 3e6},
	} {
		if got := s.line(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRevision(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, ""},
		{[]debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "false"}}, "revision 0123456789ab"},
		{[]debug.BuildSetting{{Key: "vcs.revision", Value: "01"}, {Key: "vcs.modified", Value: "true"}}, "revision 01 with changes"},
	} {
		if got := Revision(&debug.BuildInfo{Settings: c.settings}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// The time that is left counts down, and never says that nothing is left.
func TestStateMessage(t *testing.T) {
	t.Parallel()
	timed := State{What: "learning", Done: 1, Total: 1000, Timed: true, Left: 40 * time.Second}
	for _, c := range []struct {
		state State
		ago   time.Duration
		want  string
	}{
		{State{What: "nodes", Done: 1, Total: 2}, time.Hour, "nodes"},
		{timed, 0, "learning, about 40s left"},
		{timed, 12700 * time.Millisecond, "learning, about 27s left"},
		{timed, time.Hour, "learning, about 1s left"},
	} {
		if got := c.state.message(c.ago); got != c.want {
			t.Errorf("%+v, %v ago: %q, want %q", c.state, c.ago, got, c.want)
		}
	}
}
