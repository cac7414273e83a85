package parse

// ExportModel writes a version of a model to a file.
type ExportModel struct {
	Pos
	Name    Name
	Version Value // Int, at least 1, or Param; nil: not given
	File    Value // String or Param
}

// ExportLog writes the log of observations and decisions to a file.
type ExportLog struct {
	Pos
	File Value // String or Param
}

// ImportModel reads a model, or a version of one, from a file.
type ImportModel struct {
	Pos
	Name Name
	File Value // String or Param
}

func (*ExportModel) statement() {}
func (*ExportLog) statement()   {}
func (*ImportModel) statement() {}

func (s *ExportModel) String() string {
	return "EXPORT MODEL " + s.Name.String() + clause(" VERSION ", s.Version) + " TO " + s.File.String()
}

func (s *ExportLog) String() string { return "EXPORT LOG TO " + s.File.String() }

func (s *ImportModel) String() string {
	return "IMPORT MODEL " + s.Name.String() + " FROM " + s.File.String()
}
