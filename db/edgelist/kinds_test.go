package edgelist

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// loaded returns the edges of a list, with columns, comments and notes, as describe does.
func loaded(text string, o Options) string {
	l, err := NewReader(strings.NewReader(text), o)
	if err != nil {
		return err.Error()
	}
	list := []string{fmt.Sprint(l.Format)}
	if l.Header {
		list[0] += " headed"
	}
	for e, err := range l.Edges() {
		var bad *LineError
		if errors.As(err, &bad) {
			list = append(list, fmt.Sprintf("%d: %s", bad.Line, bad.Msg))
		} else if err != nil {
			list = append(list, err.Error())
		} else {
			list = append(list, show(e))
		}
	}
	if l.Comments > 0 {
		list = append(list, fmt.Sprintf("%d comments", l.Comments))
	}
	for _, n := range l.Notes {
		list = append(list, n.String())
	}
	return strings.Join(list, "; ")
}

// kinds are texts as programs and archives write them. Each is read as the graph that it means, or
// a note or an error says what was assumed.
var kinds = []struct {
	name, text string
	o          Options
	want       string
}{
	// comments
	{"hashtags", "#go,ann\n#go,bob\n#rust,ann\nzig,ann\n", Options{},
		`csv; "#go">"ann"; "#go">"bob"; "#rust">"ann"; "zig">"ann"; 3 lines with # or % as the first character were read as data (otherwise: comments = 'on')`},
	{"hashtags as comments", "#go,ann\n#go,bob\nzig,ann\n", Options{Dialect: Dialect{Comments: On}}, `csv; "zig">"ann"; 2 comments`},
	{"one hashtag", "#go ann\nzig ann\nc ann\n", Options{},
		`snap; "zig">"ann"; "c">"ann"; 1 comments; 1 line with # or % as the first character was left out as comments, although they have the columns of an edge (otherwise: comments = 'off')`},
	{"one hashtag as data", "#go ann\nzig ann\nc ann\n", Options{Dialect: Dialect{Comments: Off}}, `snap; "#go">"ann"; "zig">"ann"; "c">"ann"`},
	{"hashtags below a header", "source,target\nann,x\n#go,y\n# a remark\n", Options{},
		`csv headed; "ann">"x"; "#go">"y"; 1 comments; 1 line with # or % as the first character was read as data (otherwise: comments = 'on')`},
	{"hashtags as targets", "ann #go\nbob #go\n", Options{}, `snap; "ann">"#go"; "bob">"#go"`},
	{"SNAP", "# Directed graph\n# FromNodeId\tToNodeId\n0\t1\n", Options{}, "snap; 0>1; 2 comments"},
	{"names in a comment", "#FromNodeId\tToNodeId\n0\t1\n", Options{}, "snap; 0>1; 1 comments"},
	{"comments only", "# source target\n", Options{}, "snap; 1 comments"},
	{"KONECT", "% asym weighted\n% 2 3 3\n1 2\t1\t7\n", Options{Columns: SrcDstWeightTime}, "snap; 1>2 t=7; 2 comments"},
	{"KONECT, bipartite", "% bip unweighted\n1 1\n1 2\n", Options{},
		"snap; 1>1; 1>2; 1 comments; 1 of the numbers is both a source and a target, and became one node (otherwise: source_label = 'source', target_label = 'target')"},
	{"a line of another blank", "# a\n\u2028 b\n", Options{}, "snap; \"\\u2028\">\"b\"; 1 comments"},
	{"LGL", "# ann\nbob 1.5\ncid 2\n# bob\ncid 3\n", Options{},
		"edgelist: this looks like LGL, where a comment names the source of the lines below it, which is not read; write a source and a target on each line (otherwise: comments = 'on')"},

	// headers
	{"words above words", "user,friend\nann,bob\n", Options{},
		`csv headed; "ann">"bob"; the first line, "user,friend", was taken for the names of the columns (otherwise: header = 'off')`},
	{"words above words, by blanks", "Follower Followee\nann bob\n", Options{},
		`snap headed; "ann">"bob"; the first line, "Follower Followee", was taken for the names of the columns (otherwise: header = 'off')`},
	{"words that are nodes", "user friend\nfriend item\n", Options{}, `snap; "user">"friend"; "friend">"item"`},
	{"names above integers", "source\ttarget\n1\t2\n", Options{}, "snap headed; 1>2"},
	{"unusual names above integers", "he it\n1 2\n3 4\n", Options{},
		`snap headed; 1>2; 3>4; the first line, "he it", was taken for the names of the columns (otherwise: header = 'off')`},
	{"bars", "source|target\nann|bob\n", Options{}, `csv headed; "ann">"bob"`},
	{"header again", "source,target\nann,bob\nsource,target\ndan,eve\n", Options{}, `csv headed; "ann">"bob"; "dan">"eve"; 1 line was left out: the header again`},
	{"header below", "1 2\n2 3\nsource target\n", Options{},
		`snap; 1>2; 2>3; "source">"target"; line 3 was read as data, although it looks like the names of the columns`},
	{"Neo4j", ":START_ID(P),:END_ID(P),:TYPE\n1,2,KNOWS\n", Options{}, `csv headed; "P:1">"P:2" r=KNOWS; the header names spaces of keys: 7 in column :START_ID(P) is the node 'P:7'`},
	{"Neo4j, two kinds", "u:START_ID(User)|:END_ID(Film)\n1|1\nx|\"y;z\"\n", Options{},
		`csv headed; "User:1">"Film:1"; "User:x">"Film:y;z"; the header names spaces of keys: 7 in column u:START_ID(User) is the node 'User:7'`},
	{"Neo4j, labels given", "u:START_ID(User)|:END_ID(Film)\n1|1\n", Options{Labelled: true}, "csv headed; 1>1"},
	{"Neo4j, one space of keys", ":START_ID,:END_ID,:TYPE\n1,2,\"LIKES, A LOT\"\n", Options{}, `csv headed; 1>2 r=LIKES, A LOT`},
	{"APOC", "\"_start\",\"_end\",\"_type\",\"since\"\n\"1\",\"2\",\"KNOWS\",\"1999\"\n", Options{}, "csv headed; 1>2 r=KNOWS"},
	{"Neptune", "~id,~from,~to,~label,weight:Double\ne1,v1,v2,knows,0.5\n", Options{}, `csv headed; "v1">"v2" r=knows w=0.5`},
	{"ArangoDB", "_from,_to,relation\np/1,p/2,knows\n", Options{}, `csv headed; "p/1">"p/2" r=knows`},
	{"Gephi", "Source,Target,Type,Id,Label,Weight\n1,2,Undirected,0,,1.5\n", Options{}, "csv headed; 1>2 w=1.5"},
	{"header of a given SNAP", "source target\n1 2\n", Options{Format: SNAP},
		`snap; "source">"target"; 1>2; the first line, "source target", was read as data (otherwise: header = 'on')`},
	{"a first line unlike the others", "ann,tea\nbob,7\ncid,8\n", Options{},
		`csv; "ann">"tea"; "bob">7; "cid">8; the first line, "ann,tea", was read as data, although all others have an integer where it has none (otherwise: header = 'on')`},
	{"one letter", "a b\nb c\n", Options{}, `snap; "a">"b"; "b">"c"`},

	// row numbers and kinds of keys
	{"pandas", ",user,item\n0,10,100\n1,11,100\n", Options{}, "csv headed; 10>100; 11>100; the first column, which has no name, was left out: it probably has row numbers (otherwise: columns = 'src=1,dst=2')"},
	{"pandas, unusual names", ",he,she\n0,ann,bob\n1,cid,dan\n", Options{},
		`csv headed; "ann">"bob"; "cid">"dan"; the first line, ",he,she", was taken for the names of the columns (otherwise: header = 'off'); the first column, which has no name, was left out: it probably has row numbers (otherwise: columns = 'src=1,dst=2')`},
	{"pandas, tabs", "\tsource\ttarget\n0\t5\t6\n", Options{}, "tsv headed; 5>6; the first column, which has no name, was left out: it probably has row numbers (otherwise: columns = 'src=1,dst=2')"},
	{"id", "id,user_id,item_id\n1,7,8\n2,7,9\n", Options{}, "csv headed; 7>8; 7>9; the first column, id, was left out: it counts the rows"},
	{"row numbers without a header", "0,10,100\n1,11,100\n2,10,101\n", Options{},
		"csv; 0>10 w=100; 1>11 w=100; 2>10 w=101; the first column, which was read as the sources, counts the lines (otherwise: columns = 'src=2,dst=3')"},
	{"R", "\"from\" \"to\"\n\"1\" \"ann b\" \"bob\"\n\"2\" \"cid\" \"bob\"\n", Options{}, `csv headed; "ann b">"bob"; "cid">"bob"; the first column, which has no name, was left out: it probably has row numbers (otherwise: columns = 'src=1,dst=2')`},
	{"floats", "user,item\n1.0,17.0\n", Options{},
		`csv headed; "1.0">"17.0"; keys such as "1.0" look like integers with a fraction of 0; they are strings, so they differ from integers: write the column as integers`},
	{"zeros in front", "01 02\n1 2\n", Options{},
		`snap; "01">"02"; 1>2; keys such as "01" look like integers with zeros in front; they are strings, so they differ from integers`},
	{"large integers", "18446744073709551615,1\n-9223372036854775809,2\n", Options{},
		`csv; "18446744073709551615">1; "-9223372036854775809">2; keys such as "18446744073709551615" are integers of more than 64 bits; they are strings`},
	{"numbers of nodes and edges", "4 3\n1 2\n2 3\n4 1\n", Options{},
		"snap; 4>3; 1>2; 2>3; 4>1; the first line was read as an edge, although its numbers may be the numbers of nodes and edges (otherwise: header = 'on')"},
	{"numbers of nodes and edges, with a header given", "4 3\n1 2\n2 3\n4 1\n", Options{Dialect: Dialect{Header: On}}, "snap headed; 1>2; 2>3; 4>1"},
	{"other numbers", "3 3\n1 2\n2 3\n4 1\n", Options{}, "snap; 3>3; 1>2; 2>3; 4>1"},
	{"two kinds", "userId,movieId,rating\n1,1,4\n2,1,4\n", Options{},
		"csv headed; 1>1 w=4; 2>1 w=4; 1 of the numbers is both a source and a target, and became one node (otherwise: source_label = 'user', target_label = 'movie')"},
	{"two kinds with labels", "userId,movieId\n1,1\n", Options{Labelled: true}, "csv headed; 1>1"},
	{"one kind", "person1,person2\n1,2\n2,1\n", Options{},
		`csv headed; 1>2; 2>1; the first line, "person1,person2", was taken for the names of the columns (otherwise: header = 'off')`},
	{"a string below integers", "1 2\n3 4\n" + strings.Repeat("5 6\n", guessLines) + "7 x\n", Options{Columns: SrcDst},
		"snap; 1>2; 3>4; " + strings.Repeat("5>6; ", guessLines) + `7>"x"; the first lines have integers as keys, and 1 later ones are strings, first "x" in line 103`},
	{"no-break space", "ann\u00a0 bob\n", Options{}, `snap; "ann\u00a0">"bob"; keys such as "ann\u00a0" begin or end with a blank or a mark that cannot be seen, and differ from the same keys without it`},

	// ends of lines and marks
	{"old Mac", "1 2\r3 4\r5 6", Options{}, "snap; 1>2; 3>4; 5>6"},
	{"old Mac with an end", "a,b\rc,d\r", Options{}, `csv; "a">"b"; "c">"d"`},
	{"mixed ends", "1 2\r3 4\n5 6\n", Options{}, `snap; 1: '\r' within the line, while the first lines end with '\n'; 5>6`},
	{"mixed ends, and columns given", "1 2\n5 6 7\r3 4 8\n", Options{Columns: SrcDst}, `snap; 1>2; 2: '\r' within the line, while the first lines end with '\n'`},
	{"marks", mark + "1 2\n" + mark + "2 3\n", Options{}, "snap; 1>2; 2>3; a byte order mark was left out at the beginning of 1 line: the file was probably joined from several"},
	{"joined files", mark + "source,target\na,b\n" + mark + "source,target\nb,c\n", Options{},
		`csv headed; "a">"b"; "b">"c"; 1 line was left out: the header again; a byte order mark was left out at the beginning of 1 line: the file was probably joined from several`},

	// separators and quotes
	{"colons", "1::1193::5::978300760\n", Options{Columns: SrcDstWeightTime}, "csv; 1>1193 w=5 t=978300760"},
	{"decimal commas", "Source;Target;Weight\nann;bob;1,5\nann;cid;2,0\n", Options{}, `csv headed; "ann">"bob" w=1.5; "ann">"cid" w=2; weights have decimal commas: 1,5 was read as 1.5`},
	{"Excel", "sep=;\r\nSource;Target\r\n1;2\r\n", Options{}, "csv headed; 1>2"},
	{"separator given", "a-b-c\nd-e-f\n", Options{Columns: SrcDst, Dialect: Dialect{Separator: "-"}}, `csv; "a">"b"; "d">"e"`},
	{"blanks given", "a,x b\nc,y d\n", Options{Dialect: Dialect{Separator: " "}}, `snap; "a,x">"b"; "c,y">"d"`},
	{"a blank in a key", "drug 12\t34\ndrug 13\t35\n", Options{}, `tsv; "drug 12">34; "drug 13">35`},
	{"blanks and commas in keys", "Smith, J\tDoe, A\nRoe, B\tDoe, A\n", Options{}, `tsv; "Smith, J">"Doe, A"; "Roe, B">"Doe, A"`},
	{"quotes in TSV", "ann\tbetty blake\nann\t\"odd al\" smith\nbob\t\"open\n", Options{},
		`tsv; "ann">"betty blake"; "ann">"\"odd al\" smith"; "bob">"\"open"; in 2 columns a quote that does not enclose the column was read as a character (otherwise: quotes = 'on')`},
	{"quotes off", "a,\"b\nc,\"d\"\n", Options{Dialect: Dialect{Quotes: NoQuotes}}, `csv; "a">"\"b"; "c">"\"d\""`},
	{"backslashes", "a,\"say \\\"hi\\\", she said\"\nb,\"c\"\n", Options{}, `csv; "a">"say \"hi\", she said"; "b">"c"`},
	{"lines in quotes", "user,review,item\n1,\"so,\ngood\n\",7\n2,x,8\n", Options{},
		"csv headed; 1>7; 2>8; 1 line was read as one with those that follow, because quotes enclose the ends of lines"},
	{"lines in a key", "a,\"b\nc\"\n", Options{}, `csv; 1: key is not valid UTF-8 or contains a NUL byte or the end of a line; 1 line was read as one with those that follow, because quotes enclose the ends of lines`},
	{"open quote", "a,b\nc,\"d\ne,f\n", Options{Format: CSV},
		`csv; "a">"b"; edgelist: line 2: a quote is not closed, neither on the line nor, before a separator, on one of the next 1000 (otherwise: quotes = 'off')`},
	{"separators at the end", "1,2,\n2,3,\n", Options{}, "csv; 1>2; 2>3"},

	// lists of neighbors
	{"LightGCN", "0 1 2 3\n1 2\n2\n", Options{Format: Lists, Labelled: true}, "lists; 0>1; 0>2; 0>3; 1>2; 1 line has a node that links to none, which was left out"},
	{"adjacency", "# c\na: b c\nb:\nc: a\n", Options{Format: Lists}, `lists; "a">"b"; "a">"c"; "c">"a"; 1 comments; 1 line has a node that links to none, which was left out`},
	{"commas in lists", "1\t2,3\n4\t5\n", Options{Format: Lists}, "lists; 1>2; 1>3; 4>5"},
	{"numbers of lists", "1 1 2\n2 1\n", Options{Format: Lists},
		"lists; 1>1; 1>2; 2>1; 2 of the numbers are both sources and targets, and each of them became one node (otherwise: source_label = 'source', target_label = 'target')"},
	{"lists without a format", "0 1 2 3 5\n1 2\n", Options{},
		"snap; 1: columns: found 5, expected 2; if a line holds a node and all nodes that it links to, the list has another format; 1>2"},
	{"lists in a column", "1\t2,3\n4\t5,6\n", Options{}, `snap; 1>"2,3"; 4>"5,6"; keys such as "2,3" look like several integers: if a line holds a node and all nodes that it links to, give the format lists`},
	{"lists cut", "1 2\n2 3 4 5\n", Options{Columns: SrcDst}, "snap; 1>2; 2>3; lines have up to 4 columns, the first line has 2, and the columns after those named were left out (otherwise: format = 'lists')"},
}

func TestKindsOfText(t *testing.T) {
	t.Parallel()
	for _, c := range kinds {
		if got := loaded(c.text, c.o); got != c.want {
			t.Errorf("%s:\n%s\ngot  %s\nwant %s", c.name, c.text, got, c.want)
		}
	}
}
