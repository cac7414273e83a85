package edgelist

import (
	archive "archive/zip"
	"bytes"
	"strings"
	"testing"
)

// An array called edge_index has an edge a column, whatever its shape is. The shape of others may
// be ambiguous, which a note says.
func TestReadEdgeIndex(t *testing.T) {
	t.Parallel()
	const ambiguous = "each row was taken for an edge; in an array called edge_index each column is one"
	square, wide := npyFile("<i8", false, "(2, 2)", elements[int64](0, 1, 2, 3)), npyFile("<i8", false, "(2, 3)", elements[int64](0, 1, 2, 1, 2, 3))
	npz := func(name string, array []byte) string { return string(npzFile(map[string][]byte{name: array})) }
	for _, c := range []struct {
		name, file string
		o          Options
		want       string
	}{
		{"2 x 3", npz("edge_index", wide), Options{}, "src,dst; 0>1; 1>2; 2>3"},
		{"2 x 2", npz("edge_index", square), Options{}, "src,dst; 0>2; 1>3"},
		{"a file called so", string(square), Options{Name: "train/edge_index.npy"}, "src,dst; 0>2; 1>3"},
		{"2 x 0", npz("edge_index", npyFile("<i8", false, "(2, 0)", nil)), Options{}, "src,dst"},
		{"2 x 1", npz("edge_index", npyFile("<i8", false, "(2, 1)", elements[int64](7, 8))), Options{}, "src,dst; 7>8"},
		{"3 x 2", npz("edge_index", npyFile("<i8", false, "(3, 2)", elements[int64](0, 1, 1, 2, 2, 3))), Options{}, "src,dst; 0>1; 1>2; 2>3"},
		{"by column", npz("edge_index", npyFile("<i8", true, "(2, 3)", elements[int64](0, 1, 1, 2, 2, 3))), Options{}, "src,dst; 0>1; 1>2; 2>3"},
		{"edges of 2 x 3", npz("edges", wide), Options{}, "src,dst,weight; 0>1 w=2; 1>2 w=3; note: an array of 2 x 3: " + ambiguous},
		{"a file of 2 x 2", string(square), Options{Name: "e.npy"}, "src,dst; 0>1; 2>3; note: an array of 2 x 2: " + ambiguous},
		{"edges of 2 x 4", npz("edges", npyFile("<i8", false, "(2, 4)", elements[int64](0, 1, 2, 3, 1, 2, 3, 4))), Options{}, "src,dst; 0>1; 1>2; 2>3; 3>4"},
	} {
		if got := noted(c.file, c.o); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// Weights and times beside the edges are read. Other arrays are named.
func TestReadArraysBeside(t *testing.T) {
	t.Parallel()
	file := string(npzFile(map[string][]byte{
		"edge_index":  npyFile("<i8", false, "(2, 3)", elements[int64](0, 1, 2, 1, 2, 3)),
		"edge_weight": npyFile("<f4", false, "(3,)", elements[float32](0.5, 1, 2)),
		"t":           npyFile("<f8", false, "(3, 1)", elements(1.7e9, 1.7e9+1.5, 0)),
		"edge_attr":   npyFile("<f4", false, "(3, 2)", make([]byte, 24)),
	}))
	short := string(npzFile(map[string][]byte{
		"edges": npyFile("<i8", false, "(2, 4)", elements[int64](0, 1, 2, 3, 1, 2, 3, 4)), "edge_weight": npyFile("<f4", false, "(3,)", elements[float32](0.5, 1, 2)),
	}))
	const none = "edges without a time, which is missing or 0: 1"
	for _, c := range []struct {
		file string
		o    Options
		want string
	}{
		{file, Options{}, "src,dst,weight,time in s; 0>1 w=0.5 t=1700000000; 1>2 t=1700000001; 2>3 w=2; note: arrays not read: edge_attr; note: " + none},
		{file, Options{Columns: SrcDst}, "src,dst; 0>1; 1>2; 2>3; note: arrays not read: "},
		{file, Options{Columns: SrcDstTime}, "src,dst,time in s; 0>1 t=1700000000; 1>2 t=1700000001; 2>3; note: arrays not read: "},
		{short, Options{}, "edgelist: not an array of edges: 4 edges, and an array of 3 x 1 weights"},
		{short, Options{Columns: SrcDst}, "src,dst; 0>1; 1>2; 2>3; 3>4; note: arrays not read: edge_weight"},
		{short, Options{Columns: SrcDstTime}, "edgelist: not an array of edges: the array has no times, expected src,dst,time"},
	} {
		got := noted(c.file, c.o)
		if strings.HasSuffix(c.want, "read: ") { // their order is that of the file, which is random here
			got, _, _ = strings.Cut(got, "read: ")
			got += "read: "
		}
		if got != c.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", c.o, got, c.want)
		}
	}
}

// Keys of floating point are integers that it does not round.
func TestFloatKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, want string }{
		{string(npyFile("<f4", false, "(1, 2)", elements[float32](1, 1<<24-1))), "src,dst; 1>16777215"},
		{string(npyFile("<f4", false, "(1, 2)", elements[float32](1, 1<<24))), "floating point rounds"},
		{string(npyFile("<f8", false, "(1, 2)", elements[float64](1, 1<<53-1))), "src,dst; 1>9007199254740991"},
		{string(npyFile("<f8", false, "(1, 2)", elements[float64](1, 1<<53))), "floating point rounds"},
	} {
		if got := describe(c.file, Options{}); !strings.Contains(got, c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// Other formats that are archives too are named.
func TestForeignArchives(t *testing.T) {
	t.Parallel()
	for has, want := range map[string]string{
		"xl/workbook.xml": "a sheet of Excel; save the sheet as CSV", "indptr.npy": "a sparse matrix of scipy; write it with scipy.io.mmwrite", "Project_xml": "a project of Gephi",
		"edges.csv": `the archive holds ["a" "edges.csv"], and no array; unpack it first`,
	} {
		var b bytes.Buffer
		z := archive.NewWriter(&b)
		for _, name := range []string{"a", has} {
			if _, err := z.Create(name); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if got := describe(b.String(), Options{}); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", has, got, want)
		}
	}
}
