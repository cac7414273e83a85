package mcpserver

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"kith/query"
)

// nodeHelp says how a node is written.
const nodeHelp = `7 or "7" for an integer, "ann" for a string, and "'7'" for a string of digits`

// nodeColumn returns the column of nodes of an answer.
func nodeColumn(name string) field {
	return field{name: name, is: nodeText, meaning: "a node, as arguments accept it: 7 for an integer, ann for a string, and '7' for a string of digits"}
}

func nodeField(name, what string) field {
	return field{name: name, is: aNode, meaning: what + "; " + nodeHelp, required: true}
}

// modelField returns the argument that names a model.
func modelField() field {
	return field{name: "model", is: aText, meaning: "a model that describe lists, or a heuristic: adamic_adar, resource_allocation, common_neighbors, " +
		"preferential_attachment, jaccard, katz, ppr. Absent: the model that describe marks with answers, or without one a network trained on other graphs"}
}

// relationField returns the argument that names the relation of links.
func relationField(what string) field {
	return field{name: "relation", is: aText, meaning: what + ", such as likes; describe lists the relations. Absent: all relations together"}
}

// inverseField returns the argument that asks for the sources of a relation.
func inverseField() field {
	return field{name: "inverse", is: aFlag, byDefault: false, meaning: "with a relation: rank the nodes that links of it may come from"}
}

// viaField returns the argument that names the relations whose links are followed.
func viaField() field {
	return field{name: "via", is: textList, high: 100, meaning: "follow only links of these relations, such as likes; describe lists the relations. Absent: of all"}
}

// weightsField returns the argument that weighs relations.
func weightsField() field {
	return field{name: "relation_weights", is: aRecord, meaning: `factors of the weights of links in walks by relation, such as {"likes": 1, "views": 0.2}; 1 by default`}
}

const durationHelp = "such as 90s, 24h or 7d; links without a time are in no such span"

// walked says which candidates there are without a depth.
const walked = ". Absent: the 1000 nodes with the largest personalised PageRank, or with a label all its nodes, " +
	"or of a relation that the model has learned the 1000 nodes that the links of all relations speak for"

// candidateFields returns the arguments that select candidates. depth adds to what a depth means.
func candidateFields(depth string) []field {
	return []field{
		{name: "depth", is: anInt, low: 2, high: 4, meaning: "candidates are the nodes at most this many links away" + depth},
		{name: "label", is: aText, meaning: "only nodes with this label are candidates, such as item; describe lists the labels"},
		{name: "candidates", is: nodeList, meaning: "rank only these nodes"},
		{name: "via", is: textList, high: 100, meaning: "with depth, or without a label: candidates are reached by links of these relations"},
		{name: "near", is: numberList, high: 4096, meaning: "a vector: candidates are the 1000 nodes whose feature vectors have the largest cosine with it"},
		{name: "except_via", is: textList, high: 100, meaning: "leave out nodes that a link of these relations leads to, such as shown"},
		{name: "except_within", is: aText, meaning: "with except_via: only such links of the last time, " + durationHelp},
		whereField(),
	}
}

// whereField returns the argument that restricts candidates.
func whereField() field {
	return field{name: "where", is: aText, meaning: "a condition on the candidates, such as price < 20 AND lang = 'en' AND NOT hidden AND 'red' IN tags; " +
		"it compares properties, which describe lists, label, degree and edges"}
}

func topField(byDefault int64, high float64) field {
	return field{name: "top", is: anInt, low: 1, high: high, byDefault: byDefault, meaning: "number of rows to return, the best first"}
}

// scoreColumns returns the columns of a score, its reason, and what it is made of.
func scoreColumns() []field {
	return []field{
		{name: "score", is: aNumber, meaning: "the candidates are ranked by it; it is made of exploit, explore and ppr"},
		{name: "because", is: aText, meaning: "the strongest reason in words"},
		{name: "exploit", is: aNumber, meaning: "estimated reward: for a trained model about the probability of the link, from 0 to 1; " +
			"for a heuristic its value, which is comparable only within an answer"},
		{name: "explore", is: aNumber, meaning: "what the model would learn from trying the link; 0 until it has observed outcomes"},
		{name: "ppr", is: aNumber, meaning: "contribution of a walk over the graph; 0 for most models"},
	}
}

