package parse

import (
	"fmt"
	"testing"
)

func TestScan(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"", ""},
		{" \t\r\n\uFEFF ", ""},
		{"a", "1:1 word a"},
		{"Été_2 x", "1:1 word Été_2, 1:7 word x"},
		{"a\nb", "1:1 word a, 2:1 word b"},
		{"a\r\nb", "1:1 word a, 2:1 word b"},
		{"äö 'ü' x", "1:1 word äö, 1:4 text 'ü', 1:8 word x"},
		{"-- c\na", "2:1 word a"},
		{"-- c", ""},
		{"/* c\n*/ a", "2:4 word a"},
		{"/**/a/***/b", "1:5 word a, 1:11 word b"},
		{"/*/", "1:1: comment is not closed, expected */"},
		{"a--b", "1:1 word a"},
		{"''", "1:1 text ''"},
		{"''''", "1:1 text ''''"},
		{"'a''b'", "1:1 text 'a''b'"},
		{"'a\nb' c", "1:1 text 'a\nb', 2:4 word c"},
		{"'a", "1:1: string is not closed, expected '"},
		{"'a''", "1:1: string is not closed, expected '"},
		{`"a""b"`, `1:1 quoted name "a""b"`},
		{`"a`, `1:1: name is not closed, expected "`},
		{"(?,$a);", "1:1 ( (, 1:2 parameter ?, 1:3 , ,, 1:4 parameter $a, 1:6 ) ), 1:7 ; ;"},
		{"$", "1:1: parameter has no name, expected ? or $name"},
		{"<= >= <> != < > =", "1:1 <= <=, 1:4 >= >=, 1:7 <> <>, 1:10 <> !=, 1:13 < <, 1:15 > >, 1:17 = ="},
		{"a<-1", "1:1 word a, 1:2 < <, 1:3 integer -1"},
		{"!", "1:1: unexpected character '!'"},
		{"1->2", "1:1 integer 1, 1:2 -> ->, 1:4 integer 2"},
		{"-1->-2", "1:1 integer -1, 1:3 -> ->, 1:5 integer -2"},
		{"9223372036854775807", "1:1 integer 9223372036854775807"},
		{"-9223372036854775808", "1:1 integer -9223372036854775808"},
		{"-9223372036854775809", "1:1: integer -9223372036854775809 does not fit in 64 bits; did you mean '-9223372036854775809'?"},
		{"01", "1:1: integer 01 is spelled 1; did you mean '01'?"},
		{"0.5 .5 -.5 1. 1e3 1E-3 2e+7", "1:1 decimal 0.5, 1:5 decimal .5, 1:8 decimal -.5, 1:12 decimal 1., 1:15 decimal 1e3, 1:19 decimal 1E-3, 1:24 decimal 2e+7"},
		{"1e-400", "1:1 decimal 1e-400"},
		{"-1e999", "1:1: number -1e999 is too large"},
		{"1e", "1:1: bad number 1e"},
		{"1_000", "1:1: bad number 1_000"},
		{"0x1p", "1:1: bad number 0x1p"},
		{"1.2.3", "1:1: bad number 1.2.3"},
		{"1inf", "1:1: bad number 1inf"},
		{"-a", "1:1: unexpected character '-'; did you mean ->?"},
		{"[", "1:1: unexpected character '['"},
		{"“a”", "1:1: unexpected character '“'; did you mean '...'?"},
	}
	for _, tt := range tests {
		if got := scan(tt.text); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.text, got, tt.want)
		}
	}
}

// scan returns the tokens of a text, or the error.
func scan(text string) string {
	s := scanner{rest: text, pos: start()}
	list := ""
	for {
		t, err := s.next()
		if err != nil {
			return err.Error()
		}
		if t.symbol == end {
			return list
		}
		if list != "" {
			list += ", "
		}
		list += fmt.Sprintf("%d:%d %s %s", t.pos.Line, t.pos.Col, t.symbol, t.text)
	}
}
