package query

import (
	"strings"

	"kith/query/parse"
)

// help answers with the list of topics or, for a topic, with the help of its statements.
func (r *run) help(s *parse.Help) (*Rows, error) {
	if s.Topic == "" {
		rows := &Rows{Columns: []string{"statement", "summary"}}
		for _, h := range parse.Kinds() {
			rows.add(h.Name, h.Summary)
		}
		return rows, nil
	}
	rows := &Rows{Columns: []string{"name", "value"}}
	told := ""
	for _, h := range parse.Kinds() {
		if !h.About(s.Topic) {
			continue
		}
		rows.add("statement", h.Name)
		rows.add("summary", h.Summary)
		rows.addLines("grammar", h.Grammar)
		rows.addLines("example", h.Example+";")
		told += h.Grammar + "\n"
	}
	for _, t := range parse.TermsOf(told) {
		rows.addLines(t.Name, t.String())
	}
	return rows, nil
}

// addLines adds a row for each line of a text.
func (rows *Rows) addLines(name, text string) {
	for line := range strings.Lines(text) {
		rows.add(name, strings.TrimSuffix(line, "\n"))
	}
}