// readingTools returns the tools that do not change the database.
func readingTools() []tool {
	return slices.Concat(predictingTools(), lookingTools(), []tool{evaluateTool(), statementTool()})
}

// predictingTools returns the tools that describe and explain links that do not exist yet.
func predictingTools() []tool {
	return []tool{
		{
			name: "describe", title: "Describe the database", run: (*call).describe, output: descriptionSchema(),
			meaning: `Says what the database holds and what can be asked: numbers of nodes and links, labels, models and how much they have learned, the nodes with the most links among the first thousand, and statements to try. Call it first.`,
		},
		{
			name: "predict_links", title: "Predict links of a node", run: (*call).predictLinks, more: true,
			meaning: `Ranks the nodes that a node is most likely to be linked to next. Nodes that it is linked to already are left out. A higher score is better; a note says which model answered. Example: {"node": "ann", "depth": 2, "top": 5} ranks the friends of friends of "ann". Use why for one of the targets, and evaluate to learn how reliable such rankings are.`,
			arguments: slices.Concat([]field{nodeField("node", "the node whose links are predicted")}, candidateFields(walked),
				[]field{relationField("predict links of this relation"), inverseField(), weightsField(), modelField(),
					{name: "properties", is: textList, high: 100, meaning: "properties of the targets to return, such as price; describe lists the properties"}, topField(10, 100)}),
			columns: slices.Concat([]field{nodeColumn("target"), {name: "rank", is: anInt, meaning: "from 1"}}, scoreColumns(),
				[]field{{name: "label", is: aText, meaning: "of the target"}}),
		},
		{
			name: "why", title: "Explain a predicted link", run: (*call).why,
			meaning: `Explains the score of one link that does or does not exist yet, in sentences: the nodes and rules that lead from source to target, what the model expects, and its strongest reasons. With detail the rows are parts: reason (such a sentence), score (the score, its rank among the candidates and what it is made of), rule (a rule over relations that leads from source to target, with its confidence as value), rule against (one that speaks against the link) and because (the links that bind its variables), input (what the model read about the two nodes; adds is how much that raised or lowered the score, in the unit that the row "sum: ..." names), pagerank, and path (the ways that lead from source to target, with their share of pagerank). Example: {"source": "ann", "target": "dan"}.`,
			arguments: slices.Concat([]field{nodeField("source", "where the link begins"), nodeField("target", "where it ends")},
				candidateFields(walked), []field{relationField("explain a link of this relation"), weightsField(), modelField(),
					{name: "detail", is: aFlag, byDefault: false, meaning: "return the parts of the score, the model's inputs and the paths too"}}),
			columns: []field{
				{name: "because", is: aText, meaning: "a reason in words; absent with detail"},
				{name: "part", is: aText, meaning: "with detail: reason, score, rule, because, input, pagerank or path"},
				{name: "name", is: aText},
				{name: "value", is: aNumber},
				{name: "adds", is: aNumber, meaning: "contribution of an input to the score"},
				{name: "share", is: aNumber, meaning: "of a path in pagerank, from 0 to 1"},
			},
		},
		{
			name: "rules", title: "List the rules that predict a relation", run: (*call).rules,
			meaning: `Lists how the relations of the graph predict one of them, the most confident rule first, such as likes(X, Y) <- follows(X, Z), likes(Z, Y): whom X follows likes Y. why shows which of them lead to a link. A graph with one kind of links has no rules. Example: {"relation": "likes", "top": 5}.`,
			arguments: []field{
				{name: "relation", is: aText, required: true, meaning: "the relation that the rules predict, such as likes; describe lists the relations"},
				{name: "inverse", is: aFlag, byDefault: false, meaning: "list the rules that lead from the end of a link to its beginning"},
				{name: "model", is: aText, meaning: "a model that describe lists. Absent: the model that describe marks with answers"}, topField(20, 1000),
			},
			columns: []field{
				{name: "rule", is: aText, meaning: "what follows from what; capital letters stand for nodes"},
				{name: "confidence", is: aNumber, meaning: "share of the nodes that the rule led to and that were linked to, from 0 to 1"},
				{name: "hits", is: anInt, meaning: "such nodes, from a sample of sources"},
				{name: "tries", is: anInt, meaning: "nodes that the rule led to"},
			},
		},
	}
}

