package parse

import (
	"slices"
	"strings"
	"unicode"

	"kith/db/words"
)

// Form says how the statements of a kind are written.
//
// In the grammar, words in capitals and punctuation are literal, words in small letters are terms,
// [ ] encloses optional parts, { | } lists alternatives, and "..." means that the item before it
// may repeat, separated by commas if a comma precedes it. The words in capitals that the grammar
// begins with select the form. The parser follows the grammar, and has a production for each term.
type Form struct {
	Name    string // words after HELP that select it
	Summary string
	Grammar string
	Example string
}

// firstWord returns the keyword that a grammar begins with, or "".
func firstWord(grammar string) string {
	n := 0
	for n < len(grammar) && 'A' <= grammar[n] && grammar[n] <= 'Z' {
		n++
	}
	return grammar[:n]
}

// About reports whether HELP with a topic describes the form: the topic is the name, its first
// words, or "".
func (k Form) About(topic string) bool {
	return topic == "" || k.Name == topic || strings.HasPrefix(k.Name, topic+" ")
}

// Term is a named part of grammars.
type Term struct {
	Name    string
	Grammar string
	Note    string // remark that the grammar does not express; "" means none
}

// Terms returns the named parts of grammars.
func Terms() []Term { return slices.Clone(terms) }

// terms are the named parts of grammars. A term precedes the terms that it uses, except for
// conditions.
var terms = []Term{
	{"sets", "set [{ UNION | EXCEPT | INTERSECT } set] ...", "at most 64"},
	{"set", "(node, ...) | NEIGHBORS [(n)] [VIA relation, ...] [WITHIN duration]\n    | PPR(n) [VIA relation, ...] | SAMPLE(n) | SIMILAR(n)\n    | LIKELY(n) | near | LABEL name | ALL | parameter", ""},
	{"near", "NEAR({ parameter | (number, ...) }, n\n    [LABEL name] [WHERE condition])", "nodes by their vectors"},
	{"edge", "link [WEIGHT number] [AT time]", ""},
	{"link", "node { -> | -[relation]-> } node", ""},
	{"relation", "name", "SHOW RELATIONS lists them"},
	{"source", "node | (seed, ...) | near", "a set is one question"},
	{"seed", "node [WEIGHT number]", "1 by default, from 2^-40 to 2^40"},
	{"model", "name [VERSION n]", "SHOW MODELS lists them"},
	{"policy", "name", "SHOW POLICIES lists them"},
	{"explorer", "name", "squarecb, epsilon_greedy"},
	{"estimator", "name", "ips, snips, dr"},
	{"format", "name", "snap, csv, tsv, mtx, npy, npz, pt, parquet, lists, nt, jsonl"},
	{"column", "name", "of the answer, or a property"},
	{"assignment", "name = literal", ""},
	{"literal", "integer | decimal | 'string' | ('string', ...)\n    | TRUE | FALSE | NULL | parameter", "'2006-01-02' makes a time"},
	{"condition", "predicate [{ AND | OR } predicate] ...", "AND binds first"},
	{"predicate", "[NOT] { comparison | (condition) }", "at most 100 deep"},
	{"comparison", "column { = | <> | != | < | <= | > | >= } value\n    | column IN (value, ...) | column\n    | { integer | decimal | 'string' | parameter } IN column\n    | column IS [NOT] NULL", "a column alone is a bool"},
	{"option", "name = { value | (pair, ...) }", ""},
	{"pair", "name = number", "of relation_weights"},
	{"value", "integer | decimal | 'string' | name | parameter", ""},
	{"node", "integer | 'string' | parameter", ""},
	{"number", "integer | decimal | parameter", ""},
	{"n", "integer | parameter", "at least 1"},
	{"time", "number | 'string' | parameter", "seconds since 1970, '2006-01-02'"},
	{"duration", "integer | 'string' | parameter", "seconds, '90s', '24h', '7d'"},
	{"file", "'string' | parameter", ""},
	{"topic", "name ...", "as HELP lists them"},
}

