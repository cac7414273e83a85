package edgelist

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Lists with a column of relations, by option, by header and by what they plainly are; and lists in
// which a column only looks like one.
func TestRelations(t *testing.T) {
	t.Parallel()
	const middle = "the second column was read as the names of relations (otherwise: columns = 'src,dst,relation')"
	const last = "the third column was read as the names of relations (otherwise: columns = 'src,relation,dst')"
	noWeight := "weight is not a finite number above 0 (32 bits)"
	for _, c := range []struct {
		name, text string
		o          Options
		want       string
	}{
		{"in the middle", "ann\tlikes\tbob\nbob\tlikes\tcat\n", Options{Columns: SrcRelationDst}, `snap; "ann">"bob" r=likes; "bob">"cat" r=likes`},
		{"small integers", "1 0 2\n2 12 3\n", Options{Columns: SrcRelationDst}, "snap; 1>2 r=0; 2>3 r=12"},
		{"at the end", "1,2,a b\n2,3,\n", Options{Columns: SrcDstRelation}, "csv; 1>2 r=a b; 2>3"},
		{"with weight and time", "1,likes,2,0.5,2020-01-01\n", Options{Columns: "src,relation,dst,weight,time"}, "csv; 1>2 r=likes w=0.5 t=1577836800"},
		{"any order", "likes,2,7,1\n", Options{Columns: "relation,dst,weight,src"}, "csv; 1>2 r=likes w=7"},
		{"by number", "1,2,x,likes\n", Options{Names: Names{Src: "1", Dst: "2", Relation: "4"}}, "csv; 1>2 r=likes"},
		{"by name", "a,b,verb\n1,2,likes\n", Options{Names: Names{Src: "a", Dst: "b", Relation: "verb"}}, "csv headed; 1>2 r=likes"},
		{"with quotes", "1,\"a,\"\"b\",2\n", Options{Columns: SrcRelationDst}, `csv; 1>2 r=a,"b`},
		{"empty", "1,,2\n", Options{Columns: SrcRelationDst}, "csv; 1>2"},
		{"not valid", "1,\xff,2\n3,a\x00,4\n5,b,6\n", Options{Columns: SrcRelationDst},
			"csv; 1: relation is not valid UTF-8, contains a NUL byte or is longer than 1024 bytes; 2: relation is not valid UTF-8, contains a NUL byte or is longer than 1024 bytes; 5>6 r=b"},
		{"too long", "1," + strings.Repeat("x", maxName) + ",2\n1,y" + strings.Repeat("x", maxName) + ",2\n", Options{Columns: SrcRelationDst},
			"csv; 1>2 r=" + strings.Repeat("x", maxName) + "; 2: relation is not valid UTF-8, contains a NUL byte or is longer than 1024 bytes"},
		{"and an option for all edges", "1 2 x\n", Options{Columns: SrcDstRelation, Related: true}, ErrRelated.Error()},

		{"header", "source,relation,target\n1,likes,2\n", Options{}, "csv headed; 1>2 r=likes"},
		{"header, other words", "head\trel\ttail\nann\tlikes\tbob\n", Options{}, `snap headed; "ann">"bob" r=likes; the first line, "head\trel\ttail", was taken for the names of the columns (otherwise: header = 'off')`},
		{"header of RDF", "subject,predicate,object\n7,likes,8\n", Options{}, `csv headed; 7>8 r=likes`},
		{"header of Neo4j", ":START_ID,:END_ID,:TYPE,weight:float,since:int\n7,8,KNOWS,0.5,1999\n", Options{}, "csv headed; 7>8 r=KNOWS w=0.5"},
		{"header, not asked for", "source,relation,target\n1,likes,2\n", Options{Columns: SrcDst}, "csv headed; 1>2"},
		{"header, all of one relation", "source,relation,target\n1,likes,2\n", Options{Related: true}, "csv headed; 1>2"},
		{"an unusual name", "user_id,event_type,item_id\n1,view,7\n1,buy,8\n", Options{}, "csv headed; 1>7; 1>8; the column event_type, which may name relations, was not read (otherwise: columns = 'src=user_id,relation=event_type,dst=item_id')"},

		{"plain triples", "ann\tlikes\tbob\nbob\tlikes\tcat\n", Options{}, `snap; "ann">"bob" r=likes; "bob">"cat" r=likes; ` + middle},
		{"plain triples, by commas", "ann,likes,bob\nbob,hates,cat\n", Options{}, `csv; "ann">"bob" r=likes; "bob">"cat" r=hates; ` + middle},
		{"plain triples, relation last", "ann,bob,likes\nbob,cat,likes\n", Options{}, `csv; "ann">"bob" r=likes; "bob">"cat" r=likes; ` + last},
		{"integers and a relation at the end", "5 2 friend\n2 3 friend\n", Options{}, "snap; 5>2 r=friend; 2>3 r=friend; " + last},
		{"integers name relations", "Q1 31 Q2\nQ2 31 Q3\n", Options{}, `snap; "Q1">"Q2" r=31; "Q2">"Q3" r=31; ` + middle},
		{"WordNet", "00260881\t_hypernym\t00260622\n01332730\t_hypernym\t03122748\n", Options{},
			`snap; "00260881">"00260622" r=_hypernym; "01332730">"03122748" r=_hypernym; ` + middle +
				`; keys such as "00260881" look like integers with zeros in front; they are strings, so they differ from integers`},
		{"numbered names", "e1,p1,e2\ne2,p1,e3\n", Options{}, `csv; "e1">"e2" r=p1; "e2">"e3" r=p1; ` + middle},
		{"Wikidata", "Q1\tP31\tQ5\nQ2\tP31\tQ5\nQ1\tP27\tQ30\n", Options{}, `snap; "Q1">"Q5" r=P31; "Q2">"Q5" r=P31; "Q1">"Q30" r=P27; ` + middle},
		{"header of letters", "h,r,t\nann,likes,bob\n", Options{}, `csv headed; "ann">"bob" r=likes`},
		{"header of letters, RDF", "S\tP\tO\tTime\nann\tlikes\tbob\t2020-01-01\n", Options{}, `snap headed; "ann">"bob" r=likes t=1577836800`},
		{"with dates", "ann\thosts\tbob\t2014-01-01\nbob\thosts\tcat\t2014-01-02\n", Options{}, `snap; "ann">"bob" r=hosts t=1388534400; "bob">"cat" r=hosts t=1388620800; ` + middle},
		{"with weights", "ann\thosts\tbob\t0.5\nbob\thosts\tcat\t2\n", Options{}, `snap; "ann">"bob" r=hosts w=0.5; "bob">"cat" r=hosts w=2; ` + middle},
		{"a header with other words", "entity,link,other\nann,likes,bob\nbob,likes,cat\n", Options{Dialect: Dialect{Header: On}}, `csv headed; "ann">"bob" r=likes; "bob">"cat" r=likes; ` + middle},
		{"of one relation", "ann,likes,bob\nbob,likes,cat\n", Options{Related: true}, "csv; 1: " + noWeight + "; if a column names relations, the option says which one; 2: " + noWeight + "; if a column names relations, the option says which one"},

		{"either column", "ann bob cat\n", Options{}, "snap; 1: " + noWeight + "; if a column names relations, the option says which one"},
		{"integers around words", "7 likes 2\n2 likes 3\n", Options{},
			`snap; 7>"likes" w=2; 2>"likes" w=3; the third column was read as weights, and the second, which has words between integers, as the targets (otherwise: columns = 'src,relation,dst')`},
		{"ratings of titles", "4,Dune,5\n2,Alien,4\n3,Solaris,5\n", Options{}, `csv; 4>"Dune" w=5; 2>"Alien" w=4; 3>"Solaris" w=5`},
		{"documents of networkx", "5 2 {}\n2 3 {}\n", Options{}, "snap; 1: " + noWeight + "; 2: " + noWeight},
		{"missing weights", "5 2 NaN\n2 3 inf\n", Options{}, "snap; 1: " + noWeight + "; 2: " + noWeight},
		{"dates that are not read", "5,2,1/2/2020\n2,3,3/4/2021\n", Options{}, "csv; 1: " + noWeight + "; 2: " + noWeight},
		{"four columns, later words", "1 2\nann likes bob 3\n", Options{}, "snap; 1>2; 2: columns: found 4, expected 2"},
	} {
		if got := loaded(c.text, c.o); got != c.want {
			t.Errorf("%s:\n%s\ngot  %s\nwant %s", c.name, c.text, got, c.want)
		}
	}
}

