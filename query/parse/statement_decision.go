package parse

// Choose draws one link of a node to try.
type Choose struct {
	Pos
	For     Value // Int, String or Param
	At      Value // Int or Param: seconds since 1970; nil: not given
	Among   Set
	Explore Name
	With    []Option // options of Explore; nil if Explore is not given
	Using   Name
	TTL     Value // Int (seconds), String or Param; nil: not given
}

// Reward gives the reward of a decision.
type Reward struct {
	Pos
	Decision Value // Int, at least 1, or Param
	Reward   Value // Int, Float or Param
	Insert   bool  // add the edge too
}

// ShowDecisions lists the decisions, latest first.
type ShowDecisions struct {
	Pos
	Top Value // Int, at least 1, or Param; nil: not given
}

// DescribeDecision shows all that is known about a decision.
type DescribeDecision struct {
	Pos
	Decision Value // Int, at least 1, or Param
}

func (*Choose) statement()           {}
func (*Reward) statement()           {}
func (*ShowDecisions) statement()    {}
func (*DescribeDecision) statement() {}

func (s *Choose) String() string {
	return "CHOOSE LINK FOR " + s.For.String() + clause(" AT ", s.At) + clause(" AMONG ", s.Among) + named(" EXPLORE ", s.Explore) + with(s.With) +
		named(" USING ", s.Using) + clause(" TTL ", s.TTL)
}

func (s *Reward) String() string {
	insert := ""
	if s.Insert {
		insert = " AND INSERT"
	}
	return "REWARD " + s.Decision.String() + " = " + s.Reward.String() + insert
}

func (s *ShowDecisions) String() string    { return "SHOW DECISIONS" + clause(" TOP ", s.Top) }
func (s *DescribeDecision) String() string { return "DESCRIBE DECISION " + s.Decision.String() }
