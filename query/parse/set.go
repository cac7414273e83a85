package parse

import "fmt"

// Set is a set of candidates: [*ListSet], [*NeighborSet], [*PPRSet], [*SampleSet], [*SimilarSet], [*LabelSet], [*AllSet],
// [*ParamSet] or [*Combination].
type Set interface {
	Node
	set()
}

// ListSet is a list of nodes.
type ListSet struct {
	Pos
	Nodes []Value // Int, String or Param; at least one
}

// NeighborSet is the nodes within a number of hops of the source, without the source.
type NeighborSet struct {
	Pos
	Hops Value // Int, at least 1, or Param
}

// PPRSet is the nodes with the largest personalised PageRank from the source.
type PPRSet struct {
	Pos
	Size Value // Int, at least 1, or Param
}

// SampleSet is a number of nodes drawn at random.
type SampleSet struct {
	Pos
	Size Value // Int, at least 1, or Param
}

// SimilarSet is the nodes most similar to the source.
type SimilarSet struct {
	Pos
	Size Value // Int, at least 1, or Param
}

// LabelSet is the nodes with a label.
type LabelSet struct {
	Pos
	Label Name
}

// AllSet is every node.
type AllSet struct{ Pos }

// ParamSet is a set given as an argument when the statement runs.
type ParamSet struct{ Param }

// Combination is a combination of two sets.
type Combination struct {
	Pos
	Left     Set
	Operator SetOperator
	Right    Set // not a Combination
}

// SetOperator is an operator that combines two sets, as the statement spells it.
type SetOperator string

// The set operators. They have the same precedence and associate to the left.
const (
	SetUnion     SetOperator = "UNION"
	SetExcept    SetOperator = "EXCEPT"
	SetIntersect SetOperator = "INTERSECT"
)

func (*ListSet) set()     {}
func (*NeighborSet) set() {}
func (*PPRSet) set()      {}
func (*SampleSet) set()   {}
func (*SimilarSet) set()  {}
func (*LabelSet) set()    {}
func (*AllSet) set()      {}
func (*ParamSet) set()    {}
func (*Combination) set() {}

func (s *ListSet) String() string     { return "(" + join(s.Nodes) + ")" }
func (s *NeighborSet) String() string { return "NEIGHBORS(" + s.Hops.String() + ")" }
func (s *PPRSet) String() string      { return "PPR(" + s.Size.String() + ")" }
func (s *SampleSet) String() string   { return "SAMPLE(" + s.Size.String() + ")" }
func (s *SimilarSet) String() string  { return "SIMILAR(" + s.Size.String() + ")" }
func (s *LabelSet) String() string    { return "LABEL " + s.Label.String() }
func (s *AllSet) String() string      { return "ALL" }

func (s *Combination) String() string {
	return s.Left.String() + " " + string(s.Operator) + " " + s.Right.String()
}

// maxSets is the maximum number of sets that a clause combines.
const maxSets = 64

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

// among parses an optional AMONG clause.
func (p *parser) among() Set {
	if !p.keyword("AMONG") {
		return nil
	}
	return p.sets()
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
