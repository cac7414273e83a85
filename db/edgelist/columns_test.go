package edgelist

import (
	"strings"
	"testing"
)

func TestColumnsText(t *testing.T) {
	t.Parallel()
	for _, c := range []Columns{Auto, SrcDst, SrcDstTime, SrcDstWeightTime, SrcRelationDst, SrcDstRelation, "dst,time,src", "src,relation,dst,time,weight"} {
		if got, err := ParseColumns(c.String()); err != nil || got != c {
			t.Errorf("%v: got %v, %v", c, got, err)
		}
	}
	for _, bad := range []string{"", "src", "src,dst,", "Src,Dst", "src, dst", "src,src,dst", "src,dst,dst", "src,dst,name", "src,relation", "relation"} {
		if c, err := ParseColumns(bad); err == nil || !strings.Contains(err.Error(), "expected auto, src,dst") {
			t.Errorf("%q: got %v, %v", bad, c, err)
		}
	}
}

func TestGuess(t *testing.T) {
	t.Parallel()
	edge, weight, at := "1 2\n", "1 2 3\n", "1 2 1082040961\n"
	tests := []struct {
		name, text string
		whole      bool
		want       Columns
	}{
		{"nothing", "", true, SrcDst},
		{"comments alone", "# 1 2 3\n", true, SrcDst},
		{"a line cut short is not looked at", edge + "1 2 3", false, SrcDst},
		{"nor is it if it is all there is", "1 2 1082040961", false, SrcDst},
		{"a last line without an end is", "1 2 1082040961", true, SrcDstTime},
		{"most lines decide", weight + edge + weight, true, SrcDstWeight},
		{"most lines decide, two columns", edge + edge + weight, true, SrcDst},
		{"one small integer makes weights", strings.Repeat(at, 50) + weight, true, SrcDstWeight},
		{"what is no number is no opinion", at + "1 2 x\n", true, SrcDstTime},
		{"unless nothing else is there", "1 2 x\n", true, SrcDstWeight},
		{"only the first lines count", strings.Repeat(at, guessLines) + weight, true, SrcDstTime},
		{"negative integers are no times", "1 2 -1082040961\n", true, SrcDstWeight},
		{"times with a fraction", "1 2 1082040961.5\n", true, SrcDstTime},
		{"times with an exponent", "1 2 1.7e9\n", true, SrcDstTime},
		{"powers of ten are no times", "1 2 1e12\n1 2 1e15\n", true, SrcDstWeight},
		{"milliseconds with an exponent", "1 2 1.7e12\n", true, SrcDstTime},
		{"small decimals are no times", "1 2 1.7e3\n1 2 99999999.5\n", true, SrcDstWeight},
		{"dates without separators", "1 2 20240301\n1 2 20231231\n", true, SrcDstTime},
		{"not all are dates", "1 2 20240301\n1 2 20241301\n", true, SrcDstWeight},
	}
	for _, tt := range tests {
		l := plainLayout("")
		if got := l.rows(sampleOf([]byte(tt.text), '\n', tt.whole).plain, 0).guess(); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
