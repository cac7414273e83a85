package parse

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
	for _, h := range Kinds() {
		if !h.About(begun) {
			continue
		}
		rest := strings.Fields(h.Name[len(begun):])
		if len(rest) > 0 && !slices.Contains(words, rest[0]) {
			words = append(words, rest[0])
		}
	}
	return words
}

// About reports whether the help belongs to a topic.
func (k Kind) About(topic string) bool {
	return topic == "" || k.Name == topic || strings.HasPrefix(k.Name, topic+" ")
}

// TermsOf returns the terms that a grammar uses, directly or through other terms.
func TermsOf(grammar string) (used []Term) {
	for _, t := range Terms() { // a term precedes the terms it uses, except for conditions
		if slices.Contains(smallWords(grammar), t.Name) {
			used = append(used, t)
			grammar += "\n" + t.Grammar
		}
	}
	return used
}

// smallWords returns the words of a grammar that are terms.
func smallWords(grammar string) []string {
	return regexp.MustCompile(`\b[a-z]+\b`).FindAllString(grammar, -1)
}

// String returns the grammar of the term with its note.
func (t Term) String() string {
	if t.Note == "" {
		return t.Grammar
	}
	return t.Grammar + "  (" + t.Note + ")"
}

// Keywords returns the keywords of the grammar, sorted. They are case-insensitive, and none is reserved: where the
// grammar expects a name, a keyword is a name.
func Keywords() []string {
	var words []string
	keyword := regexp.MustCompile(`\b[A-Z]+\b`)
	for _, h := range Kinds() {
		words = append(words, keyword.FindAllString(h.Grammar, -1)...)
	}
	for _, t := range Terms() {
		words = append(words, keyword.FindAllString(t.Grammar, -1)...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}
