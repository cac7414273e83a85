package parse

import "strings"

// fileKinds returns the statements that read and write files.
func fileKinds() []Kind {
	return []Kind{
		{"LOAD EDGES", "read edges from a file, or a graph from a folder",
			"LOAD EDGES FROM file [FORMAT format] [WITH (option, ...)]",
			"LOAD EDGES FROM 'friends.csv' WITH (columns = 'src,dst,weight')", (*parser).load},
		{"LOAD NODES", "read nodes and their labels from a file",
			"LOAD NODES FROM file [FORMAT format] [WITH (option, ...)]",
			"LOAD NODES FROM 'people.csv' WITH (label = person)", (*parser).load},
		{"LOAD FEATURES", "read feature vectors of nodes from a file",
			"LOAD FEATURES FROM file [FORMAT format] [WITH (option, ...)]",
			"LOAD FEATURES FROM 'features.npy' WITH (keyless = on)", (*parser).load},
		{"EXPORT EDGES", "write the edges to a file",
			"EXPORT EDGES TO file", "EXPORT EDGES TO 'friends.csv.gz'", (*parser).toFile},
		{"EXPORT NODES", "write the nodes and their labels to a file",
			"EXPORT NODES TO file", "EXPORT NODES TO 'people.csv'", (*parser).toFile},
		{"EXPORT FEATURES", "write the feature vectors to a file",
			"EXPORT FEATURES TO file", "EXPORT FEATURES TO 'features.csv'", (*parser).toFile},
		{"EXPORT LOG", "write the observations and decisions to a file",
			"EXPORT LOG TO file", "EXPORT LOG TO 'log.jsonl'", (*parser).toFile},
		{"BACKUP", "write all of the database to a file",
			"BACKUP TO file", "BACKUP TO 'monday.kbk'", (*parser).toFile},
	}
}

// Load reads a list from a file into the database.
type Load struct {
	Pos
	What   List
	File   Value // String or Param
	Format Name
	With   []Option
}

// List is the kind of a list, as the statement spells it.
type List string

// The kinds of lists.
const (
	EdgeList    List = "EDGES"
	NodeList    List = "NODES"
	FeatureList List = "FEATURES"
)

// Kind implements [Statement].
func (s *Load) Kind() string { return "LOAD " + string(s.What) }

func (s *Load) String() string {
	return s.Kind() + " FROM " + s.File.String() + named(" FORMAT ", s.Format) + with(s.With)
}

func (p *parser) load(pos Pos, kind string) Statement {
	_, what, _ := strings.Cut(kind, " ")
	s := &Load{Pos: pos, What: List(what), File: p.value(AFile, text), Format: p.optionalName("FORMAT", AFormat)}
	s.With = p.with(s)
	return s
}

// to parses TO and a file name.
func (p *parser) to() Value {
	p.need(p.keyword("TO"))
	return p.value(AFile, text)
}
