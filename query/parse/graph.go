package parse

// graphKinds returns the statements about nodes and edges.
func graphKinds() []Kind {
	return []Kind{
		{"INSERT NODE", "add a node that does not exist",
			"INSERT NODE node [LABEL name] [FEATURES (number, ...)]",
			"INSERT NODE 'ann' LABEL person FEATURES (0.1, 2)", (*parser).insertNode},
		{"MERGE NODE", "add a node, or change one that exists",
			"MERGE NODE node [LABEL name] [FEATURES (number, ...)]",
			"MERGE NODE 'ann' LABEL person", (*parser).insertNode},
		{"INSERT EDGES", "add edges, or change those that exist",
			"INSERT EDGES edge, ...",
			"INSERT EDGES 'ann' -> 'bob', 'bob' -> 'dan' WEIGHT 2 AT 1082040961", (*parser).insertEdges},
		{"MERGE EDGES", "the same as INSERT EDGES",
			"MERGE EDGES edge, ...", "MERGE EDGES 'ann' -> 'bob' WEIGHT 3", (*parser).insertEdges},
		{"DELETE NODE", "delete a node and its edges",
			"DELETE NODE node", "DELETE NODE 'ann'", (*parser).aboutNode},
		{"DELETE EDGES", "delete edges",
			"DELETE EDGES { node -> node }, ...", "DELETE EDGES 'ann' -> 'bob'", (*parser).deleteEdges},
		{"DESCRIBE NODE", "show all that is known of a node",
			"DESCRIBE NODE node", "DESCRIBE NODE 'ann'", (*parser).aboutNode},
		{"NEIGHBORS", "list the nodes around a node",
			"NEIGHBORS OF node [DEPTH n] [TOP n]", "NEIGHBORS OF 'ann' DEPTH 2", (*parser).neighbors},
		{"NODES", "list nodes",
			"NODES [LABEL name] [WHERE condition] [TOP n]", "NODES LABEL person WHERE degree >= 10 TOP 20", (*parser).nodes},
		{"PATH", "find a shortest path",
			"PATH FROM node TO node [DEPTH n]", "PATH FROM 'ann' TO 'dan'", (*parser).path},
		{"RANK NODES", "rank nodes by personalised PageRank",
			"RANK NODES FOR node, ... [ASSUMING edge, ...] [TOP n]\n" +
				"    [WITH (option, ...)]",
			"RANK NODES FOR 'ann' TOP 10", (*parser).rank},
		{"WARM", "compute the PageRank states of nodes, and cache them",
			"WARM node, ...", "WARM 'ann', 'bob'", (*parser).warm},
	}
}

// InsertNode adds a node (INSERT), or adds or changes one (MERGE).
type InsertNode struct {
	Pos
	Merge    bool
	Node     Value // Int, String or Param
	Label    Name
	Features []Value // Int, Float or Param; nil: not given
}

// InsertEdges adds edges (INSERT), or adds or changes them (MERGE).
type InsertEdges struct {
	Pos
	Merge bool
	Edges []Edge // at least one
}

// DeleteEdges removes edges.
type DeleteEdges struct {
	Pos
	Edges []Edge // at least one, without weight and time
}

// Neighbors lists the nodes near a node.
type Neighbors struct {
	Pos
	Of    Value // Int, String or Param
	Depth Value // Int, at least 1, or Param; nil: not given
	Top   Value // Int, at least 1, or Param; nil: not given
}

// Nodes lists nodes.
type Nodes struct {
	Pos
	Label Name
	Where Condition // nil: not given
	Top   Value     // Int, at least 1, or Param; nil: not given
}

// Rank ranks nodes by their personalised PageRank, for each of the sources.
type Rank struct {
	Pos
	For      []Value // Int, String or Param; at least one
	Assuming []Edge  // nil: not given
	Top      Value   // Int, at least 1, or Param; nil: not given
	With     []Option
}

