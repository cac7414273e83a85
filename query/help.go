package query

import (
	"cmp"
	"strings"

	"kith/query/internal/parse"
)

// help answers with the list of topics or, for a topic, with the help of its statements.
func (r *run) help(s *parse.Statement) {
	topic := s.Topic()
	if topic == "" {
		for _, k := range parse.Forms() {
			r.rows.add(k.Name, k.Summary)
		}
		return
	}
	r.rows.Columns = []string{"name", "value"}
	grammars := ""
	for _, k := range parse.Forms() {
		if k.About(topic) {
			r.rows.describe(&k)
			grammars += k.Grammar + "\n"
		}
	}
	for _, t := range parse.TermsOf(grammars) {
		r.rows.addLines(t.Name, t.String())
	}
}

// describe adds the help of a form of statement.
func (rows *Rows) describe(k *parse.Form) {
	rows.add("statement", k.Name)
	rows.add("summary", k.Summary)
	rows.addLines("grammar", k.Grammar)
	rows.addLines("example", k.Example+";")
	stmt, err := parse.Parse(k.Example)
	if err != nil {
		return // a test parses every example
	}
	does := actionOf(stmt)
	if does.options != nil {
		for _, o := range does.options(stmt, func(string) bool { return false }) {
			rows.addLines("option", wrap(o.String()))
		}
	}
	rows.addLines("columns", wrap(listed(does.columns)))
	if does.more != nil {
		rows.addLines("columns", wrap(cmp.Or(does.when, "in WHERE and RETURN also")+": "+listed(does.more)))
	}
}

// listed returns columns with their meanings, separated by commas.
func listed(columns []column) string {
	texts := make([]string, len(columns))
	for i, c := range columns {
		texts[i] = c.String()
	}
	return strings.Join(texts, ", ")
}

// String returns the name, the accepted values and the meaning of an option.
func (o option) String() string {
	text := o.name
	if o.accepts != "" {
		text += " = " + o.accepts
	}
	if o.meaning != "" {
		text += ": " + o.meaning
	}
	return text
}

// wrap breaks a text into lines that fit a screen, all but the first one indented.
func wrap(text string) string {
	const width = 66
	var b strings.Builder
	n := 0
	for _, word := range strings.Fields(text) {
		switch {
		case n == 0:
		case n+1+len(word) > width:
			b.WriteString("\n    ")
			n = 4
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += len(word)
	}
	return b.String()
}

// addLines adds a row for each line of a text.
func (rows *Rows) addLines(name, text string) {
	for line := range strings.Lines(text) {
		rows.add(name, strings.TrimSuffix(line, "\n"))
	}
}
