package edgelist

import (
	"fmt"
	"strings"
	"testing"
)

func TestNamesText(t *testing.T) {
	t.Parallel()
	for _, n := range []Names{
		{Src: "a", Dst: "b"}, {Src: "user_id", Dst: "item id", Time: "created_at"}, {Src: "2", Dst: "1", Weight: "3", Time: "a=b"},
	} {
		if got, err := parseNames(n.String()); err != nil || got != n {
			t.Errorf("%v: got %v, %v", n, got, err)
		}
	}
	for _, bad := range []string{"", "src", "src=a", "src=,dst=b", "src=a,dst=b,", "src=a,dst=b,src=c", "Src=a,dst=b", "src=a,dst=b,at=c", "dst=b,time=c", "src,dst=b"} {
		if n, err := parseNames(bad); err == nil || n != (Names{}) && !strings.Contains(err.Error(), "src and dst") {
			t.Errorf("%q: got %v, %v", bad, n, err)
		}
	}
}

// describe reads a list and returns what was detected, and the edges or errors.
func describe(text string, o Options) string {
	l, err := NewReader(strings.NewReader(text), o)
	if err != nil {
		return err.Error()
	}
	list := []string{l.Columns.String()}
	if l.Names != (Names{}) {
		list[0] = l.Names.String()
	}
	if l.Times != AnyTime {
		list[0] += " in " + l.Times.String()
	}
	if len(l.Unused) > 0 {
		list[0] += " not " + strings.Join(l.Unused, ",")
	}
	for e, err := range l.Edges() {
		if err != nil {
			list = append(list, err.Error())
		} else {
			list = append(list, show(e))
		}
	}
	return strings.Join(list, "; ")
}

