package query

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// examples holds a statement of every form.
var examples = []string{
	"PREDICT LINKS FOR 42",
	"predict links for 1, 'a''b', ?, $who among (2, '3', ?) using default top 10 with (alpha = 0.85, cache = off);",
	"PREDICT LINKS FOR 1 AMONG NEIGHBORS(2) TOP $n",
	"PREDICT LINKS FOR 1 AMONG PPR(1000)",
	"PREDICT LINKS FOR 1 AMONG LABEL item",
	`PREDICT LINKS FOR 1 AMONG LABEL "two words"`,
	"PREDICT LINKS FOR 1 AMONG ALL",
	"PREDICT LINKS FOR 1 AMONG SAMPLE(10) UNION (2) EXCEPT $seen INTERSECT LABEL item",
	"PREDICT LINKS FOR 1 WHERE label = item AND NOT (score < 0.5 OR degree >= ?) OR target IN (1, 'a') TOP 3 RETURN target, score",
	"PREDICT LINKS FOR 1 AMONG ALL ASSUMING 1 -> 2 WEIGHT 3, 'a' -> ? USING m",
	"RANK NODES FOR 1, 'a' ASSUMING 1 -> 2 TOP 3 WITH (norm = row)",
	"PATH FROM 1 TO 'x' DEPTH 3",
	"WHY 1 -> 2 AMONG ALL ASSUMING 2 -> 3 USING m PATHS 5 WITH (cache = off)",
	"NODES",
	"NODES LABEL item WHERE degree <> 2 AND (label = 'a' OR \"not\" = x) TOP 5",
	"EXPLAIN PREDICT LINKS FOR 1",
	"PROFILE PREDICT LINKS FOR 1",
	"SHOW CACHE",
	"WARM 1, 'a', ?",
	"INSERT NODE 'a' LABEL user FEATURES (0.1, -2, 1e-3, ?)",
	"MERGE NODE 1",
	"INSERT EDGES 1 -> 2, 'a' -> 'b' WEIGHT 0.5 AT 1082040961, ? -> $x WEIGHT ? AT ?",
	"MERGE EDGES 1->2 WEIGHT 3",
	"DELETE NODE -7",
	"DELETE EDGES 1 -> 2, 2 -> 3",
	"NEIGHBORS OF 1 DEPTH 2 TOP 5",
	"OBSERVE 1 -> 2 = 1",
	"OBSERVE 1 -> 2 = -0.5 AMONG (2, 3) USING m AND INSERT",
	"CHOOSE LINK FOR 1 AMONG (2, 3)",
	"CHOOSE LINK FOR ? AMONG NEIGHBORS(2) EXPLORE squarecb WITH (gamma = 10, seed = 3) USING m TTL '24h'",
	"REWARD 7 = 1",
	"REWARD $d = -0.5 AND INSERT",
	"EVALUATE m ON LOG USING dr WITH (min_reward = -1, max_reward = 5)",
	"EVALUATE \"stream\" ON LOG USING ips",
	"EVALUATE PREDICT LINKS FOR 1, 'a' AMONG NEIGHBORS(2) USING m VERSION 2 ON HOLDOUT 0.1 WITH (seed = 3)",
	"EVALUATE PREDICT LINKS FOR ALL ON HOLDOUT ?",
	"EVALUATE PREDICT LINKS FOR SAMPLE(100) USING ppr ON HOLDOUT 0.2",
	"EVALUATE PREDICT LINKS FOR ALL USING m ON HOLDOUT AFTER 1082040961",
	"EVALUATE PREDICT LINKS FOR ALL ON SPLIT 'test.txt' AGAINST $negatives EACH 500 WITH (seed = 3)",
	"EVALUATE PREDICT LINKS FOR 1 AMONG ALL ON SPLIT ?",
	"EVALUATE STREAM 'a.txt'",
	"EVALUATE STREAM EDGES CANDIDATES 50 USING prb BASELINES ppr, random WITH (rounds = 100)",
	"SHOW DECISIONS TOP 5",
	"DESCRIBE DECISION 7",
	"CREATE MODEL m USING prb WITH (seed = 7, preset = paper, note = 'it''s')",
	"TRAIN MODEL m",
	"TRAIN MODEL m FROM EDGES WITH (epochs = 3)",
	"TRAIN MODEL m FROM LOG",
	"DROP MODEL m",
	"DEPLOY MODEL m VERSION 2",
	"ROLLBACK MODEL m",
	"EXPORT MODEL m VERSION 2 TO 'm.kith'",
	"EXPORT LOG TO ?",
	"IMPORT MODEL m FROM 'm.kith'",
	"FREEZE MODEL m",
	"THAW MODEL m",
	"SHOW VERSIONS OF m",
	"PREDICT LINKS FOR 1 USING m VERSION ? WHERE score > 0",
	"PREDICT CLASS FOR 1 USING m VERSION 2 TOP 3",
	"WHY 1 -> 2 USING m VERSION 2 PATHS 5",
	"EVALUATE m VERSION 2 ON LOG USING dr",
	"LOAD EDGES FROM 'a.txt'",
	"LOAD EDGES FROM ? FORMAT snap WITH (directed = on)",
	"SHOW STATS",
	"SHOW LABELS",
	"SHOW LABELS TOP ?",
	"SHOW POLICIES",
	"HELP",
	"help predict links",
	"HELP EVALUATE",
	"SHOW MODELS",
	"DESCRIBE MODEL m",
	"DESCRIBE NODE 'x'",
	"LOAD NODES FROM 'kinds.csv' FORMAT csv WITH (max_errors = 3)",
	"LOAD FEATURES FROM ? WITH (keyless = on)",
	"EXPORT EDGES TO 'a.csv'",
	"EXPORT NODES TO 'a.txt.gz'",
	"EXPORT FEATURES TO $file",
	"BACKUP TO 'monday.kbk'",
	"SET max_rows = 100",
	"SET timeout = '30s'",
	"SET seed = ?",
	"SET model = none",
	"SHOW SETTINGS",
	"BEGIN",
	"begin read only",
	"COMMIT;",
	"ROLLBACK",
	"CHECK -- all of it",
	"/* first */ CHECK /* last */ ;",
}

