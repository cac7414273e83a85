package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// screen emulates the screen of a terminal. It executes the control sequences that the prompt uses
// and ignores others. All characters are one column wide.
type screen struct {
	cells   [][]rune
	row     int
	col     int // equal to the width when the next character wraps
	pending []byte
}

func newScreen(rows, cols int) *screen {
	s := &screen{cells: make([][]rune, rows)}
	for i := range s.cells {
		s.cells[i] = blanks(cols)
	}
	return s
}

func blanks(cols int) []rune { return []rune(strings.Repeat(" ", cols)) }

// sequence matches a control sequence: its parameters, and its final letter.
var sequence = regexp.MustCompile(`^\x1b\[([?0-9;]*)( ?[@-~])`)

// write displays b, and returns how many times the process queries the position of the cursor. An
// incomplete sequence or character at the end of b is kept for the next call.
func (s *screen) write(b []byte) (questions int) {
	b = append(s.pending, b...)
	for len(b) > 0 {
		n := 1
		switch {
		case b[0] == 0x1b:
			m := sequence.FindSubmatch(b)
			if m == nil && len(b) < 16 {
				s.pending = slices.Clone(b)
				return questions
			}
			if m == nil {
				break
			}
			n = len(m[0])
			if s.control(string(m[1]), string(m[2])) {
				questions++
			}
		case b[0] < ' ':
			s.sign(b[0])
		default:
			if !utf8.FullRune(b) {
				s.pending = slices.Clone(b)
				return questions
			}
			var r rune
			r, n = utf8.DecodeRune(b)
			s.put(r)
		}
		b = b[n:]
	}
	s.pending = nil
	return questions
}

func (s *screen) put(r rune) {
	if s.col == len(s.cells[0]) {
		s.col = 0
		s.down()
	}
	s.cells[s.row][s.col] = r
	s.col++
}

// down moves the cursor to the next row, and scrolls at the last one.
func (s *screen) down() {
	if s.row++; s.row == len(s.cells) {
		s.row--
		s.cells = append(s.cells[1:], blanks(len(s.cells[0])))
	}
}

func (s *screen) sign(b byte) {
	switch b {
	case '\r':
		s.col = 0
	case '\n', '\v':
		s.down()
	case '\b':
		s.col = max(min(s.col, len(s.cells[0])-1)-1, 0)
	}
}

// control executes a control sequence, and reports whether it queries the position of the cursor.
func (s *screen) control(params, final string) (asks bool) {
	n, _ := strconv.Atoi(params)
	count, last := max(n, 1), len(s.cells[0])-1
	switch final {
	case "A":
		s.row = max(s.row-count, 0)
	case "B":
		s.row = min(s.row+count, len(s.cells)-1)
	case "C":
		s.col = min(s.col+count, last)
	case "D":
		s.col = max(min(s.col, last)-count, 0)
	case "H":
		s.row, s.col = 0, 0
	case "J":
		s.erase(n, 0, s.row, len(s.cells))
	case "K":
		s.erase(n, s.row, s.row, s.row+1)
	case "n":
		return true
	}
	return false
}

// erase blanks the cells from the cursor to the end (mode 0), from the beginning to it (1) or all
// (2), of the rows from first to before end.
func (s *screen) erase(mode, first, row, end int) {
	for r := first; r < end; r++ {
		for c := range s.cells[r] {
			behind := r > row || r == row && c >= min(s.col, len(s.cells[r])-1)
			before := r < row || r == row && c <= s.col
			if mode == 2 || mode == 0 && behind || mode == 1 && before {
				s.cells[r][c] = ' '
			}
		}
	}
}

// String returns the text of the screen, without trailing blanks and lines.
func (s *screen) String() string {
	var b strings.Builder
	for _, line := range s.cells {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
