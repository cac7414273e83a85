package edgelist

import (
	"fmt"
	"strings"
	"testing"
)

// noted is describe with the notes at the end.
func noted(text string, o Options) string {
	got := describe(text, o)
	l, err := NewReader(strings.NewReader(text), o)
	if err != nil {
		return got
	}
	for range l.Edges() {
	}
	for _, n := range l.Notes {
		got += fmt.Sprint("; note: ", n)
	}
	return got
}

// Columns without a name in the header are left out, and a note says so.
func TestHeaderWithFewerNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{"user_id,item_id,timestamp,label,features\n0,5,0.0,0,-0.1,0.5,0.25\n1,6,36.0,0,-0.1,0.4,0.5\n", Options{Names: Names{Src: "user_id", Dst: "item_id", Time: "timestamp"}},
			`src=user_id,dst=item_id,time=timestamp in s not label,features; 0>5; 1>6 t=36; note: the header has 5 names, the lines have 7 columns: those after the first 5 have no name and were left out; note: edges without a time, which is missing or 0: 1`},
		{"source,target\n1,7,8\n2,9,7\n", Options{}, `src=source,dst=target; 7>8; 9>7; note: the first column, which has no name, was left out: it probably has row numbers (otherwise: columns = 'src=1,dst=2')`},
		{"source,target\n\"1\",7,8\n\"2\",9,7\n", Options{}, `src=source,dst=target; 7>8; 9>7; note: the first column, which has no name, was left out: it probably has row numbers (otherwise: columns = 'src=1,dst=2')`},
		{"source,target\n1,7,8\n2,9,7\n", Options{Names: Names{Src: "1", Dst: "2"}, Dialect: Dialect{Header: On}}, `src=source,dst=target; 1>7; 2>9; note: the header has 2 names, the lines have 3 columns: those after the first 2 have no name and were left out`},
		{"source,target\n4,7,8\n2,9,7\n", Options{}, `src=source,dst=target; 4>7; 2>9; note: the header has 2 names, the lines have 3 columns: those after the first 2 have no name and were left out`},
		{"a,b,c\n0,5,6,7,8\n1,6,7,8,9\n", Options{}, `src=a,dst=b,weight=c; edgelist: line 2: columns: found 5, expected 3; the header has a, b, c: "0,5,6,7,8"; try columns = 'src=NAME,dst=NAME'; edgelist: line 3: columns: found 5, expected 3; the header has a, b, c: "1,6,7,8,9"; try columns = 'src=NAME,dst=NAME'; note: the first line, "a,b,c", was taken for the names of the columns (otherwise: header = 'off'); note: the header has 3 names, the lines have 5 columns: those after the first 3 have no name and were left out`},
		{"source,target\n4,7,8\n2,9\n", Options{}, `src=source,dst=target; edgelist: line 2: columns: found 3, the header has 2: "4,7,8"; 2>9`},
	} {
		if got := noted(c.text, c.o); got != c.want {
			t.Errorf("%q as %+v:\ngot  %s\nwant %s", c.text, c.o, got, c.want)
		}
	}
}