// generator draws the parts of a tree in the order of the text, so that it can count question marks as the parser
// does.
type generator struct {
	t      *rapid.T
	params int
	few    bool // draw from few names, keys and options, so that they repeat
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
	case 2:
		return &DeleteNode{Node: g.node()}
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
	case 8:
		return &DropModel{Name: g.name()}
	case 9:
		return &LoadEdges{File: g.oneOf(g.string, g.param), Format: g.optionalName(), With: g.with()}
	case 10:
		return &ShowStats{}
	case 11:
		return &ShowModels{}
	case 12:
		return &DescribeModel{Name: g.name()}
	case 13:
		return &DescribeNode{Node: g.node()}
	case 14:
		return &Check{}
	case 15:
		return &ShowCache{}
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
		return g.list()
	}
	s := &Predict{For: several(g, 1, g.node), Among: g.among(), Assuming: several(g, 0, g.edge)}
	s.Using, s.Version = g.using()
	s.Where, s.Top, s.Return, s.With = g.where(), g.optionalCount(), several(g, 0, g.column), g.with()
	return s
}

// list draws a statement that reads or writes a list of nodes, or a backup.
func (g *generator) list() Statement {
	file := g.oneOf(g.string, g.param)
	switch rapid.IntRange(0, 2).Draw(g.t, "list") {
	case 0:
		return &LoadNodes{Features: g.maybe(), File: file, Format: g.optionalName(), With: g.with()}
	case 1:
		return &ExportList{What: rapid.SampledFrom([]List{EdgeList, NodeList, FeatureList}).Draw(g.t, "what"), File: file}
	}
	return &Backup{File: file}
}

