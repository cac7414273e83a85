package shell

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"kith/cmd/internal/cli"
	"kith/db/words"
	"kith/query"
)

// dot is a dot command of the shell.
type dot struct {
	name, args, help string
	run              func(s *session, ctx context.Context, arg query.Fragment) error
	values           func(begun string) []string // completions of an argument; nil means none
}

func dotCommands() []dot {
	return []dot{
		{".help", "[STATEMENT]", "list these commands, or show how a statement is written", (*session).help, topics},
		{".mode", "[NAME]", "write rows as " + strings.Join(modeNames(""), ", "), (*session).setMode, modeNames},
		{".once", "FILE", "write the next rows to a file, in the mode its name ends with", (*session).setOnce, filesBeginning},
		{".quit", "", "end the session; so do exit and Ctrl-D", func(*session, context.Context, query.Fragment) error { return errQuit }, nil},
		{".read", "FILE", "run the commands of a file", (*session).read, filesBeginning},
		{".schema", "", "show the graph, its labels and its models", (*session).schema, nil},
		{".stats", "", "show figures of the graph and of its cache", (*session).stats, nil},
		{".timer", "[on|off]", "say how long statements take", (*session).setTimer, func(string) []string { return []string{"on", "off"} }},
		{".watch", "N STATEMENT", "run a statement every N seconds, or 500ms, 1m, until Ctrl-C", (*session).watch, nil},
	}
}

// dotCommand runs a line that begins with a dot.
func (s *session) dotCommand(ctx context.Context, line query.Fragment) error {
	name, rest, _ := strings.Cut(line.Text, " ")
	arg := query.Fragment{Text: strings.TrimSpace(rest)}
	arg.Pos = line.Pos.After(line.Text[:len(line.Text)-len(arg.Text)])
	var known []string
	for _, d := range dotCommands() {
		switch {
		case d.name != name:
			known = append(known, d.name)
		case d.args == "" && arg.Text != "":
			return fmt.Errorf("%s takes no argument", name)
		case arg.Text == "" && d.args != "" && !strings.HasPrefix(d.args, "["):
			return fmt.Errorf("%s needs %s", name, d.args)
		default:
			return d.run(s, ctx, arg)
		}
	}
	return fmt.Errorf("unknown command %s (.help lists all)%s", name, cli.DidYouMean(name, known))
}

