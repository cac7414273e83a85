package query

import (
	"context"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kith/db"
	"kith/db/dbtest"
)

var updatePages = flag.Bool("update", false, "rewrite the grammar in doc.go and README.md")

// TestHelps checks that every kind of statement has help, whose example parses to such a statement and whose summary
// fits the screen.
func TestHelps(t *testing.T) {
	kinds := map[reflect.Type]bool{}
	for _, h := range helps() {
		stmt, err := Parse(h.example)
		if err != nil {
			t.Errorf("%s: the example %s: %v", h.topic, h.example, err)
			continue
		}
		kinds[reflect.TypeOf(stmt)] = true
		if word, _, _ := strings.Cut(h.topic, " "); !strings.HasPrefix(h.example, word) || !strings.HasPrefix(h.grammar, word) {
			t.Errorf("%s: the grammar or the example is of another statement", h.topic)
		}
		if h.summary == "" || strings.HasSuffix(h.summary, ".") || len(h.summary) > 60 {
			t.Errorf("%s: summary %q", h.topic, h.summary)
		}
	}
	for _, text := range append(examples, "LOAD NODES FROM 'a'", "EXPORT MODEL m TO 'f'", "EXPORT LOG TO 'f'") {
		if stmt, err := Parse(text); err == nil && !kinds[reflect.TypeOf(stmt)] && !grouped(stmt) {
			t.Errorf("no help has an example of the kind of %s", text)
		}
	}
}

// grouped reports whether a statement shares its help with another kind of statement.
func grouped(stmt Statement) bool {
	switch stmt.(type) {
	case *LoadNodes, *ExportModel, *ExportLog:
		return true
	}
	return false
}

// TestHelpFits checks that a table of help is at most 80 columns wide.
func TestHelpFits(t *testing.T) {
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	for _, h := range helps() {
		rows, err := Run(context.Background(), g, "HELP "+h.topic)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		widest := 0 // width of the names
		for _, row := range rows.Rows {
			names = append(names, row[0].(string))
			widest = max(widest, len(row[0].(string)))
		}
		for _, row := range rows.Rows {
			if over := widest + len(row[1].(string)) + len("|||") - 80; over > 0 {
				t.Errorf("HELP %s: %q is %d columns too long", h.topic, row[1], over)
			}
		}
		for _, want := range []string{"statement", "summary", "grammar", "example"} {
			if !slices.Contains(names, want) {
				t.Errorf("HELP %s does not tell %s", h.topic, want)
			}
		}
	}
	rows, err := Run(context.Background(), g, "HELP")
	if err != nil || len(rows.Rows) != len(helps()) {
		t.Errorf("HELP lists %d statements, error %v, want %d", len(rows.Rows), err, len(helps()))
	}
}

// TestShowPolicies checks that each policy has a line that fits the screen.
func TestShowPolicies(t *testing.T) {
	rows, err := Run(context.Background(), dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20}), "SHOW POLICIES")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	told := map[string]bool{"": true}
	for _, row := range rows.Rows {
		name, summary := row[0].(string), row[2].(string)
		if names = append(names, name); told[summary] || len(summary) > 43 {
			t.Errorf("policy %s: summary %q is missing, too long or another policy's", name, summary)
		}
		told[summary] = true
	}
	if !slices.Equal(names, db.Policies()) {
		t.Errorf("policies %v, want %v", names, db.Policies())
	}
}

// TestGrammarIsParsed checks that every text that the grammars allow parses.
func TestGrammarIsParsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SampledFrom(helps()).Draw(t, "help")
		text := (&writer{t: t}).write(h.grammar)
		if _, err := Parse(text); err != nil {
			t.Fatalf("%s\nis allowed by %s\n%v", text, h.grammar, err)
		}
	})
}

// writer writes texts that a grammar allows.
type writer struct {
	t      *rapid.T
	tokens []string // remaining tokens of the grammar
	depth  int
	names  int
}

// write draws a text of a grammar.
func (w *writer) write(grammar string) string {
	inner := &writer{t: w.t, depth: w.depth + 1, names: w.names}
	inner.tokens = regexp.MustCompile(`'string'|\.\.\.|->|<>|!=|<=|>=|[A-Za-z]+|\S`).FindAllString(grammar, -1)
	text := inner.alternatives()
	if len(inner.tokens) > 0 {
		w.t.Fatalf("grammar %q ends before %q", grammar, inner.tokens)
	}
	w.names = inner.names
	return text
}

func (w *writer) next() string {
	if len(w.tokens) == 0 {
		return ""
	}
	return w.tokens[0]
}

func (w *writer) take() string {
	token := w.tokens[0]
	w.tokens = w.tokens[1:]
	return token
}

