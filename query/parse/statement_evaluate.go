package parse

import "strings"

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

func (*EvaluateLog) statement()     {}
func (*EvaluateHoldout) statement() {}
func (*EvaluateStream) statement()  {}

func (s *EvaluateLog) String() string {
	return "EVALUATE " + s.model() + clause(" VERSION ", s.Version) + " ON LOG USING " + s.Estimator.String() + with(s.With)
}

// model formats the name, in quotes if it would be taken for the first word of another form of EVALUATE.
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
