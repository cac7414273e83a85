package main

import (
	"context"
	"fmt"
	"strings"
)

// dot is a command of the shell itself.
type dot struct {
	name, args, help string
	run              func(s *session, ctx context.Context, arg string) error
}

func dots() []dot {
	return []dot{
		{".help", "", "list these commands", func(s *session, _ context.Context, _ string) error { return s.help() }},
		{".mode", "[NAME]", "write rows as " + joined(modes()), (*session).setMode},
		{".quit", "", "end the session", func(*session, context.Context, string) error { return errQuit }},
		{".read", "FILE", "run the commands of a file", (*session).read},
		{".timer", "[on|off]", "say how long statements take", (*session).setTimer},
	}
}

// dotCommand runs a line that begins with a dot.
func (s *session) dotCommand(ctx context.Context, line string) error {
	name, arg, _ := strings.Cut(line, " ")
	arg = strings.TrimSpace(arg)
	for _, d := range dots() {
		switch {
		case d.name != name:
		case d.args == "" && arg != "":
			return fmt.Errorf("%s takes no argument", name)
		default:
			return d.run(s, ctx, arg)
		}
	}
	return fmt.Errorf("unknown command %s; .help lists those there are", name)
}

func (s *session) help() error {
	for _, d := range dots() {
		if _, err := fmt.Fprintf(s.out, "%-16s  %s\n", d.name+" "+d.args, d.help); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(s.out, "Everything else is a statement, up to its semicolon: PREDICT LINKS FOR 0 TOP 10;")
	return err
}

func (s *session) setMode(_ context.Context, name string) error {
	if name == "" {
		_, err := fmt.Fprintln(s.out, s.mode)
		return err
	}
	m, err := parseMode(name)
	if err == nil {
		s.mode = m
	}
	return err
}

func (s *session) setTimer(_ context.Context, arg string) error {
	switch arg {
	case "on", "off":
		s.timer = arg == "on"
		return nil
	case "":
		_, err := fmt.Fprintln(s.out, map[bool]string{true: "on", false: "off"}[s.timer])
		return err
	}
	return fmt.Errorf(".timer %s: on or off is wanted", arg)
}

func (s *session) read(ctx context.Context, file string) error {
	if file == "" {
		return fmt.Errorf(".read wants a file")
	}
	return s.file(ctx, file)
}
