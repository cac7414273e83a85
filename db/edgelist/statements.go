package edgelist

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// statements reads the statements of N-Triples and N-Quads (W3C, "RDF 1.1 N-Triples", 2014) as
// edges from the subject to the object, whose relation is the predicate. A key is an IRI without
// its brackets, or a blank node such as _:b1. A statement about a literal is no edge.
type statements struct {
	text
	related  bool   // predicates are relations
	literals int64  // number of statements about a literal
	example  string // the first of these literals
	graphs   int64  // number of statements with the name of a graph
	buf      []byte // of an IRI with escapes
}

// isStatements reports whether head is the start of statements: after comments, a subject, a
// predicate and an object with a full stop.
func isStatements(head []byte) bool {
	return statementsBegin().Match(head)
}

// statementsBegin matches the start of statements. A name in angle brackets is in no other list.
var statementsBegin = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(#.*\n|\s*\n)*[ \t]*(<[^>\n]*>|_:\S+)[ \t]*<[^>\n]*>[ \t]*` +
		`((<[^>\n]*>|_:\S+|"[^\n]*)[ \t]*(<[^>\n]*>|_:\S+)?[ \t]*\.[ \t\r]*(#.*)?(\n|$)|"[^\n]*$)`)
})

// errStatementColumns is the error for columns that statements do not have.
var errStatementColumns = fmt.Errorf("%w: a statement has a subject, a predicate and an object, without weights and times", ErrColumns)

func newStatements(in *bufio.Reader, o Options) (*statements, error) {
	if o.Columns != Auto && !o.Columns.same(SrcDst) && !o.Columns.same(SrcRelationDst) {
		return nil, errStatementColumns
	}
	s := &statements{text: text{lines: newLines(in)}, related: o.reads(roleRelation)}
	s.Format, s.Columns = NTriples, SrcDst
	if s.related {
		s.Columns = SrcRelationDst
	}
	return s, nil
}

// term is a part of a statement.
type term struct {
	kind byte // <, _ or " as it begins; . is the end of the statement
	text []byte
}

// Faults of terms.
const (
	badTerm  = "not a statement of N-Triples: a subject, a predicate, an object and a full stop"
	badIRI   = "an IRI is empty, or has a character or an escape that is not valid"
	openTerm = "a term has no end"
)

func (s *statements) next(e *Edge) error {
	for {
		line, err := s.lines.next()
		e.Line = s.first
		if err == io.EOF {
			s.report()
		}
		if err != nil {
			return err
		}
		if line = trimBlanks(line); len(line) == 0 || line[0] == '#' {
			if len(line) > 0 {
				s.Comments++
			}
			continue
		}
		edge, fault := s.parse(line, e)
		switch {
		case fault != "":
			return s.bad(line, "%s", fault)
		case edge:
			return nil
		}
	}
}

// parse parses a statement into an edge. It returns false for a statement that is no edge, and what
// is wrong with a line that is no statement.
func (s *statements) parse(line []byte, e *Edge) (edge bool, fault string) {
	var terms [5]term
	rest, n := line, 0
	for ; n < len(terms); n++ {
		if terms[n], rest, fault = cutTerm(rest); fault != "" {
			return false, fault
		}
		if terms[n].kind == '.' {
			break
		}
	}
	if rest = trimBlanks(rest); n < 3 || n == len(terms) || len(rest) > 0 && rest[0] != '#' ||
		terms[0].kind == '"' || terms[1].kind != '<' || n > 3 && terms[3].kind == '"' {
		return false, badTerm
	}
	if n > 3 {
		s.graphs++
	}
	if terms[2].kind == '"' {
		if s.literals++; s.literals == 1 {
			const shown = 40
			s.example = string(terms[2].text[:min(len(terms[2].text), shown)])
		}
		return false, ""
	}
	if !s.key(terms[0], &e.Src, &s.src) || !s.key(terms[2], &e.Dst, &s.dst) {
		return false, badIRI
	}
	predicate, ok := s.iri(terms[1].text)
	if !ok {
		return false, badIRI
	}
	if s.related {
		if e.Relation, ok = s.relations.of(predicate); !ok {
			return false, s.relations.fault(predicate)
		}
	}
	return true, ""
}

// cutTerm returns the first term of a line and the rest.
func cutTerm(line []byte) (t term, rest []byte, fault string) {
	if line = trimBlanks(line); len(line) == 0 {
		return t, nil, badTerm
	}
	switch t.kind = line[0]; {
	case t.kind == '.':
		return t, line[1:], ""
	case bytes.HasPrefix(line, []byte("<<")):
		return t, nil, "a statement about a statement is not read"
	case t.kind == '<':
		end := bytes.IndexByte(line, '>')
		if end < 0 {
			return t, nil, openTerm
		}
		t.text = line[1:end]
		return t, line[end+1:], ""
	case bytes.HasPrefix(line, []byte("_:")):
		end := 0
		for end < len(line) && !isBlank(line[end]) && line[end] != '<' && line[end] != '"' {
			end++
		}
		for end > 2 && line[end-1] == '.' { // a label does not end with a full stop
			end--
		}
		if t.text = line[:end]; end == 2 {
			return t, nil, badTerm
		}
		return t, line[end:], ""
	case t.kind == '"':
		return cutLiteral(line)
	}
	return t, nil, badTerm
}

