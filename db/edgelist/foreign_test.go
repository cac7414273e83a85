package edgelist

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// utf16Of returns a text in UTF-16 or, if width is 4, in UTF-32, without a byte order mark.
func utf16Of(text string, width int, big bool) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		c := make([]byte, width)
		low, high := 0, 1
		if big {
			low, high = width-1, width-2
		}
		c[low], c[high] = byte(u), byte(u>>8)
		b = append(b, c...)
	}
	return string(b)
}

// tarOf returns the start of a tar archive.
func tarOf(name string) string {
	b := make([]byte, 512)
	copy(b, name)
	copy(b[257:], "ustar\x0000")
	return string(b)
}

// Each format that is not read is named in the error, and is read as a text if the user says so.
func TestForeignFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n", "a pointer of Git LFS, not the file, which is not read; fetch the file with git lfs pull"},
		{"/annex/objects/SHA256E-s12--00.csv\n", "a pointer of git-annex"},
		{"../.git/annex/objects/aa/bb/SHA256E-s12--00/SHA256E-s12--00\n", "a pointer of git-annex"},
		{"outs:\n- md5: 0000\n  size: 12\n  path: edges.csv\n", "a pointer of DVC"},
		{"Not Found", "an error message of a server"},
		{"404: Not Found\n", "an error message of a server"},
		{"HTTP/1.1 403 Forbidden\r\n", "an error message of a server"},
		{"Error: 429 Too Many Requests\n", "an error message of a server"},
		{"Access denied.\n", "an error message of a server"},
		{"<!DOCTYPE html>\n<html><title>404</title>", "a web page (HTML)"},
		{"  <HTML>\n", "a web page (HTML)"},
		{"<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code></Error>", "XML"},
		{"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gexf xmlns=\"http://gexf.net/1.3\">", "GEXF, which is not read; export the spreadsheet of edges from Gephi as CSV"},
		{"<!-- made by hand -->\n<graphml>\n<graph edgedefault='directed'>", "GraphML"},
		{"<graphml xmlns='x'>", "GraphML"},
		{"@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n", "Turtle"},
		{"<http://a/1> a <http://c/Person> ;\n  <http://p/knows> <http://a/2> .\n", "Turtle"},
		{"{\"nodes\": []}", "JSON"},
		{"{\"name\": 1, \"age\": 2}\n{\"name\": 2, \"age\": 3}\n", "JSON"},
		{"{\"source\": [1], \"target\": [2]}\n", "JSON"},
		{" [[0, 1], [1, 2]]", "JSON"},
		{"Creator \"igraph\"\nVersion 1\ngraph\n[\n  directed 1\n  node\n  [\n    id 0\n", "GML"},
		{"graph [\n  node [ id 0 ]\n", "GML"},
		{"digraph G {\n  a -> b;\n}\n", "DOT of Graphviz"},
		{"// hand made\nstrict graph \"my graph\" { a -- b }", "DOT of Graphviz"},
		{"*Vertices 3\n1 \"a\"\n*Edges\n1 2\n", "a Pajek network"},
		{"% from Pajek\r\n*network karate\r\n*vertices 34\r\n", "a Pajek network"},
		{"dl n=4\nformat = edgelist1\n", "a DL file of UCINET"},
		{"c 9th DIMACS challenge\nc\np sp 3 2\na 1 2 7\na 2 3 9\n", "a DIMACS graph"},
		{"p edge 3 2\ne 1 2\n", "a DIMACS graph"},
		{"3 2\n2\n1 3\n2\n", "a METIS graph"},
		{"% c\n4 4 011\n1 2 5 3 1\n2 1 5 4 2\n1 1 1\n1 2 2 3 9\n", ""}, // 4 names 3, but 3 does not name 4
		{"5 4 001\n2 7 3 1\n1 7\n1 1 4 2\n3 2 5 8\n4 8\n", "a METIS graph"},
		{"- [1, 2]\n- [2, 3]\n", "YAML"},
		{"# mine\n---\nedges:\n  - {source: 1, target: 2}\n", "YAML"},
		{"- source: 1\n  target: 2\n", "YAML"},
		{"| source | target |\n|---|:---:|\n| 1 | 2 |\n", "a table that is drawn with lines, which is not read; write the table as CSV, as in psql --csv"},
		{" source | target \n--------+--------\n      1 |      2 \n(1 row)\n", "a table that is drawn with lines"},
		{"+---+---+\n| a | b |\n+---+---+\n| 1 | 2 |\n", "a table that is drawn with lines"},
		{"(1, 2)\n(2, 3)\n", "pairs or terms in parentheses"},
		{"(1, 2),\r\n(2, 3),\r\n", "pairs or terms in parentheses"},
		{"edge(ann,bob).\nedge(bob,cid).\n", "pairs or terms in parentheses"},
		{"LEDA.GRAPH\nstring\n", "a graph of LEDA"},
		{"nodedef>name VARCHAR\na\nedgedef>node1,node2\na,b\n", "a GDF file"},
		{">>graph6<<A_\n", "graph6 or sparse6"},
		{"AdjacencyGraph\n3\n2\n0\n", "an adjacency graph of Ligra"},
		{tarOf("edges.csv"), "a tar archive"},
		{"7z\xbc\xaf\x27\x1c\x00", "an archive"},
		{"\x28\xb5\x2f\xfd", "unexpected EOF"}, // packed, and truncated
		{"PARE\x01\x00", "an encrypted Parquet file"},
		{"\x89HDF\r\n\x1a\n", "an HDF5 file"},
		{"ARROW1\x00\x00\xff\xff\xff\xff", "an Arrow or Feather file"},
		{"FEA1\x00\x00", "an Arrow or Feather file"},
		{"ORC\x0a\x0b\x00", "an ORC file"},
		{"Obj\x01\x04", "an Avro file"},
		{"MATLAB 5.0 MAT-file, Platform: GLNXA64", "a MATLAB file, which is not read; write the matrix with mmwrite"},
		{"X\n\x00\x00\x00\x03", "a file of R"},
		{"RDX3\nX\n\x00", "a file of R"},
		{"<stata_dta><header>", "a Stata file"},
		{"r\x02\x01\x00\x01", "a Stata file"},
		{"$FL2@(#) SPSS", "a SPSS file"},
		{"SQLite format 3\x00\x10", "an SQLite database"},
		{"12345678DUCK\x40\x00\x00\x00", "a DuckDB database"},
		{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel file"},
		{"%PDF-1.7\n1 0 obj\n", "a PDF"},
		{"\x89PNG\r\n\x1a\n\x00", "an image"},
		{"\x7fELF\x02", "a program"},
		{"\x80\x04\x95\x10\x00", "a Python pickle"},
		{"(dp0\nS'a'\n", "a Python pickle"},
		{"\xff\xfe1\x00 \x002\x00", "text in UTF-16"},
		{utf16Of("1 2\n2 3\n", 2, false), "text in UTF-16, which is not read; convert it with iconv"},
		{utf16Of("1 2\n2 3\n", 2, true), "text in UTF-16"},
		{utf16Of("1 2\n2 3\n", 4, false), "text in UTF-32"},
		{utf16Of("1 2\n2 3\n", 4, true), "text in UTF-32"},
	} {
		_, err := NewReader(strings.NewReader(c.text), Options{})
		if got := fmt.Sprint(err); !strings.Contains(got, c.want) || c.want == "" && err != nil {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
		if c.want == "" {
			continue
		}
		if _, err := NewReader(strings.NewReader(c.text), Options{Format: SNAP}); err != nil && !strings.Contains(c.want, "EOF") {
			t.Errorf("%q as snap: %v", c.text, err)
		}
	}
}

