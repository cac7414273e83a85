package main

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"kith/db"
	"kith/query"
)

// vocabulary is what can be named in a database.
type vocabulary struct{ models, labels []string }

// names reads the vocabulary; what cannot be read is empty, as nobody asked for it.
func names(g *db.DB) (v vocabulary) {
	_ = g.View(context.Background(), func(tx *db.Tx) error {
		for _, m := range tx.Models() {
			v.models = append(v.models, query.Name{Value: m.Name}.String())
		}
		for _, l := range tx.Labels() {
			v.labels = append(v.labels, query.Name{Value: l}.String())
		}
		return nil
	})
	return v
}

// complete returns the word that text ends with, which may be empty, and what it may become.
func complete(text string, v vocabulary) (word string, values []string) {
	begin := strings.LastIndexFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) + 1
	before, word := text[:begin], text[begin:]
	if command, arg, found := strings.Cut(text, " "); strings.HasPrefix(text, ".") {
		switch {
		case !found:
			return text, dotNames()
		case command == ".mode":
			return arg, modeNames()
		}
		return arg, nil
	}
	fields := strings.Fields(before)
	last := ""
	if len(fields) > 0 {
		last = strings.ToUpper(fields[len(fields)-1])
	}
	switch {
	case last == "LABEL":
		return word, v.labels
	case last == "USING" && strings.EqualFold(fields[0], "CREATE"):
		return word, db.Policies()
	case last == "USING", last == "MODEL" && !strings.EqualFold(fields[0], "CREATE"):
		return word, v.models
	}
	return word, inCaseOf(word, query.Keywords())
}

// inCaseOf writes keywords as the word that is to become one is written.
func inCaseOf(word string, keywords []string) []string {
	if word == "" || word != strings.ToLower(word) {
		return keywords
	}
	lower := slices.Clone(keywords)
	for i, k := range lower {
		lower[i] = strings.ToLower(k)
	}
	return lower
}

func dotNames() (all []string) {
	for _, d := range dots() {
		all = append(all, d.name)
	}
	return all
}

func modeNames() (all []string) {
	for _, m := range modes() {
		all = append(all, string(m))
	}
	return all
}
