package parse

const (
	anExplorer = "an explorer"
	aDuration  = "a duration (seconds, or a string like '24h' or '7d')"
)

func (p *parser) choose(pos Pos) Statement {
	p.need(p.keyword("LINK"))
	p.need(p.keyword("FOR"))
	s := &Choose{Pos: pos, For: p.node(), At: p.at()}
	s.Among = p.among()
	p.need(s.Among != nil)
	if s.Explore = p.optionalName("EXPLORE", anExplorer); s.Explore.Value != "" {
		s.With = p.with()
	}
	s.Using = p.optionalName("USING", aModel)
	if p.keyword("TTL") {
		s.TTL = p.value(aDuration, integer, text)
	}
	return s
}

func (p *parser) reward(pos Pos) Statement {
	s := &Reward{Pos: pos, Decision: p.count()}
	p.need(p.is(equals))
	s.Reward = p.number()
	if p.keyword("AND") {
		p.need(p.keyword("INSERT"))
		s.Insert = true
	}
	return s
}
