package parse

// Simple is a statement of at most one operand.
type Simple struct {
	Pos
	Name    string // of its kind
	Operand Node   // the Name of a model, or the Value of a node, a decision or a file; nil: not given
}

// Listing is a statement that lists something.
type Listing struct {
	Pos
	Name string // of its kind
	Top  Value  // Int, at least 1, or Param; nil: not given
}

// Kind implements [Statement].
func (s *Simple) Kind() string  { return s.Name }
func (s *Listing) Kind() string { return s.Name }

// Model returns the name of the model that the statement is about.
func (s *Simple) Model() Name {
	n, _ := s.Operand.(Name)
	return n
}

// Value returns the node, decision or file that the statement is about.
func (s *Simple) Value() Value {
	v, _ := s.Operand.(Value)
	return v
}

func (s *Simple) String() string  { return firstWords(s.Name) + clause(" ", s.Operand) }
func (s *Listing) String() string { return s.Name + clause(" TOP ", s.Top) }

func (p *parser) bare(pos Pos, kind string) Statement { return &Simple{Pos: pos, Name: kind} }

func (p *parser) aboutModel(pos Pos, kind string) Statement {
	return &Simple{pos, kind, p.name(AModel)}
}

func (p *parser) aboutNode(pos Pos, kind string) Statement { return &Simple{pos, kind, p.node()} }

func (p *parser) aboutDecision(pos Pos, kind string) Statement { return &Simple{pos, kind, p.count()} }

func (p *parser) toFile(pos Pos, kind string) Statement {
	return &Simple{pos, kind, p.value(AFile, text)}
}

func (p *parser) listing(pos Pos, kind string) Statement {
	return &Listing{pos, kind, p.optionalCount("TOP")}
}
