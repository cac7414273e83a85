package parse

// The terms for names in error messages.
const (
	aModel  = "a model"
	aLabel  = "a label"
	aPolicy = "a policy"
	aFormat = "a format"
)

// script parses the whole text, which is one statement.
func (p *parser) script() Statement {
	s := p.statement()
	if p.tok.kind == semicolon {
		p.advance()
	}
	p.need(p.tok.kind == end || p.miss(string(end)))
	return s
}

func (p *parser) statement() Statement {
	pos := p.tok.pos
	switch {
	case p.keyword("EXPLAIN"):
		return &Explain{pos, false, p.plain()}
	case p.keyword("PROFILE"):
		return &Explain{pos, true, p.plain()}
	}
	return p.plain()
}

// plain parses a statement without EXPLAIN or PROFILE.
func (p *parser) plain() Statement {
	pos := p.tok.pos
	switch {
	case p.keyword("PREDICT"):
		return p.predict(pos)
	case p.keyword("INSERT"):
		return p.insert(pos, false)
	case p.keyword("MERGE"):
		return p.insert(pos, true)
	case p.keyword("DELETE"):
		return p.delete(pos)
	case p.keyword("NEIGHBORS"):
		return p.neighbors(pos)
	case p.keyword("NODES"):
		return p.nodes(pos)
	case p.keyword("RANK"):
		return p.rank(pos)
	case p.keyword("PATH"):
		return p.path(pos)
	case p.keyword("WHY"):
		return p.why(pos)
	case p.keyword("OBSERVE"):
		return p.observe(pos)
	case p.keyword("CHOOSE"):
		return p.choose(pos)
	case p.keyword("REWARD"):
		return p.reward(pos)
	case p.keyword("EVALUATE"):
		return p.evaluate(pos)
	case p.keyword("LOAD"):
		return p.load(pos)
	case p.keyword("CREATE"):
		return p.create(pos)
	case p.keyword("TRAIN"):
		return p.train(pos)
	case p.keyword("DROP"):
		return &DropModel{pos, p.modelName()}
	case p.keyword("EXPORT"):
		return p.export(pos)
	case p.keyword("IMPORT"):
		return p.importModel(pos)
	case p.keyword("DEPLOY"):
		return p.deploy(pos)
	case p.keyword("SET"):
		return p.assign(pos)
	case p.keyword("BEGIN"):
		return p.begin(pos)
	case p.keyword("COMMIT"):
		return &Commit{pos}
	case p.keyword("ROLLBACK"):
		return p.rollback(pos)
	case p.keyword("FREEZE"):
		return &FreezeModel{pos, false, p.modelName()}
	case p.keyword("THAW"):
		return &FreezeModel{pos, true, p.modelName()}
	case p.keyword("SHOW"):
		return p.show(pos)
	case p.keyword("DESCRIBE"):
		return p.describe(pos)
	case p.keyword("WARM"):
		return &Warm{pos, list(p, p.node)}
	case p.keyword("BACKUP"):
		return &Backup{pos, p.to()}
	case p.keyword("CHECK"):
		return &Check{pos}
	case p.keyword("HELP"):
		return p.help(pos)
	}
	if language := foreign(p.tok.text); p.tok.kind == word && language != "" {
		p.stop(&Error{Pos: pos, Msg: p.tok.text + " is " + language + ", which kith does not read: " +
			"NODES lists nodes, NEIGHBORS OF the links of a node, PREDICT LINKS FOR links that may come; HELP lists all statements"})
	}
	p.need(false)
	return nil
}

func (p *parser) predict(pos Pos) Statement {
	if p.keyword("CLASS") {
		return p.predictClass(pos)
	}
	p.need(p.keyword("LINKS"))
	p.need(p.keyword("FOR"))
	s := &Predict{Pos: pos, For: list(p, p.node), At: p.at(), Among: p.among(), Assuming: p.assuming()}
	s.Using, s.Version = p.using()
	s.Where = p.where()
	s.Top = p.optionalCount("TOP")
	s.Return = p.columns()
	s.With = p.with()
	return s
}