// cutLiteral returns the literal at the start of a line, with its language or type, and the rest.
func cutLiteral(line []byte) (t term, rest []byte, fault string) {
	end := 1
	for end < len(line) && line[end] != '"' {
		if line[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(line) {
		return t, nil, openTerm
	}
	if end++; bytes.HasPrefix(line[end:], []byte("^^<")) {
		after := bytes.IndexByte(line[end:], '>')
		if after < 0 {
			return t, nil, openTerm
		}
		end += after + 1
	} else if end < len(line) && line[end] == '@' {
		for end < len(line) && !isBlank(line[end]) && line[end] != '.' {
			end++
		}
	}
	return term{'"', line[:end]}, line[end:], ""
}

// key stores an IRI or a blank node as a key. last is the previous key of its role.
func (s *statements) key(t term, to *Token, last *string) bool {
	text, ok := t.text, true
	if t.kind == '<' {
		text, ok = s.iri(text)
	}
	if !ok || !utf8.Valid(text) {
		return false
	}
	if string(text) != *last {
		*last = string(text)
	}
	*to = Token{Str: *last}
	return true
}

// iri returns an IRI without its escapes \u0041 and \U00000041. It returns false if the IRI is not
// valid.
func (s *statements) iri(text []byte) ([]byte, bool) {
	for _, c := range text {
		if c <= ' ' || bytes.IndexByte([]byte("<\"{}|^`"), c) >= 0 {
			return nil, false
		}
	}
	if bytes.IndexByte(text, '\\') < 0 {
		return text, len(text) > 0
	}
	s.buf = s.buf[:0]
	for len(text) > 0 {
		digits := map[byte]int{'u': 4, 'U': 8}
		if text[0] != '\\' {
			s.buf, text = append(s.buf, text[0]), text[1:]
			continue
		}
		n := 0
		if len(text) > 1 {
			n = digits[text[1]]
		}
		if n == 0 || len(text) < 2+n {
			return nil, false
		}
		c, err := strconv.ParseUint(string(text[2:2+n]), 16, 32)
		if err != nil || c == 0 || !utf8.ValidRune(rune(c)) {
			return nil, false
		}
		s.buf, text = utf8.AppendRune(s.buf, rune(c)), text[2+n:]
	}
	return bytes.Clone(s.buf), true
}

// report adds the notes.
func (s *statements) report() {
	if s.literals > 0 {
		s.note("%s left out, because a literal is no node: first %s", statementsOf(s.literals), s.example)
	}
	if s.graphs > 0 {
		s.note("%s in a graph with a name, which was left out", statementsOf(s.graphs))
	}
	s.literals, s.graphs = 0, 0
}

// statementsOf returns a number of statements, and was or were.
func statementsOf(n int64) string {
	if n == 1 {
		return "1 statement was"
	}
	return fmt.Sprintf("%d statements were", n)
}

// statementWriter is a [RowWriter] of edges as statements.
type statementWriter struct {
	textWriter
}

// newStatementWriter returns a writer of edges with a relation and no other columns.
func newStatementWriter(w io.Writer, columns []string) (RowWriter, error) {
	if len(columns) != SrcRelationDst.count() || columns[1] != roles[roleRelation].name {
		return nil, fmt.Errorf("edgelist: N-Triples hold sources, relations and targets, and nothing else; here are columns %s", strings.Join(columns, ", "))
	}
	return &statementWriter{textWriter{to: bufio.NewWriter(w), sep: ' '}}, nil
}

func (w *statementWriter) Key(k Token) error {
	if k.IsInt {
		return fmt.Errorf("edgelist: the integer %d is no IRI", k.Int)
	}
	if t, rest, fault := cutTerm([]byte(k.Str + " ")); fault == "" && t.kind == '_' && len(trimBlanks(rest)) == 0 {
		w.separate()
		w.line = append(w.line, k.Str...)
		return nil
	}
	return w.Text(k.Str)
}

// Text writes an IRI.
func (w *statementWriter) Text(s string) error {
	if _, ok := new(statements).iri([]byte(s)); !ok || strings.ContainsAny(s, "\\>") {
		return fmt.Errorf("edgelist: %q is no IRI", s)
	}
	w.separate()
	w.line = append(append(append(w.line, '<'), s...), '>')
	return nil
}

func (w *statementWriter) End() error {
	w.line = append(w.line, " ."...)
	return w.textWriter.End()
}
