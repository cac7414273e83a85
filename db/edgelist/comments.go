package edgelist

import "bytes"

func isComment(c byte) bool { return c == '#' || c == '%' }

// isRemark reports whether a line that begins with # or % looks like words for people: the
// character is followed by another one that is no part of a key.
func isRemark(line []byte) bool {
	line = trimBlanks(line)
	return len(line) < 2 || bytes.IndexByte([]byte(" \t\r#%=-*!"), line[1]) >= 0
}

// isComment reports whether a line that begins with # or % is a comment. begun says that a line
// with data came before it.
func (l *layout) isComment(line []byte, begun bool) bool {
	if l.comments != Detect {
		return l.comments == On
	}
	_, n := l.split(line)
	return n != l.common || !begun && isRemark(line)
}

// chooseComments decides whether lines that begin with # or % are comments, and returns the lines
// with data among the first ones. They are not comments if the options say so, or if they look like
// data and are at least as many as the other lines, or come below a header of a table. A line looks
// like data if it is no remark and has the usual number of columns.
func (l *layout) chooseComments(s sample, headed bool, o Options) [][]byte {
	plain := s.plain
	if headed {
		plain = plain[1:]
	}
	l.common = l.usualColumns(s)
	likeData := 0
	for i, line := range s.all {
		if _, n := l.split(line); isComment(trimBlanks(line)[0]) && n == l.common && !isRemark(line) && (i > 0 || !namesOnly(l.columns(line))) {
			likeData++
		}
	}
	table := len(l.sep) > 0 && headed
	switch l.comments = On; {
	case o.Comments != Detect:
		l.comments = o.Comments
	case likeData > 0 && (table || likeData >= len(plain) && likeData > 1):
		l.comments = Detect
	}
	var lines [][]byte
	for _, line := range s.all {
		if !isComment(trimBlanks(line)[0]) || !l.isComment(line, len(lines) > 0) {
			lines = append(lines, line)
		}
	}
	return lines
}

// usualColumns returns the number of columns that most lines have. Lines that begin with # or % count
// only if all lines do.
func (l *layout) usualColumns(s sample) int {
	lines := s.plain
	if len(lines) == 0 {
		lines = s.marked
	}
	n, _ := l.usual(lines)
	return n
}

// isGroups reports whether a text looks like LGL: comments of a single word are the sources of the
// lines below them.
func isGroups(s sample) bool {
	groups, lines := 0, 0
	for i, line := range s.all {
		words := bytes.FieldsFunc(line, func(c rune) bool { return c < 0x80 && isBlank(byte(c)) })
		if !isComment(words[0][0]) {
			lines++
			if len(words) > 2 || len(words) == 2 && !isNumber(words[1]) {
				return false
			}
			continue
		}
		if string(words[0]) != "#" || len(words) != 2 {
			return false
		}
		if i+1 < len(s.all) && !isComment(trimBlanks(s.all[i+1])[0]) {
			groups++
		}
	}
	return groups >= 2 && lines >= 2 && isComment(trimBlanks(s.all[0])[0])
}

// leaveOut reports whether a line that begins with # or % is a comment, and counts it.
func (t *text) leaveOut(line []byte) bool {
	l := &t.layout
	if !l.isComment(line, t.begun) {
		t.seen.marked++
		return false
	}
	t.Comments++
	if t.seen.comments == Detect && l.comments == On && !isRemark(line) {
		if fields, _ := l.all(line); len(fields) >= 2 && len(fields) == l.common && (t.begun || !namesOnly(l.columns(line))) {
			t.seen.likeData++
		}
	}
	return true
}