// lookingTools returns the tools that read the links that exist.
func lookingTools() []tool {
	return []tool{
		{
			name: "neighbors", title: "List the nodes around a node", run: (*call).neighbors,
			meaning: `Lists the nodes that a node is linked to, and with depth 2 or more those that are reached by that many links, the nearest first. In a directed graph links are followed in their direction. Example: {"node": 7, "depth": 1, "top": 20}.`,
			arguments: []field{
				nodeField("node", "the node to begin with"),
				{name: "depth", is: anInt, low: 1, high: 6, byDefault: int64(1), meaning: "the largest number of links on the way"}, viaField(),
				{name: "within", is: aText, meaning: "follow only links of the last time, " + durationHelp}, topField(20, 500),
			},
			columns: []field{
				nodeColumn("target"), {name: "depth", is: anInt, meaning: "number of links on the shortest way"},
				{name: "weight", is: aNumber, meaning: "of the link, at depth 1"},
				{name: "time", is: aText, meaning: "of the link, at depth 1, in RFC 3339; absent if it has none"}, {name: "label", is: aText},
				{name: "degree", is: aNumber, meaning: "sum of the weights of the links of the target"},
			},
		},
		{
			name: "rank_nodes", title: "Rank nodes by personalised PageRank", run: (*call).rankNodes,
			meaning: `Ranks all nodes by how close they are to some nodes: by personalised PageRank, the share of time that a random walk spends at a node if it keeps returning to the given ones. Linked nodes and the given nodes themselves are ranked too. Scores of all nodes add up to 1. Example: {"nodes": ["ann", 7], "top": 10}.`,
			arguments: []field{
				{name: "nodes", is: nodeList, low: 1, high: 100, meaning: "where the walk begins; each is " + nodeHelp}, viaField(), weightsField(),
				{name: "near", is: numberList, high: 4096, meaning: "in place of nodes: a vector; the walk begins at the nodes whose feature vectors have the largest cosine with it, weighted by that"},
				{name: "near_nodes", is: anInt, low: 1, high: 1000, byDefault: int64(20), meaning: "with near: the number of these nodes"},
				{name: "label", is: aText, meaning: "with near: only nodes with this label"},
				{name: "where", is: aText, meaning: "with near: only nodes that satisfy a condition, such as lang = 'en' AND NOT hidden"}, topField(10, 500),
			},
			columns: []field{
				nodeColumn("node"), {name: "rank", is: anInt, meaning: "from 1"},
				{name: "score", is: aNumber, meaning: "personalised PageRank, from 0 to 1"},
				{name: "exact", is: aFlag, meaning: "whether no numerical error can change the rank"},
			},
		},
	}
}

// evaluateTool returns the tool that measures predictions.
func evaluateTool() tool {
	return tool{
		name: "evaluate", title: "Measure predictions on hidden links", run: (*call).evaluate,
		meaning: `Hides a part of the links, predicts links of some nodes without them, and measures how well the hidden links are ranked. Returns a row for the model and for what it is compared with: the best plain heuristic and the built-in model (prior). mrr is the mean of 1/rank of the hidden links, hits_at_10 their share among the 10 best of their node; higher is better, 1 is perfect, and the ratio to the heuristic matters more than the value. The database does not change. It may train a model and take long on a large graph: begin with few nodes, or with a heuristic. Example: {"model": "default", "nodes": 100}.`,
		arguments: slices.Concat([]field{
			{name: "model", is: aText, byDefault: "default", meaning: `a model of the database, of which a copy learns from the links that are left, a policy such as "default", which learns in the same way, or a heuristic such as "adamic_adar"`},
			{name: "nodes", is: anInt, low: 1, high: 2000, byDefault: int64(100), meaning: "number of nodes, drawn at random, whose links are predicted"},
			{name: "hidden", is: aNumber, low: 0.001, high: 0.5, byDefault: 0.1, meaning: "share of the links that are hidden"},
			relationField("hide and predict links of this relation"), inverseField(),
		}, candidateFields("; 3 suits links that join nodes of two kinds, such as users and items. Absent: 2, unless another argument selects candidates")),
		columns: append([]field{{name: "model", is: aText}}, metrics()...),
	}
}

