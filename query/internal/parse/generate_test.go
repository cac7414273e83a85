package parse

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// examples returns a statement of every form.
func examples(t testing.TB) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/examples.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// generator draws the parts of a tree in the order of the text, so that it can count question marks
// as the parser does.
type generator struct {
	t      *rapid.T
	params int
}

// statements draws trees of every kind.
func statements() *rapid.Generator[*Statement] {
	return rapid.Custom(func(t *rapid.T) *Statement { return (&generator{t: t}).statement(Forms()) })
}

func (g *generator) statement(forms []Form) *Statement {
	k := rapid.SampledFrom(forms).Draw(g.t, "kind")
	s := &Statement{Form: k.Name}
	n := 0
	for w := firstWord(k.Grammar); w != ""; w = firstWord(k.Grammar[min(n, len(k.Grammar)):]) {
		n += len(w) + 1
	}
	s.begin(k.Grammar[:n-1])
	r := grammarReader{k.Grammar[min(n, len(k.Grammar)):]}
	g.sequence(s, r.alternatives()[0])
	return s
}

// sequence draws what a sequence of a grammar allows.
func (g *generator) sequence(s *Statement, elements []element) {
	for _, e := range elements {
		g.element(s, &e)
		for e.list && g.maybe() {
			g.element(s, &e)
		}
	}
}

func (g *generator) element(s *Statement, e *element) {
	switch {
	case e.text == "(" || e.text == ")":
	case e.isTerm():
		g.term(s, e.text)
	case e.text != "":
		s.begin(e.text)
	case !e.optional || g.maybe():
		g.sequence(s, rapid.SampledFrom(e.choices).Draw(g.t, "choice"))
	}
}

func (g *generator) term(s *Statement, name string) {
	terms := map[string]func() Node{
		"node": func() Node { return g.node() }, "n": func() Node { return g.count() }, "number": func() Node { return g.number() },
		"time":     func() Node { return g.oneOf(g.int, g.float, g.string, g.param) },
		"duration": func() Node { return g.oneOf(g.int, g.string, g.param) },
		"file":     func() Node { return g.oneOf(g.string, g.param) },
		"column":   func() Node { return g.name() }, "edge": func() Node { return g.edge() }, "link": func() Node { return g.ends() },
		"source": func() Node { return g.source() }, "seed": func() Node { return g.seed() },
		"sets": func() Node { return g.sets() }, "condition": func() Node { return g.condition(2) },
		"assignment": func() Node { return g.assignment() },
		"statement": func() Node {
			return g.statement(slices.DeleteFunc(Forms(), func(k Form) bool { return strings.Contains(k.Grammar, "statement") }))
		},
	}
	switch draw := terms[name]; {
	case name == "topic":
		for next := nextWords(""); len(next) > 0 && g.maybe(); next = nextWords(s.Topic()) {
			s.begin(rapid.SampledFrom(next).Draw(g.t, "topic"))
		}
	case name == "option":
		o := Option{Name: strings.ToLower(g.name().Value), Value: g.value()}
		for slices.ContainsFunc(With.All(s), func(other Option) bool { return other.Name == o.Name }) {
			o.Name += "x"
		}
		s.add(o)
	case draw != nil:
		s.add(draw())
	default:
		if s.add(g.name()); name == "model" && g.maybe() {
			s.begin("VERSION")
			s.add(g.count())
		}
	}
}

func (g *generator) maybe() bool { return rapid.Bool().Draw(g.t, "maybe") }

func (g *generator) assignment() Assignment {
	a := Assignment{Name: g.name()}
	switch rapid.IntRange(0, 2).Draw(g.t, "assignment") {
	case 0:
		a.List = several(g, 1, g.string)
	case 1:
		a.Value = Name{Value: rapid.SampledFrom([]string{"true", "false", "null"}).Draw(g.t, "word")}
	case 2:
		a.Value = g.oneOf(g.int, g.float, g.string, g.param)
	}
	return a
}

// condition draws a condition that nests at most depth deep.
func (g *generator) condition(depth int) Condition {
	form := rapid.IntRange(0, 5).Draw(g.t, "condition")
	if depth == 0 {
		form = 0
	}
	inner := func() Condition { return g.condition(depth - 1) }
	switch form {
	case 1:
		return &Not{Condition: inner()}
	case 2, 3:
		return &Logic{Any: g.maybe(), Terms: append(several(g, 1, inner), inner())}
	case 4:
		return &Comparison{Column: g.name(), Operator: In, Values: several(g, 1, g.value)}
	}
	if form == 5 {
		return &Comparison{Column: g.name(), Operator: rapid.SampledFrom([]Comparator{Is, IsNot}).Draw(g.t, "comparator")}
	}
	op := rapid.SampledFrom([]Comparator{Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual}).Draw(g.t, "comparator")
	return &Comparison{Column: g.name(), Operator: op, Values: []Value{g.value()}}
}

