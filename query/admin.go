package query

import (
	"cmp"
	"slices"

	"kith/db"
	"kith/db/words"
	"kith/model"
	"kith/query/internal/parse"
)

// adminActions returns the statements about the database as a whole.
func adminActions() []action {
	return []action{
		{name: "SHOW STATS", access: reads | joins, columns: named("name", "value"), run: viewing((*run).showStats)},
		{name: "SHOW LABELS", access: reads | joins, columns: []column{
			{name: "label"}, {"nodes", "number of nodes with the label"},
		}, run: viewing((*run).showLabels)},
		{name: "SHOW POLICIES", access: reads | joins, columns: named("policy", "learns", "summary"), run: (*run).showPolicies},
		{name: "SHOW CACHE", access: reads | joins, columns: named("name", "value"), run: viewing((*run).showCache)},
		{name: "WARM", access: reads, columns: []column{{"warmed", "number of nodes"}}, run: viewing((*run).warm)},
		{name: "CHECK", access: reads, columns: []column{{"check", "ok"}}, run: (*run).check},
		{name: "HELP", access: reads | joins, columns: named("statement", "summary"), run: (*run).help},
		{name: "EXPLAIN", access: reads | joins, columns: []column{
			{name: "step"}, {name: "detail"}, {"cost_ms", "as predicted"},
		}, run: (*run).explain},
		{name: "PROFILE", columns: []column{
			{name: "step"}, {name: "detail"}, {"cost_ms", "as predicted"}, {name: "took_ms"},
		}, run: (*run).explain},
	}
}

func (r *run) showStats(*parse.Statement) {
	s := r.tx.Stats()
	r.rows.add("nodes", s.Nodes)
	r.rows.add("edges", s.Edges)
	r.rows.add("loops", s.Loops)
	r.rows.add("directed", s.Directed)
	labels := bySize(s.Labels)
	r.rows.add("labels", int64(len(labels)))
	others := int64(0)
	for i, l := range labels {
		if i < fewLabels {
			r.rows.add("nodes labelled "+l.Name, l.Nodes)
		} else {
			others += l.Nodes
		}
	}
	if others > 0 {
		r.rows.add("nodes labelled otherwise", others)
		r.rows.note("these are the %d labels with the most nodes; SHOW LABELS lists all", fewLabels)
	}
	if all, err := r.tx.Relations(); !r.fail(err) && len(all) > 1 {
		r.rows.add("relations", int64(len(all)-1))
	}
	if n := len(r.tx.PropertyNames()); n > 0 {
		r.rows.add("properties", int64(n))
	}
	r.rows.add("models", int64(s.Models))
	r.rows.add("graph version", int64(s.Version))
	if s.Follower {
		r.rows.add("follows another database", true)
		r.rows.add("committed there", r.moment(s.Committed))
		r.rows.add("versions behind", int64(s.Behind))
	}
	if s.Erased > 0 {
		r.rows.add("erased, to be compacted", s.Erased)
	}
	if c := s.Changes; c.Limit > 0 {
		r.rows.add("changes kept", int64(c.Kept))
		r.rows.add("changes kept after version", int64(c.After))
		r.rows.add("change bytes", c.Bytes)
		r.rows.add("change readers", int64(c.Readers))
	}
	r.rows.add("alpha", s.Alpha)
	r.rows.add("epsilon", s.Epsilon)
	r.rows.add("graph bytes", s.GraphBytes)
	r.rows.add("graph loaded", s.GraphLoaded)
	if s.MappedBytes > 0 {
		r.rows.add("mapped bytes", s.MappedBytes)
	}
	r.rows.add("logged changes", int64(s.LoggedChanges))
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

func (r *run) showLabels(s *parse.Statement) {
	labels := bySize(r.tx.Stats().Labels)
	if top := r.top(parse.Top.Of(s), -1); 0 <= top && top < len(labels) {
		labels = labels[:top]
	}
	for _, l := range labels {
		r.rows.add(l.Name, l.Nodes)
	}
}

func (r *run) showPolicies(*parse.Statement) {
	for _, p := range model.DescribePolicies() {
		r.rows.add(p.Name, p.Learns, p.Summary)
	}
}

func (r *run) showCache(*parse.Statement) {
	c := r.tx.Stats().Cache
	r.rows.add("states", int64(c.Entries))
	r.rows.add("bytes", c.Bytes)
	r.rows.add("budget", c.Budget)
	r.rows.add("hits", int64(c.Hits))
	r.rows.add("repairs", int64(c.CatchUps))
	r.rows.add("loads", int64(c.Loads))
	r.rows.add("misses", int64(c.Computed))
	r.rows.add("stored", int64(c.Stored))
	r.rows.add("evictions", int64(c.Evictions))
	r.rows.add("damaged", int64(c.Damaged))
}

func (r *run) warm(s *parse.Statement) {
	keys := r.nodes(parse.Warmed.All(s))
	r.rows.add(int64(len(keys)))
	if r.err != nil {
		return
	}
	before := r.tx.Stats().Cache.Evictions
	r.fail(r.tx.Warm(r.ctx, keys...))
	if n := int(r.tx.Stats().Cache.Evictions - before); n > 0 {
		r.rows.note("the cache is full: %s made room for others; SHOW CACHE has its size", words.Count(n, "state"))
	}
}

func (r *run) check(*parse.Statement) {
	r.rows.add("ok")
	r.fail(r.session.DB.Check(r.ctx))
}
