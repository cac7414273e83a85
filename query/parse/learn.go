package parse

// learnKinds returns the statements that teach models by rewards.
func learnKinds() []Kind {
	return []Kind{
		{"OBSERVE", "tell a model what became of a link; AND INSERT adds the link",
			"OBSERVE node -> node = number [AMONG sets] [USING name]\n" +
				"    [AND INSERT]",
			"OBSERVE 'ann' -> 'dan' = 1 AND INSERT", (*parser).observe},
		{"CHOOSE LINK", "draw one of the candidates at random, and keep the decision",
			"CHOOSE LINK FOR node [AT seconds] AMONG sets\n" +
				"    [EXPLORE explorer [WITH (option, ...)]] [USING name]\n" +
				"    [TTL duration]",
			"CHOOSE LINK FOR 'ann' AMONG NEIGHBORS(2) TTL '7d'", (*parser).choose},
		{"REWARD", "report the outcome of a decision",
			"REWARD n = number [AND INSERT]",
			"REWARD 17 = 1", (*parser).reward},
		{"SHOW DECISIONS", "list the latest decisions",
			"SHOW DECISIONS [TOP n]", "SHOW DECISIONS TOP 20", (*parser).listing},
		{"DESCRIBE DECISION", "show all that is known of a decision",
			"DESCRIBE DECISION n", "DESCRIBE DECISION 17", (*parser).aboutDecision},
	}
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

// Kind implements [Statement].
func (*Observe) Kind() string { return "OBSERVE" }
func (*Choose) Kind() string  { return "CHOOSE LINK" }
func (*Reward) Kind() string  { return "REWARD" }

func (s *Observe) String() string {
	return "OBSERVE " + s.Source.String() + " -> " + s.Target.String() + " = " + s.Reward.String() +
		clause(" AMONG ", s.Among) + named(" USING ", s.Using) + andInsert(s.Insert)
}

func (s *Reward) String() string {
	return "REWARD " + s.Decision.String() + " = " + s.Reward.String() + andInsert(s.Insert)
}

func andInsert(insert bool) string {
	if insert {
		return " AND INSERT"
	}
	return ""
}

func (s *Choose) String() string {
	return "CHOOSE LINK FOR " + s.For.String() + clause(" AT ", s.At) + clause(" AMONG ", s.Among) + named(" EXPLORE ", s.Explore) + with(s.With) +
		named(" USING ", s.Using) + clause(" TTL ", s.TTL)
}

func (p *parser) observe(pos Pos, _ string) Statement {
	e := p.ends()
	p.need(p.is(equals))
	return &Observe{
		Pos: pos, Source: e.Source, Target: e.Target, Reward: p.number(),
		Among: p.among(), Using: p.optionalName("USING", AModel), Insert: p.andInsert(),
	}
}

// andInsert parses an optional AND INSERT.
func (p *parser) andInsert() bool {
	if !p.keyword("AND") {
		return false
	}
	p.need(p.keyword("INSERT"))
	return true
}

func (p *parser) choose(pos Pos, _ string) Statement {
	s := &Choose{Pos: pos, For: p.node(), At: p.at()}
	s.Among = p.among()
	p.need(s.Among != nil)
	if s.Explore = p.optionalName("EXPLORE", AnExplorer); s.Explore.Value != "" {
		s.With = p.with(s)
	}
	s.Using = p.optionalName("USING", AModel)
	if p.keyword("TTL") {
		s.TTL = p.value(aDuration, integer, text)
	}
	return s
}

func (p *parser) reward(pos Pos, _ string) Statement {
	s := &Reward{Pos: pos, Decision: p.count()}
	p.need(p.is(equals))
	s.Reward = p.number()
	s.Insert = p.andInsert()
	return s
}
