package mcpserver

import (
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is a tool that a client can call.
type tool struct {
	name, title string
	meaning     string
	arguments   []field
	columns     []field // of the rows that it returns
	more        bool    // whether a call may ask for further columns
	output      schema  // of an answer without rows
	writes      bool
	repeatable  bool // whether a second call with the same arguments changes nothing more
	run         func(*call) (answer, error)
}

// tools returns the tools, in the order in which a client lists them.
func tools() []tool { return slices.Concat(readingTools(), writingTools()) }

// listed returns the tool as a client lists it.
func (t *tool) listed(write bool) *mcp.Tool {
	closed, destroys := false, false
	reads := !t.writes
	meaning := t.meaning
	if t.name == runStatement {
		reads = !write
		meaning += statementAccess(write)
		destroys = write
	}
	a := &mcp.ToolAnnotations{ReadOnlyHint: reads, IdempotentHint: reads || t.repeatable, OpenWorldHint: &closed}
	if !reads {
		a.DestructiveHint = &destroys
	}
	output := t.output
	if output == nil {
		output = rowsSchema(t.columns, t.more)
	}
	return &mcp.Tool{
		Name: t.name, Title: t.title, Description: meaning, InputSchema: objectSchema(t.arguments), OutputSchema: output, Annotations: a,
	}
}

// rowsSchema returns the schema of an answer with rows, which may have more columns. Without
// columns, they depend on the call.
func rowsSchema(columns []field, more bool) schema {
	row := schema{"type": "object"}
	if columns != nil {
		row = objectSchema(columns)
		row["additionalProperties"] = more
	}
	return schema{
		"type": "object",
		"properties": schema{
			"rows":  schema{"type": "array", "items": row},
			"notes": schema{"type": "array", "items": aText.schema(), "description": "remarks on the answer, such as which model answered"},
			"more":  schema{"type": "string", "description": "how to get the rows that are left out; absent if no row is left out"},
		},
		"required":             []string{"rows"},
		"additionalProperties": false,
	}
}

// instructions tells a model what kith is and in which order to use the tools.
func instructions(write bool) string {
	last := "5. This server only reads: nothing can be changed."
	if write {
		last = "5. insert adds nodes and links; observe tells a model what became of a predicted link, so that its next answers are better."
	}
	return `kith is a graph database that predicts links which do not exist yet (whom a user may know, which item comes next) and learns from their outcomes.
1. Call describe first: sizes, labels, models, and some nodes. A node is an integer or a string; answers write it as a string, which arguments accept: 7 is an integer, ann a string, and '7', in single quotes, a string of digits.
2. predict_links ranks the nodes that a node may be linked to next, and why explains one score; rules lists how relations predict each other. neighbors and rank_nodes show links that exist.
3. evaluate measures on hidden links how good such predictions are. Call it before you rely on scores or compare models.
4. run_statement runs a statement of kith's own language for all the rest; the statement HELP lists them.
` + last
}
