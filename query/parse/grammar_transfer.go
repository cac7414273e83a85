package parse

func (p *parser) export(pos Pos) Statement {
	if s := p.exportList(pos); s != nil {
		return s
	}
	if p.keyword("LOG") {
		return &ExportLog{pos, p.to()}
	}
	s := &ExportModel{Pos: pos, Name: p.modelName()}
	s.Version = p.optionalCount("VERSION")
	s.File = p.to()
	return s
}

// to parses TO and a file name.
func (p *parser) to() Value {
	p.need(p.keyword("TO"))
	return p.value(aFile, text)
}

func (p *parser) importModel(pos Pos) Statement {
	s := &ImportModel{Pos: pos, Name: p.modelName()}
	p.need(p.keyword("FROM"))
	s.File = p.value(aFile, text)
	return s
}