// TermsOf returns the terms that a grammar uses, directly or through other terms.
func TermsOf(grammar string) (used []Term) {
	for _, t := range terms {
		if slices.Contains(smallWords(grammar), t.Name) {
			used = append(used, t)
			grammar += "\n" + t.Grammar
		}
	}
	return used
}

// smallWords returns the words of a grammar that are terms.
func smallWords(grammar string) []string { return wordsOf(grammar, 'a', 'z') }

// capitalWords returns the words of a grammar that are keywords.
func capitalWords(grammar string) []string { return wordsOf(grammar, 'A', 'Z') }

// wordsOf returns the words whose letters are all between two letters.
func wordsOf(grammar string, first, last rune) []string {
	all := strings.FieldsFunc(grammar, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(all, func(word string) bool {
		return strings.ContainsFunc(word, func(r rune) bool { return r < first || r > last })
	})
}

// String returns the grammar of the term with its note.
func (t Term) String() string {
	if t.Note == "" {
		return t.Grammar
	}
	return t.Grammar + "  (" + t.Note + ")"
}

// Keywords returns the keywords of the grammar, sorted. They are case-insensitive, and none is
// reserved: where the grammar expects a name, a keyword is a name.
func Keywords() []string {
	var words []string
	for _, h := range forms {
		words = append(words, capitalWords(h.Grammar)...)
	}
	for _, t := range terms {
		words = append(words, capitalWords(t.Grammar)...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// languages are the languages whose statements begin with a word.
var languages = map[string]string{
	"SELECT": "SQL", "ALTER": "SQL", "TRUNCATE": "SQL", "UPSERT": "SQL", "REPLACE": "SQL", "VALUES": "SQL", "TABLE": "SQL",
	"MATCH": "Cypher", "OPTIONAL": "Cypher", "UNWIND": "Cypher", "RETURN": "Cypher", "CALL": "Cypher", "FOREACH": "Cypher",
	"WITH": "SQL or Cypher", "USE": "SQL or Cypher",
}

// refuseBeginning stops the parser at a token that begins no statement: it may begin one of SQL or
// Cypher, or lack the word before it, as STATS lacks SHOW.
func (p *parser) refuseBeginning() {
	language := languages[strings.ToUpper(p.tok.text)]
	e := &Error{Pos: p.tok.pos, Found: p.tok.found(), Expected: slices.Clone(p.expected)}
	e.Msg = "found " + e.Found + ", expected a statement (HELP lists them)"
	if p.begun != nil {
		e.Msg = "found " + e.Found + ", expected a statement other than EXPLAIN and PROFILE"
	}
	switch {
	case p.tok.symbol == word && language != "":
		e.Msg = p.tok.text + " is " + language + ", which kith does not read: " +
			"NODES lists nodes, NEIGHBORS OF the links of a node, PREDICT LINKS FOR links that may come; HELP lists all statements"
	case p.tok.symbol == word:
		e.DidYouMean = beginning(p.tok.text, p.expected)
	}
	p.stop(e)
}

// beginning returns the beginning of the statement that a word was probably meant to begin, or "".
// The word is the second word of a name, or a misspelling of a first or second word. Statements
// that only show something are preferred.
func beginning(found string, firstWords []string) string {
	forms := Forms()
	slices.SortStableFunc(forms, func(a, b Form) int { return strings.Compare(shows(b), shows(a)) })
	begins, seconds := map[string]string{}, []string{}
	for _, k := range forms {
		if first, second, ok := strings.Cut(k.Name, " "); ok && begins[second] == "" && strings.HasPrefix(k.Grammar, k.Name) {
			begins[second], seconds = first+" "+second, append(seconds, second)
		}
	}
	found = strings.ToUpper(found)
	if known := begins[found]; known != "" {
		return known
	}
	if first := words.Closest(found, firstWords); first != "" {
		return first
	}
	return begins[words.Closest(found, seconds)]
}

// shows returns the first word of the name of a form whose statements only show something, and
// otherwise "".
func shows(k Form) string {
	if first := firstWord(k.Name); slices.Contains([]string{"SHOW", "PREDICT", "DESCRIBE"}, first) {
		return first
	}
	return ""
}
