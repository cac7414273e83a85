package parse

const anEstimator = "an estimator"

func (p *parser) evaluate(pos Pos) Statement {
	if p.keyword("STREAM") {
		return p.evaluateStream(pos)
	}
	if p.keyword("PREDICT") {
		return p.evaluateHoldout(pos)
	}
	s := &EvaluateLog{Pos: pos, Model: p.name(aModel)}
	s.Version = p.optionalCount("VERSION")
	p.need(p.keyword("ON"))
	p.need(p.keyword("LOG"))
	p.need(p.keyword("USING"))
	s.Estimator = p.name(anEstimator)
	s.With = p.with()
	return s
}

func (p *parser) evaluateHoldout(pos Pos) Statement {
	s := &EvaluateHoldout{Pos: pos}
	p.need(p.keyword("LINKS"))
	p.need(p.keyword("FOR"))
	switch {
	case p.keyword("ALL"):
	case p.keyword("SAMPLE"):
		s.Sample = p.size()
	default:
		s.For = list(p, p.node)
	}
	s.Among = p.among()
	s.Using, s.Version = p.using()
	p.need(p.keyword("ON"))
	p.hidden(s)
	s.With = p.with()
	return s
}

// hidden parses the clause that says which edges are hidden.
func (p *parser) hidden(s *EvaluateHoldout) {
	if p.keyword("SPLIT") {
		s.Split = p.value(aFile, text)
		if p.keyword("AGAINST") {
			s.Against = p.value(aFile, text)
			s.Each = p.optionalCount("EACH")
		}
		return
	}
	p.need(p.keyword("HOLDOUT"))
	if p.keyword("AFTER") {
		s.After = p.value(aTime, integer)
		return
	}
	s.Share = p.number()
}

func (p *parser) evaluateStream(pos Pos) Statement {
	s := &EvaluateStream{Pos: pos}
	if !p.keyword("EDGES") {
		s.File = p.value(aFile, text)
	}
	s.Candidates = p.optionalCount("CANDIDATES")
	s.Using = p.optionalName("USING", aPolicy)
	if p.keyword("BASELINES") {
		s.Baselines = list(p, func() Name { return p.name(aPolicy) })
	}
	s.With = p.with()
	return s
}