// statementTool returns the tool for everything else.
func statementTool() tool {
	return tool{
		name: runStatement, title: "Run a statement of kith's language", run: (*call).statement,
		meaning: `Runs one statement and returns its rows. Names of nodes are integers or strings in single quotes: 7 and '7' are two nodes. Examples: SHOW MODELS; NODES LABEL item WHERE degree > 10 TOP 5; PATH FROM 'ann' TO 7; PREDICT LINKS FOR ? AMONG NEIGHBORS(2) TOP 3 with parameters ["ann"]. HELP lists all statements, and HELP PREDICT tells the grammar, options and columns of those that begin with PREDICT. `,
		arguments: []field{
			{name: "statement", is: aText, required: true, meaning: "one statement; a semicolon at its end is optional"},
			{name: "parameters", is: valueList, high: 100, meaning: "values of the parameters ? of the statement, in order; here 7 and \"7\" are two nodes, an integer and a string"},
			{name: "top", is: anInt, low: 1, high: 1000, byDefault: int64(100), meaning: "number of rows to return"},
		},
	}
}

const runStatement = "run_statement"

// statementAccess says which statements run_statement accepts.
func statementAccess(write bool) string {
	if write {
		return "Statements that change nodes, links, decisions and models are accepted too, such as DELETE EDGES 1 -> 2 and TRAIN MODEL friends. " +
			"Those that access files, and BEGIN and SET, are refused."
	}
	return "Statements that change the database or access files are refused."
}

// ask runs a statement, which may write only if the tool does. most is the number of rows that it
// may return; limit tells the caller.
func (c *call) ask(most int, text string, parameters ...any) (*rows, error) {
	writes := c.tool.writes || c.Write && c.tool.name == runStatement
	session := query.Session{
		DB: c.DB, ReadOnly: !writes, Confined: true, Settings: query.Settings{MaxRows: most}, Truncates: true, Progress: c.progress,
	}
	r, err := session.Run(c.ctx, text, parameters...)
	if closed := session.Close(); err != nil || closed != nil {
		return nil, cmp.Or(err, closed)
	}
	return &rows{Rows: *r}, nil
}

// asked is ask for an answer of at most as many rows as the argument top says.
func (c *call) asked(text string, parameters ...any) (answer, error) {
	top := c.integer("top")
	r, err := c.ask(top, text, parameters...)
	if err != nil {
		return nil, err
	}
	i := slices.Index(names(c.tool.arguments), "top")
	r.limit("top", top, &c.tool.arguments[i])
	return r, nil
}

// exact makes an answer a function of the graph and the model, with ranks that no numerical error
// can change.
const exact = "until = exact"

func (c *call) predictLinks() (answer, error) {
	among, set, err := c.among()
	if err != nil {
		return nil, err
	}
	options, err := c.options(exact)
	if err != nil {
		return nil, err
	}
	columns := names(c.tool.columns)
	for _, name := range texts(c.list("properties")) {
		columns = append(columns, named(name))
	}
	text := fmt.Sprintf("%s FOR ?%s%s%s TOP %d RETURN %s%s",
		c.links(), among, c.using(), c.where(), c.integer("top"), strings.Join(columns, ", "), options)
	return c.asked(text, append([]any{c.node("node")}, set...)...)
}

func (c *call) neighbors() (answer, error) {
	within, parameters := "", []any{c.node("node")}
	if text := c.text("within"); text != "" {
		within, parameters = " WITHIN ?", append(parameters, text)
	}
	a, err := c.asked(fmt.Sprintf("NEIGHBORS OF ?%s%s DEPTH %d", c.via(), within, c.integer("depth")), parameters...)
	return c.columnsOnly(a), err
}

func (c *call) rankNodes() (answer, error) {
	sources, list, err := c.sources()
	if err != nil {
		return nil, err
	}
	options, err := c.options()
	if err != nil {
		return nil, err
	}
	a, err := c.asked(fmt.Sprintf("RANK NODES FOR %s%s TOP %d%s", sources, c.via(), c.integer("top"), options), list...)
	return c.columnsOnly(a), err
}

// columnsOnly removes the columns that the tool does not have.
func (c *call) columnsOnly(a answer) answer {
	r, isRows := a.(*rows)
	if !isRows {
		return a
	}
	p := &rows{Rows: query.Rows{Notes: r.Notes, Rows: make([][]any, len(r.Rows.Rows))}, more: r.more}
	for i, name := range r.Columns {
		if !contains(c.tool.columns, name) {
			continue
		}
		p.Columns = append(p.Columns, name)
		for j, row := range r.Rows.Rows {
			p.Rows.Rows[j] = append(p.Rows.Rows[j], row[i])
		}
	}
	return p
}

