package parse

// modelKinds returns the statements about models and their versions.
func modelKinds() []Kind {
	return []Kind{
		{"CREATE MODEL", "make an untrained model that follows a policy",
			"CREATE MODEL name [USING policy] [WITH (option, ...)]",
			"CREATE MODEL friends", (*parser).createModel},
		{"TRAIN MODEL", "fit a new version of a model to the edges or the log",
			"TRAIN MODEL name [FROM { EDGES | LOG }] [WITH (option, ...)]",
			"TRAIN MODEL friends FROM EDGES", (*parser).trainModel},
		{"DEPLOY MODEL", "make a model, or a version of it, the one that answers",
			"DEPLOY MODEL name [VERSION n]",
			"DEPLOY MODEL friends VERSION 2", (*parser).deployModel},
		{"ROLLBACK MODEL", "deploy the version that was deployed before",
			"ROLLBACK MODEL name", "ROLLBACK MODEL friends", (*parser).aboutModel},
		{"FREEZE MODEL", "keep a model from learning",
			"FREEZE MODEL name", "FREEZE MODEL friends", (*parser).aboutModel},
		{"THAW MODEL", "let a frozen model learn again",
			"THAW MODEL name", "THAW MODEL friends", (*parser).aboutModel},
		{"DROP MODEL", "delete a model and its versions",
			"DROP MODEL name", "DROP MODEL friends", (*parser).aboutModel},
		{"SHOW MODELS", "list the models",
			"SHOW MODELS", "SHOW MODELS", (*parser).bare},
		{"SHOW VERSIONS", "list the versions of a model",
			"SHOW VERSIONS OF name", "SHOW VERSIONS OF friends", (*parser).aboutModel},
		{"SHOW POLICIES", "list the policies that a model can follow",
			"SHOW POLICIES", "SHOW POLICIES", (*parser).bare},
		{"DESCRIBE MODEL", "show all that is known of a model",
			"DESCRIBE MODEL name", "DESCRIBE MODEL friends", (*parser).aboutModel},
		{"EXPORT MODEL", "write a model to a file",
			"EXPORT MODEL model TO file", "EXPORT MODEL friends TO 'friends.model'", (*parser).exportModel},
		{"IMPORT MODEL", "make a model of an exported file",
			"IMPORT MODEL name FROM file", "IMPORT MODEL friends FROM 'friends.model'", (*parser).importModel},
	}
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

// DeployModel makes a model the one that answers where none is named. With Version it deploys that version of the
// model.
type DeployModel struct {
	Pos
	Name    Name
	Version Value // nil: the deployed version
}

// ExportModel writes a version of a model to a file.
type ExportModel struct {
	Pos
	Name    Name
	Version Value // Int, at least 1, or Param; nil: not given
	File    Value // String or Param
}

// ImportModel reads a model, or a version of one, from a file.
type ImportModel struct {
	Pos
	Name Name
	File Value // String or Param
}

// Kind implements [Statement].
func (*CreateModel) Kind() string { return "CREATE MODEL" }
func (*TrainModel) Kind() string  { return "TRAIN MODEL" }
func (*DeployModel) Kind() string { return "DEPLOY MODEL" }
func (*ExportModel) Kind() string { return "EXPORT MODEL" }
func (*ImportModel) Kind() string { return "IMPORT MODEL" }

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

func (s *DeployModel) String() string {
	return "DEPLOY MODEL " + s.Name.String() + clause(" VERSION ", s.Version)
}

func (s *ExportModel) String() string {
	return "EXPORT MODEL " + s.Name.String() + clause(" VERSION ", s.Version) + " TO " + s.File.String()
}

func (s *ImportModel) String() string {
	return "IMPORT MODEL " + s.Name.String() + " FROM " + s.File.String()
}

func (p *parser) createModel(pos Pos, _ string) Statement {
	s := &CreateModel{Pos: pos, Name: p.name(aNewModel), Policy: p.optionalName("USING", APolicy)}
	s.With = p.with(s)
	return s
}

func (p *parser) trainModel(pos Pos, _ string) Statement {
	s := &TrainModel{Pos: pos, Name: p.name(AModel)}
	if p.keyword("FROM") {
		s.From = p.trainingData()
	}
	s.With = p.with(s)
	return s
}

func (p *parser) trainingData() TrainingData {
	if p.keyword(string(FromEdges)) {
		return FromEdges
	}
	p.need(p.keyword(string(FromLog)))
	return FromLog
}

func (p *parser) deployModel(pos Pos, _ string) Statement {
	return &DeployModel{Pos: pos, Name: p.name(AModel), Version: p.optionalCount("VERSION")}
}

func (p *parser) exportModel(pos Pos, _ string) Statement {
	return &ExportModel{Pos: pos, Name: p.name(AModel), Version: p.optionalCount("VERSION"), File: p.to()}
}

func (p *parser) importModel(pos Pos, _ string) Statement {
	s := &ImportModel{Pos: pos, Name: p.name(AModel)}
	p.need(p.keyword("FROM"))
	s.File = p.value(AFile, text)
	return s
}
