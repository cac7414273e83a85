package parse

// LoadNodes reads a list of nodes into the database: keys and labels or, with Features, keys and feature vectors.
type LoadNodes struct {
	Pos
	Features bool
	File     Value // String or Param
	Format   Name
	With     []Option
}

// ExportList writes a list to a file.
type ExportList struct {
	Pos
	What List
	File Value // String or Param
}

// List is the kind of a list, as the statement spells it.
type List string

// The kinds of lists.
const (
	EdgeList    List = "EDGES"
	NodeList    List = "NODES"
	FeatureList List = "FEATURES"
)

// Backup writes the whole database to a file.
type Backup struct {
	Pos
	File Value // String or Param
}

func (*LoadNodes) statement()  {}
func (*ExportList) statement() {}
func (*Backup) statement()     {}

func (s *LoadNodes) String() string {
	what := NodeList
	if s.Features {
		what = FeatureList
	}
	return "LOAD " + string(what) + " FROM " + s.File.String() + named(" FORMAT ", s.Format) + with(s.With)
}

func (s *ExportList) String() string { return "EXPORT " + string(s.What) + " TO " + s.File.String() }
func (s *Backup) String() string     { return "BACKUP TO " + s.File.String() }
