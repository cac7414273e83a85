package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kith/db"
	"kith/query"
)

// maxOffered bounds how many nodes or files are offered.
const maxOffered = 100

// names finds what can be named in a database.
type names interface {
	models() []string
	labels() []string
	// nodes returns nodes whose keys, as they are written, begin with prefix: some, if there are many.
	nodes(prefix string) []string
}

// complete returns the word that text, which is before the cursor, ends with, and what it may become.
func complete(text string, n names) (word string, values []string) {
	if strings.HasPrefix(text, ".") {
		return completeDot(text)
	}
	statement := lastStatement(text)
	word = lastWord(statement)
	before := statement[:len(statement)-len(word)]
	expected := query.Expected(before)
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

// lastStatement is the statement that text ends with, as far as it goes.
func lastStatement(text string) string {
	for f, err := range query.Split(strings.NewReader(text)) {
		if err == nil && !query.Complete(f.Text) {
			return f.Text
		}
	}
	return ""
}

// lastWord is what a word, a number or something in quotes that text ends with has of it so far.
func lastWord(text string) string {
	var last lexeme
	for l := range lexemes(text) {
		last = l
	}
	switch last.class {
	case aWord, aNumber, aParam:
		return last.text
	case aText, aName:
		if strings.Count(last.text, last.text[:1])%2 == 1 { // it is open
			return last.text
		}
	}
	return ""
}

// keyword reports whether what the grammar expects is a keyword.
func keyword(expected string) bool {
	return strings.IndexFunc(expected, func(r rune) bool { return r < 'A' || r > 'Z' }) < 0
}

// opened adds the parenthesis that must follow a keyword.
func opened(before, keyword string) string {
	if slices.Equal(query.Expected(before+keyword), []string{`"("`}) {
		return keyword + "("
	}
	return keyword
}

// inCaseOf writes a keyword as the word that is to become it is written.
func inCaseOf(word, keyword string) string {
	if word != "" && word == strings.ToLower(word) {
		return strings.ToLower(keyword)
	}
	return keyword
}

// named lists what may stand where the grammar expects no keyword, but something by this name.
func named(expected, before, word string, n names) []string {
	switch {
	case expected == "a model" && strings.HasSuffix(strings.ToUpper(strings.TrimSpace(before)), "USING"):
		return append(n.models(), db.Heuristics()...)
	case expected == "a model" && !begins(before, "CREATE"):
		return n.models()
	case expected == "a label":
		return n.labels()
	case expected == "a 'file name'" && strings.HasPrefix(word, "'"):
		return inQuotes(files(strings.ReplaceAll(word[1:], "''", "'")))
	case strings.HasPrefix(expected, "a node "):
		return n.nodes(word)
	}
	return words(expected, before)
}

// files lists the files whose names begin with prefix, directories with a slash behind them. Hidden
// ones want to be asked for.
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

// inQuotes writes names of files as statements do. That of a directory stays open.
func inQuotes(names []string) []string {
	for i, name := range names {
		names[i] = query.String{Value: name}.String()
		if strings.HasSuffix(name, "/") {
			names[i] = strings.TrimSuffix(names[i], "'")
		}
	}
	return names
}

// completeDot is complete for a dot command.
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

// beginning keeps the values that begin with word.
func beginning(word string, values []string) []string {
	return slices.DeleteFunc(values, func(v string) bool { return !strings.HasPrefix(v, word) })
}
