package query

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/db/dbtest"
	"kith/model"
	"kith/query/internal/parse"
)

var updatePages = flag.Bool("update", false, "rewrite the help in LANGUAGE.md")

// TestForms checks every form of statement: it has an action, its example parses to
// such a statement, its summary fits the screen, the options that are completed are those that are
// accepted, the columns of answers are those that HELP shows, EXPLAIN shows a plan where there is a
// choice, and a statement that says that it reads changes nothing and is the only one that a
// session that is ReadOnly runs.
func TestForms(t *testing.T) {
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	t.Chdir(t.TempDir()) // option plot writes a file
	if len(slices.Collect(actions)) != len(parse.Forms()) {
		t.Errorf("%d kinds of statements run, %d are parsed", len(slices.Collect(actions)), len(parse.Forms()))
	}
	for _, h := range parse.Forms() {
		stmt, err := parse.Parse(h.Example)
		if err != nil {
			t.Errorf("%s: the example %s: %v", h.Name, h.Example, err)
			continue
		}
		if stmt.Form != h.Name {
			t.Errorf("%s: the example %s is of kind %s", h.Name, h.Example, stmt.Form)
		}
		if h.Summary == "" || strings.HasSuffix(h.Summary, ".") || len(h.Summary) > 60 {
			t.Errorf("%s: summary %q", h.Name, h.Summary)
		}
		k := actionOf(stmt)
		if len(columnNames(k.columns)) == 0 || k.run == nil {
			t.Errorf("%s: columns %q, run %v", h.Name, k.columns, k.run)
		}
		if takes := strings.Contains(h.Grammar, "option") || h.Name == "SET"; takes != (k.options != nil) {
			t.Errorf("%s: options %t, but the grammar says %t", h.Name, k.options != nil, takes)
		}
	}
	for _, text := range []string{
		"INSERT EDGES 1 -> 2, 2 -> 3, 3 -> 4, 4 -> 1", "MERGE NODE 'ann' LABEL person", "CREATE MODEL m USING prb WITH (width = 4)",
	} {
		if _, err := Run(t.Context(), g, text); err != nil {
			t.Fatal(text, err)
		}
	}
	testOptions(t, g)
	testColumns(t, g)
	testExplain(t, g)
	testAccess(t, g)
}

// testOptions checks that each option that is completed, and each of its words, is accepted.
func testOptions(t *testing.T, g *db.DB) {
	seen := map[string]bool{"SET": true}
	for _, before := range []string{
		"PREDICT LINKS FOR 1", "WHY 1 -> 3", "RANK NODES FOR 1", "CHOOSE LINK FOR 1 AMONG ALL EXPLORE squarecb",
		"CHOOSE LINK FOR 1 AMONG ALL EXPLORE epsilon_greedy", "OBSERVE 1 -> 2 = 1", "REWARD 1 = 1", "EVALUATE PREDICT LINKS FOR 1 ON HOLDOUT 0.1",
		"EVALUATE PREDICT LINKS FOR 1 USING m ON HOLDOUT 0.1", "EVALUATE PREDICT LINKS FOR 1 USING prb ON HOLDOUT 0.1",
		"EVALUATE PREDICT LINKS FOR 1 USING ppr ON HOLDOUT 0.1", "EVALUATE PREDICT LINKS FOR 1 USING prb ON SPLIT 'none'", "EVALUATE m ON LOG USING dr",
		"CREATE MODEL n", "CREATE RELATION r", "TRAIN MODEL none", "TRAIN MODEL none FROM LOG", "LOAD EDGES FROM 'none'", "LOAD NODES FROM 'none'",
		"LOAD FEATURES FROM 'none'", "DRAW 1 TO 'one.svg'", "ERASE NODE 'none'",
	} {
		stmt, err := parse.Parse(before)
		if err != nil {
			t.Fatal(before, err)
		}
		seen[stmt.Form] = true
		names := wordsOf("an option", before+" WITH (", []string{"m"})
		if len(names) == 0 {
			t.Errorf("%s: no options", before)
		}
		for _, name := range names {
			words := wordsOf("a value", before+" WITH ("+name+" = ", []string{"m"})
			for _, value := range append(words, "'no such value'") {
				_, err := Run(t.Context(), g, before+" WITH ("+name+" = "+value+")")
				if err != nil && (strings.Contains(err.Error(), "unknown option") || slices.Contains(words, value) && strings.Contains(err.Error(), "accepted: ")) {
					t.Errorf("%s WITH (%s = %s): %v", before, name, value, err)
				}
			}
		}
	}
	for k := range actions {
		if k.options != nil && !seen[k.name] {
			t.Errorf("the options of %s are not tested", k.name)
		}
	}
}

