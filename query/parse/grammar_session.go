package parse

func (p *parser) begin(pos Pos) Statement {
	s := &Begin{Pos: pos, ReadOnly: p.keyword("READ")}
	if s.ReadOnly {
		p.need(p.keyword("ONLY"))
	}
	return s
}

// rollback parses the rest of ROLLBACK, of a model or of the transaction.
func (p *parser) rollback(pos Pos) Statement {
	if p.keyword("MODEL") {
		return &RollbackModel{pos, p.name(aModel)}
	}
	return &Rollback{pos}
}

// assign parses the rest of SET.
func (p *parser) assign(pos Pos) Statement { return &Assign{pos, p.option("a setting")} }