// session draws a statement about the session.
func (g *generator) session() Statement {
	if g.maybe() {
		return &Assign{Option: Option{Name: strings.ToLower(g.name().Value), Value: g.value()}}
	}
	return rapid.SampledFrom([]Statement{
		&Begin{}, &Begin{ReadOnly: true}, &Commit{}, &Rollback{}, &ShowSettings{}, &ShowPolicies{}, &ShowLabels{Top: g.optionalCount()}, g.help(),
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
	switch rapid.IntRange(0, 6).Draw(g.t, "version") {
	case 4:
		return &ExportModel{Name: g.name(), Version: g.optionalCount(), File: g.oneOf(g.string, g.param)}
	case 5:
		return &ExportLog{File: g.oneOf(g.string, g.param)}
	case 6:
		return &ImportModel{Name: g.name(), File: g.oneOf(g.string, g.param)}
	case 0:
		return &ShowVersions{Of: g.name()}
	case 1:
		return &DeployModel{Name: g.name(), Version: g.count()}
	case 2:
		return &RollbackModel{Name: g.name()}
	}
	return &FreezeModel{Thaw: g.maybe(), Name: g.name()}
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
	case 1:
		return &ShowDecisions{Top: g.optionalCount()}
	case 2:
		return &DescribeDecision{Decision: g.count()}
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
		return &NeighborSet{Hops: g.count()}
	case 2:
		return &PPRSet{Size: g.count()}
	case 3:
		return &LabelSet{Label: g.name()}
	case 4:
		return &AllSet{}
	case 5:
		return &SampleSet{Size: g.count()}
	case 6:
		return &SimilarSet{Size: g.count()}
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
	if g.few {
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
			"alpha", "epsilon", "norm", "cache", "until", "seed", "gamma", "center", "keyless", "max_errors", "columns", "width", "classes",
		}), 0, 1, rapid.ID).Draw(g.t, "options") {
			options = append(options, Option{Name: name, Value: g.value()})
		}
		return options
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.Custom(anyName), 0, 3, strings.ToLower).Draw(g.t, "options") {
		options = append(options, Option{Name: strings.ToLower(name), Value: g.value()})
	}
	return options
}

func (g *generator) node() Value {
	if g.few {
		return rapid.SampledFrom([]Value{Int{Value: 1}, Int{Value: 2}, Int{Value: 3}, String{Value: "a"}, String{Value: "b"}}).Draw(g.t, "node")
	}
	return g.oneOf(g.int, g.string, g.param)
}

func (g *generator) number() Value { return g.oneOf(g.int, g.float, g.param) }

func (g *generator) count() Value {
	if g.few {
		return Int{Value: rapid.SampledFrom([]int64{1, 2, 7, 1 << 31, 1 << 40, math.MaxInt64}).Draw(g.t, "count")}
	}
	return g.oneOf(func() Value { return Int{Value: rapid.Int64Min(1).Draw(g.t, "count")} }, g.param)
}

func (g *generator) optionalCount() Value {
	if g.maybe() {
		return nil
	}
	return g.count()
}

func (g *generator) name() Name {
	if g.few {
		return Name{Value: rapid.SampledFrom([]string{
			"m", "n", "item", "user", "prb", "ppr", "default", "squarecb", "dr", "ips", "csv", "score", "label", "degree", "on", "none",
		}).Draw(g.t, "name")}
	}
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
	if g.few {
		return String{Value: rapid.SampledFrom([]string{"a", "item", "e.csv", "n.txt", "v.tsv.gz", "x", "1ms"}).Draw(g.t, "string")}
	}
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
	rapid.Check(t, func(t *rapid.T) {
		text := statements().Draw(t, "statement").String()
		stmt, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		places := map[Pos]bool{}
		for _, v := range params(stmt) {
			if p, ok := v.(Param); ok {
				places[p.Pos] = true
			}
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
		found = append(found, m[1])
	}
	slices.Sort(found)
	return slices.Compact(found)
}