func (g *generator) value() Value {
	return g.oneOf(g.int, g.float, g.string, g.param, func() Value { return g.name() })
}

func (g *generator) sets() Set {
	s := g.set()
	for range rapid.IntRange(0, 3).Draw(g.t, "operators") {
		op := rapid.SampledFrom([]SetOperator{SetUnion, SetExcept, SetIntersect}).Draw(g.t, "operator")
		s = &Combination{Left: s, Operator: op, Right: g.set()}
	}
	return s
}

func (g *generator) set() Set {
	switch rapid.IntRange(0, 8).Draw(g.t, "set") {
	case 0:
		return &ListSet{Nodes: several(g, 1, g.node)}
	case 1:
		return &SizedSet{Function: SetNeighbors, Size: g.count()}
	case 2:
		return &SizedSet{Function: SetPPR, Size: g.count()}
	case 3:
		return &LabelSet{Label: g.name()}
	case 4:
		return &AllSet{}
	case 5:
		return &SizedSet{Function: SetSample, Size: g.count()}
	case 6:
		return &SizedSet{Function: SetSimilar, Size: g.count()}
	case 7:
		return g.near()
	}
	return &ParamSet{g.param().(Param)}
}

func (g *generator) ends() Edge { return Edge{Source: g.node(), Target: g.node()} }

func (g *generator) edge() Edge {
	e := g.ends()
	if g.maybe() {
		e.Weight = g.number()
	}
	if g.maybe() {
		e.At = g.oneOf(g.int, g.float, g.string, g.param)
	}
	return e
}

// near draws the nodes near a vector.
func (g *generator) near() *NearSet {
	s := new(NearSet)
	if g.maybe() {
		s.Vector = several(g, 1, func() Value { return g.oneOf(g.int, g.float) })
	} else {
		s.Vector = []Value{g.param()}
	}
	s.Size = g.count()
	if g.maybe() {
		s.Label = g.name()
	}
	if g.maybe() {
		s.Where = g.condition(1)
	}
	return s
}

func (g *generator) source() Node {
	if g.maybe() {
		return g.near()
	}
	if g.maybe() {
		return g.node()
	}
	s := Seeds{Nodes: []Seed{g.seed()}}
	for g.maybe() {
		s.Nodes = append(s.Nodes, g.seed())
	}
	return s
}

func (g *generator) seed() Seed {
	s := Seed{Node: g.node()}
	if g.maybe() {
		s.Weight = g.number()
	}
	return s
}

func (g *generator) node() Value {
	return g.oneOf(g.int, g.string, g.param)
}

func (g *generator) number() Value { return g.oneOf(g.int, g.float, g.param) }

func (g *generator) count() Value {
	return g.oneOf(func() Value { return Int{Value: rapid.Int64Min(1).Draw(g.t, "count")} }, g.param)
}

func (g *generator) name() Name {
	return Name{Value: rapid.Custom(anyName).Draw(g.t, "name")}
}

func (g *generator) int() Value   { return Int{Value: rapid.Int64().Draw(g.t, "int")} }
func (g *generator) float() Value { return Float{Value: rapid.Float64().Draw(g.t, "float")} }

func (g *generator) string() Value {
	return String{Value: anyText(rapid.String().Draw(g.t, "string"))}
}

func (g *generator) param() Value {
	if g.maybe() {
		return Param{Name: rapid.StringMatching(`[A-Za-z_é][A-Za-z0-9_é]{0,5}`).Draw(g.t, "param")}
	}
	g.params++
	return Param{Index: g.params - 1}
}

func (g *generator) oneOf(forms ...func() Value) Value {
	return rapid.SampledFrom(forms).Draw(g.t, "form")()
}

func several[T any](g *generator, least int, item func() T) []T {
	var items []T
	for range rapid.IntRange(least, 4).Draw(g.t, "items") {
		items = append(items, item())
	}
	return items
}

// anyName draws a word, a keyword or a name that needs quotes.
func anyName(t *rapid.T) string {
	s := rapid.OneOf(rapid.StringMatching(`[a-z_]{1,8}`), rapid.SampledFrom(Keywords()), rapid.String()).Draw(t, "name")
	return "n"[:max(0, 1-len(anyText(s)))] + anyText(s)
}

// anyText converts a drawn string to one that a statement can hold.
func anyText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "'")
}

// Every parameter of a statement is checked before the statement runs.
func TestParamsOfAStatement(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := statements().Draw(t, "statement").String()
		stmt, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		places := map[Pos]bool{}
		for _, p := range Params(stmt) {
			places[p.Pos] = true
		}
		s := scanner{rest: text, pos: start()}
		for tok, err := s.next(); tok.symbol != end; tok, err = s.next() {
			if err != nil {
				t.Fatal(err)
			}
			if tok.symbol == param && !places[tok.pos] {
				t.Fatalf("%s\nparameter at column %d is not known", text, tok.pos.Col)
			}
		}
	})
}
