package shell

import (
	"context"
	"fmt"
	"strings"

	"kith/query"
)

// welcome says what the database at path holds, and in three lines what to do with it.
func (s *session) welcome(ctx context.Context, path string) error {
	answers, err := s.ask(ctx, "SHOW STATS", "SHOW MODELS", "NODES WHERE edges > 0 TOP 1")
	if err != nil {
		return err
	}
	stats, models, linked := valuesByName(answers[0]), answers[1], answers[2].Rows
	fmt.Fprintf(s.out, "kith, %s: %s, %s, %s.\nA statement ends with a semicolon; .help helps, Ctrl-D ends.\n",
		path, counted(stats["nodes"], "node"), counted(stats["edges"], "edge"), counted(stats["models"], "model"))
	switch {
	case s.attached && s.readOnly:
		fmt.Fprintf(s.out, "A server has %s open, and answers here; statements only read.\n", path)
	case s.attached:
		fmt.Fprintf(s.out, "A server has %s open, and answers here; statements access no file and keep no transaction or setting.\n", path)
	}
	for _, n := range models.Notes {
		fmt.Fprintf(s.out, "%s\n", n)
	}
	var hints [][2]string
	switch {
	case len(linked) > 0:
		hints = s.hints(path, linked[0][0], models)
	case !s.readOnly:
		hints = [][2]string{
			{"load, add", "LOAD EDGES FROM 'friends.csv'; INSERT EDGES 'ann' -> 'bob', 'bob' -> 'cid', 'cid' -> 'dan';"},
			{"ask, train", "PREDICT LINKS FOR 'ann' AMONG NEIGHBORS(2); CREATE MODEL friends; TRAIN MODEL friends;"},
			{"look", s.look(path)},
		}
	}
	for _, h := range hints {
		fmt.Fprintf(s.out, "  %-10s %s\n", h[0], h[1])
	}
	return nil
}

// hints says what to do with a database that has edges, one of them of node.
func (s *session) hints(path string, node any, models *query.Rows) [][2]string {
	next := [2]string{"measure", "EVALUATE PREDICT LINKS FOR SAMPLE(100) USING default ON HOLDOUT 0.1;"}
	if name := untrained(models); name != "" && !s.readOnly {
		next = [2]string{"train", "TRAIN MODEL " + name + ";"}
		if len(models.Rows) == 0 {
			next[1] = "CREATE MODEL " + name + "; " + next[1]
		}
	}
	return [][2]string{{"ask", fmt.Sprintf("PREDICT LINKS FOR %s AMONG NEIGHBORS(2) TOP 5;", exact(node))}, next, {"look", s.look(path)}}
}

// look says how to see the database at path, or at a URL, in a browser.
func (s *session) look(path string) string {
	switch {
	case s.attached:
		return "the server shows it in a browser, at the address that it printed"
	case strings.HasPrefix(path, "http"):
		return path + " in a browser"
	}
	return "kith serve " + path + ", after Ctrl-D, shows it in a browser"
}

// untrained returns the name of a model to train, or "" if one is trained.
func untrained(models *query.Rows) string {
	name := "friends"
	for i, row := range models.Rows {
		values := map[string]any{}
		for j, c := range models.Columns {
			values[c] = row[j]
		}
		if values["trained"] == true {
			return ""
		}
		if i == 0 {
			name = query.Name(fmt.Sprint(values["model"]))
		}
	}
	return name
}
