package parse

import (
	"os"
	"regexp"
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

// generator draws the parts of a tree in the order of the text, so that it can count question marks as the parser
// does.
type generator struct {
	t      *rapid.T
	params int
}

// statements draws trees of every form.
func statements() *rapid.Generator[Statement] {
	return rapid.Custom(func(t *rapid.T) Statement {
		g := &generator{t: t}
		if g.maybe() {
			return &Explain{Profile: g.maybe(), Statement: g.statement()}
		}
		return g.statement()
	})
}

func (g *generator) maybe() bool { return rapid.Bool().Draw(g.t, "maybe") }

func (g *generator) statement() Statement {
	switch rapid.IntRange(0, 26).Draw(g.t, "form") {
	case 0:
		return &InsertNode{Merge: g.maybe(), Node: g.node(), Label: g.optionalName(), Features: several(g, 0, g.number)}
	case 1:
		return &InsertEdges{Merge: g.maybe(), Edges: several(g, 1, g.edge)}
	case 3:
		return &DeleteEdges{Edges: several(g, 1, g.ends)}
	case 4:
		return &Neighbors{Of: g.node(), Depth: g.optionalCount(), Top: g.optionalCount()}
	case 5:
		return &Observe{Source: g.node(), Target: g.node(), Reward: g.number(), Among: g.among(), Using: g.optionalName(), Insert: g.maybe()}
	case 6:
		return &CreateModel{Name: g.name(), Policy: g.optionalName(), With: g.with()}
	case 7:
		from := rapid.SampledFrom([]TrainingData{FromDefault, FromEdges, FromLog}).Draw(g.t, "from")
		return &TrainModel{Name: g.name(), From: from, With: g.with()}
	case 9:
		what := rapid.SampledFrom([]List{EdgeList, NodeList, FeatureList}).Draw(g.t, "what")
		return &Load{What: what, File: g.oneOf(g.string, g.param), Format: g.optionalName(), With: g.with()}
	case 16:
		return &Warm{Nodes: several(g, 1, g.node)}
	case 19:
		return &Rank{For: several(g, 1, g.node), Assuming: several(g, 0, g.edge), Top: g.optionalCount(), With: g.with()}
	case 20:
		return &Path{From: g.node(), To: g.node(), Depth: g.optionalCount()}
	case 21:
		s := &Why{Source: g.node(), Target: g.node(), Among: g.among(), Assuming: several(g, 0, g.edge)}
		s.Using, s.Version = g.using()
		s.Paths, s.With = g.optionalCount(), g.with()
		return s
	case 18:
		return &Nodes{Label: g.optionalName(), Where: g.where(), Top: g.optionalCount()}
	case 17:
		return &Predict{Class: true, For: several(g, 1, g.node), Using: g.name(), Top: g.optionalCount(), With: g.with()}
	case 22:
		return g.decision()
	case 23:
		return g.version()
	case 24:
		return g.session()
	case 25:
		return g.simple()
	}
	s := &Predict{For: several(g, 1, g.node), Among: g.among(), Assuming: several(g, 0, g.edge)}
	s.Using, s.Version = g.using()
	s.Where, s.Top, s.Return, s.With = g.where(), g.optionalCount(), several(g, 0, g.column), g.with()
	return s
}

// simple draws a statement of at most one operand.
func (g *generator) simple() Statement {
	operand := map[string]func() Node{
		"MODEL": func() Node { return g.name() }, "NODE": func() Node { return g.node() }, "VERSIONS": func() Node { return g.name() },
		"DECISION": func() Node { return g.count() },
	}
	file := func() Node { return g.oneOf(g.string, g.param) }
	name := rapid.SampledFrom([]string{
		"SHOW STATS", "SHOW POLICIES", "SHOW MODELS", "SHOW CACHE", "SHOW SETTINGS", "CHECK", "COMMIT", "ROLLBACK", "DROP MODEL", "ROLLBACK MODEL",
		"FREEZE MODEL", "THAW MODEL", "DESCRIBE MODEL", "DELETE NODE", "DESCRIBE NODE", "DESCRIBE DECISION", "SHOW VERSIONS", "EXPORT EDGES",
		"EXPORT NODES", "EXPORT FEATURES", "EXPORT LOG", "BACKUP",
	}).Draw(g.t, "simple")
	first, last, _ := strings.Cut(name, " ")
	draw := operand[last]
	if first == "EXPORT" || first == "BACKUP" {
		draw = file
	}
	if draw == nil {
		return &Simple{Name: name}
	}
	return &Simple{Name: name, Operand: draw()}
}

// session draws a statement about the session.
func (g *generator) session() Statement {
	if g.maybe() {
		return &Assign{Option: Option{Name: strings.ToLower(g.name().Value), Value: g.value()}}
	}
	return rapid.SampledFrom([]Statement{
		&Begin{}, &Begin{ReadOnly: true}, &Listing{Name: "SHOW LABELS", Top: g.optionalCount()}, &Listing{Name: "SHOW DECISIONS", Top: g.optionalCount()}, g.help(),
	}).Draw(g.t, "session")
}

// help draws a HELP statement.
func (g *generator) help() *Help {
	s := &Help{}
	for next := nextWords(""); len(next) > 0 && g.maybe(); next = nextWords(s.Topic) {
		s.Topic = strings.TrimSpace(s.Topic + " " + rapid.SampledFrom(next).Draw(g.t, "topic"))
	}
	return s
}

// version draws a statement about versions of models, or about files of them.
func (g *generator) version() Statement {
	switch rapid.SampledFrom([]int{0, 4, 6}).Draw(g.t, "version") {
	case 4:
		return &ExportModel{Name: g.name(), Version: g.optionalCount(), File: g.oneOf(g.string, g.param)}
	case 6:
		return &ImportModel{Name: g.name(), File: g.oneOf(g.string, g.param)}
	}
	return &DeployModel{Name: g.name(), Version: g.optionalCount()}
}

// using draws an optional model, and perhaps a version of it.
func (g *generator) using() (model Name, version Value) {
	if model = g.optionalName(); model.Value != "" {
		version = g.optionalCount()
	}
	return model, version
}

func (g *generator) column() Name {
	n := g.name()
	n.Value = strings.ToLower(n.Value)
	return n
}

func (g *generator) where() Condition {
	if g.maybe() {
		return nil
	}
	return g.condition(2)
}

// condition draws a condition that nests at most depth deep.
func (g *generator) condition(depth int) Condition {
	form := rapid.IntRange(0, 4).Draw(g.t, "condition")
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
		return &Comparison{Column: g.column(), Operator: In, Values: several(g, 1, g.value)}
	}
	op := rapid.SampledFrom([]Comparator{Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual}).Draw(g.t, "comparator")
	return &Comparison{Column: g.column(), Operator: op, Values: []Value{g.value()}}
}

