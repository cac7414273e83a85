// Package foreign recognizes files in formats that package edgelist does not read by their first
// bytes. It never takes an edge list for one of them.
package foreign

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Bytes is the number of bytes at the start of a file by which formats are recognized.
const Bytes = 4 << 10

// Format is a format that is not read.
type Format struct {
	Name string
	Do   string // how to get an edge list
}

// format is a format and how it is recognized.
type format struct {
	name string
	is   func(head []byte) bool // head is the start of the file; it never reports an edge list
	do   string                 // how to get an edge list
}

// begins recognizes a format by its first bytes.
func begins(magic ...string) func([]byte) bool {
	return func(head []byte) bool {
		return slices.ContainsFunc(magic, func(m string) bool { return bytes.HasPrefix(head, []byte(m)) })
	}
}

// BeginsBinary recognizes a format by its first bytes, which a text could have too, and a zero
// byte, which no text has.
func BeginsBinary(magic ...string) func([]byte) bool {
	return func(head []byte) bool { return begins(magic...)(head) && bytes.IndexByte(head, 0) >= 0 }
}

// document recognizes XML with an element at its start.
func document(element string) func([]byte) bool {
	return func(head []byte) bool {
		text := bytes.ToLower(bytes.TrimLeft(head, " \t\r\n"))
		return begins("<?xml", "<!--", "<!doctype", "<"+element)(text) && bytes.Contains(text, []byte("<"+element))
	}
}

// matches recognizes a format by a regular expression.
func matches(expr string) func([]byte) bool { return regexp.MustCompile(expr).Match }

// What a user can do about a foreign format.
const (
	unpackIt     = "unpack it first"
	utf8It       = "convert it with iconv -t UTF-8"
	fromPandas   = "write the table from pandas, as in pandas.%s.to_parquet('edges.parquet')"
	fromNetworkX = "write the edges from networkx, as in networkx.write_edgelist(networkx.%s, 'edges.txt', data=False)"
	downloadIt   = "download the file again, with a link to its content"
	TableOfIt    = "export the edges as a table in CSV or Parquet"
)

// formats returns the formats that are named in errors, in the order in which they are
// tried.
var formats = sync.OnceValue(func() []format { return slices.Concat(binaryFormats(), textFormats()) })

// pandas says how to write a table that a function of pandas reads.
func pandas(call string) string { return fmt.Sprintf(fromPandas, call) }

// networkX says how to write the edges of a graph that a function of networkx reads.
func networkX(call string) string { return fmt.Sprintf(fromNetworkX, call) }

