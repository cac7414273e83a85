package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// everyCommand returns a command and all its subcommands.
func everyCommand(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		all = append(all, everyCommand(c)...)
	}
	return all
}

// TestExamples checks that every command has examples, and that their command lines are valid.
func TestExamples(t *testing.T) {
	lines := 0
	for _, cmd := range everyCommand(newRoot()) {
		if cmd.Short == "" || cmd.Example == "" {
			t.Errorf("%s does not explain itself", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			for _, args := range toolCalls(line) {
				lines++
				if err := parses(args); err != nil {
					t.Errorf("%s: %s%v", cmd.CommandPath(), line, err)
				}
			}
		}
	}
	if lines < 30 {
		t.Errorf("only %d command lines were found", lines)
	}
}

// TestDocLists checks that the package comment lists every subcommand.
func TestDocLists(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range newRoot().Commands() {
		if !strings.Contains(string(text), "\n//\tkith "+cmd.Name()+" ") {
			t.Errorf("doc.go does not list kith %s", cmd.Name())
		}
	}
}

// toolCalls returns the arguments of each call of the tool in a shell line.
func toolCalls(line string) (calls [][]string) {
	word := regexp.MustCompile(`"[^"]*"|'[^']*'|&&|[|>]|[^\s|>]+`)
	var call []string
	end := func() {
		if len(call) > 0 && call[0] == "kith" {
			calls = append(calls, call[1:])
		}
		call = nil
	}
	for _, w := range word.FindAllString(line, -1) {
		switch w {
		case "|", ">", "&&":
			end()
		default:
			call = append(call, strings.Trim(w, `"'`))
		}
	}
	end()
	return calls
}

// parses returns an error for an invalid command line.
func parses(args []string) error {
	cmd, rest, err := newRoot().Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}
