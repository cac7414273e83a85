package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kith/db"
	"kith/db/words"
	"kith/query"
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
	case at != nil && c.tool.name == runStatement && at.Err == nil:
		hint = "HELP lists the statements, and HELP with the first word of one tells its grammar"
	case at != nil && at.DidYouMean != "", isNamed && named.DidYouMean != "":
		// The text has the probable meaning.
	case isNamed && named.Kind == "node" && errors.Is(err, db.ErrNotFound):
		hint = "describe shows some nodes, and run_statement with NODES TOP 20 lists more"
	}
	if hint != "" {
		text += "\n" + hint
	}
	return text
}

// plain returns the text of an error in a statement: with the place in it if the caller wrote the
// statement.
func (c *call) plain(e *query.Error) string {
	if c.tool.name == runStatement {
		text := e.Error()
		f := query.Fragment{Text: c.text("statement")}
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
