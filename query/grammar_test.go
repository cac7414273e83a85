package query

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/db"
	"kith/query/internal/parse"
)

// No sequence of statements, in transactions or outside of them, panics, takes longer than allowed
// or corrupts the database.
func TestRandomStatements(t *testing.T) {
	t.Chdir(t.TempDir()) // for exported files
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		g, err := db.Open("", &db.Options{InMemory: true, Memory: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		s := &Session{DB: g}
		defer s.Close()
		for _, text := range []string{
			"INSERT EDGES 1 -> 2, 2 -> 3, 'a' -> 1, 'b' -> 2", "MERGE NODE 3 LABEL item", "MERGE NODE 'a' LABEL user FEATURES (1, 2)",
			"CREATE MODEL m USING prb WITH (width = 4)", "CREATE MODEL n USING ppr",
		} {
			if _, err := s.Run(ctx, text); err != nil {
				t.Fatal(err)
			}
		}
		s.Settings.Timeout = 100 * time.Millisecond
		for range rapid.IntRange(1, 30).Draw(t, "statements") {
			kind := rapid.SampledFrom(parse.Forms()).Draw(t, "statement")
			text := (&writer{t: t, terms: fewTerms()}).write(kind.Grammar)
			stmt, err := parse.Parse(text)
			if err != nil {
				continue // an option is given twice
			}
			t.Log(stmt)
			start := time.Now()
			_, err = s.Exec(ctx, stmt, drawArguments(t, stmt)...)
			if took := time.Since(start); took > 20*time.Second {
				t.Fatalf("it took %v", took)
			}
			if errors.Is(err, db.ErrCorrupt) {
				t.Fatal(err)
			}
			if strings.HasPrefix(stmt.String(), "SET timeout") {
				s.Settings.Timeout = 100 * time.Millisecond
			}
		}
		if err := errors.Join(s.Close(), g.Check(ctx)); err != nil {
			t.Fatal(err)
		}
	})
}

// fewTerms returns texts of terms that are often the same, so that statements depend on each other.
func fewTerms() map[string][]string {
	values := []string{"1", "0.5", "on", "off", "row", "item", "'a'", "'src,dst'", "?", "none", "-3", "9223372036854775807"}
	return map[string][]string{
		"node":   {"1", "2", "3", "'a'", "'b'", "?"},
		"n":      {"1", "2", "7", "2147483648", "1099511627776", "9223372036854775807", "?"},
		"name":   {"m", "n", "item", "user", "prb", "ppr", "default", "squarecb", "dr", "ips", "csv", "score", "label", "degree", "on", "none"},
		"file":   {"'a'", "'item'", "'e.csv'", "'n.txt'", "'v.tsv.gz'", "?"},
		"number": {"1", "0", "0.5", "-2", "1e300", "?"},
		"value":  values,
		"option": {
			"alpha = 0.5", "epsilon = 0.001", "norm = row", "cache = off", "id = 'x'", "until = exact", "seed = 3", "gamma = 2", "center = on", "keyless = on",
			"max_errors = 3", "columns = 'src,dst'", "width = 4", "epochs = 2", "deploy = on", "budget = '10ms'", "rounds = 5", "seed = ?",
		},
	}
}

// drawArguments draws the arguments of a statement.
func drawArguments(t *rapid.T, stmt *parse.Statement) (args []any) {
	for _, p := range parse.Params(stmt) {
		x := rapid.SampledFrom([]any{1, "a", 2.5, nil, []int{1, 2}, []string{"a", "e.csv"}, uint8(3), int64(-1), time.Second}).Draw(t, "argument")
		if p.Name != "" {
			x = sql.Named(p.Name, x)
		}
		args = append(args, x)
	}
	return args
}

// TestGrammarIsParsed checks that every text that the grammars allow parses.
func TestGrammarIsParsed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SampledFrom(parse.Forms()).Draw(t, "help")
		text := (&writer{t: t}).write(h.Grammar)
		if _, err := parse.Parse(text); err != nil {
			t.Fatalf("%s\nis allowed by %s\n%v", text, h.Grammar, err)
		}
	})
}

// writer writes texts that a grammar allows.
type writer struct {
	t      *rapid.T
	tokens []string // remaining tokens of the grammar
	depth  int
	names  int
	terms  map[string][]string // texts of terms in place of those that the grammar allows
}

// write draws a text of a grammar.
func (w *writer) write(grammar string) string {
	inner := &writer{t: w.t, depth: w.depth + 1, names: w.names, terms: w.terms}
	inner.tokens = regexp.MustCompile(`'string'|\.\.\.|-\[|\]->|->|<>|!=|<=|>=|[A-Za-z]+|\S`).FindAllString(grammar, -1)
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

// alternatives writes one of the sequences between bars. It writes all of them to consume their
// tokens.
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
	if texts := w.terms[name]; texts != nil {
		return rapid.SampledFrom(texts).Draw(w.t, name)
	}
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
		return rapid.SampledFrom(parse.Forms()).Draw(w.t, "topic").Name
	case "statement":
		return "CHECK"
	case "predicate":
		if w.depth > 6 {
			return "n = 1"
		}
	}
	for _, t := range parse.Terms() {
		if t.Name == name {
			return w.write(t.Grammar)
		}
	}
	w.t.Fatalf("no term %q", name)
	return ""
}
