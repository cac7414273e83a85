package parse

func (p *parser) rank(pos Pos) Statement {
	p.need(p.keyword("NODES"))
	p.need(p.keyword("FOR"))
	return &Rank{Pos: pos, For: list(p, p.node), Assuming: p.assuming(), Top: p.optionalCount("TOP"), With: p.with()}
}

func (p *parser) path(pos Pos) Statement {
	s := &Path{Pos: pos}
	p.need(p.keyword("FROM"))
	s.From = p.node()
	p.need(p.keyword("TO"))
	s.To = p.node()
	s.Depth = p.optionalCount("DEPTH")
	return s
}

func (p *parser) why(pos Pos) Statement {
	e := p.ends()
	s := &Why{Pos: pos, Source: e.Source, Target: e.Target, At: p.at(), Among: p.among(), Assuming: p.assuming()}
	s.Using, s.Version = p.using()
	s.Paths = p.optionalCount("PATHS")
	s.With = p.with()
	return s
}

// at parses an optional AT clause.
func (p *parser) at() Value {
	if !p.keyword("AT") {
		return nil
	}
	return p.value(aTime, integer)
}

// assuming parses an optional ASSUMING clause.
func (p *parser) assuming() []Edge {
	if !p.keyword("ASSUMING") {
		return nil
	}
	return list(p, p.edge)
}