// alternatives writes one of the sequences between bars. It writes all of them to consume their tokens.
func (w *writer) alternatives() string {
	all := []string{w.sequence()}
	for w.next() == "|" {
		w.take()
		all = append(all, w.sequence())
	}
	return rapid.SampledFrom(all).Draw(w.t, "alternative")
}

// sequence writes items up to a bar or a closing bracket.
func (w *writer) sequence() string {
	var parts []string
	for w.next() != "" && !slices.Contains([]string{"|", "]", "}"}, w.next()) {
		before := w.tokens
		item := w.item()
		for _, repeat := range []string{", ...", "..."} {
			if !strings.HasPrefix(strings.Join(w.tokens, " ")+" ", repeat+" ") {
				continue
			}
			rest := w.tokens[len(strings.Fields(repeat)):]
			for range rapid.IntRange(0, 2).Draw(w.t, "more") {
				w.tokens = before
				if item != "" && len(repeat) > 3 {
					item += ", "
				}
				item += " " + w.item()
			}
			w.tokens = rest
			break
		}
		parts = append(parts, item)
	}
	return strings.Join(parts, " ")
}

// item writes one token, or the contents of brackets.
func (w *writer) item() string {
	switch token := w.take(); {
	case token == "[" || token == "{":
		text := w.alternatives()
		w.take()
		if token == "[" && (w.depth > 4 || rapid.Bool().Draw(w.t, "left out")) {
			return ""
		}
		return text
	case token == strings.ToUpper(token) || token == "'string'":
		return w.leaf(token)
	default:
		return w.term(token)
	}
}

// leaf writes a literal token or a string.
func (w *writer) leaf(token string) string {
	if token == "'string'" {
		return "'a''b'"
	}
	return token
}

// term writes a text for a term.
func (w *writer) term(name string) string {
	switch name {
	case "name":
		w.names++
		return fmt.Sprintf("n%d", w.names) // an option may be given only once
	case "integer":
		return "7"
	case "decimal":
		return "0.5"
	case "parameter":
		return "?"
	case "topic":
		return rapid.SampledFrom(helps()).Draw(w.t, "topic").topic
	case "statement":
		return "CHECK"
	case "predicate":
		if w.depth > 6 {
			return "n = 1"
		}
	}
	for _, t := range terms() {
		if t.name == name {
			return w.write(t.grammar)
		}
	}
	w.t.Fatalf("no term %q", name)
	return ""
}

// TestTermsAreUsed checks that each term is part of a grammar.
func TestTermsAreUsed(t *testing.T) {
	all := ""
	for _, h := range helps() {
		all += h.grammar + "\n"
	}
	used := termsOf(all)
	if len(used) != len(terms()) {
		t.Errorf("of the terms %v these are used: %v", terms(), used)
	}
}

// TestGrammarPages checks that doc.go and README.md show the grammars of HELP.
func TestGrammarPages(t *testing.T) {
	var page []string
	for _, h := range helps() {
		page = append(page, strings.Split(h.grammar, "\n")...)
	}
	page = append(page, "")
	for _, term := range terms() {
		page = append(page, strings.Split(fmt.Sprintf("%-10s = %v", term.name, term), "\n")...)
	}
	for _, p := range []struct{ file, heading, code, blank, before, after string }{
		{"doc.go", "// # Grammar", "//\t", "//", "//", "//"},
		{"../README.md", "## The language", "", "", "```", "```"},
	} {
		b, err := os.ReadFile(p.file)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, line := range page {
			if line = p.code + line; line == p.code {
				line = p.blank
			}
			want = append(want, line)
		}
		text := string(b)
		at := strings.Index(text, p.heading+"\n")
		if at < 0 {
			t.Fatalf("%s has no %s", p.file, p.heading)
		}
		block := regexp.MustCompile(`(?s)\n` + regexp.QuoteMeta(p.before) + `\n` + regexp.QuoteMeta(p.code) + `[A-Z?].*?\n` + regexp.QuoteMeta(p.after) + `\n(// [A-Z]|\n)`)
		place := block.FindStringIndex(text[at:])
		if place == nil {
			t.Fatalf("%s has no block below %s", p.file, p.heading)
		}
		if strings.Contains(text[at:at+place[1]], "\n"+p.before+"\n"+strings.Join(want, "\n")+"\n"+p.after+"\n") {
			continue
		}
		if !*updatePages {
			t.Errorf("%s does not show the grammars of HELP (go test ./query -run Pages -update writes them)", p.file)
			continue
		}
		old := text[at+place[0] : at+place[1]]
		tail := old[strings.LastIndex(old, "\n"+p.after+"\n"):]
		text = text[:at+place[0]] + "\n" + p.before + "\n" + strings.Join(want, "\n") + tail + text[at+place[1]:]
		if err := os.WriteFile(p.file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
