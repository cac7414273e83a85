package query

import "kith/db"

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
