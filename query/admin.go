package query

import (
	"cmp"
	"slices"

	"kith/db"
	"kith/query/parse"
)

// adminKinds returns the statements about the database as a whole.
func adminKinds() []kind {
	return []kind{
		{name: "SHOW STATS", access: reads | joins, columns: "name, value", run: does[*parse.Simple]((*run).showStats)},
		{name: "SHOW LABELS", access: reads | joins, columns: "label, nodes (number of nodes with the label)", run: does[*parse.Listing]((*run).showLabels)},
		{name: "SHOW POLICIES", access: reads | joins, columns: "policy, learns, summary", run: does[*parse.Simple]((*run).showPolicies)},
		{name: "SHOW CACHE", access: reads | joins, columns: "name, value", run: does[*parse.Simple]((*run).showCache)},
		{name: "WARM", access: reads, columns: "warmed (number of nodes)", run: does[*parse.Warm]((*run).warm)},
		{name: "CHECK", access: reads, columns: "check (ok)", run: does[*parse.Simple]((*run).check)},
		{name: "HELP", access: reads | joins, columns: "statement, summary", run: does[*parse.Help]((*run).help)},
		{name: "EXPLAIN", access: reads | joins, columns: "step, detail, cost_ms (as predicted)", run: does[*parse.Explain]((*run).explain)},
		{name: "PROFILE", columns: "step, detail, cost_ms (as predicted), took_ms", run: does[*parse.Explain]((*run).explain)},
	}
}

func (r *run) showStats(*parse.Simple) (*Rows, error) {
	rows := r.answer()
	err := r.view(func(tx *db.Tx) error {
		s := tx.Stats()
		rows.add("nodes", s.Nodes)
		rows.add("edges", s.Edges)
		rows.add("loops", s.Loops)
		rows.add("directed", s.Directed)
		labels := bySize(s.Labels)
		rows.add("labels", int64(len(labels)))
		others := int64(0)
		for i, l := range labels {
			if i < fewLabels {
				rows.add("nodes labelled "+l.Name, l.Nodes)
			} else {
				others += l.Nodes
			}
		}
		if others > 0 {
			rows.add("nodes labelled otherwise", others)
			rows.note("these are the %d labels with the most nodes; SHOW LABELS lists all", fewLabels)
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

// fewLabels is the number of labels that SHOW STATS lists.
const fewLabels = 5

// bySize returns the named labels, sorted by decreasing number of nodes.
func bySize(labels []db.LabelStats) []db.LabelStats {
	named := slices.DeleteFunc(slices.Clone(labels), func(l db.LabelStats) bool { return l.Name == "" })
	slices.SortStableFunc(named, func(a, b db.LabelStats) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.Name, b.Name))
	})
	return named
}

func (r *run) showLabels(s *parse.Listing) (*Rows, error) {
	top, err := r.integer(s.Top, 1, -1)
	if err != nil {
		return nil, err
	}
	rows := r.answer()
	return rows, r.view(func(tx *db.Tx) error {
		for i, l := range bySize(tx.Stats().Labels) {
			if int64(i) == top || r.full(rows) {
				break
			}
			rows.add(l.Name, l.Nodes)
		}
		return nil
	})
}

func (r *run) showPolicies(*parse.Simple) (*Rows, error) {
	rows := r.answer()
	for _, p := range db.DescribePolicies() {
		rows.add(p.Name, p.Learns, p.Summary)
	}
	return rows, nil
}

func (r *run) showCache(*parse.Simple) (*Rows, error) {
	rows := r.answer()
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

func (r *run) warm(s *parse.Warm) (*Rows, error) {
	rows := r.answer()
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

func (r *run) check(*parse.Simple) (*Rows, error) {
	if err := r.session.DB.Check(r.ctx); err != nil {
		return nil, err
	}
	rows := r.answer()
	rows.add("ok")
	return rows, nil
}
