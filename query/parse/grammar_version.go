package parse

func (p *parser) deploy(pos Pos) Statement {
	return &DeployModel{Pos: pos, Name: p.modelName(), Version: p.optionalCount("VERSION")}
}

// modelName parses the keyword MODEL and a name.
func (p *parser) modelName() Name {
	p.need(p.keyword("MODEL"))
	return p.name(aModel)
}

// using parses an optional USING clause: a model and perhaps a version of it.
func (p *parser) using() (model Name, version Value) {
	model = p.optionalName("USING", aModel)
	if model.Value == "" {
		return model, nil
	}
	return model, p.optionalCount("VERSION")
}
