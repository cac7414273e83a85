package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"kith/cmd/internal/cli"
	"kith/query"
)

// clearScreen has a terminal begin at the top again.
const clearScreen = "\x1b[H\x1b[2J"

// watch runs a statement every so many seconds. Nothing but Ctrl-C and errors end it, so Ctrl-C is
// none.
func (s *session) watch(ctx context.Context, arg query.Fragment) error {
	often, statement, _ := strings.Cut(arg.Text, " ")
	seconds, err := strconv.ParseFloat(often, 64)
	if err != nil || !(seconds >= 0.1 && seconds <= 1e6) {
		return fmt.Errorf(".watch %s: seconds are wanted, 0.1 or more, and a statement", often)
	}
	f := query.Fragment{Text: strings.TrimSpace(statement)}
	f.Pos = after(arg.Pos, arg.Text[:len(arg.Text)-len(f.Text)])
	watched, stop := cli.Interruptible(ctx)
	defer stop()
	err = s.repeat(watched, time.Duration(seconds*float64(time.Second)), f)
	if watched.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}

// repeat runs a statement again and again, each time on a screen that is clear, if there is one.
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