// Path finds a shortest path.
type Path struct {
	Pos
	From, To Value // Int, String or Param
	Depth    Value // Int, at least 1, or Param; nil: not given
}

// Warm computes and caches the PageRank states of nodes.
type Warm struct {
	Pos
	Nodes []Value // Int, String or Param; at least one
}

// Kind implements [Statement].
func (s *InsertNode) Kind() string  { return putVerb(s.Merge) + " NODE" }
func (s *InsertEdges) Kind() string { return putVerb(s.Merge) + " EDGES" }
func (*DeleteEdges) Kind() string   { return "DELETE EDGES" }
func (*Neighbors) Kind() string     { return "NEIGHBORS" }
func (*Nodes) Kind() string         { return "NODES" }
func (*Rank) Kind() string          { return "RANK NODES" }
func (*Path) Kind() string          { return "PATH" }
func (*Warm) Kind() string          { return "WARM" }

func putVerb(merge bool) string {
	if merge {
		return "MERGE"
	}
	return "INSERT"
}

func (s *InsertNode) String() string {
	features := ""
	if len(s.Features) > 0 {
		features = " FEATURES (" + join(s.Features) + ")"
	}
	return putVerb(s.Merge) + " NODE " + s.Node.String() + named(" LABEL ", s.Label) + features
}

func (s *InsertEdges) String() string { return putVerb(s.Merge) + " EDGES " + join(s.Edges) }
func (s *DeleteEdges) String() string { return "DELETE EDGES " + join(s.Edges) }
func (s *Warm) String() string        { return "WARM " + join(s.Nodes) }

func (s *Neighbors) String() string {
	return "NEIGHBORS OF " + s.Of.String() + clause(" DEPTH ", s.Depth) + clause(" TOP ", s.Top)
}

func (s *Nodes) String() string {
	return "NODES" + named(" LABEL ", s.Label) + where(s.Where) + clause(" TOP ", s.Top)
}

func (s *Rank) String() string {
	return "RANK NODES FOR " + join(s.For) + assuming(s.Assuming) + clause(" TOP ", s.Top) + with(s.With)
}

func (s *Path) String() string {
	return "PATH FROM " + s.From.String() + " TO " + s.To.String() + clause(" DEPTH ", s.Depth)
}

func (p *parser) insertNode(pos Pos, kind string) Statement {
	s := &InsertNode{Pos: pos, Merge: kind == "MERGE NODE", Node: p.node(), Label: p.optionalName("LABEL", ALabel)}
	if p.keyword("FEATURES") {
		s.Features = listed(p, p.number)
	}
	return s
}

func (p *parser) insertEdges(pos Pos, kind string) Statement {
	return &InsertEdges{pos, kind == "MERGE EDGES", list(p, p.edge)}
}

func (p *parser) deleteEdges(pos Pos, _ string) Statement { return &DeleteEdges{pos, list(p, p.ends)} }
func (p *parser) warm(pos Pos, _ string) Statement        { return &Warm{pos, list(p, p.node)} }

func (p *parser) neighbors(pos Pos, _ string) Statement {
	return &Neighbors{Pos: pos, Of: p.node(), Depth: p.optionalCount("DEPTH"), Top: p.optionalCount("TOP")}
}

func (p *parser) nodes(pos Pos, _ string) Statement {
	s := &Nodes{Pos: pos, Label: p.optionalName("LABEL", ALabel)}
	p.begun = s
	s.Where = p.where()
	s.Top = p.optionalCount("TOP")
	return s
}

func (p *parser) rank(pos Pos, _ string) Statement {
	s := &Rank{Pos: pos, For: list(p, p.node), Assuming: p.assuming(), Top: p.optionalCount("TOP")}
	s.With = p.with(s)
	return s
}

func (p *parser) path(pos Pos, _ string) Statement {
	s := &Path{Pos: pos, From: p.node()}
	p.need(p.keyword("TO"))
	s.To = p.node()
	s.Depth = p.optionalCount("DEPTH")
	return s
}
