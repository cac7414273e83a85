package query

import (
	"fmt"
	"os"

	"kith/db"
)

func (r *run) loadEdges(s *LoadEdges) (*Rows, error) {
	name, o, err := r.loadOptions(s)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, &Error{Pos: s.File.Position(), Msg: err.Error(), Err: err}
	}
	defer f.Close() // read only
	report, err := r.session.DB.Load(r.ctx, f, o)
	if err != nil {
		return nil, r.positioned(s.File.Position(), fmt.Errorf("%s: %w", name, err))
	}
	rows := &Rows{Columns: []string{"file", "lines", "nodes", "edges", "loops", "repeated", "skipped", "columns"}}
	rows.add(name, report.Lines, report.Nodes, report.Edges, report.Loops, report.Repeated, report.Skipped, report.Columns.String())
	for _, bad := range report.Errors {
		rows.note("skipped: %s", plainly(bad))
	}
	return rows, nil
}

// loadOptions resolves the file, the format and the options columns and max_errors.
func (r *run) loadOptions(s *LoadEdges) (name string, o db.LoadOptions, err error) {
	if name, err = r.text(s.File); err != nil {
		return "", o, err
	}
	o.Name = name
	if f := s.Format.Value; f != "" {
		if o.Format, err = db.ParseFormat(f); err != nil {
			return "", o, r.positioned(s.Format.Pos, err)
		}
	}
	for _, w := range s.With {
		switch w.Name {
		case "columns":
			text, err := r.text(w.Value)
			if err != nil {
				return "", o, err
			}
			if o.Columns, err = db.ParseColumns(text); err != nil {
				return "", o, r.positioned(w.Pos, err)
			}
		case "max_errors":
			n, err := r.integer(w.Value, 0, 0)
			if err != nil {
				return "", o, err
			}
			o.MaxErrors = int(n)
		default:
			return "", o, unknownOption(w, []string{"columns", "max_errors"})
		}
	}
	if tell := r.session.Progress; tell != nil {
		o.Progress = func(lines int64) { tell(Progress{What: "lines", Done: lines}) }
	}
	return name, o, nil
}

func (r *run) showStats() (*Rows, error) {
	rows := &Rows{Columns: []string{"name", "value"}}
	err := r.view(func(tx *db.Tx) error {
		s := tx.Stats()
		rows.add("nodes", s.Nodes)
		rows.add("edges", s.Edges)
		rows.add("loops", s.Loops)
		rows.add("directed", s.Directed)
		for _, l := range s.Labels {
			if l.Name != "" {
				rows.add("nodes labelled "+l.Name, l.Nodes)
			}
		}
		rows.add("models", int64(s.Models))
		rows.add("graph version", int64(s.Version))
		rows.add("alpha", s.Alpha)
		rows.add("epsilon", s.Epsilon)
		rows.add("graph bytes", s.GraphBytes)
		rows.add("logged changes", int64(s.LoggedChanges))
		return nil
	})
	return rows, err
}

func (r *run) showCache() (*Rows, error) {
	rows := &Rows{Columns: []string{"name", "value"}}
	err := r.view(func(tx *db.Tx) error {
		c := tx.Stats().Cache
		rows.add("states", int64(c.Entries))
		rows.add("bytes", c.Bytes)
		rows.add("budget", c.Budget)
		rows.add("hits", int64(c.Hits))
		rows.add("catch-ups", int64(c.CatchUps))
		rows.add("loads", int64(c.Loads))
		rows.add("recomputes", int64(c.Computed))
		rows.add("evictions", int64(c.Evictions))
		rows.add("damaged", int64(c.Damaged))
		return nil
	})
	return rows, err
}

func (r *run) warm(s *Warm) (*Rows, error) {
	rows := &Rows{Columns: []string{"warmed"}}
	err := r.view(func(tx *db.Tx) error {
		keys, err := r.nodes(tx, s.Nodes)
		if err != nil {
			return err
		}
		rows.add(int64(len(keys)))
		return tx.Warm(r.ctx, keys...)
	})
	return rows, err
}

func (r *run) check() (*Rows, error) {
	if err := r.session.DB.Check(r.ctx); err != nil {
		return nil, err
	}
	rows := &Rows{Columns: []string{"check"}}
	rows.add("ok")
	return rows, nil
}