// Edges with a negative weight get the relation of the option, in all formats that have weights.
// Zero stays malformed.
func TestNegativeWeights(t *testing.T) {
	t.Parallel()
	const note = "; edges with a negative weight, which was made positive: 1; they have the relation distrust"
	array := string(npyFile("<f8", false, "(4, 3)", elements[float64](5, 2, -3, 2, 3, 1, 6, 7, 1, 8, 9, 2)))
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{"5 2 -3\n2 3 1\n", Options{}, "snap; 5>2 r=distrust w=3; 2>3" + note},
		{"source,target,rating\n1,2,-3\n2,3,1\n", Options{}, "csv headed; 1>2 r=distrust w=3; 2>3" + note},
		{"source,target,relation,rating\n1,2,trust,-3\n2,3,trust,1\n", Options{}, "csv headed; 1>2 r=distrust w=3; 2>3 r=trust" + note},
		{"a;b;-3,5\nb;c;1,0\n", Options{}, `csv; "a">"b" r=distrust w=3.5; "b">"c"; weights have decimal commas: -3,5 was read as -3.5` + note},
		{"%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 -3\n3 2 1\n", Options{}, "mtx; 2>1 r=distrust w=3; 3>2" + note},
		{array, Options{}, "npy; 5>2 r=distrust w=3; 2>3; 6>7; 8>9 w=2" + note},
		{"1 2 0\n1 2 -1e99\n", Options{Columns: SrcDstWeight}, "snap; 1: weight is not a finite number above 0 (32 bits); 2: weight is not a finite number above 0 (32 bits): a list with signs can be read without its weights, or its negative edges as another relation with option negative"},
	} {
		c.o.Negative = "distrust"
		if got := loaded(c.text, c.o); got != c.want {
			t.Errorf("%q:\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
}

// Arrays may have a column of relations, or a further array of them.
func TestRelationsOfArrays(t *testing.T) {
	t.Parallel()
	triples := npyFile("<i8", false, "(1, 3)", elements[int64](1, 7, 2))
	beside := npzFile(map[string][]byte{"edge_index": npyFile("<i8", false, "(2, 2)", elements[int64](1, 2, 2, 3)), "edge_type": npyFile("<i8", false, "(2,)", elements[int64](7, 8))})
	for _, c := range []struct {
		file []byte
		o    Options
		want string
	}{
		{triples, Options{Columns: SrcRelationDst}, "npy; 1>2 r=7"},
		{triples, Options{Columns: SrcDstRelation}, "npy; 1>7 r=2"},
		{npyFile("<i8", false, "(1, 4)", elements[int64](1, 7, 2, 5)), Options{Columns: "src,relation,dst,weight"}, "npy; 1>2 r=7 w=5"},
		{npyFile("<f8", false, "(1, 3)", elements[float64](1, 0.5, 2)), Options{Columns: SrcRelationDst}, "npy; 1: relation is not an integer"},
		{beside, Options{}, "npz; 1>2 r=7; 2>3 r=8"},
		{beside, Options{Related: true}, "npz; 1>2; 2>3; arrays not read: edge_type"},
	} {
		if got := loaded(string(c.file), c.o); got != c.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", c.o, got, c.want)
		}
	}
}

// The memory of a list is bounded by its number of relations, which is bounded too.
func TestTooManyRelations(t *testing.T) {
	t.Parallel()
	var list bytes.Buffer
	for n := range maxNames + 2 {
		fmt.Fprintf(&list, "1,r%d,2\n", n)
	}
	list.WriteString("1,r0,2\n")
	r, err := NewReader(&list, Options{Columns: SrcRelationDst})
	if err != nil {
		t.Fatal(err)
	}
	var bad []string
	edges := 0
	for _, err := range r.Edges() {
		if edges++; err != nil {
			edges--
			bad = append(bad, err.Error())
		}
	}
	if edges != maxNames+1 || len(bad) != 2 || !strings.HasPrefix(bad[0], "edgelist: line 65536: more than 65535 relations") {
		t.Errorf("%d edges, %q", edges, bad)
	}
}

// Columns can be parsed back, in any order.
func TestColumnsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"src", "relation", "dst", "weight", "time"}
		order := rapid.Permutation(names).Draw(t, "order")[:rapid.IntRange(2, len(names)).Draw(t, "number")]
		text := strings.Join(order, ",")
		c, err := ParseColumns(text)
		both := strings.Contains(text, "src") && strings.Contains(text, "dst")
		if (err == nil) != both || err == nil && (c.String() != text || c.count() != len(order)) {
			t.Fatalf("%q: %q, %v", text, c, err)
		}
	})
}

