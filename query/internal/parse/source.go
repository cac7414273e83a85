package parse

// Seeds is a set of nodes that a statement asks about as one source.
type Seeds struct {
	Pos
	Nodes []Seed // at least one
}

// Seed is a node of a set of sources.
type Seed struct {
	Pos
	Node   Value // Int, String or Param
	Weight Value // Int, Float or Param; nil if absent
}

func (s Seeds) String() string { return "(" + join(s.Nodes) + ")" }

func (s Seed) String() string { return s.Node.String() + optional(" WEIGHT ", s.Weight) }

// source parses a node, a set of sources, or the nodes near a vector.
func (p *parser) source() Node {
	if pos := p.tok.pos; p.keyword("NEAR") {
		return p.near(pos)
	}
	if pos := p.tok.pos; p.tok.symbol == lparen || p.miss(`"("`) {
		return Seeds{pos, listed(p, p.seed)}
	}
	return p.node()
}

// seed parses a node with its optional weight.
func (p *parser) seed() Seed {
	s := Seed{Pos: p.tok.pos, Node: p.node()}
	if p.keyword("WEIGHT") {
		s.Weight = p.number()
	}
	return s
}