func (g *generator) value() Value {
	return g.oneOf(g.int, g.float, g.string, g.param, func() Value { return g.name() })
}

func (g *generator) among() Set {
	if g.maybe() {
		return nil
	}
	s := g.set()
	for range rapid.IntRange(0, 3).Draw(g.t, "operators") {
		op := rapid.SampledFrom([]SetOperator{SetUnion, SetExcept, SetIntersect}).Draw(g.t, "operator")
		s = &Combination{Left: s, Operator: op, Right: g.set()}
	}
	return s
}

// decision draws a statement about decisions and evaluations.
func (g *generator) decision() Statement {
	switch rapid.IntRange(0, 6).Draw(g.t, "decision") {
	case 6:
		return g.holdout()
	case 4:
		return &EvaluateLog{Model: g.name(), Version: g.optionalCount(), Estimator: g.name(), With: g.with()}
	case 5:
		s := &EvaluateStream{}
		if g.maybe() {
			s.File = g.oneOf(g.string, g.param)
		}
		s.Candidates, s.Using, s.Baselines, s.With = g.optionalCount(), g.optionalName(), several(g, 0, g.name), g.with()
		return s
	case 0:
		return &Reward{Decision: g.count(), Reward: g.number(), Insert: g.maybe()}
	}
	s := &Choose{For: g.node(), Among: g.set()}
	if s.Explore = g.optionalName(); s.Explore.Value != "" {
		s.With = g.with()
	}
	s.Using = g.optionalName()
	if g.maybe() {
		s.TTL = g.oneOf(g.int, g.string, g.param)
	}
	return s
}

func (g *generator) holdout() Statement {
	s := &EvaluateHoldout{}
	switch rapid.IntRange(0, 2).Draw(g.t, "for") {
	case 0:
		s.For = several(g, 1, g.node)
	case 1:
		s.Sample = g.count()
	}
	s.Among = g.among()
	s.Using, s.Version = g.using()
	switch rapid.IntRange(0, 2).Draw(g.t, "hidden") {
	case 0:
		s.Share = g.number()
	case 1:
		s.After = g.oneOf(g.int, g.param)
	case 2:
		s.Split = g.oneOf(g.string, g.param)
		if g.maybe() {
			s.Against, s.Each = g.oneOf(g.string, g.param), g.optionalCount()
		}
	}
	s.With = g.with()
	return s
}

func (g *generator) set() Set {
	switch rapid.IntRange(0, 7).Draw(g.t, "set") {
	case 0:
		return &ListSet{Nodes: several(g, 1, g.node)}
	case 1:
		return &SizedSet{Kind: SetNeighbors, Size: g.count()}
	case 2:
		return &SizedSet{Kind: SetPPR, Size: g.count()}
	case 3:
		return &LabelSet{Label: g.name()}
	case 4:
		return &AllSet{}
	case 5:
		return &SizedSet{Kind: SetSample, Size: g.count()}
	case 6:
		return &SizedSet{Kind: SetSimilar, Size: g.count()}
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
		e.At = g.oneOf(g.int, g.param)
	}
	return e
}

func (g *generator) with() []Option {
	var options []Option
	for _, name := range rapid.SliceOfNDistinct(rapid.Custom(anyName), 0, 3, strings.ToLower).Draw(g.t, "options") {
		options = append(options, Option{Name: strings.ToLower(name), Value: g.value()})
	}
	return options
}

func (g *generator) node() Value {
	return g.oneOf(g.int, g.string, g.param)
}

func (g *generator) number() Value { return g.oneOf(g.int, g.float, g.param) }

func (g *generator) count() Value {
	return g.oneOf(func() Value { return Int{Value: rapid.Int64Min(1).Draw(g.t, "count")} }, g.param)
}

func (g *generator) optionalCount() Value {
	if g.maybe() {
		return nil
	}
	return g.count()
}

func (g *generator) name() Name {
	return Name{Value: rapid.Custom(anyName).Draw(g.t, "name")}
}

func (g *generator) optionalName() Name {
	if g.maybe() {
		return Name{}
	}
	return g.name()
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
		for tok, err := s.next(); tok.kind != end; tok, err = s.next() {
			if err != nil {
				t.Fatal(err)
			}
			if tok.kind == param && !places[tok.pos] {
				t.Fatalf("%s\nparameter at column %d is not known", text, tok.pos.Col)
			}
		}
	})
}

// sortedMatches returns the matches of the pattern's group in a file, sorted and without duplicates.
func sortedMatches(t *testing.T, file, pattern string) []string {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(source), -1) {
		found = append(found, strings.Join(m[1:], ""))
	}
	slices.Sort(found)
	return slices.Compact(found)
}
