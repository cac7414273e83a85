package query

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"kith/db"
	"kith/db/words"
	"kith/model"
	"kith/query/internal/parse"
)

const (
	maxOffered = 100         // nodes that are offered
	searched   = 1000        // nodes that are searched if Vocabulary.Keys is nil
	patience   = time.Second // for names, because the user is waiting
)

// Vocabulary finds the names that statements may contain. Nil functions find none.
type Vocabulary struct {
	// Run runs a statement that reads.
	Run func(ctx context.Context, statement string) (*Rows, error)
	// KeysBeginning returns the keys of nodes whose spelling in statements begins with a text, at
	// most as many as most; see [KeysBeginning]. If it is nil, the first nodes that Run lists are
	// searched.
	Keys func(ctx context.Context, text string, most int) ([]db.Key, error)
	// Files returns the files whose names begin with prefix, with a slash after directories.
	Files func(prefix string) []string
}

// firstColumn returns the first column of a statement's answer. It waits no longer than patience,
// and returns nothing if the statement fails, because completion must not disturb the user.
func (n Vocabulary) firstColumn(ctx context.Context, statement string) (all []any) {
	if n.Run == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	rows, err := n.Run(ctx, statement)
	if err != nil {
		return nil
	}
	for _, row := range rows.Rows {
		all = append(all, row[0])
	}
	return all
}

// list returns the names that a statement lists, as statements spell them.
func (n Vocabulary) list(ctx context.Context, statement string) (all []string) {
	for _, name := range n.firstColumn(ctx, statement) {
		all = append(all, Name(fmt.Sprint(name)))
	}
	return all
}

func (n Vocabulary) models(ctx context.Context) []string { return n.list(ctx, "SHOW MODELS") }
func (n Vocabulary) labels(ctx context.Context) []string { return n.list(ctx, "SHOW LABELS") }

// relations and properties return only the columns that take no reading of all edges or values.

func (n Vocabulary) relations(ctx context.Context) []string {
	return n.list(ctx, "SHOW RELATIONS RETURN relation")
}

func (n Vocabulary) properties(ctx context.Context) []string {
	return n.list(ctx, "SHOW PROPERTIES RETURN property")
}

// Keys returns the keys of nodes whose spelling in statements begins with a text, at most as many
// as most.
func KeysBeginning(ctx context.Context, tx *db.Tx, text string, most int) (all []db.Key, err error) {
	for k, err := range tx.NodesBeginning(text) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || len(all) == most {
			return all, err
		}
		all = append(all, k)
	}
	return all, nil
}

// nodes returns the keys of nodes that begin with prefix, as statements spell them. It returns only
// some of many.
func (n Vocabulary) nodes(ctx context.Context, prefix string) (all []string) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lookUp := n.Keys
	if lookUp == nil {
		lookUp = n.search
	}
	keys, err := lookUp(ctx, prefix, maxOffered)
	if err != nil {
		return nil // completion must not disturb the user
	}
	for _, k := range keys {
		all = append(all, k.Literal())
	}
	return all
}

// search is Keys among the first nodes.
func (n Vocabulary) search(ctx context.Context, text string, most int) (all []db.Key, err error) {
	for _, v := range n.firstColumn(ctx, fmt.Sprintf("NODES TOP %d", searched)) {
		if k, isKey := v.(db.Key); isKey && strings.HasPrefix(k.Literal(), text) {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, db.Key.Compare)
	return all[:min(len(all), most)], nil
}

// Complete returns the last word of text, the text before the cursor, and the values that complete
// it.
func Complete(ctx context.Context, text string, n Vocabulary) (word string, values []string) {
	statement := lastStatement(text)
	word = lastWord(statement)
	before := statement[:len(statement)-len(word)]
	expected := parse.Expected(before)
	for _, e := range expected {
		switch {
		case keyword(e):
			values = append(values, withParenthesis(before, inCaseOf(word, e)))
		case e == `"("` && len(expected) == 1:
			values = append(values, "(")
		default:
			values = append(values, n.matching(ctx, e, before, word)...)
		}
	}
	return word, withPrefix(word, values)
}

// lastStatement returns the unfinished statement that text ends with, or "".
func lastStatement(text string) string {
	for f, err := range parse.Split(strings.NewReader(text)) {
		if err == nil && !parse.IsWhole(f.Text) {
			return f.Text
		}
	}
	return ""
}

// lastWord returns the unfinished word, number, parameter or quoted text that text ends with, or
// "".
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

// withParenthesis returns a keyword with the parenthesis that must follow it, if one must.
func withParenthesis(before, keyword string) string {
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

// matching returns the names that match an expectation of the grammar other than a keyword.
func (n Vocabulary) matching(ctx context.Context, expected, before, word string) []string {
	switch {
	case expected == parse.AModel && strings.HasSuffix(strings.ToUpper(strings.TrimSpace(before)), "USING"):
		return append(n.models(ctx), model.Heuristics()...)
	case expected == parse.AModel:
		return n.models(ctx)
	case expected == parse.ALabel:
		return n.labels(ctx)
	case expected == parse.ARelation:
		return n.relations(ctx)
	case expected == parse.AProperty:
		return n.properties(ctx)
	case expected == parse.AColumn && !strings.HasPrefix(strings.ToUpper(strings.TrimSpace(before)), "SHOW"):
		return append(wordsOf(expected, before, nil), n.properties(ctx)...)
	case expected == parse.AFile && n.Files != nil && strings.HasPrefix(word, "'"):
		return inQuotes(n.Files(strings.ReplaceAll(word[1:], "''", "'")))
	case expected == parse.ANode:
		return n.nodes(ctx, word)
	}
	if expected == parse.AnOption {
		return wordsOf(expected, before, n.models(ctx))
	}
	return wordsOf(expected, before, nil)
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

// withPrefix returns the values that begin with word.
func withPrefix(word string, values []string) []string {
	return slices.DeleteFunc(values, func(v string) bool { return !strings.HasPrefix(v, word) })
}

// comparedNodes is the number of nodes that closestNode compares with a name, for each of two
// beginnings.
const comparedNodes = 5000

// closestNode returns the node that a string key, spelled as in a statement, probably misspells, or
// "". It compares the strings that begin with the first half of it and then those
// that come first in key order.
func (r *run) closestNode(name string) (meant string) {
	var k db.Key
	if k.UnmarshalText([]byte(name)) != nil {
		return ""
	}
	s, isString := k.Str()
	if !isString {
		return ""
	}
	letters := []rune(s)
	err := r.session.DB.View(r.ctx, func(tx *db.Tx) error {
		for _, beginning := range []string{string(letters[:len(letters)/2]), ""} {
			var names []string
			for k, err := range tx.NodesBeginning("'" + strings.ReplaceAll(beginning, "'", "''")) {
				if err != nil || len(names) == comparedNodes {
					break
				}
				n, _ := k.Str()
				names = append(names, n)
			}
			if closest := words.Closest(s, names); closest != "" {
				meant = parse.Suggest(parse.String{Value: closest})
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return "" // without a suggestion the error is whole too
	}
	return meant
}
