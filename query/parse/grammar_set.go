package parse

import "fmt"

// maxSets is the maximum number of sets that a clause combines.
const maxSets = 64

// among parses an optional AMONG clause.
func (p *parser) among() Set {
	if !p.keyword("AMONG") {
		return nil
	}
	return p.sets()
}

// ParseSet parses a set as in an AMONG clause, such as NEIGHBORS(2) or ALL EXCEPT PPR(100). The error is a [*Error].
func ParseSet(text string) (Set, error) {
	f := Fragment{Pos: start(), Text: text}
	if err := f.check(); err != nil {
		return nil, err
	}
	p := parser{scan: scanner{rest: text, pos: f.Pos}}
	p.advance()
	s := p.sets()
	p.need(p.tok.kind == end || p.miss(string(end)))
	if p.err != nil {
		return nil, p.err
	}
	return s, nil
}

// sets parses a set or a combination of sets.
func (p *parser) sets() Set {
	s := p.set()
	for n := 1; ; n++ {
		pos := p.tok.pos
		op := p.setOperator()
		if op == "" {
			return s
		}
		if n == maxSets {
			p.stop(&Error{Pos: pos, Msg: fmt.Sprintf("more than %d sets are combined", maxSets)})
		}
		s = &Combination{s.Position(), s, op, p.set()}
	}
}

// setOperator parses a set operator, or returns "".
func (p *parser) setOperator() SetOperator {
	for _, op := range []SetOperator{SetUnion, SetExcept, SetIntersect} {
		if p.keyword(string(op)) {
			return op
		}
	}
	return ""
}

// set parses one set.
func (p *parser) set() Set {
	pos := p.tok.pos
	switch {
	case p.tok.kind == lparen:
		return &ListSet{pos, listed(p, p.node)}
	case p.tok.kind == param:
		return &ParamSet{p.value(aSet).(Param)}
	case p.keyword("NEIGHBORS"):
		return &NeighborSet{pos, p.size()}
	case p.keyword("PPR"):
		return &PPRSet{pos, p.size()}
	case p.keyword("SAMPLE"):
		return &SampleSet{pos, p.size()}
	case p.keyword("SIMILAR"):
		return &SimilarSet{pos, p.size()}
	case p.keyword("LABEL"):
		return &LabelSet{pos, p.name(aLabel)}
	case p.keyword("ALL"):
		return &AllSet{pos}
	}
	p.need(p.miss("a list (node, ...)") || p.miss("a parameter"))
	return &AllSet{pos}
}

// size parses a count in parentheses.
func (p *parser) size() Value {
	p.need(p.is(lparen))
	n := p.count()
	p.need(p.is(rparen))
	return n
}
