package query

import (
	"fmt"
	"io"
	"os"

	"kith/db"
	"kith/db/words"
	"kith/query/parse"
)

// hiddenClause returns the clause that says which edges are hidden.
func hiddenClause(s *parse.Statement) parse.Value {
	switch {
	case parse.SplitFile.Of(s) != nil:
		return parse.SplitFile.Of(s)
	case parse.After.Of(s) != nil:
		return parse.After.Of(s)
	}
	return parse.Holdout.Of(s)
}

// hiddenNote returns the note on which edges are hidden.
func (e *evaluation) hiddenNote(of *db.Evaluation) string {
	note := fmt.Sprintf("%d of %d edges are hidden", of.Hidden, of.Edges)
	if of.Wanted > of.Hidden {
		note += fmt.Sprintf(", as many as fit into the memory, instead of %d", of.Wanted)
	}
	if e.files != nil {
		note = fmt.Sprintf("%s has %s; %s", e.files.Name, words.Count(e.links, "link"), note)
	}
	return note
}

// readSplit reads the files of a split.
func (e *evaluation) readSplit(s *parse.Statement) {
	if parse.SplitFile.Of(s) == nil {
		return
	}
	e.Links = e.pairs(parse.SplitFile.Of(s))
	e.links, e.files.Name = len(e.Links), e.text(parse.SplitFile.Of(s))
	as := "count as missed"
	if parse.ForNode.All(s) != nil || parse.Sample.Of(s) != nil {
		as = "are left out"
	}
	e.noteUnknown(e.Links, as)
}

// pairs reads a file of links.
func (e *evaluation) pairs(file parse.Value) (pairs []db.Edge) {
	o := *e.files
	o.Name = e.text(file)
	if info, err := os.Stat(o.Name); e.err == nil && err == nil && info.IsDir() {
		pairs, notes, err := e.session.DB.FolderPairs(e.ctx, os.DirFS(o.Name), o)
		e.rows.noteList(notes)
		e.failIn(file, err)
		return pairs
	}
	e.readFile(file, func(f io.Reader) error {
		list, notes, err := e.session.DB.Pairs(e.ctx, f, o)
		e.rows.noteList(notes)
		pairs = list
		return err
	})
	return pairs
}

// noteUnknown notes how many links have a node that the graph lacks; as says how they are counted.
func (e *evaluation) noteUnknown(links []db.Edge, as string) {
	n := 0
	var first db.Edge
	for _, l := range links {
		if e.tx.Has(l.Src) && e.tx.Has(l.Dst) {
			continue
		}
		if n++; n == 1 {
			first = l
		}
	}
	if n > 0 {
		e.unknown = fmt.Sprintf("the graph lacks a node of %s, the first of them %v -> %v: they %s", words.Count(n, "link"), first.Src.Literal(), first.Dst.Literal(), as)
	}
}
