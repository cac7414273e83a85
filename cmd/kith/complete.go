package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kith/db"
	"kith/query"
	"kith/query/parse"
)

// maxOffered is the maximum number of nodes or files that are offered.
const maxOffered = 100

// names lists the names in a database, as statements spell them.
type names struct {
	searched int // number of nodes that are searched for keys to offer
	run      func(ctx context.Context, statement string) (*query.Rows, error)
}

// of returns the first column of a statement's answer. It waits no longer than patience, because the user is waiting, and
// returns nothing if the statement fails, because the user has not asked for it.
func (n names) of(statement string) (all []any) {
	const patience = time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	rows, err := n.run(ctx, statement)
	if err != nil {
		return nil
	}
	for _, row := range rows.Rows {
		all = append(all, row[0])
	}
	return all
}

// quoted returns the names that a statement lists.
func (n names) quoted(statement string) (all []string) {
	for _, name := range n.of(statement) {
		all = append(all, parse.Name{Value: fmt.Sprint(name)}.String())
	}
	return all
}

func (n names) models() []string { return n.quoted("SHOW MODELS") }
func (n names) labels() []string { return n.quoted("SHOW LABELS") }

// nodes returns the keys of nodes that begin with prefix. It returns only some of many.
func (n names) nodes(prefix string) (all []string) {
	for _, key := range n.of(fmt.Sprintf("NODES TOP %d", n.searched)) {
		if text := fmt.Sprint(key); strings.HasPrefix(text, prefix) && len(all) < maxOffered {
			all = append(all, text)
		}
	}
	return all
}

// complete returns the last word of text, the text before the cursor, and the values that complete it.
func complete(text string, n names) (word string, values []string) {
	if strings.HasPrefix(text, ".") {
		return completeDot(text)
	}
	statement := lastStatement(text)
	word = lastWord(statement)
	before := statement[:len(statement)-len(word)]
	expected := parse.Expected(before)
	for _, e := range expected {
		switch {
		case keyword(e):
			values = append(values, opened(before, inCaseOf(word, e)))
		case e == `"("` && len(expected) == 1:
			values = append(values, "(")
		default:
			values = append(values, named(e, before, word, n)...)
		}
	}
	return word, beginning(word, values)
}

// lastStatement returns the unfinished statement that text ends with, or "".
func lastStatement(text string) string {
	for f, err := range parse.Split(strings.NewReader(text)) {
		if err == nil && !parse.Complete(f.Text) {
			return f.Text
		}
	}
	return ""
}

// lastWord returns the unfinished word, number, parameter or quoted text that text ends with, or "".
func lastWord(text string) string {
	var last parse.Lexeme
	for l := range parse.Lexemes(text) {
		last = l
	}
	switch last.Class {
	case parse.ClassWord, parse.ClassNumber, parse.ClassParam:
		return last.Text
	case parse.ClassText, parse.ClassName:
		if strings.Count(last.Text, last.Text[:1])%2 == 1 { // the quotes are not closed
			return last.Text
		}
	}
	return ""
}

// keyword reports whether expected, an expectation of the grammar, is a keyword.
func keyword(expected string) bool {
	return strings.IndexFunc(expected, func(r rune) bool { return r < 'A' || r > 'Z' }) < 0
}

// opened returns a keyword with the parenthesis that must follow it, if one must.
func opened(before, keyword string) string {
	if slices.Equal(parse.Expected(before+keyword), []string{`"("`}) {
		return keyword + "("
	}
	return keyword
}

// inCaseOf returns a keyword in small letters if word is, so that it continues word.
func inCaseOf(word, keyword string) string {
	if word != "" && word == strings.ToLower(word) {
		return strings.ToLower(keyword)
	}
	return keyword
}

// named returns the names that match an expectation of the grammar other than a keyword.
func named(expected, before, word string, n names) []string {
	switch {
	case expected == parse.AModel && strings.HasSuffix(strings.ToUpper(strings.TrimSpace(before)), "USING"):
		return append(n.models(), db.Heuristics()...)
	case expected == parse.AModel:
		return n.models()
	case expected == parse.ALabel:
		return n.labels()
	case expected == parse.AFile && strings.HasPrefix(word, "'"):
		return inQuotes(files(strings.ReplaceAll(word[1:], "''", "'")))
	case expected == parse.ANode:
		return n.nodes(word)
	}
	if expected == parse.AnOption {
		return query.Words(expected, before, n.models())
	}
	return query.Words(expected, before, nil)
}

// files returns the files whose names begin with prefix, with a slash after directories. Hidden files are included
// only if prefix begins with a dot.
func files(prefix string) (all []string) {
	dir, base := filepath.Split(prefix)
	entries, err := os.ReadDir(filepath.Clean("./" + dir))
	if filepath.IsAbs(dir) {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		return nil
	}
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(base, ".")
		if !strings.HasPrefix(e.Name(), base) || hidden || len(all) == maxOffered {
			continue
		}
		name := dir + e.Name()
		if e.IsDir() {
			name += "/"
		}
		all = append(all, name)
	}
	return all
}

// inQuotes quotes file names as statements do. The quotes of a directory stay open.
func inQuotes(names []string) []string {
	for i, name := range names {
		names[i] = parse.String{Value: name}.String()
		if strings.HasSuffix(name, "/") {
			names[i] = strings.TrimSuffix(names[i], "'")
		}
	}
	return names
}

// completeDot completes a dot command.
func completeDot(text string) (word string, values []string) {
	command, arg, found := strings.Cut(text, " ")
	for _, d := range dots() {
		switch {
		case !found:
			values = append(values, d.name)
		case d.name == command && d.values != nil:
			values = d.values(arg)
		}
	}
	if !found {
		arg = text
	}
	return arg, beginning(arg, values)
}

// beginning returns the values that begin with word.
func beginning(word string, values []string) []string {
	return slices.DeleteFunc(values, func(v string) bool { return !strings.HasPrefix(v, word) })
}
