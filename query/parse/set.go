package parse

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
