package parse

// Statement is a parsed statement. The types that implement it are pointers to the statement structs of this package.
type Statement interface {
	Node
	statement()
}

// Explain shows the plan of a statement instead of its rows or, with Profile, runs the statement and shows the time of
// each step.
type Explain struct {
	Pos
	Profile   bool      // run the statement and show the times
	Statement Statement // not an Explain
}

// Predict ranks links from each of the sources to the candidates or, with Class, to the classes of a model.
type Predict struct {
	Pos
	Class bool    // Among is nil and Using is given
	For   []Value // Int, String or Param; at least one
	At    Value   // Int or Param: seconds since 1970; nil: not given
	Among Set     // nil: not given
	// Assuming are additional edges that the statement assumes; nil: not given.
	Assuming []Edge
	Using    Name
	Version  Value     // of Using: Int, at least 1, or Param; nil: not given
	Where    Condition // nil: not given
	Top      Value     // Int, at least 1, or Param; nil: not given
	// Return names the columns of the answer, in lower case; nil: not given.
	Return []Name
	With   []Option
}

// InsertNode adds a node (INSERT), or adds or changes one (MERGE).
type InsertNode struct {
	Pos
	Merge    bool
	Node     Value // Int, String or Param
	Label    Name
	Features []Value // Int, Float or Param; nil: not given
}

// InsertEdges adds edges (INSERT), or adds or changes them (MERGE).
type InsertEdges struct {
	Pos
	Merge bool
	Edges []Edge // at least one
}

// DeleteNode removes a node and its edges.
type DeleteNode struct {
	Pos
	Node Value // Int, String or Param
}

// DeleteEdges removes edges.
type DeleteEdges struct {
	Pos
	Edges []Edge // at least one, without weight and time
}

// Neighbors lists the nodes near a node.
type Neighbors struct {
	Pos
	Of    Value // Int, String or Param
	Depth Value // Int, at least 1, or Param; nil: not given
	Top   Value // Int, at least 1, or Param; nil: not given
}

// Nodes lists nodes.
type Nodes struct {
	Pos
	Label Name
	Where Condition // nil: not given
	Top   Value     // Int, at least 1, or Param; nil: not given
}

// Rank ranks nodes by their personalised PageRank, for each of the sources.
type Rank struct {
	Pos
	For      []Value // Int, String or Param; at least one
	Assuming []Edge  // nil: not given
	Top      Value   // Int, at least 1, or Param; nil: not given
	With     []Option
}

// Path finds a shortest path.
type Path struct {
	Pos
	From, To Value // Int, String or Param
	Depth    Value // Int, at least 1, or Param; nil: not given
}

// Why explains the score of a link.
type Why struct {
	Pos
	Source, Target Value  // Int, String or Param
	At             Value  // Int or Param: seconds since 1970; nil: not given
	Among          Set    // nil: not given
	Assuming       []Edge // nil: not given
	Using          Name
	Version        Value // of Using: Int, at least 1, or Param; nil: not given
	Paths          Value // Int, at least 1, or Param; nil: not given
	With           []Option
}

// Observe gives a model the reward of a link.
type Observe struct {
	Pos
	Source, Target Value // Int, String or Param
	Reward         Value // Int, Float or Param
	Among          Set   // the candidates the link was one of; nil: not given
	Using          Name
	Insert         bool // add the edge too
}

// CreateModel creates a model.
type CreateModel struct {
	Pos
	Name   Name
	Policy Name // "": not given, which means default
	With   []Option
}

// TrainModel trains a model on the edges or the log of the database.
type TrainModel struct {
	Pos
	Name Name
	From TrainingData
	With []Option
}

// TrainingData is what a model is trained on, as the statement spells it.
type TrainingData string

// The data of TRAIN MODEL.
const (
	FromDefault TrainingData = ""
	FromEdges   TrainingData = "EDGES" // the edges stored
	FromLog     TrainingData = "LOG"   // the observations recorded
)

// DropModel removes a model.
type DropModel struct {
	Pos
	Name Name
}

// LoadEdges reads an edge list into the database.
type LoadEdges struct {
	Pos
	File   Value // String or Param
	Format Name
	With   []Option
}

// ShowStats shows the size of the database and of its parts.
type ShowStats struct{ Pos }

// ShowLabels lists the labels.
type ShowLabels struct {
	Pos
	Top Value // Int, at least 1, or Param; nil: not given
}

// ShowPolicies lists the policies that a model can follow.
type ShowPolicies struct{ Pos }

// ShowModels lists the models.
type ShowModels struct{ Pos }

// ShowCache shows the contents and the counters of the cache of PageRank states.
type ShowCache struct{ Pos }

// Warm computes and caches the PageRank states of nodes.
type Warm struct {
	Pos
	Nodes []Value // Int, String or Param; at least one
}

// DescribeModel shows all that is known about a model.
type DescribeModel struct {
	Pos
	Name Name
}

// DescribeNode shows all that is known about a node.
type DescribeNode struct {
	Pos
	Node Value // Int, String or Param
}

// Check verifies the database.
type Check struct{ Pos }

