package query

import (
	"fmt"
	"os"

	"kith/db"
	"kith/db/words"
	"kith/query/parse"
)

// hiding returns the clause that says which edges are hidden.
func hiding(s *parse.EvaluateHoldout) parse.Value {
	switch {
	case s.Split != nil:
		return s.Split
	case s.After != nil:
		return s.After
	}
	return s.Share
}

// hidden resolves which edges are hidden, except for the links of a file.
func (r *run) hidden(s *parse.EvaluateHoldout, h *db.Holdout) (err error) {
	switch {
	case s.After != nil:
		h.After, err = r.seconds(s.After)
	case s.Share != nil:
		h.Share, err = r.number(s.Share)
	}
	return err
}

// hides returns the note on which edges are hidden.
func (e *evaluation) hides(s *parse.EvaluateHoldout) string {
	switch {
	case s.Split != nil:
		return fmt.Sprintf("%s has %s; %d of %d edges are hidden", e.files.Name, words.Count(e.links, "link"), e.set.Hidden, e.set.Edges)
	}
	return fmt.Sprintf("%d of %d edges are hidden", e.set.Hidden, e.set.Edges)
}

// read reads the files of a split.
func (e *evaluation) read(tx *db.Tx, s *parse.EvaluateHoldout, h *db.Holdout) (err error) {
	if s.Split == nil {
		return nil
	}
	if s.Against != nil && (s.For != nil || s.Sample != nil || s.Among != nil) {
		msg := "AGAINST ranks all links of the file: it goes with FOR ALL, and without AMONG"
		return &Error{Pos: s.Against.Position(), Msg: msg, Err: db.ErrInput}
	}
	if h.Links, err = e.pairs(s.Split, false); err != nil {
		return err
	}
	e.links = len(h.Links)
	if s.Against == nil {
		as := "count as missed"
		if s.For != nil || s.Sample != nil {
			as = "are left out"
		}
		e.missing(tx, h.Links, as)
		return nil
	}
	e.missing(tx, h.Links, "score below all pairs whose nodes are known")
	each, err := e.integer(s.Each, 1, 0)
	if err != nil {
		return err
	}
	h.Each = int(each)
	split := e.files.Name
	h.Against, err = e.pairs(s.Against, true)
	e.files.Name = split
	return err
}

// pairs reads a file of links or, if negative, of pairs that are not links.
func (e *evaluation) pairs(file parse.Value, negative bool) ([]db.Edge, error) {
	name, err := e.text(file)
	if err != nil {
		return nil, err
	}
	e.files.Name = name
	o := db.PairOptions{LoadOptions: e.files.LoadOptions, Negative: negative}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		pairs, err := e.session.DB.FolderPairs(e.ctx, watchedFolder{os.DirFS(name), e.session.progressOf(nil)}, e.files.split, o)
		if err != nil {
			err = e.positioned(file.Position(), fmt.Errorf("%s: %w", name, err))
		}
		return pairs, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, e.filed(file, err)
	}
	defer f.Close() // read only
	pairs, err := e.session.DB.Pairs(e.ctx, &watched{f, e.session.progressOf(f)}, o)
	if err != nil {
		err = e.positioned(file.Position(), fmt.Errorf("%s: %w", name, err))
	}
	return pairs, err
}

// missing notes how many links have a node that the graph lacks; as says how they are counted.
func (e *evaluation) missing(tx *db.Tx, links []db.Edge, as string) {
	n := 0
	var first db.Edge
	for _, l := range links {
		if tx.Has(l.Src) && tx.Has(l.Dst) {
			continue
		}
		if n++; n == 1 {
			first = l
		}
	}
	if n > 0 {
		e.unknown = fmt.Sprintf("the graph lacks a node of %s, the first of them %v -> %v: they %s", words.Count(n, "link"), first.Src, first.Dst, as)
	}
}
