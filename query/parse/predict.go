package parse

import "slices"

// predictKinds returns the statements that predict links.
func predictKinds() []Kind {
	return []Kind{
		{"PREDICT LINKS", "rank the links that may come next from nodes to candidates",
			"PREDICT LINKS FOR node, ... [AT seconds] [AMONG sets]\n" +
				"    [ASSUMING edge, ...] [USING model] [WHERE condition] [TOP n]\n" +
				"    [RETURN column, ...] [WITH (option, ...)]",
			"PREDICT LINKS FOR 'ann' AMONG NEIGHBORS(2) TOP 10", (*parser).predictLinks},
		{"PREDICT CLASS", "rank the classes of nodes, by a model that has classes",
			"PREDICT CLASS FOR node, ... USING model [TOP n]\n" +
				"    [WITH (option, ...)]",
			"PREDICT CLASS FOR 17 USING topics TOP 3", (*parser).predictClass},
		{"WHY", "explain the score of a link",
			"WHY node -> node [AT seconds] [AMONG sets] [ASSUMING edge, ...]\n" +
				"    [USING model] [PATHS n] [WITH (option, ...)]",
			"WHY 'ann' -> 'dan' PATHS 5", (*parser).why},
		{"EXPLAIN", "show the plan of a statement, and do not run it",
			"EXPLAIN statement", "EXPLAIN PREDICT LINKS FOR 'ann'", (*parser).explain},
		{"PROFILE", "run a statement, and show the time of each step",
			"PROFILE statement", "PROFILE PREDICT LINKS FOR 'ann'", (*parser).explain},
	}
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

// Explain shows the plan of a statement instead of its rows or, with Profile, runs the statement and shows the time of
// each step.
type Explain struct {
	Pos
	Profile   bool      // run the statement and show the times
	Statement Statement // not an Explain
}

// Kind implements [Statement].
func (s *Predict) Kind() string {
	if s.Class {
		return "PREDICT CLASS"
	}
	return "PREDICT LINKS"
}

// Kind implements [Statement].
func (s *Explain) Kind() string {
	if s.Profile {
		return "PROFILE"
	}
	return "EXPLAIN"
}

// Kind implements [Statement].
func (*Why) Kind() string { return "WHY" }

func (s *Explain) String() string { return s.Kind() + " " + s.Statement.String() }

func (s *Predict) String() string {
	return s.Kind() + " FOR " + join(s.For) + clause(" AT ", s.At) + clause(" AMONG ", s.Among) + assuming(s.Assuming) +
		using(s.Using, s.Version) + where(s.Where) + clause(" TOP ", s.Top) + returning(s.Return) + with(s.With)
}

func (s *Why) String() string {
	return "WHY " + s.Source.String() + " -> " + s.Target.String() + clause(" AT ", s.At) + clause(" AMONG ", s.Among) + assuming(s.Assuming) +
		using(s.Using, s.Version) + clause(" PATHS ", s.Paths) + with(s.With)
}

// assuming formats an optional ASSUMING clause.
func assuming(edges []Edge) string {
	if len(edges) == 0 {
		return ""
	}
	return " ASSUMING " + join(edges)
}

// using formats an optional USING clause: a model and perhaps a version of it.
func using(model Name, version Value) string {
	return named(" USING ", model) + clause(" VERSION ", version)
}

// returning formats an optional RETURN clause.
func returning(columns []Name) string {
	if len(columns) == 0 {
		return ""
	}
	return " RETURN " + join(columns)
}

func (p *parser) predictLinks(pos Pos, _ string) Statement {
	s := &Predict{Pos: pos, For: list(p, p.node), At: p.at(), Among: p.among(), Assuming: p.assuming()}
	p.begun = s
	s.Using, s.Version = p.using()
	s.Where = p.where()
	s.Top = p.optionalCount("TOP")
	s.Return = p.columns()
	s.With = p.with(s)
	return s
}

func (p *parser) predictClass(pos Pos, _ string) Statement {
	s := &Predict{Pos: pos, Class: true, For: list(p, p.node)}
	s.Using, s.Version = p.using()
	p.need(s.Using.Value != "")
	s.Top = p.optionalCount("TOP")
	s.With = p.with(s)
	return s
}

func (p *parser) why(pos Pos, _ string) Statement {
	e := p.ends()
	s := &Why{Pos: pos, Source: e.Source, Target: e.Target, At: p.at(), Among: p.among(), Assuming: p.assuming()}
	s.Using, s.Version = p.using()
	s.Paths = p.optionalCount("PATHS")
	s.With = p.with(s)
	return s
}

// explain parses the statement that is explained, which is not an EXPLAIN or PROFILE itself.
func (p *parser) explain(pos Pos, kind string) Statement {
	inner := slices.DeleteFunc(Kinds(), func(k Kind) bool { return k.Name == "EXPLAIN" || k.Name == "PROFILE" })
	return &Explain{pos, kind == "PROFILE", p.statement(inner)}
}

// using parses an optional USING clause: a model and perhaps a version of it.
func (p *parser) using() (model Name, version Value) {
	model = p.optionalName("USING", AModel)
	if model.Value == "" {
		return model, nil
	}
	return model, p.optionalCount("VERSION")
}

// at parses an optional AT clause.
func (p *parser) at() Value {
	if !p.keyword("AT") {
		return nil
	}
	return p.value(aTime, integer)
}

// assuming parses an optional ASSUMING clause.
func (p *parser) assuming() []Edge {
	if !p.keyword("ASSUMING") {
		return nil
	}
	return list(p, p.edge)
}
