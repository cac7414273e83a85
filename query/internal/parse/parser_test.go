package parse

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// samePlaces makes comparisons of trees ignore their positions.
var samePlaces = cmpopts.IgnoreTypes(Pos{})

func TestParse(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/parse", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "tree":
				return tree(d.Input)
			case "text":
				return texts(d.Input)
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

// tree returns the tree of one statement, or its error.
func tree(input string) string {
	s, err := Parse(input)
	if err != nil {
		return err.Error() + "\n" + Fragment{start(), input}.Caret(err)
	}
	var b strings.Builder
	dumpStatement(&b, "", s)
	return b.String()
}

// texts returns each statement of a script as String formats it, with its position, or its error.
func texts(input string) string {
	var b strings.Builder
	for f, err := range Split(strings.NewReader(input)) {
		var s *Statement
		if err == nil {
			s, err = f.Parse()
		}
		if err != nil {
			fmt.Fprintf(&b, "%v\n%s\n", err, f.Caret(err))
			continue
		}
		fmt.Fprintf(&b, "%d:%d: %v\n", s.Position().Line, s.Position().Col, s)
	}
	return b.String()
}

// dumpStatement writes the form of a statement and its nodes, clause by clause.
func dumpStatement(b *strings.Builder, indent string, s *Statement) {
	fmt.Fprintf(b, " %s %d:%d\n", s.Form, s.Line, s.Col)
	for _, c := range s.clauses {
		if c.nodes == nil {
			fmt.Fprintf(b, "%s  %s\n", indent, c.words)
		}
		for _, n := range c.nodes {
			fmt.Fprintf(b, "%s  %s", indent, c.words)
			if inner, ok := n.(*Statement); ok {
				dumpStatement(b, indent+"  ", inner)
			} else {
				dump(b, indent+"  ", reflect.ValueOf(n))
			}
		}
	}
}

// dump writes a tree, one field a line, with the positions of its nodes. Fields that are not given
// are left out.
func dump(b *strings.Builder, indent string, v reflect.Value) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	n, ok := v.Interface().(Node)
	if !ok && v.CanAddr() {
		n, ok = v.Addr().Interface().(Node)
	}
	if _, leaf := v.Interface().(Value); leaf || !ok {
		fmt.Fprintf(b, " %v", v.Interface())
		if leaf {
			fmt.Fprintf(b, " %s %d:%d", v.Type().Name(), n.Position().Line, n.Position().Col)
		}
		b.WriteByte('\n')
		return
	}
	fmt.Fprintf(b, " %s %d:%d\n", v.Type().Name(), n.Position().Line, n.Position().Col)
	for i := 1; i < v.NumField(); i++ { // field 0 is the Pos
		f, name := v.Field(i), indent+"  "+v.Type().Field(i).Name
		switch {
		case f.IsZero():
		case f.Kind() == reflect.Slice:
			for j := range f.Len() {
				fmt.Fprintf(b, "%s[%d]", name, j)
				dump(b, indent+"  ", f.Index(j))
			}
		default:
			b.WriteString(name)
			dump(b, indent+"  ", f)
		}
	}
}

func TestParseSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"neighbors(2)", "NEIGHBORS(2)"},
		{"all EXCEPT ppr(10) union (1, 'a')", "ALL EXCEPT PPR(10) UNION (1, 'a')"},
		{"NEIGHBOURS(2)", "1:1: found NEIGHBOURS, expected "},
		{"ALL TOP 3", "1:5: found TOP, expected "},
		{"PPR(0)", "1:5: found 0, expected a positive integer"},
		{"", "1:1: found end of statement, expected "},
		{"SAMPLE(\x00)", "1:8: statement contains a NUL byte"},
	} {
		s, err := ParseSet(c.text)
		got := fmt.Sprint(s)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestParseLimits(t *testing.T) {
	t.Parallel()
	long := "PREDICT LINKS FOR 1" + strings.Repeat(", 1", maxStatement/3-10)
	tests := []struct{ name, text, want string }{
		{"a list of the longest length", long, ""},
		{"longer than that", long + strings.Repeat(" ", 100), "1:1: statement is longer than 1 MiB"},
		{"explain, deep", strings.Repeat("EXPLAIN ", 10000), "1:9: found EXPLAIN, expected a statement other than EXPLAIN and PROFILE"},
		{"parentheses, deep", "PREDICT LINKS FOR 1 AMONG " + strings.Repeat("(", 10000), `1:28: found "(", expected a node`},
		{"conditions, as deep as may be", "NODES WHERE " + strings.Repeat("(", maxDepth) + "a = 1" + strings.Repeat(")", maxDepth), ""},
		{"conditions, deep", "NODES WHERE " + strings.Repeat("(", 10000) + "a = 1", "1:114: conditions nest deeper than 100"},
		{"negations, deep", "NODES WHERE " + strings.Repeat("NOT ", 10000) + "a = 1", "1:417: conditions nest deeper than 100"},
		{"conditions, many", "NODES WHERE a = 1" + strings.Repeat(" OR a = 1", maxStatement/10), ""},
		{"sets, many", "PREDICT LINKS FOR 1 AMONG ALL" + strings.Repeat(" UNION ALL", 10000), "1:661: more than 64 sets are combined"},
		{"comments in a row", strings.Repeat("/**/", 100000) + "CHECK", ""},
		{"comment openings", strings.Repeat("/* ", 100000), "1:1: comment is not closed, expected */"},
		{"quotes", "DESCRIBE NODE '" + strings.Repeat("''", 200000) + "'", ""},
		{"options", "DROP MODEL x WITH (" + strings.Repeat("a = 1,", 10), "1:14: found WITH, expected end of statement"},
		{"a long word", strings.Repeat("x", 100000), "1:1: found " + strings.Repeat("x", maxShown) + "..., expected a statement"},
		{"a long integer", "DESCRIBE NODE " + strings.Repeat("9", 100000), "1:15: integer 9999"},
		{"NUL", "DESCRIBE NODE 'a\x00b'", "1:17: statement contains a NUL byte"},
		{"NUL in a comment", "-- \x00", "1:4: statement contains a NUL byte"},
		{"invalid UTF-8", "DESCRIBE NODE\n'ä\xff'", "2:3: statement is not valid UTF-8: byte 0xff"},
		{"half a rune", "DESCRIBE NODE '\xc3", "1:16: statement is not valid UTF-8: byte 0xc3"},
		{"a surrogate", "DESCRIBE NODE '\xed\xa0\x80'", "1:16: statement is not valid UTF-8: byte 0xed"},
		{"a replacement rune is a rune", "DESCRIBE NODE '\uFFFD'", ""},
	}
	for _, tt := range tests {
		_, err := Parse(tt.text)
		if got := fmt.Sprint(err); err == nil && tt.want != "" || err != nil && (tt.want == "" || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s: got %.200s, want %s", tt.name, got, tt.want)
		}
	}
}

// Words are as long as possible, and their letters are all small or all capitals.
func TestWordsOf(t *testing.T) {
	t.Parallel()
	const grammar = "TOP n [WITH max_age, n2] 'text' Any {X|y}... 7 end"
	if got, want := smallWords(grammar), []string{"n", "text", "y", "end"}; !slices.Equal(got, want) {
		t.Errorf("small words: got %q, want %q", got, want)
	}
	if got, want := capitalWords(grammar), []string{"TOP", "WITH", "X"}; !slices.Equal(got, want) {
		t.Errorf("capital words: got %q, want %q", got, want)
	}
}

// TestTermsAreParsed checks that the parser knows every term that the grammars of statements use.
func TestTermsAreParsed(t *testing.T) {
	t.Parallel()
	for _, k := range Forms() {
		for _, name := range smallWords(k.Grammar) {
			p := parser{scan: scanner{rest: "?", pos: start()}}
			p.advance()
			s := &Statement{}
			s.begin("")
			if p.term(s, name); name != "topic" && p.tok.symbol == param {
				t.Errorf("the parser does not know the term %s of %s", name, k.Name)
			}
		}
	}
}

// TestKeywordsAsNames checks that every keyword is accepted as a name.
func TestKeywordsAsNames(t *testing.T) {
	t.Parallel()
	for _, k := range Keywords() {
		for _, text := range []string{
			"PREDICT LINKS FOR 1 AMONG LABEL %s USING %s TOP 3 WITH (%s = %s)",
			"INSERT NODE 1 LABEL %s FEATURES (1)",
			"CREATE MODEL %s USING %s WITH (%s = 1)",
			"TRAIN MODEL %s FROM LOG",
			"LOAD EDGES FROM 'f' FORMAT %s WITH (%s = %s)",
			"OBSERVE 1 -> 2 = 1 USING %s AND INSERT",
		} {
			text = strings.ReplaceAll(text, "%s", k)
			if _, err := Parse(text); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

func TestStringParsesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := statements().Draw(t, "statement")
		got, err := Parse(want.String())
		if err != nil {
			t.Fatalf("%s\n%v", want, err)
		}
		if diff := cmp.Diff(want, got, samePlaces, cmp.AllowUnexported(Statement{}, clause{})); diff != "" {
			t.Fatalf("%s\n%s", want, diff)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range examples(f) {
		f.Add(text)
	}
	for _, text := range []string{"", ";", "--", "/*", "'", "\"\"", "$", "-", "1e-", "\xff", "\x00", "PREDICT LINKS FOR 1 TOP 0x1", "SHOW \uFEFFSTATS", `NODES WHERE a = "NULL" AND b IN (c, "null")`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if caret := (Fragment{start(), text}).Caret(err); caret == "" {
				t.Errorf("%q: no caret for %v", text, err)
			}
			return
		}
		again, err := Parse(s.String())
		if err != nil {
			t.Fatalf("%q\n%q: %v", text, s, err)
		}
		if diff := cmp.Diff(s, again, samePlaces, cmp.AllowUnexported(Statement{}, clause{})); diff != "" {
			t.Fatalf("%q\n%s", text, diff)
		}
		if !IsWhole(s.String()+";") || IsWhole(s.String()) {
			t.Fatalf("%q: its end is not found", s)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text := "PREDICT LINKS FOR 1 AMONG (2" + strings.Repeat(", 1234", 99) + ") USING friends TOP 10"
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