// Words that begin like a foreign format are words.
func TestForeignLikeWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"PAR1 x\nPARENT y\n", "PARENT x\n", "ORC elf\n", "FEA1 FEA2\n", "GIF89a png\n", "X\ty\n", "A 2\n", "graph node\n", "graph,[\n", "digraph a\n",
		"ann bob\nDUCK a\n", "p sp 5\n1 2 3\n", "c d\np q\n", "not found\nfound not\n", "error a\n", "forbidden fruit\n", "outs in\n", "nodedef a\n",
		"<Albert_Einstein>\t<bornIn>\n", "<a> <b>\n", "dl n\n", "version https\n", "MATLAB R\n", "2 2\n1 2\n2 1\n", "- a\n- b\n", "-\t[\n", "a|b\n--|c\n", "f(a,b)\tg(c,d)\nf(a,c)\tg(c,e)\n", "ann (x),bob (y)\ncid (x),dan (y)\n", "3 3\n2 3\n1 3\n1 2\n",
	} {
		if err := foreignError([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Lists of words or of integers are never taken for a foreign format, whatever their separator is.
func TestListsAreNotForeign(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		key := rapid.SampledFrom([]*rapid.Generator[string]{
			rapid.StringMatching(`[a-z]{1,8}`), rapid.StringMatching(`[A-Z][A-Za-z0-9_.-]{0,5}`), rapid.StringMatching(`[1-9][0-9]{0,2}`), rapid.StringMatching(`[1-4]`),
			rapid.SampledFrom([]string{"graph", "a", "c", "e", "p", "sp", "edge", "node", "creator", "version", "not", "found", "dl", "X", "A", "2"}),
		}).Draw(r, "kind of keys")
		sep := rapid.SampledFrom([]string{" ", "\t", ",", ";", "::"}).Draw(r, "separator")
		width := rapid.IntRange(2, 3).Draw(r, "columns")
		var text strings.Builder
		for range rapid.IntRange(2, 8).Draw(r, "lines") {
			for i := range width {
				if i > 0 {
					text.WriteString(sep)
				}
				text.WriteString(key.Draw(r, "key"))
			}
			text.WriteString("\n")
		}
		if err := foreignError([]byte(text.String())); err != nil {
			r.Fatalf("%q: %v", text.String(), err)
		}
	})
}
