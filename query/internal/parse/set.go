package parse

import "fmt"

// Set is a set of candidates: [*ListSet], [*SizedSet], [*LabelSet], [*NearSet], [*AllSet],
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

// SizedSet is a set of a given size, or within a given distance.
type SizedSet struct {
	Pos
	Function SetFunction
	Size     Value  // Int, at least 1, or Param; nil means 1, for SetNeighbors only
	Via      []Name // relations that are followed; nil means all
	Within   Value  // Int, String or Param: duration of SetNeighbors; nil means any
}

// SetFunction is the function of a SizedSet, as the statement spells it.
type SetFunction string

// The functions of a SizedSet.
const (
	SetNeighbors SetFunction = "NEIGHBORS" // the nodes within Size hops of the source, without the source
	SetPPR       SetFunction = "PPR"       // the nodes with the largest personalised PageRank from the source
	SetSample    SetFunction = "SAMPLE"    // nodes drawn at random
	SetSimilar   SetFunction = "SIMILAR"   // the nodes most similar to the source
	SetLikely    SetFunction = "LIKELY"    // the nodes that evidence for links of a relation leads to
)

// LabelSet is the nodes with a label.
type LabelSet struct {
	Pos
	Label Name
}

// NearSet is the nodes whose feature vectors are near to a vector. It is a set of candidates, or of
// sources.
type NearSet struct {
	Pos
	Vector []Value   // Int, Float or Param; a single Param may stand for the whole vector
	Size   Value     // Int, at least 1, or Param
	Label  Name      // of the nodes; the zero Name means any
	Where  Condition // on the nodes; nil means none
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
func (*SizedSet) set()    {}
func (*LabelSet) set()    {}
func (*AllSet) set()      {}
func (*NearSet) set()     {}
func (*ParamSet) set()    {}
func (*Combination) set() {}

func (s *ListSet) String() string { return "(" + join(s.Nodes) + ")" }
func (s *SizedSet) String() string {
	text := string(s.Function)
	if s.Size != nil {
		text += "(" + s.Size.String() + ")"
	}
	if s.Via != nil {
		text += " VIA " + join(s.Via)
	}
	return text + optional(" WITHIN ", s.Within)
}
func (s *LabelSet) String() string { return "LABEL " + s.Label.String() }
func (s *AllSet) String() string   { return "ALL" }

func (s *NearSet) String() string {
	vector := join(s.Vector)
	if _, whole := s.Vector[0].(Param); !whole || len(s.Vector) > 1 {
		vector = "(" + vector + ")"
	}
	text := "NEAR(" + vector + ", " + s.Size.String()
	if s.Label.Value != "" {
		text += " LABEL " + s.Label.String()
	}
	if s.Where != nil {
		text += " WHERE " + s.Where.String()
	}
	return text + ")"
}

func (s *Combination) String() string {
	return s.Left.String() + " " + string(s.Operator) + " " + s.Right.String()
}

// maxSets is the maximum number of sets that a clause combines.
const maxSets = 64

// ParseSet parses a set as in an AMONG clause, such as NEIGHBORS(2) or ALL EXCEPT PPR(100). The
// error is a [*Error].
func ParseSet(text string) (Set, error) {
	return parse(Fragment{Text: text}, func(p *parser) Set {
		s := p.sets()
		p.end()
		return s
	})
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
	for _, k := range []SetFunction{SetNeighbors, SetPPR, SetSample, SetSimilar, SetLikely} {
		if p.keyword(string(k)) {
			s := &SizedSet{Pos: pos, Function: k}
			if k != SetNeighbors || p.tok.symbol == lparen || p.miss(`"("`) {
				s.Size = p.size()
			}
			if (k == SetNeighbors || k == SetPPR) && p.keyword("VIA") {
				for s.Via = []Name{p.name(ARelation)}; p.is(comma); {
					s.Via = append(s.Via, p.name(ARelation))
				}
			}
			if k == SetNeighbors && p.keyword("WITHIN") {
				s.Within = p.value(aDuration, integer, text)
			}
			return s
		}
	}
	switch {
	case p.keyword("NEAR"):
		return p.near(pos)
	case p.tok.symbol == lparen:
		return &ListSet{pos, listed(p, p.node)}
	case p.tok.symbol == param:
		return &ParamSet{p.value(aSet).(Param)}
	case p.keyword("LABEL"):
		return &LabelSet{pos, p.name(ALabel)}
	case p.keyword("ALL"):
		return &AllSet{pos}
	}
	p.need(p.miss("a list (node, ...)") || p.miss("a parameter"))
	return &AllSet{pos}
}

// near parses what follows NEAR.
func (p *parser) near(pos Pos) *NearSet {
	s := &NearSet{Pos: pos}
	p.need(p.is(lparen))
	if p.tok.symbol == lparen || p.miss(`"("`) {
		s.Vector = listed(p, p.number)
	} else {
		s.Vector = []Value{p.value(aVector)}
	}
	p.need(p.is(comma))
	s.Size = p.count()
	if p.keyword("LABEL") {
		s.Label = p.name(ALabel)
	}
	if p.keyword("WHERE") {
		s.Where = p.condition(0)
	}
	p.need(p.is(rparen))
	return s
}

// size parses a count in parentheses.
func (p *parser) size() Value {
	p.need(p.is(lparen))
	n := p.count()
	p.need(p.is(rparen))
	return n
}
