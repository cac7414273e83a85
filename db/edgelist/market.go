package edgelist

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// errMarket is the error for a damaged header of a Matrix Market file.
var errMarket = errors.New("edgelist: not a Matrix Market file of a kind that can be read")

// market reads the entries of a sparse matrix as edges (Boisvert, Pozo, Remington 1996, "The Matrix
// Market exchange formats"). The keys are the file's row and column numbers, from 1.
type market struct {
	text
	rows, cols int64
	left, size int64 // number of entries not yet read, and in total
	symmetric  bool
	both       bool // yield both directions of an entry
	again      *Edge
}

func newMarket(in *bufio.Reader, o Options) (*market, error) {
	m := &market{text: text{lines: newLines(in), Detected: Detected{Format: MatrixMarket, Columns: o.Columns}, layout: plainLayout(""), signed: o.Negative != ""}}
	line, err := m.lines.next()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMarket, truncated(err))
	}
	if err := m.banner(strings.Fields(strings.ToLower(string(line))), o.Columns == SrcDst); err != nil {
		return nil, err
	}
	m.both = m.symmetric && o.Directed
	if err := m.sizes(); err != nil {
		return nil, err
	}
	if m.Columns == Auto {
		m.Columns = SrcDstWeight
	}
	if m.layout.width < 3 {
		if m.Columns == SrcDstTime {
			return nil, fmt.Errorf("%w: a pattern has no times", errMarket)
		}
		m.Columns = SrcDst
	}
	m.layout.at = m.Columns.places()
	if m.Columns == SrcDstTime {
		if m.Times = o.Times; m.Times == AnyTime {
			head, err := in.Peek(guessBytes)
			m.Times = guessTimes(sampleOf(head, '\n', err == io.EOF).plain, &m.layout)
		}
	}
	m.kinds = m.rows != m.cols // rows and columns are numbered apart
	return m, nil
}

// banner parses the words of the first line: %%MatrixMarket matrix coordinate FIELD SYMMETRY.
// Complex numbers, and numbers that change their sign across the diagonal, are no weights: such a
// matrix is read without weights.
func (m *market) banner(words []string, unweighted bool) error {
	if len(words) != 5 || words[0] != strings.ToLower(magicMTX) || words[1] != "matrix" {
		return fmt.Errorf("%w: first line %q", errMarket, words)
	}
	if words[2] != "coordinate" {
		return fmt.Errorf("%w: a matrix of %q, expected coordinate; write it as a sparse matrix", errMarket, words[2])
	}
	fields := map[string]int{"pattern": 2, "real": 3, "integer": 3, "unsigned-integer": 3, "double": 3, "complex": 4}
	symmetries := map[string]bool{"general": false, "symmetric": true, "skew-symmetric": true, "hermitian": true}
	known := false
	if m.layout.width, known = fields[words[3]]; !known {
		return fmt.Errorf("%w: entries of %q, expected pattern, real, integer or complex", errMarket, words[3])
	}
	if m.symmetric, known = symmetries[words[4]]; !known {
		return fmt.Errorf("%w: symmetry %q, expected general, symmetric, skew-symmetric or hermitian", errMarket, words[4])
	}
	if signed := words[4] == "skew-symmetric" && words[3] != "pattern"; !unweighted && (words[3] == "complex" || signed) {
		return fmt.Errorf("%w: entries that are %s %s are no weights; with columns = 'src,dst' the edges are read without them", errMarket, words[3], words[4])
	}
	return nil
}

// sizes reads the line with the numbers of rows, columns and entries, which follows the comments.
func (m *market) sizes() error {
	line, err := m.record()
	if err != nil {
		return fmt.Errorf("%w: sizes: %w", errMarket, truncated(err))
	}
	fields, ok := m.layout.all(line)
	ok = ok && len(fields) == 3
	for i, to := range []*int64{&m.rows, &m.cols, &m.size} {
		if ok {
			*to, ok = parseInt(fields[i])
		}
		ok = ok && *to >= 0 && *to < math.MaxInt64
	}
	if !ok {
		return fmt.Errorf("%w: line %d: sizes %q", errMarket, m.n, line)
	}
	m.left = m.size
	return nil
}

func (m *market) next(e *Edge) error {
	if m.again != nil {
		*e, m.again = *m.again, nil
		return nil
	}
	err := m.text.next(e)
	if err == io.EOF && m.left > 0 {
		return fmt.Errorf("edgelist: %d of %d entries: %w", m.size-m.left, m.size, io.ErrUnexpectedEOF)
	}
	if err != nil && !errors.As(err, new(*LineError)) {
		return err
	}
	if m.left--; m.left < 0 {
		return m.bad(m.line, "more than the %d entries that the header tells", m.size)
	}
	if err == nil && (!within(e.Src, m.rows) || !within(e.Dst, m.cols)) {
		return m.bad(m.line, "not an entry of a matrix of %d x %d", m.rows, m.cols)
	}
	if m.both && e.Src != e.Dst && err == nil {
		mirrored := *e
		mirrored.Src, mirrored.Dst = e.Dst, e.Src
		m.again = &mirrored
	}
	return err
}

// within reports whether a key is an integer from 1 to last.
func within(key Token, last int64) bool { return key.IsInt && key.Int >= 1 && key.Int <= last }
