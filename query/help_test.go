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

	"kith/db"
	"kith/db/dbtest"
	"kith/query/parse"
)

var updatePages = flag.Bool("update", false, "rewrite the grammar in doc.go")

// TestHelps checks that every kind of statement has help, whose example parses to such a statement and whose summary
// fits the screen.
func TestHelps(t *testing.T) {
	kinds := map[reflect.Type]bool{}
	for _, h := range parse.Kinds() {
		stmt, err := parse.Parse(h.Example)
		if err != nil {
			t.Errorf("%s: the example %s: %v", h.Name, h.Example, err)
			continue
		}
		kinds[reflect.TypeOf(stmt)] = true
		if word, _, _ := strings.Cut(h.Name, " "); !strings.HasPrefix(h.Example, word) || !strings.HasPrefix(h.Grammar, word) {
			t.Errorf("%s: the grammar or the example is of another statement", h.Name)
		}
		if h.Summary == "" || strings.HasSuffix(h.Summary, ".") || len(h.Summary) > 60 {
			t.Errorf("%s: summary %q", h.Name, h.Summary)
		}
	}
	for _, text := range append(examples(t), "LOAD NODES FROM 'a'", "EXPORT MODEL m TO 'f'", "EXPORT LOG TO 'f'") {
		if stmt, err := parse.Parse(text); err == nil && !kinds[reflect.TypeOf(stmt)] && !grouped(stmt) {
			t.Errorf("no help has an example of the kind of %s", text)
		}
	}
}

// grouped reports whether a statement shares its help with another kind of statement.
func grouped(stmt parse.Statement) bool {
	switch stmt.(type) {
	case *parse.LoadNodes, *parse.ExportModel, *parse.ExportLog:
		return true
	}
	return false
}

// TestHelpFits checks that a table of help is at most 80 columns wide.
func TestHelpFits(t *testing.T) {
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	for _, h := range parse.Kinds() {
		rows, err := Run(context.Background(), g, "HELP "+h.Name)
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
				t.Errorf("HELP %s: %q is %d columns too long", h.Name, row[1], over)
			}
		}
		for _, want := range []string{"statement", "summary", "grammar", "example"} {
			if !slices.Contains(names, want) {
				t.Errorf("HELP %s does not tell %s", h.Name, want)
			}
		}
	}
	rows, err := Run(context.Background(), g, "HELP")
	if err != nil || len(rows.Rows) != len(parse.Kinds()) {
		t.Errorf("HELP lists %d statements, error %v, want %d", len(rows.Rows), err, len(parse.Kinds()))
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

// TestTermsAreUsed checks that each term is part of a grammar.
func TestTermsAreUsed(t *testing.T) {
	all := ""
	for _, h := range parse.Kinds() {
		all += h.Grammar + "\n"
	}
	used := parse.TermsOf(all)
	if len(used) != len(parse.Terms()) {
		t.Errorf("of the terms %v these are used: %v", parse.Terms(), used)
	}
}

// TestGrammarPages checks that doc.go shows the grammars of HELP.
func TestGrammarPages(t *testing.T) {
	var page []string
	for _, h := range parse.Kinds() {
		page = append(page, strings.Split(h.Grammar, "\n")...)
	}
	page = append(page, "")
	for _, term := range parse.Terms() {
		page = append(page, strings.Split(fmt.Sprintf("%-10s = %v", term.Name, term), "\n")...)
	}
	for _, p := range []struct{ file, heading, code, blank, before, after string }{
		{"doc.go", "// # Grammar", "//\t", "//", "//", "//"},
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
