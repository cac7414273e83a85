package query

import (
	"regexp"
	"slices"
	"strings"
)

// Help lists the statements, or shows the grammar of a topic.
type Help struct {
	Pos
	Topic string // the first words of a topic, in capitals; empty: all topics
}

func (*Help) statement() {}

func (s *Help) String() string { return strings.TrimSpace("HELP " + s.Topic) }

// help parses the words of a topic after HELP.
func (p *parser) help(pos Pos) Statement {
	s := &Help{Pos: pos}
	for {
		next := nextWords(s.Topic)
		if i := slices.IndexFunc(next, p.keyword); i >= 0 {
			s.Topic = strings.TrimSpace(s.Topic + " " + next[i])
			continue
		}
		return s
	}
}

// nextWords returns the words that may follow the words begun in a topic.
func nextWords(begun string) (words []string) {
	for _, h := range helps() {
		if !h.about(begun) {
			continue
		}
		rest := strings.Fields(h.topic[len(begun):])
		if len(rest) > 0 && !slices.Contains(words, rest[0]) {
			words = append(words, rest[0])
		}
	}
	return words
}

// about reports whether the help belongs to a topic.
func (h help) about(topic string) bool {
	return topic == "" || h.topic == topic || strings.HasPrefix(h.topic, topic+" ")
}

// help answers with the list of topics or, for a topic, with the help of its statements.
func (r *run) help(s *Help) (*Rows, error) {
	if s.Topic == "" {
		rows := &Rows{Columns: []string{"statement", "summary"}}
		for _, h := range helps() {
			rows.add(h.topic, h.summary)
		}
		return rows, nil
	}
	rows := &Rows{Columns: []string{"name", "value"}}
	told := ""
	for _, h := range helps() {
		if !h.about(s.Topic) {
			continue
		}
		rows.add("statement", h.topic)
		rows.add("summary", h.summary)
		rows.addLines("grammar", h.grammar)
		rows.addLines("example", h.example+";")
		told += h.grammar + "\n"
	}
	for _, t := range termsOf(told) {
		rows.addLines(t.name, t.String())
	}
	return rows, nil
}

// addLines adds a row for each line of a text.
func (rows *Rows) addLines(name, text string) {
	for line := range strings.Lines(text) {
		rows.add(name, strings.TrimSuffix(line, "\n"))
	}
}

// termsOf returns the terms that a grammar uses, directly or through other terms.
func termsOf(grammar string) (used []term) {
	for _, t := range terms() { // a term precedes the terms it uses, except for conditions
		if slices.Contains(smallWords(grammar), t.name) {
			used = append(used, t)
			grammar += "\n" + t.grammar
		}
	}
	return used
}

// smallWords returns the words of a grammar that are terms.
func smallWords(grammar string) []string {
	return regexp.MustCompile(`\b[a-z]+\b`).FindAllString(grammar, -1)
}

// String returns the grammar of the term with its note.
func (t term) String() string {
	if t.note == "" {
		return t.grammar
	}
	return t.grammar + "  (" + t.note + ")"
}

// Keywords returns the keywords of the grammar, sorted. They are case-insensitive, and none is reserved: where the
// grammar expects a name, a keyword is a name.
func Keywords() []string {
	var words []string
	keyword := regexp.MustCompile(`\b[A-Z]+\b`)
	for _, h := range helps() {
		words = append(words, keyword.FindAllString(h.grammar, -1)...)
	}
	for _, t := range terms() {
		words = append(words, keyword.FindAllString(t.grammar, -1)...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}