func (p *parser) predictClass(pos Pos) Statement {
	s := &Predict{Pos: pos, Class: true}
	p.need(p.keyword("FOR"))
	s.For = list(p, p.node)
	s.Using, s.Version = p.using()
	p.need(s.Using.Value != "")
	s.Top = p.optionalCount("TOP")
	s.With = p.with()
	return s
}

func (p *parser) insert(pos Pos, merge bool) Statement {
	if p.keyword("EDGES") {
		return &InsertEdges{pos, merge, list(p, p.edge)}
	}
	p.need(p.keyword("NODE"))
	s := &InsertNode{Pos: pos, Merge: merge, Node: p.node(), Label: p.optionalName("LABEL", aLabel)}
	if p.keyword("FEATURES") {
		s.Features = listed(p, p.number)
	}
	return s
}

// ends parses source -> target.
func (p *parser) ends() Edge {
	e := Edge{Pos: p.tok.pos}
	e.Source = p.node()
	p.need(p.is(arrow))
	e.Target = p.node()
	return e
}

// edge parses an edge with its optional weight and time.
func (p *parser) edge() Edge {
	e := p.ends()
	if p.keyword("WEIGHT") {
		e.Weight = p.number()
	}
	if p.keyword("AT") {
		e.At = p.value(aTime, integer)
	}
	return e
}

func (p *parser) delete(pos Pos) Statement {
	if p.keyword("EDGES") {
		return &DeleteEdges{pos, list(p, p.ends)}
	}
	p.need(p.keyword("NODE"))
	return &DeleteNode{pos, p.node()}
}

func (p *parser) neighbors(pos Pos) Statement {
	p.need(p.keyword("OF"))
	return &Neighbors{Pos: pos, Of: p.node(), Depth: p.optionalCount("DEPTH"), Top: p.optionalCount("TOP")}
}

func (p *parser) observe(pos Pos) Statement {
	e := p.ends()
	p.need(p.is(equals))
	s := &Observe{
		Pos:    pos,
		Source: e.Source,
		Target: e.Target,
		Reward: p.number(),
		Among:  p.among(),
		Using:  p.optionalName("USING", aModel),
	}
	if p.keyword("AND") {
		p.need(p.keyword("INSERT"))
		s.Insert = true
	}
	return s
}

func (p *parser) create(pos Pos) Statement {
	p.need(p.keyword("MODEL"))
	return &CreateModel{Pos: pos, Name: p.name(aModel), Policy: p.optionalName("USING", aPolicy), With: p.with()}
}

func (p *parser) train(pos Pos) Statement {
	p.need(p.keyword("MODEL"))
	s := &TrainModel{Pos: pos, Name: p.name(aModel)}
	if p.keyword("FROM") {
		s.From = p.trainingData()
	}
	s.With = p.with()
	return s
}

func (p *parser) trainingData() TrainingData {
	if p.keyword(string(FromEdges)) {
		return FromEdges
	}
	p.need(p.keyword(string(FromLog)))
	return FromLog
}

func (p *parser) show(pos Pos) Statement {
	switch {
	case p.keyword("STATS"):
		return &ShowStats{pos}
	case p.keyword("LABELS"):
		return &ShowLabels{pos, p.optionalCount("TOP")}
	case p.keyword("POLICIES"):
		return &ShowPolicies{pos}
	case p.keyword("CACHE"):
		return &ShowCache{pos}
	case p.keyword("VERSIONS"):
		p.need(p.keyword("OF"))
		return &ShowVersions{pos, p.name(aModel)}
	case p.keyword("DECISIONS"):
		return &ShowDecisions{pos, p.optionalCount("TOP")}
	}
	if p.keyword("SETTINGS") {
		return &ShowSettings{pos}
	}
	p.need(p.keyword("MODELS"))
	return &ShowModels{pos}
}

func (p *parser) describe(pos Pos) Statement {
	if p.keyword("MODEL") {
		return &DescribeModel{pos, p.name(aModel)}
	}
	if p.keyword("DECISION") {
		return &DescribeDecision{pos, p.count()}
	}
	p.need(p.keyword("NODE"))
	return &DescribeNode{pos, p.node()}
}