// testColumns checks that the answers of examples have the columns of their kind.
func testColumns(t *testing.T, g *db.DB) {
	for _, h := range parse.Forms() {
		if h.Name == "HELP" || strings.HasPrefix(h.Name, "EVALUATE") {
			continue // HELP with a topic has other columns, and evaluations take long
		}
		s := Session{DB: g}
		rows, err := s.Run(t.Context(), h.Example)
		if err != nil {
			continue
		}
		stmt, err := parse.Parse(h.Example)
		if err != nil {
			t.Fatal(err)
		}
		if want := columnNames(actionOf(stmt).columns); !slices.Equal(rows.Columns, want) {
			t.Errorf("%s: columns %v, want %v", h.Example, rows.Columns, want)
		}
		for _, row := range rows.Rows {
			if len(row) != len(rows.Columns) {
				t.Errorf("%s: a row of %d values for %d columns", h.Example, len(row), len(rows.Columns))
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// testExplain checks that EXPLAIN of each example shows steps or, where there is no choice to
// explain, says so, and that HELP tells the statement's record.
func testExplain(t *testing.T, g *db.DB) {
	for _, h := range parse.Forms() {
		if strings.HasPrefix(h.Grammar, "EXPLAIN") || strings.HasPrefix(h.Grammar, "PROFILE") {
			continue
		}
		k := actionOf(&parse.Statement{Form: h.Name})
		rows, err := Run(t.Context(), g, "EXPLAIN "+h.Example)
		switch {
		case k.plan == nil && (err != nil || len(rows.Rows) > 0 || len(rows.Notes) != 1):
			t.Errorf("EXPLAIN %s: %v, %v, want a note", h.Example, rows, err)
		case k.plan != nil && err == nil && len(rows.Rows) == 0:
			t.Errorf("EXPLAIN %s: no steps", h.Example)
		}
		help, err := Run(t.Context(), g, "HELP "+h.Name)
		if err != nil {
			t.Fatal(err)
		}
		tells := map[any]bool{}
		for _, row := range help.Rows {
			tells[row[0]] = true
		}
		if !tells["columns"] || tells["option"] != (k.options != nil) {
			t.Errorf("HELP %s tells %v", h.Name, tells)
		}
	}
}

// testAccess checks what the examples do to a database against what their records say.
func testAccess(t *testing.T, g *db.DB) {
	for _, h := range parse.Forms() {
		if strings.HasPrefix(h.Name, "EVALUATE") {
			continue // takes long
		}
		stmt, err := parse.Parse(h.Example)
		if err != nil {
			t.Fatal(err)
		}
		before := version(t, g)
		_, err = (&Session{DB: g, ReadOnly: true}).Exec(t.Context(), stmt)
		if refused := errors.Is(err, db.ErrReadOnly); refused != Writes(stmt) || version(t, g) != before {
			t.Errorf("%s: error %v, writes %t, version %d and now %d", h.Example, err, Writes(stmt), before, version(t, g))
		}
		s := Session{DB: g}
		if _, err := s.Exec(t.Context(), stmt); err == nil && !Writes(stmt) && version(t, g) != before {
			t.Errorf("%s changes the database", h.Example)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHelpFits checks that a table of help is at most 80 columns wide.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	g := dbtest.Open(t, &db.Options{InMemory: true, Memory: 64 << 20})
	for _, h := range parse.Forms() {
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
	if err != nil || len(rows.Rows) != len(parse.Forms()) {
		t.Errorf("HELP lists %d statements, error %v, want %d", len(rows.Rows), err, len(parse.Forms()))
	}
}

// TestShowPolicies checks that each policy has a line that fits the screen.
func TestShowPolicies(t *testing.T) {
	t.Parallel()
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
	if !slices.Equal(names, model.Policies()) {
		t.Errorf("policies %v, want %v", names, model.Policies())
	}
}

// TestTermsAreUsed checks that each term is part of a grammar.
func TestTermsAreUsed(t *testing.T) {
	t.Parallel()
	all := ""
	for _, h := range parse.Forms() {
		all += h.Grammar + "\n"
	}
	used := parse.TermsOf(all)
	if len(used) != len(parse.Terms()) {
		t.Errorf("of the terms %v these are used: %v", parse.Terms(), used)
	}
}

// TestPages checks that LANGUAGE.md shows the help of every statement.
func TestPages(t *testing.T) {
	t.Parallel()
	var help []string
	for _, k := range parse.Forms() {
		rows := &Rows{}
		rows.describe(&k)
		before := ""
		for _, row := range rows.Rows[1:] {
			if row[0] == before {
				row[0] = ""
			}
			before = cmp.Or(row[0].(string), before)
			help = append(help, strings.TrimRight(fmt.Sprintf("%-9s %v", row...), " "))
		}
		help = append(help, "")
	}
	for _, term := range parse.Terms() {
		help = append(help, strings.Split(fmt.Sprintf("%-10s = %v", term.Name, term), "\n")...)
	}
	showsPage(t, "LANGUAGE.md", "## Statements", help)
}

// showsPage checks that the first code block below a heading of a file has the given lines, or
// writes them there.
func showsPage(t *testing.T, file, heading string, lines []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(b), "\n"+heading+"\n")
	text, code, opened := strings.Cut(rest, "\n```\n")
	_, after, closed := strings.Cut(code, "\n```\n")
	if !found || !opened || !closed {
		t.Fatalf("%s has no code block below %s", file, heading)
	}
	want := before + "\n" + heading + "\n" + text + "\n```\n" + strings.Join(lines, "\n") + "\n```\n" + after
	switch {
	case want == string(b):
	case !*updatePages:
		t.Errorf("%s does not show the help of the statements (go test ./query -run Pages -update writes it)", file)
	default:
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
