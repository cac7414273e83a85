package parse

import "strings"

// evaluateKinds returns the statements that measure models.
func evaluateKinds() []Kind {
	return []Kind{
		{"EVALUATE HOLDOUT", "measure predictions of edges that are hidden",
			"EVALUATE PREDICT LINKS FOR { node, ... | ALL | SAMPLE(n) }\n" +
				"    [AMONG sets] [USING model]\n" +
				"    ON { HOLDOUT number | HOLDOUT AFTER seconds }\n" +
				"    [WITH (option, ...)]",
			"EVALUATE PREDICT LINKS FOR SAMPLE(100) USING ease ON HOLDOUT 0.1", (*parser).evaluateHoldout},
		{"EVALUATE SPLIT", "measure predictions of the links of a file",
			"EVALUATE PREDICT LINKS FOR { node, ... | ALL | SAMPLE(n) }\n" +
				"    [AMONG sets] [USING model]\n" +
				"    ON SPLIT file [AGAINST file [EACH n]]\n" +
				"    [WITH (option, ...)]",
			"EVALUATE PREDICT LINKS FOR ALL USING ease ON SPLIT 'test.csv'", (*parser).evaluateHoldout},
		{"EVALUATE STREAM", "play policies on links that they do not know at first",
			"EVALUATE STREAM { file | EDGES } [CANDIDATES n] [USING policy]\n" +
				"    [BASELINES policy, ...] [WITH (option, ...)]",
			"EVALUATE STREAM EDGES USING default WITH (rounds = 2000)", (*parser).evaluateStream},
		{"EVALUATE LOG", "estimate from the log what a model would have earned",
			"EVALUATE model ON LOG USING estimator [WITH (option, ...)]",
			"EVALUATE friends ON LOG USING dr", (*parser).evaluateLog},
	}
}

// EvaluateLog estimates the value of a model from the rewarded decisions.
type EvaluateLog struct {
	Pos
	Model     Name
	Version   Value // of Model: Int, at least 1, or Param; nil: not given
	Estimator Name
	With      []Option
}

// EvaluateStream plays policies on the links of a file or of the database.
type EvaluateStream struct {
	Pos
	File       Value // String or Param; nil: the edges of the database
	Candidates Value // of a round: Int, at least 1, or Param; nil: not given
	Using      Name
	Baselines  []Name // nil: not given
	With       []Option
}

// EvaluateHoldout hides edges and measures how well they are predicted.
type EvaluateHoldout struct {
	Pos
	For     []Value // Int, String or Param; nil: all nodes
	Sample  Value   // number of nodes drawn: Int, at least 1, or Param; nil: not given
	Among   Set     // nil: not given
	Using   Name    // a model or a policy
	Version Value   // of Using: Int, at least 1, or Param; nil: not given
	// Exactly one of Share, After and Split is given. It says which edges are hidden.
	Share Value // of the edges: Int, Float or Param
	After Value // seconds: Int or Param
	Split Value // file: String or Param
	// Against are the pairs that the links of Split are compared with; nil: not given.
	Against Value // file: String or Param
	Each    Value // Int, at least 1, or Param; nil: not given
	With    []Option
}

// Kind implements [Statement].
func (s *EvaluateHoldout) Kind() string {
	if s.Split != nil {
		return "EVALUATE SPLIT"
	}
	return "EVALUATE HOLDOUT"
}

// Kind implements [Statement].
func (*EvaluateStream) Kind() string { return "EVALUATE STREAM" }
func (*EvaluateLog) Kind() string    { return "EVALUATE LOG" }

func (s *EvaluateLog) String() string {
	return "EVALUATE " + s.model() + clause(" VERSION ", s.Version) + " ON LOG USING " + s.Estimator.String() + with(s.With)
}

// model formats the name, in quotes if it would be taken for the first word of a different form of EVALUATE.
func (s *EvaluateLog) model() string {
	switch strings.ToUpper(s.Model.Value) {
	case "STREAM", "PREDICT":
		return quote(s.Model.Value, `"`)
	}
	return s.Model.String()
}

func (s *EvaluateHoldout) String() string {
	of := "ALL"
	switch {
	case len(s.For) > 0:
		of = join(s.For)
	case s.Sample != nil:
		of = "SAMPLE(" + s.Sample.String() + ")"
	}
	return "EVALUATE PREDICT LINKS FOR " + of + clause(" AMONG ", s.Among) + using(s.Using, s.Version) + " ON " + s.hidden() + with(s.With)
}

// hidden formats the clause that says which edges are hidden.
func (s *EvaluateHoldout) hidden() string {
	switch {
	case s.Split != nil:
		return "SPLIT " + s.Split.String() + clause(" AGAINST ", s.Against) + clause(" EACH ", s.Each)
	case s.After != nil:
		return "HOLDOUT AFTER " + s.After.String()
	}
	return "HOLDOUT " + s.Share.String()
}

func (s *EvaluateStream) String() string {
	source, baselines := "EDGES", ""
	if s.File != nil {
		source = s.File.String()
	}
	if len(s.Baselines) > 0 {
		baselines = " BASELINES " + join(s.Baselines)
	}
	return "EVALUATE STREAM " + source + clause(" CANDIDATES ", s.Candidates) + named(" USING ", s.Using) + baselines + with(s.With)
}

func (p *parser) evaluateLog(pos Pos, _ string) Statement {
	s := &EvaluateLog{Pos: pos, Model: p.name(AModel)}
	s.Version = p.optionalCount("VERSION")
	p.need(p.keyword("ON"))
	p.need(p.keyword("LOG"))
	p.need(p.keyword("USING"))
	s.Estimator = p.name(AnEstimator)
	s.With = p.with(s)
	return s
}

// evaluateHoldout parses EVALUATE HOLDOUT and EVALUATE SPLIT, which begin alike.
func (p *parser) evaluateHoldout(pos Pos, _ string) Statement {
	s := &EvaluateHoldout{Pos: pos}
	switch {
	case p.keyword("ALL"):
	case p.keyword("SAMPLE"):
		s.Sample = p.size()
	default:
		s.For = list(p, p.node)
	}
	s.Among = p.among()
	s.Using, s.Version = p.using()
	p.need(p.keyword("ON"))
	p.hidden(s)
	s.With = p.with(s)
	return s
}

// hidden parses the clause that says which edges are hidden.
func (p *parser) hidden(s *EvaluateHoldout) {
	if p.keyword("SPLIT") {
		s.Split = p.value(AFile, text)
		if p.keyword("AGAINST") {
			s.Against = p.value(AFile, text)
			s.Each = p.optionalCount("EACH")
		}
		return
	}
	p.need(p.keyword("HOLDOUT"))
	if p.keyword("AFTER") {
		s.After = p.value(aTime, integer)
		return
	}
	s.Share = p.number()
}

func (p *parser) evaluateStream(pos Pos, _ string) Statement {
	s := &EvaluateStream{Pos: pos}
	if !p.keyword("EDGES") {
		s.File = p.value(AFile, text)
	}
	s.Candidates = p.optionalCount("CANDIDATES")
	s.Using = p.optionalName("USING", APolicy)
	if p.keyword("BASELINES") {
		s.Baselines = list(p, func() Name { return p.name(APolicy) })
	}
	s.With = p.with(s)
	return s
}