func (*Explain) statement()       {}
func (*Predict) statement()       {}
func (*InsertNode) statement()    {}
func (*InsertEdges) statement()   {}
func (*DeleteNode) statement()    {}
func (*DeleteEdges) statement()   {}
func (*Neighbors) statement()     {}
func (*Nodes) statement()         {}
func (*Rank) statement()          {}
func (*Path) statement()          {}
func (*Why) statement()           {}
func (*Observe) statement()       {}
func (*CreateModel) statement()   {}
func (*TrainModel) statement()    {}
func (*DropModel) statement()     {}
func (*LoadEdges) statement()     {}
func (*ShowStats) statement()     {}
func (*ShowLabels) statement()    {}
func (*ShowPolicies) statement()  {}
func (*ShowModels) statement()    {}
func (*ShowCache) statement()     {}
func (*Warm) statement()          {}
func (*DescribeModel) statement() {}
func (*DescribeNode) statement()  {}
func (*Check) statement()         {}

func (s *Explain) String() string {
	if s.Profile {
		return "PROFILE " + s.Statement.String()
	}
	return "EXPLAIN " + s.Statement.String()
}

func (s *Predict) String() string {
	what := "LINKS"
	if s.Class {
		what = "CLASS"
	}
	return "PREDICT " + what + " FOR " + join(s.For) + clause(" AT ", s.At) + clause(" AMONG ", s.Among) + assuming(s.Assuming) + using(s.Using, s.Version) +
		where(s.Where) + clause(" TOP ", s.Top) + returning(s.Return) + with(s.With)
}

// assuming formats an optional ASSUMING clause.
func assuming(edges []Edge) string {
	if len(edges) == 0 {
		return ""
	}
	return " ASSUMING " + join(edges)
}

// returning formats an optional RETURN clause.
func returning(columns []Name) string {
	if len(columns) == 0 {
		return ""
	}
	return " RETURN " + join(columns)
}

func (s *InsertNode) String() string {
	features := ""
	if len(s.Features) > 0 {
		features = " FEATURES (" + join(s.Features) + ")"
	}
	return putVerb(s.Merge) + " NODE " + s.Node.String() + named(" LABEL ", s.Label) + features
}

func (s *InsertEdges) String() string { return putVerb(s.Merge) + " EDGES " + join(s.Edges) }

func putVerb(merge bool) string {
	if merge {
		return "MERGE"
	}
	return "INSERT"
}

func (s *DeleteNode) String() string  { return "DELETE NODE " + s.Node.String() }
func (s *DeleteEdges) String() string { return "DELETE EDGES " + join(s.Edges) }

func (s *Neighbors) String() string {
	return "NEIGHBORS OF " + s.Of.String() + clause(" DEPTH ", s.Depth) + clause(" TOP ", s.Top)
}

func (s *Nodes) String() string {
	return "NODES" + named(" LABEL ", s.Label) + where(s.Where) + clause(" TOP ", s.Top)
}

func (s *Rank) String() string {
	return "RANK NODES FOR " + join(s.For) + assuming(s.Assuming) + clause(" TOP ", s.Top) + with(s.With)
}

func (s *Path) String() string {
	return "PATH FROM " + s.From.String() + " TO " + s.To.String() + clause(" DEPTH ", s.Depth)
}

func (s *Why) String() string {
	return "WHY " + s.Source.String() + " -> " + s.Target.String() + clause(" AT ", s.At) + clause(" AMONG ", s.Among) + assuming(s.Assuming) +
		using(s.Using, s.Version) + clause(" PATHS ", s.Paths) + with(s.With)
}

func (s *Observe) String() string {
	insert := ""
	if s.Insert {
		insert = " AND INSERT"
	}
	return "OBSERVE " + s.Source.String() + " -> " + s.Target.String() + " = " + s.Reward.String() +
		clause(" AMONG ", s.Among) + named(" USING ", s.Using) + insert
}

func (s *CreateModel) String() string {
	return "CREATE MODEL " + s.Name.String() + named(" USING ", s.Policy) + with(s.With)
}

func (s *TrainModel) String() string {
	from := ""
	if s.From != FromDefault {
		from = " FROM " + string(s.From)
	}
	return "TRAIN MODEL " + s.Name.String() + from + with(s.With)
}

func (s *DropModel) String() string { return "DROP MODEL " + s.Name.String() }

func (s *LoadEdges) String() string {
	return "LOAD EDGES FROM " + s.File.String() + named(" FORMAT ", s.Format) + with(s.With)
}

func (s *ShowStats) String() string     { return "SHOW STATS" }
func (s *ShowLabels) String() string    { return "SHOW LABELS" + clause(" TOP ", s.Top) }
func (s *ShowPolicies) String() string  { return "SHOW POLICIES" }
func (s *ShowModels) String() string    { return "SHOW MODELS" }
func (s *ShowCache) String() string     { return "SHOW CACHE" }
func (s *Warm) String() string          { return "WARM " + join(s.Nodes) }
func (s *DescribeModel) String() string { return "DESCRIBE MODEL " + s.Name.String() }
func (s *DescribeNode) String() string  { return "DESCRIBE NODE " + s.Node.String() }
func (s *Check) String() string         { return "CHECK" }
