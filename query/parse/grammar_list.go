package parse

func (p *parser) load(pos Pos) Statement {
	if p.keyword("EDGES") {
		file, format, with := p.list()
		return &LoadEdges{pos, file, format, with}
	}
	features := !p.keyword("NODES")
	p.need(!features || p.keyword("FEATURES"))
	file, format, with := p.list()
	return &LoadNodes{pos, features, file, format, with}
}

// list parses the file that a list is read from, with its format and options.
func (p *parser) list() (file Value, format Name, with []Option) {
	p.need(p.keyword("FROM"))
	file = p.value(aFile, text)
	return file, p.optionalName("FORMAT", aFormat), p.with()
}

// exportList parses the rest of EXPORT for a list, or returns nil.
func (p *parser) exportList(pos Pos) Statement {
	for _, what := range []List{EdgeList, NodeList, FeatureList} {
		if p.keyword(string(what)) {
			return &ExportList{pos, what, p.to()}
		}
	}
	return nil
}