// help lists the dot commands, describes one, or runs HELP for a statement.
func (s *session) help(ctx context.Context, topic query.Fragment) error {
	if i := slices.IndexFunc(dotCommands(), func(d dot) bool { return d.name == "."+strings.TrimPrefix(topic.Text, ".") }); i >= 0 {
		d := dotCommands()[i]
		return cli.WriteLine(s.out, strings.TrimSpace(d.name+" "+d.args)+"  "+d.help)
	}
	if topic.Text != "" {
		const help = "HELP "
		at := topic.Pos // position of the topic, which follows .help
		at.Offset -= len(help)
		at.Col -= len(help)
		return s.statement(ctx, query.Fragment{Pos: at, Text: help + topic.Text})
	}
	for _, d := range dotCommands() {
		if _, err := fmt.Fprintf(s.out, "%-18s  %s\n", d.name+" "+d.args, d.help); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(s.out, `
Everything else is a statement, up to its semicolon; HELP; lists all, .help PREDICT shows how one is written:
  PREDICT LINKS FOR 0 AMONG NEIGHBORS(2) TOP 10;    which links are likely
  WHY 0 -> 348 AMONG NEIGHBORS(2);                  why this link is likely
  INSERT EDGES 0 -> 348;                            add the link
  CREATE MODEL m; TRAIN MODEL m;                    learn from the edges
  EXPLAIN PREDICT LINKS FOR 0;                      how an answer would be computed
`)
	return err
}

// topics completes the argument of .help.
func topics(begun string) (all []string) {
	word, values := query.Complete(context.Background(), "HELP "+begun, query.Vocabulary{})
	for _, v := range values {
		all = append(all, strings.TrimSuffix(begun, word)+v)
	}
	return all
}

func (s *session) setMode(_ context.Context, name query.Fragment) error {
	if name.Text == "" {
		return cli.WriteLine(s.out, string(s.mode))
	}
	m, err := parseMode(name.Text)
	if err == nil {
		s.mode = m
	}
	return err
}

func modeNames(string) (all []string) {
	for _, m := range modes() {
		all = append(all, string(m))
	}
	return all
}

func (s *session) setTimer(_ context.Context, arg query.Fragment) error {
	switch arg.Text {
	case "on", "off":
		s.timer = arg.Text == "on"
		return nil
	case "":
		return cli.WriteLine(s.out, map[bool]string{true: "on", false: "off"}[s.timer])
	}
	return fmt.Errorf(".timer %s (accepted: on, off)", arg.Text)
}

func (s *session) read(ctx context.Context, file query.Fragment) error { return s.file(ctx, file.Text) }

// setOnce redirects the rows of the next statement to a file.
func (s *session) setOnce(ctx context.Context, file query.Fragment) error {
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	f, err := query.Await(ctx, func() (*os.File, error) { // a named pipe waits for its reader
		return os.OpenFile(file.Text, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	})
	if err == nil {
		s.closeOnce()
		s.once = f
	}
	return err
}

// stats answers with the statistics of the database.
func (s *session) stats(ctx context.Context, _ query.Fragment) error {
	return s.report(ctx, func(ctx context.Context) (*query.Rows, error) {
		answers, err := s.ask(ctx, "SHOW STATS", "SHOW CACHE")
		if err != nil {
			return nil, err
		}
		graph, cache := answers[0], answers[1]
		for _, row := range cache.Rows {
			graph.Rows = append(graph.Rows, []any{"cache " + fmt.Sprint(row[0]), row[1]})
		}
		return graph, nil
	})
}

// schema answers with the graph, the labels and the models of the database.
func (s *session) schema(ctx context.Context, _ query.Fragment) error {
	return s.report(ctx, func(ctx context.Context) (*query.Rows, error) {
		answers, err := s.ask(ctx, "SHOW STATS", fmt.Sprintf("SHOW LABELS TOP %d", fewLabels), "SHOW MODELS")
		if err != nil {
			return nil, err
		}
		return schemaRows(answers[0], answers[1], answers[2]), nil
	})
}

// fewLabels is the number of labels that .schema lists.
const fewLabels = 20

func schemaRows(stats, labels, models *query.Rows) *query.Rows {
	figures := valuesByName(stats)
	kind := "undirected"
	if figures["directed"] == true {
		kind = "directed"
	}
	rows := &query.Rows{Columns: []string{"kind", "name", "detail"}}
	add := func(kind string, name any, detail string, args ...any) {
		rows.Rows = append(rows.Rows, []any{kind, name, fmt.Sprintf(detail, args...)})
	}
	add("graph", nil, "%s, %s, %s, %s", kind,
		counted(figures["nodes"], "node"), counted(figures["edges"], "edge"), counted(figures["loops"], "loop"))
	for _, row := range labels.Rows {
		add("label", row[0], "%s", counted(row[1], "node"))
	}
	if all := figures["labels"]; fmt.Sprint(all) != fmt.Sprint(len(labels.Rows)) {
		rows.Notes = append(rows.Notes, fmt.Sprintf("there are %v labels, of which these have the most nodes; SHOW LABELS lists all", all))
	}
	for _, row := range models.Rows {
		add("model", row[0], "version %v, policy %v", row[1], row[2])
	}
	return rows
}

// valuesByName returns the second column of an answer by the first.
func valuesByName(rows *query.Rows) map[any]any {
	values := map[any]any{}
	for _, row := range rows.Rows {
		values[row[0]] = row[1]
	}
	return values
}

// counted returns a number of an answer with its noun.
func counted(n any, noun string) string {
	count, _ := n.(int64)
	return words.Count(count, noun)
}
