package parse

// Clause is a keyword or a sign of the grammar, and the type of the operands after it that its
// methods return. In
//
//	OBSERVE 'ann' -> 'dan' = 1 USING friends
//
// Observed.Of(s) is 'ann', Target.Of(s) is 'dan', Reward.Of(s) is 1, and Using.Of(s) is friends.
type Clause[N Node] string

// The clauses. Where operands of a keyword have different types in different statements, the
// keyword has several clauses.
const (
	After     Clause[Value]     = "AFTER"
	All       Clause[Node]      = "ALL"
	Among     Clause[Set]       = "AMONG"
	Assuming  Clause[Edge]      = "ASSUMING"
	Arrow     Clause[Name]      = "-[" // the relation of a link
	ArrowHead Clause[Value]     = "]->"
	At        Clause[Value]     = "AT"
	Chosen    Clause[Value]     = "CHOOSE"
	Decision  Clause[Value]     = "DECISION"
	Depth     Clause[Value]     = "DEPTH"
	Drawn     Clause[Value]     = "DRAW"
	Each      Clause[Node]      = "EACH"
	Edges     Clause[Edge]      = "EDGES"
	Evaluated Clause[Name]      = "EVALUATE"
	Explore   Clause[Name]      = "EXPLORE"
	Features  Clause[Value]     = "FEATURES"
	For       Clause[Node]      = "FOR" // sources: values, [Seeds] and [*NearSet]
	ForNode   Clause[Value]     = "FOR" // where a source is a single node
	ForRules  Clause[Name]      = "FOR" // where it is a relation
	Format    Clause[Name]      = "FORMAT"
	From      Clause[Value]     = "FROM"
	Holdout   Clause[Value]     = "HOLDOUT"
	Insert    Clause[Node]      = "INSERT"
	Inverse   Clause[Name]      = "INVERSE"
	Label     Clause[Name]      = "LABEL"
	Link      Clause[Name]      = "LINK"
	Links     Clause[Name]      = "LINKS"
	Log       Clause[Node]      = "LOG"
	Model     Clause[Name]      = "MODEL"
	TheNode   Clause[Value]     = "NODE"
	Observed  Clause[Value]     = "OBSERVE"
	OfModel   Clause[Name]      = "OF"
	OfNode    Clause[Value]     = "OF"
	Paths     Clause[Value]     = "PATHS"
	Place     Clause[Value]     = "PLACE"
	Read      Clause[Node]      = "READ"
	Relation  Clause[Name]      = "RELATION"
	Return    Clause[Name]      = "RETURN"
	Reward    Clause[Value]     = "="
	Rewarded  Clause[Value]     = "REWARD"
	Sample    Clause[Value]     = "SAMPLE"
	Setting   Clause[Option]    = "SET"
	SplitFile Clause[Value]     = "SPLIT"
	Star      Clause[Node]      = "*" // after RETURN
	Target    Clause[Value]     = "->"
	To        Clause[Value]     = "TO"
	Top       Clause[Value]     = "TOP"
	TTL       Clause[Value]     = "TTL"
	Using     Clause[Name]      = "USING"
	Version   Clause[Value]     = "VERSION"
	Via       Clause[Name]      = "VIA"
	Warmed    Clause[Value]     = "WARM"
	Where     Clause[Condition] = "WHERE"
	Why       Clause[Node]      = "WHY"
	With      Clause[Option]    = "WITH"
	Within    Clause[Value]     = "WITHIN"

	Assigned Clause[Assignment] = "SET" // of nodes
)

// Given reports whether a statement has the clause.
func (c Clause[N]) Given(s *Statement) bool { return s.find(string(c)) >= 0 }

// Of returns the first operand, or the zero value if the clause is not given.
func (c Clause[N]) Of(s *Statement) (n N) {
	if nodes := c.All(s); len(nodes) > 0 {
		n = nodes[0]
	}
	return n
}

// All returns the operands.
func (c Clause[N]) All(s *Statement) []N { return all[N](s, string(c)) }

// In returns the position of the first operand, or of the statement if the clause is not given.
func (c Clause[N]) In(s *Statement) Pos {
	if nodes := all[Node](s, string(c)); len(nodes) > 0 {
		return nodes[0].Position()
	}
	return s.Pos
}