func TestReadNamedColumns(t *testing.T) {
	t.Parallel()
	const log = "id,user_id,item_id,rating,created_at\n1,7,8,3,2020-01-02\n2,7,9,4,2020-01-03\n"
	names := func(s string) Options {
		n, err := parseNames(s)
		if err != nil {
			t.Fatal(err)
		}
		return Options{Names: n}
	}
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{log, names("src=user_id,dst=item_id"), "src=user_id,dst=item_id not id,rating,created_at; 7>8; 7>9"},
		{log, names("src=user_id,dst=item_id,time=created_at"), "src=user_id,dst=item_id,time=created_at in date not id,rating; 7>8 t=1577923200; 7>9 t=1578009600"},
		{log, names("time=created_at,weight=rating,dst=user_id,src=item_id"), "src=item_id,dst=user_id,weight=rating,time=created_at in date not id; 8>7 w=3 t=1577923200; 9>7 w=4 t=1578009600"},
		{log, names("src=USER_ID,dst=3"), "src=user_id,dst=item_id not id,rating,created_at; 7>8; 7>9"},
		{log, names("src=user,dst=item_id"), `edgelist: no such column: "user"; the header has id, user_id, item_id, rating, created_at`},
		{log, names("src=1,dst=6"), "edgelist: no such column: 6; columns are counted from 1"},
		{"ann,tea,2020-01-02\nbob,rum,2020-01-03\n", names("src=user,dst=drink"), `edgelist: no such column: "user"; no header was found, so columns are counted from 1, unless the option header says that there is one`},
		{"user,drink,how\nann,tea,hot\n", names("src=user,dst=drink"), `src=user,dst=drink not how; "ann">"tea"`},
		{"user,drink,how\nann,tea,hot\n1,2\n", names("src=user,dst=drink"), `src=user,dst=drink not how; "ann">"tea"; edgelist: line 3: columns: found 2, the header has 3: "1,2"`},
		{"196\t242\t3\t881250949\n", names("src=1,dst=2,time=4"), "src,dst,time in s not 3; 196>242 t=881250949"},
		{"196 242 3 881250949 5 6\n1 2 3\n", names("src=1,dst=2,time=4"), `src,dst,time in s not 3,5,6; 196>242 t=881250949; edgelist: line 2: columns: found 3, expected 4: "1 2 3"`},
		{"1 2 3 4 5 6\n", names("src=5,dst=6"), "src,dst not 1,2,3,4; 5>6"},
		{"1,2,5\n3,4,5\n", names("src=1,dst=2"), "src,dst not 3; 1>2; 3>4"},
		{"user,drink,how\nann,tea,hot\n", names("src=usr,dst=drink"), `edgelist: no such column: "usr"; the header has user, drink, how`},
		{"a b 5\n", names("src=2,dst=1"), `src,dst not 3; "b">"a"`},
		{"a b 5\n", names("src=2,dst=99999999"), "edgelist: no such column: 99999999; columns are counted from 1"},
		{string(npyFile("<i8", false, "(1, 2)", make([]byte, 16))), names("src=1,dst=2"), "edgelist: columns src=1,dst=2 are of text, this is npy"},
		{"1 2\n", Options{Names: Names{Src: "1"}}, `edgelist: columns "src=1": src and dst must both be given`},

		// Options take precedence over the header, and the header over the form of the lines.
		{"source,target,weight\n1,2,1082040961\n", Options{}, "src=source,dst=target,weight=weight; 1>2 w=1.082041e+09"},
		{"source,target,at\n1,2,1082040961\n", Options{}, "src=source,dst=target not at; 1>2"},
		{"source,target,at\n1,2,1082040961\n", Options{Columns: SrcDstTime}, "src=source,dst=target,time=at in s; 1>2 t=1082040961"},
		{"source,target,weight\n1,2,5\n", Options{Columns: SrcDstTime}, "src=source,dst=target,time=weight in s; 1>2 t=5"},
		{"target,source,weight,time\n1,2,5,6\n", Options{Columns: SrcDst}, "src=source,dst=target not weight,time; 2>1"},
		{"target,source,weight,time\n1,2,5,6\n", Options{Columns: SrcDstTime}, "src=source,dst=target,time=time in s not weight; 2>1 t=6"},
		{"1,2,1082040961\n", Options{Columns: SrcDstWeight}, "src,dst,weight; 1>2 w=1.082041e+09"},
		{"1,2,3,4\n", Options{Columns: SrcDst}, "src,dst not 3,4; 1>2"},

		// The error names an option that would help.
		{"ann,tea,2020-01-02\n", Options{Columns: SrcDstWeight}, `src,dst,weight; edgelist: line 1: weight is a time: "ann,tea,2020-01-02"; try columns = 'src,dst,time'`},
		{"source,target,weight\n1,2,2020-01-02\n", Options{}, `src=source,dst=target,weight=weight; edgelist: line 2: weight is a time: "1,2,2020-01-02"; try columns = 'src=source,dst=target,time=weight'`},
		{"1 2 0.5\n", Options{Columns: SrcDstTime}, `src,dst,time in s; 1>2`},
		{"1,2,2020-01-02\n", Options{Columns: SrcDstTime, Times: Seconds}, `src,dst,time in s; edgelist: line 1: time is not a number: "1,2,2020-01-02"; try times = 'date'`},
		{"1,2,5\n", Options{Columns: SrcDstTime, Times: DateTime}, `src,dst,time in datetime; edgelist: line 1: time is not of the form 2006-01-02 15:04:05 (datetime): "1,2,5"; try times = 's'`},
		{"196 242 3 881250949\n", Options{}, `src,dst,weight; edgelist: line 1: columns: found 4, expected 3: "196 242 3 881250949"; try columns = 'src,dst,weight,time'`},
		{"user,item,n,at\n1,2,3,4\n", Options{}, "src=user,dst=item not n,at; 1>2"},
	} {
		if got := describe(c.text, c.o); got != c.want {
			t.Errorf("%q as %v, names %v, times %v:\ngot  %s\nwant %s", c.text, c.o.Columns, c.o.Names, c.o.Times, got, c.want)
		}
	}
}

// A first line without a number or a time in a column where all others have one is a header.
func TestHeaderOfNamedKeys(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"user,item,created_at\nann,tea,2020-01-02\n":           true,
		"user,item,rating\nann,tea,5\nbob,tea,4\n":             true,
		"user,item,created_at\nann,tea,2020-01-02\nbob,tea,\n": true,
		"he,it,created_at\nann,tea,2020-01-02\nbob,tea,\n":     false,
		"ann,tea,2020-01-02\nbob,tea,2020-01-02\n":             false,
		"user item rating\nann tea 5\n":                        true,
		"user,item,rating\n":                                   true,
		"id,user,item,how,at\n1,ann,tea,hot,2020-01-02\n":      true,
		"a,b,c,d\nann,tea,hot,5\nbob,tea,hot\n":                false,
		"ann,tea\nbob,7\ncid,8\n":                              false,
	} {
		l, err := NewReader(strings.NewReader(text), Options{})
		if err != nil || l.Header != want {
			t.Errorf("%q: header %v, %v", text, l.Header, err)
		}
	}
	if got, want := fmt.Sprint(Names{Src: "a", Dst: "b"}), "src=a,dst=b"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