// whyInputs is the number of inputs of a model that why returns.
const whyInputs = 12

func (c *call) why() (answer, error) {
	among, set, err := c.among()
	if err != nil {
		return nil, err
	}
	more := []string{exact}
	if c.flag("detail") {
		more = append(more, "detail = on")
	}
	options, err := c.options(more...)
	if err != nil {
		return nil, err
	}
	r, err := c.ask(math.MaxInt32, "WHY ?"+c.arrow()+"?"+among+c.using()+c.where()+options, append([]any{c.node("source"), c.node("target")}, set...)...)
	if err != nil {
		return nil, err
	}
	if c.flag("detail") {
		r.keepLargest()
	}
	return r, nil
}

// keepLargest removes the inputs that contribute least to the score.
func (r *rows) keepLargest() {
	weight := func(row []any) float64 {
		adds, _ := row[3].(float64)
		return math.Abs(adds)
	}
	var weights []float64
	for _, row := range r.Rows.Rows {
		if row[0] == "input" && row[2] != nil {
			weights = append(weights, weight(row))
		}
	}
	if len(weights) <= whyInputs {
		return
	}
	slices.SortFunc(weights, func(a, b float64) int { return cmp.Compare(b, a) })
	least := weights[whyInputs-1]
	before := len(r.Rows.Rows)
	r.Rows.Rows = slices.DeleteFunc(r.Rows.Rows, func(row []any) bool {
		w := weight(row)
		return row[0] == "input" && row[2] != nil && (w < least || w == 0)
	})
	r.more = fmt.Sprintf("the %d inputs that add least are left out; run_statement with WHY source -> target WITH (detail = on) returns all", before-len(r.Rows.Rows))
}

func (c *call) rules() (answer, error) {
	inverse := ""
	if c.flag("inverse") {
		inverse = "INVERSE "
	}
	return c.asked(fmt.Sprintf("SHOW RULES FOR %s%s%s TOP %d", inverse, named(c.text("relation")), c.using(), c.integer("top")))
}

// metrics returns the columns of evaluate. The name of a metric of the language has @ for _at_.
func metrics() []field {
	return []field{
		{name: "mrr", is: aNumber, meaning: "mean of 1/rank of the hidden links, from 0 to 1"},
		{name: "hits_at_10", is: aNumber, meaning: "share of the hidden links among the 10 best of their node"},
		{name: "hits_at_100", is: aNumber, meaning: "share of the hidden links among the 100 best of their node"},
		{name: "auc", is: aNumber, meaning: "probability that a hidden link scores above a candidate that is none; 0.5 is chance"},
		{name: "reached", is: aNumber, meaning: "share of the hidden links that are candidates at all; a larger depth raises it"},
		{name: "links", is: anInt, meaning: "number of the hidden links that were to be found"},
	}
}

func (c *call) evaluate() (answer, error) {
	among, set, err := c.among()
	if err != nil {
		return nil, err
	}
	if among == "" {
		among = " AMONG NEIGHBORS(2)"
	}
	text := fmt.Sprintf("EVALUATE %s FOR SAMPLE(%d)%s%s%s ON HOLDOUT %g", c.links(), c.integer("nodes"), among, c.using(), c.where(), c.number("hidden"))
	r, err := c.ask(math.MaxInt32, text, set...)
	if err != nil {
		return nil, err
	}
	return r.pivot(metrics()), nil
}

// pivot returns a row for each model, in place of a row for each model and metric.
func (r *rows) pivot(columns []field) *rows {
	p := &rows{Rows: query.Rows{Columns: append([]string{"model"}, names(columns)...), Notes: r.Notes}}
	for _, row := range r.Rows.Rows {
		last := len(p.Rows.Rows) - 1
		if last < 0 || p.Rows.Rows[last][0] != row[0] {
			p.Rows.Rows = append(p.Rows.Rows, append([]any{row[0]}, make([]any, len(columns))...))
			last++
		}
		metric := strings.ReplaceAll(row[1].(string), "@", "_at_")
		if i := slices.Index(p.Columns, metric); i > 0 {
			p.Rows.Rows[last][i] = row[2]
		}
		if metric == "mrr" {
			p.Rows.Rows[last][len(columns)] = row[3]
		}
	}
	return p
}

func (c *call) statement() (answer, error) {
	return c.asked(c.text("statement"), c.list("parameters")...)
}
