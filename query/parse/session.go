package parse

import (
	"slices"
	"strings"
)

// sessionKinds returns the statements about transactions, settings and the database as a whole.
func sessionKinds() []Kind {
	return []Kind{
		{"BEGIN", "begin a transaction",
			"BEGIN [READ ONLY]", "BEGIN", (*parser).begin},
		{"COMMIT", "end the transaction and keep its changes",
			"COMMIT", "COMMIT", (*parser).bare},
		{"ROLLBACK", "end the transaction without its changes",
			"ROLLBACK", "ROLLBACK", (*parser).bare},
		{"SET", "change a setting of the session",
			"SET name = value", "SET timeout = '30s'", (*parser).assign},
		{"SHOW SETTINGS", "list the settings of the session",
			"SHOW SETTINGS", "SHOW SETTINGS", (*parser).bare},
		{"SHOW STATS", "show the size of the database",
			"SHOW STATS", "SHOW STATS", (*parser).bare},
		{"SHOW LABELS", "list the labels with the number of their nodes",
			"SHOW LABELS [TOP n]", "SHOW LABELS TOP 20", (*parser).listing},
		{"SHOW CACHE", "show the use of the cache of PageRank states",
			"SHOW CACHE", "SHOW CACHE", (*parser).bare},
		{"CHECK", "verify every invariant of the database",
			"CHECK", "CHECK", (*parser).bare},
		{"HELP", "list the statements, or show how some are written",
			"HELP [topic]", "HELP PREDICT", (*parser).help},
	}
}

// Begin opens a transaction for the statements up to COMMIT or ROLLBACK.
type Begin struct {
	Pos
	ReadOnly bool // the transaction reads one version and blocks no writer
}

// Assign changes a setting of the session.
type Assign struct {
	Pos
	Option
}

// Help lists the statements, or shows the grammar of a topic.
type Help struct {
	Pos
	Topic string // the first words of a topic, in capitals; empty: all topics
}

// Kind implements [Statement].
func (*Begin) Kind() string  { return "BEGIN" }
func (*Assign) Kind() string { return "SET" }
func (*Help) Kind() string   { return "HELP" }

func (s *Begin) String() string {
	if s.ReadOnly {
		return "BEGIN READ ONLY"
	}
	return "BEGIN"
}

func (s *Assign) String() string { return "SET " + s.Option.String() }
func (s *Help) String() string   { return strings.TrimSpace("HELP " + s.Topic) }

func (p *parser) begin(pos Pos, _ string) Statement {
	s := &Begin{Pos: pos, ReadOnly: p.keyword("READ")}
	if s.ReadOnly {
		p.need(p.keyword("ONLY"))
	}
	return s
}

func (p *parser) assign(pos Pos, _ string) Statement {
	s := &Assign{Pos: pos}
	p.begun = s
	s.Option = p.option(ASetting)
	return s
}

// help parses the words of a topic after HELP.
func (p *parser) help(pos Pos, _ string) Statement {
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