// binaryFormats returns the formats that are no text, and texts in other encodings.
func binaryFormats() []format {
	return []format{
		{"text in UTF-32", func(head []byte) bool {
			return begins("\xff\xfe\x00\x00", "\x00\x00\xfe\xff")(head) || spaced(head, 4)
		}, utf8It},
		{"text in UTF-16", func(head []byte) bool { return begins("\xff\xfe", "\xfe\xff")(head) || spaced(head, 2) }, utf8It},
		{"a file packed twice", begins("\x1f\x8b", "\x28\xb5\x2f\xfd", "BZh91AY&SY", "\xfd7zXZ\x00"), unpackIt},
		{"an archive", begins("7z\xbc\xaf\x27\x1c", "Rar!\x1a", "PK\x05\x06", "\x1f\x9d", "LZIP\x01", "\x04\x22\x4d\x18", "\xff\x06\x00\x00sNaPpY"), unpackIt},
		{"a tar archive", isTar, "unpack it, and load the files in it, or a folder of the Open Graph Benchmark"},
		{"an encrypted Parquet file", BeginsBinary("PARE"), "write it without encryption"},
		{"an HDF5 file", begins("\x89HDF\r\n"), "write the array of edges from h5py with numpy.save('edges.npy', ...)"},
		{"an Arrow or Feather file", BeginsBinary("ARROW1\x00\x00", "FEA1", "\xff\xff\xff\xff"), pandas("read_feather(...)")},
		{"an ORC file", BeginsBinary("ORC"), pandas("read_orc(...)")},
		{"an Avro file", begins("Obj\x01"), "write the table as Parquet"},
		{"a MATLAB file", begins("MATLAB 5.0 MAT-file", "MATLAB 7.3 MAT-file", "MATLAB 7.0 MAT-file"), "write the matrix with mmwrite of MATLAB, or from Python as in scipy.io.mmwrite('edges.mtx', scipy.io.loadmat(...)['A'])"},
		{"a file of R", begins("X\n\x00\x00\x00", "RDX2\nX\n", "RDX3\nX\n", "RDA2\nA\n", "RDA3\nA\n"), "write the table in R with write.csv(edges, 'edges.csv', row.names = FALSE)"},
		{"a Stata file", begins("<stata_dta>", "r\x01\x01\x00", "r\x02\x01\x00", "s\x01\x01\x00", "s\x02\x01\x00"), pandas("read_stata(...)")},
		{"a SPSS file", begins("$FL2@(#)", "$FL3@(#)"), pandas("read_spss(...)")},
		{"a SAS file", begins("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc2\xea\x81\x60"), pandas("read_sas(...)")},
		{"an SQLite database", begins("SQLite format 3\x00"), "write the table as in sqlite3 -csv -header FILE 'SELECT source, target FROM edges' > edges.csv"},
		{"a DuckDB database", matches(`^(?s:.{8})DUCK(?s:.)\x00\x00\x00`), "write the table as in COPY edges TO 'edges.parquet'"},
		{"an old Excel file", begins("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "save the sheet as CSV"},
		{"a PDF", begins("%PDF-"), TableOfIt},
		{"an image", BeginsBinary("\x89PNG\r\n", "\xff\xd8\xff", "GIF87a", "GIF89a", "II*\x00", "MM\x00*"), TableOfIt},
		{"a program", begins("\x7fELF", "MZ\x90\x00"), TableOfIt},
		{"a Python pickle", begins("\x80\x02", "\x80\x03", "\x80\x04", "\x80\x05", "(dp0\n", "(lp0\n", "(dp1\n", "(lp1\n", "ccopy_reg\n"),
			"write what it holds from Python: a table with to_parquet, an array with numpy.save, a graph with networkx.write_edgelist"},
	}
}

// textFormats returns the formats that are texts.
func textFormats() []format {
	return []format{
		{"a pointer of Git LFS, not the file", begins("version https://git-lfs.github.com/", "version https://hawser.github.com/"), "fetch the file with git lfs pull"},
		{"a pointer of git-annex, not the file", matches(`^(/annex/objects/|\.git/annex/objects/|(\.\./)*\.git/annex/objects/)\S+\s*$`), "fetch the file with git annex get"},
		{"a pointer of DVC, not the file", matches(`^(md5: [0-9a-f]{32}\n)?outs:\n- (md5|hash|etag|size|path): `), "fetch the file with dvc pull"},
		{"an error message of a server, not the file", isErrorPage, downloadIt},
		{"a web page (HTML), not the file", matches(`(?i)^\s*(<!doctype html|<html|<head>|<body)`), downloadIt},
		{"GEXF", document("gexf"), "export the spreadsheet of edges from Gephi as CSV, or " + networkX("read_gexf(...)")},
		{"GraphML", document("graphml"), networkX("read_graphml(...)")},
		{"Turtle", matches(`(?i)^(#.*\n|\s*\n)*\s*(@prefix\s\S*:\s|@base\s|prefix\s\S*:\s+<|(<[^>\n]*>|_:\S+)[ \t]+(<[^>\n]*>|a)[ \t]+[^\n]*[;,]\s*(\n|$))`),
			"convert it to N-Triples, as in rapper -i turtle FILE > edges.nt"},
		{"XML", matches(`(?i)^\s*(<\?xml|<!--|<!doctype|<gexf\b|<graphml\b|<svg\b|<rdf:|<error>|<osm\b)`), TableOfIt},
		{"JSON", matches(`^\s*[{\[]`), "write a table as in jq -r '.edges[] | [.source, .target] | @csv' FILE > edges.csv"},
		{"YAML", matches(`^(#.*\n|---[ \t]*\r?\n|\s*\n)*(\w+:[ \t]*\r?\n)?[ \t]*- ([\[{]|\w+:[ \t])`), "write a source and a target on each line"},
		{"a table that is drawn with lines", matches(`^\s*(\+-[+-]*-\+[ \t]*\r?\n|[^\n]*[|][^\n]*\n[ \t]*[|]?[ \t]*:?-{3,}:?([ \t]*[|+][ \t]*:?-{3,}:?)*[ \t]*[|]?[ \t]*(\r?\n|$))`),
			"write the table as CSV, as in psql --csv, sqlite3 -csv or mysql --batch"},
		{"pairs or terms in parentheses", matches(`^\s*(\w*\([^()\n,]+,[^()\n]*\)[.,;]?[ \t]*(\r?\n|$)){2}`), "write the edges without them, as in sed -E 's/.*\\((.*)\\).*/\\1/' FILE > edges.csv"},
		{"GML", matches(`(?i)^(\s|#.*\n|(creator|version|comment)\s.*\n)*graph\s*\[(\s|$)`), networkX("read_gml(...)")},
		{"DOT of Graphviz", matches(`(?i)^(\s|#.*\n|//.*\n|/\*(?s:.*?)\*/)*(strict\s+)?(di)?graph(\s+("[^"\n]*"|[^\s{]+))?\s*\{`),
			networkX("nx_pydot.read_dot(...)")},
		{"a Pajek network", matches(`(?i)^(\s|%.*\n)*\*(network|vertices|arcs|edges|arcslist|edgeslist|matrix|partition)\b`), networkX("read_pajek(...)")},
		{"a DL file of UCINET", matches(`(?i)^\s*dl\s+(n|nr)\s*=\s*\d`), "export an edge list, or a Pajek network and " + networkX("read_pajek(...)")},
		{"a DIMACS graph", matches(`^(c([ \t].*)?\r?\n|\s*\n)*p[ \t]+(sp|edge|edges|col|max|min|asn)[ \t]+\d+[ \t]+\d+[ \t]*(\r?\n([aenc]([ \t\r\n]|$)|$)|$)`),
			"take the letters away as in sed -n 's/^[ae] //p' FILE > edges.txt"},
		{"a graph of LEDA", begins("LEDA.GRAPH"), networkX("read_leda(...)")},
		{"a GDF file", matches(`(?i)^\s*(nodedef|edgedef)\s*>`), "copy the lines after edgedef> to a file of their own, with node1,node2 as its header"},
		{"graph6 or sparse6", begins(">>graph6<<", ">>sparse6<<", ">>digraph6<<"), networkX("read_graph6(...)")},
		{"an adjacency graph of Ligra", matches(`^(Weighted)?(AdjacencyGraph|AdjacencyHypergraph)\r?\n\d`), "convert it to an edge list with the tools of Ligra or GBBS"},
		{"a METIS graph", isMetis, "write each edge on a line as in awk '!/^%/ && n++ { for (i = 1; i <= NF; i++) print n - 1, $i }' FILE, for a graph without weights"},
	}
}

// Recognize returns the format of a file that begins with head.
func Recognize(head []byte) (f Format, ok bool) {
	for _, f := range formats() {
		if f.is(head) {
			return Format{f.name, f.do}, true
		}
	}
	return f, false
}

// spaced reports whether each character has width bytes and all but one are zero, as in ASCII text
// in UTF-16 and UTF-32.
func spaced(head []byte, width int) bool {
	for _, at := range []int{0, width - 1} {
		// at is the place of the byte that is not zero: little or big endian.
		n := 0
		for ; (n+1)*width <= len(head); n++ {
			c := head[n*width:][:width]
			if c[at] == 0 || bytes.Count(c, []byte{0}) != width-1 {
				n = 0
				break
			}
		}
		if n >= 2 {
			return true
		}
	}
	return false
}

// isTar reports whether the first header of an archive is complete.
func isTar(head []byte) bool {
	return len(head) >= 262 && string(head[257:262]) == "ustar" && bytes.IndexByte(head[:257], 0) > 0
}

// errorPages returns the texts that servers send instead of a file, in lower case and without a
// status code before them.
func errorPages() []string {
	return []string{
		"not found", "page not found", "file not found", "object not found", "repository not found", "entry not found", "forbidden",
		"access denied", "permission denied", "unauthorized", "bad request", "bad gateway", "gateway timeout", "gateway time-out",
		"service unavailable", "internal server error", "too many requests", "rate limit exceeded", "moved permanently", "gone",
	}
}

// isErrorPage reports whether the whole file is a message such as "404: Not Found".
func isErrorPage(head []byte) bool {
	text := strings.Trim(strings.ToLower(string(head)), " \t\r\n.!")
	text = regexp.MustCompile(`^(http/[\d.]+ |error:? )?([45]\d\d|301|302)?\s*[:-]?\s*`).ReplaceAllString(text, "")
	return slices.Contains(errorPages(), text)
}
