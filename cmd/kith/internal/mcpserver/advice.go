package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kith/db"
	"kith/db/words"
	"kith/query"
	"kith/query/parse"
)

// advise returns the text of an error, with what the caller may try.
func (c *call) advise(err error) string {
	text, hint := words.Plain(err), ""
	at := (*query.Error)(nil)
	if errors.As(err, &at) {
		text = c.plain(at)
	}
	named := (*db.Error)(nil)
	switch isNamed := errors.As(err, &named); {
	case errors.Is(err, context.DeadlineExceeded):
		text = fmt.Sprintf("the call took longer than %v", c.Timeout)
		hint = "ask for less: a smaller depth, top or number of nodes, or a heuristic in place of a model that must learn"
	case errors.Is(err, context.Canceled):
		text = "the call was cancelled"
	case errors.Is(err, db.ErrReadOnly):
		hint = "this server only reads; the user can start it with --write, which allows changes but no access to files"
	case errors.Is(err, db.ErrTooLarge):
		hint = "ask for less: a smaller depth or top"
	case isNamed && len(named.Accepted) > 0:
		hint = "there are: " + some(named.Accepted)
	case errors.Is(err, db.ErrNoModel):
		hint = "describe lists the models"
	case errors.Is(err, db.ErrNotFound):
		hint = c.similarNodes()
	case at != nil && c.tool.name == runStatement && at.Err == nil:
		hint = "HELP lists the statements, and HELP with the first word of one tells its grammar"
	}
	if hint != "" {
		text += "\n" + hint
	}
	return text
}

// plain returns the text of an error in a statement: with the place in it if the caller wrote the statement.
func (c *call) plain(e *query.Error) string {
	if c.tool.name == runStatement {
		text := e.Error()
		f := parse.Fragment{Pos: parse.Pos{Line: 1, Col: 1}, Text: c.text("statement")}
		if caret := f.Caret(e); caret != "" {
			text += "\n" + caret
		}
		return text
	}
	text := e.Msg
	if e.DidYouMean != "" {
		text += "; did you mean " + e.DidYouMean + "?"
	}
	return text
}

// some returns the first names of a list.
func some(list []string) string {
	const most = 20
	if len(list) > most {
		return strings.Join(list[:most], ", ") + ", ..."
	}
	return strings.Join(list, ", ")
}

// comparedNodes is the number of nodes that similarNodes compares with a name.
const comparedNodes = 20_000

// similarNodes says which node was probably meant by the first node among the arguments that does not exist. It returns
// "" if all exist.
func (c *call) similarNodes() string {
	var hint string
	err := c.DB.View(c.ctx, func(tx *db.Tx) error {
		for _, k := range c.keys() {
			if !tx.Has(k) {
				hint = similar(tx, k)
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return ""
	}
	return hint
}

// keys returns the nodes among the arguments.
func (c *call) keys() (all []db.Key) {
	for _, f := range c.tool.arguments {
		for _, v := range append([]any{c.arguments[f.name]}, c.list(f.name)...) {
			if k, isKey := v.(db.Key); isKey {
				all = append(all, k)
			}
		}
	}
	return all
}

// similar says which node is like one that does not exist.
func similar(tx *db.Tx, k db.Key) string {
	i, isInt := k.Int()
	name, _ := k.Str()
	other := db.Str(strconv.FormatInt(i, 10))
	if !isInt {
		i, err := strconv.ParseInt(name, 10, 64)
		if other = db.Int(i); err != nil {
			other = closest(tx, name)
		}
	}
	if other != k && tx.Has(other) {
		return fmt.Sprintf("there is a node %s", written(other))
	}
	return "describe shows some nodes, and run_statement with NODES TOP 20 lists more"
}

// closest returns the node of which name is probably a misspelling, among the first nodes, or the key name.
func closest(tx *db.Tx, name string) db.Key {
	var compared []string
	for n, err := range tx.Nodes() {
		if err != nil || len(compared) == comparedNodes {
			break
		}
		if s, isString := n.Key.Value().(string); isString {
			if strings.EqualFold(s, name) {
				return n.Key
			}
			compared = append(compared, s)
		}
	}
	if meant := words.Closest(name, compared); meant != "" {
		return db.Str(meant)
	}
	return db.Str(name)
}

// written returns a node as an argument writes it.
func written(k db.Key) string {
	if i, isInt := k.Int(); isInt {
		return fmt.Sprintf("%d: give it as an integer, without quotes", i)
	}
	return fmt.Sprintf("%q: give it as a string, in quotes", k.Value())
}
