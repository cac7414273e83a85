package shell

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"kith/cmd/internal/cli"
	"kith/query"
)

// clearScreen moves the cursor to the top of the terminal and clears the screen.
const clearScreen = "\x1b[H\x1b[2J"

// watch runs a statement repeatedly until Ctrl-C or an error. Ctrl-C is not an error.
func (s *session) watch(ctx context.Context, arg query.Fragment) error {
	often, statement, _ := strings.Cut(arg.Text, " ")
	every, err := interval(often)
	if err != nil {
		return fmt.Errorf(".watch %s: %w", often, err)
	}
	f := query.Fragment{Text: strings.TrimSpace(statement)}
	f.Pos = arg.Pos.After(arg.Text[:len(arg.Text)-len(f.Text)])
	watched, stop := cli.Interruptible(ctx)
	defer stop()
	err = s.repeat(watched, every, f)
	if watched.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}

// interval parses the time between two runs: seconds, or a duration.
func interval(text string) (time.Duration, error) {
	every, err := query.ParseDuration(text)
	if seconds, e := strconv.ParseFloat(text, 64); e == nil && math.Abs(seconds) < 1e9 {
		every, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil || every < 100*time.Millisecond {
		return 0, errors.New("the interval must be at least 0.1 seconds, such as 2, 500ms or 1m, and a statement must follow")
	}
	return every, nil
}

// repeat runs a statement repeatedly. On a terminal it clears the screen each time.
func (s *session) repeat(ctx context.Context, every time.Duration, f query.Fragment) error {
	again := time.NewTicker(every)
	defer again.Stop()
	for {
		if cli.IsTerminal(s.out) {
			if _, err := fmt.Fprintf(s.out, "%severy %v: %s\n", clearScreen, every, printable(f.Text)); err != nil {
				return err
			}
		}
		if err := s.statement(ctx, f); err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