// spelledValues returns values as Go prints them.
func spelledValues(values []Value) (all []any) {
	for _, v := range values {
		switch v.Type {
		case AnyType:
			all = append(all, nil)
		case FloatType:
			all = append(all, math.Float64frombits(uint64(v.Num)))
		case StringType:
			all = append(all, v.Text)
		default:
			all = append(all, v)
		}
	}
	return all
}

// Lists of nodes in the notation of Neo4j give keys, which are prefixed by their space, and labels.
// Further columns are properties.
func TestNodesOfNeo4j(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{":ID,name,price:float,:LABEL\n7,\"a, b\",1.5,Film\nx,c,,Film;Sequel\n9,d,2,\n", Options{},
			`7 Film [a, b 1.5]; "x" Film [c <nil>]; 9  [d 2]; unused ; 1 line with several labels: a node has one, which is the first`},
		{"personId:ID(Person);:LABEL\n7;\"Actor;Person\"\n", Options{},
			`"Person:7" Actor; unused ; the header names spaces of keys: 7 in column personId:ID(Person) is the node 'Person:7'; 1 line with several labels: a node has one, which is the first`},
		{"personId:ID(Person),name\n7,ann\n7\n", Options{Labelled: true}, `7  [ann]; 7  [<nil>]; unused `},
		{"~id,~label,name:String\nv1,person,ann\n", Options{}, `"v1" person [ann]; unused `},
		{"name,:ID\nann,7\nbob\n", Options{}, "7  [ann]; 3: columns: found 1, the header has 2; unused "},
	} {
		l, err := NewNodes(strings.NewReader(c.text), c.o)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for n, err := range l.All() {
			var bad *LineError
			switch {
			case errors.As(err, &bad):
				list = append(list, fmt.Sprintf("%d: %s", bad.Line, bad.Msg))
			case err != nil:
				t.Fatal(err)
			default:
				text := show1(n.Key) + " " + n.Label
				if len(l.Properties) > 0 {
					text += fmt.Sprintf(" %v", spelledValues(n.Values))
				}
				list = append(list, text)
			}
		}
		list = append(list, "unused "+strings.Join(l.Unused, ", "))
		for _, n := range l.Notes {
			list = append(list, n.String())
		}
		if got := strings.Join(list, "; "); got != c.want {
			t.Errorf("%q:\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
}

// N-Triples and N-Quads are recognized. Statements about literals are counted, and are no edges.
func TestStatements(t *testing.T) {
	t.Parallel()
	const bad = "not a statement of N-Triples: a subject, a predicate, an object and a full stop"
	const start = "<http://a/1> <http://p/knows> <http://a/2> .\n"
	const first = `nt; "http://a/1">"http://a/2" r=http://p/knows; `
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{"# a graph\n\n" + start + "_:b1 <http://p/knows> _:b1.\n", Options{}, first + `"_:b1">"_:b1" r=http://p/knows; 1 comments`},
		{start, Options{Columns: SrcDst}, `nt; "http://a/1">"http://a/2"`},
		{start, Options{Related: true}, `nt; "http://a/1">"http://a/2"`},
		{start, Options{Columns: SrcDstWeight}, errStatementColumns.Error()},
		{start, Options{Names: Names{Src: "1", Dst: "2"}}, "edgelist: columns src=1,dst=2 are of text, this is nt"},
		{"<a><b><c>.\n", Options{}, `nt; "a">"c" r=b`},
		{"<a> <b> <c> . # why\r\n", Options{}, `nt; "a">"c" r=b`},
		{"<a> <b> \"x <d> \\\" . y\" .\n<a> <b> \"1\"^^<http://int> .\n<a> <b> \"x\"@en-GB.\n<a> <b> <c> .\n", Options{},
			`nt; "a">"c" r=b; 3 statements were left out, because a literal is no node: first "x <d> \" . y"`},
		{"<a> <b> <c> <g> .\n<a> <b> \"x\" _:g .\n", Options{}, `nt; "a">"c" r=b; 1 statement was left out, because a literal is no node: first "x"; 2 statements were in a graph with a name, which was left out`},
		{"<\\u00e9/\\U0001F600> <b> <c> .\n", Options{}, `nt; "é/😀">"c" r=b`},
		{start + "<a> <b> <c>\n", Options{}, first + "2: " + bad},
		{start + "<a> <b> .\n<a> .\n.\n<a> _:b <c> .\n\"a\" <b> <c> .\n<a> <b> <c> <d> <e> .\n<a> <b> <c> \"d\" .\n<a> <b> <c> . x\na b c\n", Options{},
			first + "2: " + bad + "; 3: " + bad + "; 4: " + bad + "; 5: " + bad + "; 6: " + bad + "; 7: " + bad + "; 8: " + bad + "; 9: " + bad + "; 10: " + bad},
		{start + "<a b> <b> <c> .\n<> <b> <c> .\n<a> <b> <\\u0000> .\n<\\x41> <b> <c> .\n<a> <\\u12> <c> .\n<a> <b> <\xff> .\n", Options{},
			first + strings.Join([]string{"2: " + badIRI, "3: " + badIRI, "4: " + badIRI, "5: " + badIRI, "6: " + badIRI, "7: " + badIRI}, "; ")},
		{start + "<a <b\n<a> <b> \"c\n<a> <b> \"c\"^^<d\n", Options{}, first + "2: a term has no end; 3: a term has no end; 4: a term has no end"},
		{start + "<< <a> <b> <c> >> <d> <e> .\n", Options{}, first + "2: a statement about a statement is not read"},
		{"a b <c> .\n", Options{Format: NTriples}, "nt; 1: " + bad},
	} {
		if got := loaded(c.text, c.o); got != c.want {
			t.Errorf("%q:\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
}

// Lines of JSON are recognized by their names. Columns are members, in any order.
func TestObjects(t *testing.T) {
	t.Parallel()
	names := Names{Src: "a", Dst: "b", Relation: "verb"}
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{`{"source": 1, "target": "bob", "relation": "likes", "weight": 2, "time": 1700000000}` + "\n\n" + `{"weight":0.5,"target":"x \"y\"","source":"7"}` + "\n", Options{},
			`jsonl; 1>"bob" r=likes w=2 t=1700000000; 7>"x \"y\"" w=0.5; edges without a time, which is missing or 0: 1`},
		{`{"user_id": 5, "item_id": 6, "type": "view", "tags": ["a"], "created_at": "2020-01-01T00:00:00Z"}` + "\n", Options{}, "jsonl; 5>6 t=1577836800"},
		{`{"item": 6, "user": 5}`, Options{}, "jsonl; 6>5"},
		{`{"a": 1, "verb": 7, "b": 2}`, Options{Names: names}, "jsonl; 1>2 r=7"},
		{`{"source": 1, "target": 2, "weight": null, "relation": null}`, Options{}, "jsonl; 1>2"},
		{`{"source": 1, "target": 2, "weight": -3}`, Options{Negative: "distrust"}, "jsonl; 1>2 r=distrust w=3; edges with a negative weight, which was made positive: 1; they have the relation distrust"},
		{`{"source": 1, "target": 2}` + "\n" + `{"source": 1}` + "\n[1, 2]\n" + `{"source": 1, "target": 2} x` + "\n" + `{"source": {}, "target": 2}` + "\n" + `{"source": 1, "target": ` + "\n" + `{"source": "a\u0000", "target": 2}` + "\n", Options{},
			"jsonl; 1>2; 2: key is empty; 3: not an object of JSON on a line; 4: not an object of JSON on a line; 5: member source is neither a text nor a number; 6: not an object of JSON on a line; 7: key is not valid UTF-8 or contains a NUL byte or the end of a line"},
		{`{"source": 1, "target": 2, "weight": "much"}`, Options{}, "jsonl; 1: weight is not a finite number above 0 (32 bits)"},
		{`{"he": 1, "she": 2}`, Options{Format: JSONLines}, errMembers.Error() + ": no members are called source and target; give their names with columns = 'src=NAME,dst=NAME'; there are he, she"},
		{`{"source": 1, "target": 2}`, Options{Names: names}, `edgelist: no such column: "a"; the header has source, target`},
		{"", Options{Format: JSONLines}, "jsonl"},
	} {
		if got := loaded(c.text, c.o); got != c.want {
			t.Errorf("%q:\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
}

// The triples of public knowledge graphs are recognized without an option.
func TestKnowledgeGraphs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]int{"fb15k-237": {20466, 224}, "wn18rr": {3134, 11}, "codex-s": {1828, 36}} {
		l, err := NewReader(data(t, "kg/"+name+"/test.tsv.gz"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		edges, relations := 0, map[string]bool{}
		for e, err := range l.Edges() {
			if err != nil {
				t.Fatal(err)
			}
			edges++
			relations[e.Relation] = true
		}
		if got := [2]int{edges, len(relations)}; got != want || l.Columns != SrcRelationDst {
			t.Errorf("%s: %v edges and relations, columns %v, want %v", name, got, l.Columns, want)
		}
	}
}
