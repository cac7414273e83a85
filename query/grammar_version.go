package query

func (p *parser) deploy(pos Pos) Statement {
	return &DeployModel{Pos: pos, Name: p.modelName(), Version: p.optionalCount("VERSION")}
}

// modelName consumes the keyword and the name of a model.
func (p *parser) modelName() Name {
	p.need(p.keyword("MODEL"))
	return p.name(aModel)
}

// using consumes a clause that names a model, and perhaps a version of it, or nothing.
func (p *parser) using() (model Name, version Value) {
	model = p.optionalName("USING", aModel)
	if model.Value == "" {
		return model, nil
	}
	return model, p.optionalCount("VERSION")
}
