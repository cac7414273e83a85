package edgelist

import (
	archive "archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// readAs lists a file as read does, preceded by its format and whether it has a header.
func readAs(r io.Reader, o Options) string {
	l, err := NewReader(r, o)
	if err != nil {
		return err.Error()
	}
	list := []string{fmt.Sprint(l.Format), l.Columns.String()}
	if l.Header {
		list[0] += " headed"
	}
	for e, err := range l.Edges() {
		var bad *LineError
		switch {
		case errors.As(err, &bad):
			list = append(list, fmt.Sprintf("%d: %s", bad.Line, bad.Msg))
		case err != nil:
			list = append(list, err.Error())
		default:
			list = append(list, show(e))
		}
	}
	return strings.Join(list, "; ")
}

func TestFormatText(t *testing.T) {
	t.Parallel()
	for f := AnyFormat; f <= Torch; f++ {
		var got Format
		if err := got.UnmarshalText([]byte(f.String())); err != nil || got != f {
			t.Errorf("%v: %v, %v", f, got, err)
		}
	}
	if err := new(Format).UnmarshalText([]byte("xls")); err == nil || !strings.Contains(err.Error(), "snap, csv, tsv, mtx, npy, npz, pt") {
		t.Errorf("xls: %v", err)
	}
}

func TestReadTables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{"1,2\n2,3\n", Options{}, "csv; src,dst; 1>2; 2>3"},
		{"1, 2, 0.5\n2, 3, 7\n", Options{}, "csv; src,dst,weight; 1>2 w=0.5; 2>3 w=7"},
		{"1;2\n", Options{}, "csv; src,dst; 1>2"},
		{"a|b\r\nc|d\r\n", Options{}, `csv; src,dst; "a">"b"; "c">"d"`},
		{"# made by hand\nsource,target\nalice,bob\n", Options{}, `csv headed; src,dst; "alice">"bob"`},
		{"id,Target,Weight,Source\n9,b,2,a\n8,d,3,c\n", Options{}, `csv headed; src,dst,weight; "a">"b" w=2; "c">"d" w=3`},
		{"from,to,timestamp\n1,2,5\n", Options{Columns: SrcDstTime}, "csv headed; src,dst,time; 1>2 t=5"},
		{"from,to,timestamp\n1,2,1082040961\n", Options{}, "csv headed; src,dst,time; 1>2 t=1082040961"},
		{"user,item\n1,2\n", Options{}, "csv headed; src,dst; 1>2"},
		{"user item\n1 2\n3 4\n", Options{}, "snap headed; src,dst; 1>2; 3>4"},
		{"source target\n1 2\n", Options{}, "snap headed; src,dst; 1>2"},
		{"id target source\n1 2 3\n", Options{Dialect: Dialect{Header: On}}, "snap headed; src,dst; 3>2"},
		{"user item\n1 2\n", Options{Format: SNAP}, `snap; src,dst; "user">"item"; 1>2`},
		{"user,item\nann,tea\n", Options{}, `csv headed; src,dst; "ann">"tea"`},
		{"user,item\nann,tea\n", Options{Dialect: Dialect{Header: On}}, `csv headed; src,dst; "ann">"tea"`},
		{"source,target\n1,2\n", Options{Dialect: Dialect{Header: Off}}, `csv; src,dst; "source">"target"; 1>2`},
		{"\"Smith, J\",\"say \"\"hi\"\"\"\n\"7\",x\n", Options{}, `csv; src,dst; "Smith, J">"say \"hi\""; 7>"x"`},
		{"New York\tSan Jose\nBonn\tPeru\n", Options{}, `tsv; src,dst; "New York">"San Jose"; "Bonn">"Peru"`},
		{"New York\tSan Jose\n1\tx y\n", Options{Format: TSV}, `tsv; src,dst; "New York">"San Jose"; 1>"x y"`},
		{"a,b c,d\ne,f g,h\n", Options{}, `snap; src,dst; "a,b">"c,d"; "e,f">"g,h"`},
		{"a,b c,d\ne,f g,h\n", Options{Name: "x.csv.gz"}, `csv; src,dst,weight; 1: weight is not a finite number above 0 (32 bits); if a column names relations, the option says which one; 2: weight is not a finite number above 0 (32 bits); if a column names relations, the option says which one`},
		{"1 2\n", Options{Name: "x.csv"}, "snap; src,dst; 1>2"},
		{"1,2\n1,x\n\"a\"b,2\n1,\"b\"c\n,2\n1,\n1\n1,2,3\n", Options{Format: CSV},
			`csv; src,dst; 1>2; 1>"x"; 3: a quote is not closed, or not followed by a separator; 4: a quote is not closed, or not followed by a separator; 5: key is empty; 6: key is empty; 7: columns: found 1, expected 2; 8: columns: found 3, expected 2`},
		{"source,target,x\n1,2,3\n1,2\n1,2,3,4\n", Options{}, "csv headed; src,dst; 1>2; 3: columns: found 2, the header has 3; 4: columns: found 4, the header has 3"},
		{"source,target\n1,2\n", Options{Columns: SrcDstTime}, "csv headed; src,dst,time; 2: columns: found 2, expected 3"},
		{"1,2,3,4\n", Options{Columns: SrcDst}, "csv; src,dst; 1>2"},
		{"", Options{Format: CSV}, "csv; src,dst"},
		{"source,target\n-1,;aa\n\" \",a\n; b,-1\n", Options{Format: CSV}, `csv headed; src,dst; -1>";aa"; " ">"a"; "; b">-1`},
		{"source,target\n-1,;aa\n\" \",a\n; b,-1\n", Options{Name: "x.csv"}, `csv headed; src,dst; -1>";aa"; " ">"a"; "; b">-1`},
		{"source,target\n", Options{}, "csv headed; src,dst"},
		{",0\n1,2\n", Options{}, "csv; src,dst; 1: key is empty; 1>2"},
		{",source,target\n0,1,2\n1,2,3\n", Options{}, "csv headed; src,dst; 1>2; 2>3"},
	} {
		if got := readAs(strings.NewReader(c.text), c.o); got != c.want {
			t.Errorf("%q as %+v:\ngot  %s\nwant %s", c.text, c.o, got, c.want)
		}
	}
}

func TestReadMatrixMarket(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{"%%MatrixMarket matrix coordinate pattern general\n% c\n\n3 4 2\n1 4\n3 3\n", Options{}, "mtx; src,dst; 1>4; 3>3"},
		{"%%matrixmarket MATRIX coordinate real general\n3 3 2\n1 2 0.5\n2 1 1e2\n", Options{}, "mtx; src,dst,weight; 1>2 w=0.5; 2>1 w=100"},
		{"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 -5\n", Options{Columns: SrcDst}, "mtx; src,dst; 1>2"},
		{"%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 7\n3 3 1\n", Options{}, "mtx; src,dst,weight; 2>1 w=7; 3>3"},
		{"%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 7\n3 3 1\n", Options{Directed: true}, "mtx; src,dst,weight; 2>1 w=7; 1>2 w=7; 3>3"},
		{"%%MatrixMarket matrix coordinate integer general\n3 3 1\n2 1 7\n", Options{Columns: SrcDstTime}, "mtx; src,dst,time; 2>1 t=7"},
		{"%%MatrixMarket matrix coordinate real general\n3 3 4\n4 1 1\n0 1 1\n1 2\n1 2 -1\n1 3 1\n", Options{},
			"mtx; src,dst,weight; 3: not an entry of a matrix of 3 x 3; 4: not an entry of a matrix of 3 x 3; 5: columns: found 2, the header has 3; 6: weight is not a finite number above 0 (32 bits): a list with signs can be read without its weights, or its negative edges as another relation with option negative; 7: more than the 4 entries that the header tells"},
		{"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n", Options{}, "mtx; src,dst,weight; 1>1; edgelist: 1 of 2 entries: unexpected EOF"},
		{"%%MatrixMarket matrix array real general\n2 2\n1\n", Options{}, `edgelist: not a Matrix Market file of a kind that can be read: a matrix of "array", expected coordinate; write it as a sparse matrix`},
		{"%%MatrixMarket matrix coordinate complex general\n", Options{}, `edgelist: not a Matrix Market file of a kind that can be read: entries that are complex general are no weights; with columns = 'src,dst' the edges are read without them`},
		{"%%MatrixMarket matrix coordinate complex hermitian\n3 3 1\n2 1 1.5 -2\n", Options{Columns: SrcDst}, "mtx; src,dst; 2>1"},
		{"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 1 1.5\n", Options{Columns: SrcDst, Directed: true}, "mtx; src,dst; 2>1; 1>2"},
		{"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 1 1.5\n", Options{},
			`edgelist: not a Matrix Market file of a kind that can be read: entries that are real skew-symmetric are no weights; with columns = 'src,dst' the edges are read without them`},
		{"%%MatrixMarket matrix coordinate quaternion general\n", Options{}, `edgelist: not a Matrix Market file of a kind that can be read: entries of "quaternion", expected pattern, real, integer or complex`},
		{"%%MatrixMarket matrix coordinate real circulant\n", Options{}, `edgelist: not a Matrix Market file of a kind that can be read: symmetry "circulant", expected general, symmetric, skew-symmetric or hermitian`},
		{"%%MatrixMarket matrix coordinate pattern general\n3 x 2\n", Options{}, `edgelist: not a Matrix Market file of a kind that can be read: line 2: sizes "3 x 2"`},
		{"%%MatrixMarket matrix coordinate pattern general\n", Options{}, `edgelist: not a Matrix Market file of a kind that can be read: sizes: unexpected EOF`},
		{"%%MatrixMarket matrix coordinate pattern general\n1 1 0\n", Options{Columns: SrcDstTime}, `edgelist: not a Matrix Market file of a kind that can be read: a pattern has no times`},
	} {
		if got := readAs(strings.NewReader(c.text), c.o); got != c.want {
			t.Errorf("%q as %+v:\ngot  %s\nwant %s", c.text, c.o, got, c.want)
		}
	}
}

// npyFile returns a NumPy file with the given header and elements.
func npyFile(dtype string, fortran bool, shape string, elements []byte) []byte {
	order := map[bool]string{true: "True", false: "False"}[fortran]
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", dtype, order, shape)
	head += strings.Repeat(" ", 63-(len(head)+10)%64) + "\n"
	b := append([]byte(magicNPY), 1, 0, byte(len(head)), byte(len(head)>>8))
	return append(append(b, head...), elements...)
}

func npzFile(arrays map[string][]byte) []byte {
	var b bytes.Buffer
	z := archive.NewWriter(&b)
	for name, array := range arrays {
		w, _ := z.Create(name + ".npy")
		_, _ = w.Write(array)
	}
	_ = z.Close()
	return b.Bytes()
}

func textArchive() []byte {
	var b bytes.Buffer
	z := archive.NewWriter(&b)
	w, _ := z.Create("edges.txt")
	_, _ = w.Write([]byte("1 2\n"))
	_ = z.Close()
	return b.Bytes()
}

func elements[T any](list ...T) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, list)
	return b
}

func TestReadArrays(t *testing.T) {
	t.Parallel()
	rows := elements[int64](1, 2, 3, 4, 5, 6)
	big := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, 1<<63), 7)
	for _, c := range []struct {
		name string
		file []byte
		o    Options
		want string
	}{
		{"rows", npyFile("<i8", false, "(3, 2)", rows), Options{}, "npy; src,dst; 1>2; 3>4; 5>6"},
		{"columns", npyFile("<i8", false, "(2, 4)", elements[int64](1, 2, 3, 4, 5, 6, 7, 8)), Options{}, "npy; src,dst; 1>5; 2>6; 3>7; 4>8"},
		{"rows by column", npyFile("<i8", true, "(3, 2)", rows), Options{}, "npy; src,dst; 1>4; 2>5; 3>6"},
		{"columns by column", npyFile("<i4", true, "(2, 4)", elements[int32](1, 2, 3, 4, 5, 6, 7, -8)), Options{}, "npy; src,dst; 1>2; 3>4; 5>6; 7>-8"},
		{"weights", npyFile("<f4", false, "(2, 3)", elements[float32](1, 2, 0.5, 3, 4, 8)), Options{}, "npy; src,dst,weight; 1>2 w=0.5; 3>4 w=8"},
		{"weights unasked", npyFile("<f4", false, "(2, 3)", elements[float32](1, 2, -1, 3, 4, 8)), Options{Columns: SrcDst}, "npy; src,dst; 1>2; 3>4"},
		{"times", npyFile("<u4", false, "(1, 3)", elements[uint32](1, 2, 9)), Options{Columns: SrcDstTime}, "npy; src,dst,time; 1>2 t=9"},
		{"bad", npyFile("<f8", false, "(4, 3)", elements(1, 2, -1, 1.5, 2, 1, 1, 2, 1e300, 1, 1e19, 1)), Options{},
			"npy; src,dst,weight; 1: weight is not a finite number above 0 (32 bits); 2: key is not an integer of 64 bits, or one that floating point rounds; 3: weight is not a finite number above 0 (32 bits); 4: key is not an integer of 64 bits, or one that floating point rounds"},
		{"unsigned", npyFile(">u8", false, "(1, 2)", big), Options{}, "npy; src,dst; 1: key is not an integer of 64 bits, or one that floating point rounds"},
		{"narrow", npyFile("|u1", false, "(1, 2)", []byte{200, 3}), Options{}, "npy; src,dst; 200>3"},
		{"short", npyFile("<i2", false, "(2, 2)", elements[int16](1, 2, 3)), Options{}, "npy; src,dst; 1>2; edgelist: 1 of 2 rows: unexpected EOF"},
		{"short by column", npyFile("<i2", true, "(2, 2)", elements[int16](1, 2, 3)), Options{}, "edgelist: array of 6 bytes, expected 8: unexpected EOF"},
		{"long", npyFile("<i2", false, "(1, 2)", elements[int16](1, 2, 3, 4)), Options{}, "npy; src,dst; 1>2; edgelist: the array has more rows than its header says: 1; write it again, or correct the header"},
		{"long by column", npyFile("<i2", true, "(1, 2)", elements[int16](1, 2, 3, 4)), Options{}, "edgelist: the array has more rows than its header says: 1; write it again, or correct the header"},
		{"long in an archive", npzFile(map[string][]byte{"a": npyFile("<i2", false, "(1, 2)", elements[int16](1, 2, 3))}), Options{}, "npz; src,dst; 1>2; edgelist: the array has more rows than its header says: 1; write it again, or correct the header"},
		{"rows of rows", npyFile("<i8", false, "(2, 1, 2)", elements[int64](1, 2, 3, 4)), Options{}, "npy; src,dst; 1>2; 3>4"},
		{"rows of rows by column", npyFile("<i8", true, "(2, 1, 2)", nil), Options{}, "edgelist: not an array of edges: shape [2 1 2], expected (m, 2), (m, 3), (2, m), (3, m) or (n, k, 2)"},
		{"vector", npyFile("<i2", false, "(4,)", nil), Options{}, "edgelist: not an array of edges: shape [4], expected (m, 2), (m, 3), (2, m), (3, m) or (n, k, 2)"},
		{"complex", npyFile("<c8", false, "(4, 2)", nil), Options{}, `edgelist: not a NumPy .npy file of a kind that can be read: elements of type "<c8"`},
		{"no times", npyFile("<i8", false, "(3, 2)", rows), Options{Columns: SrcDstTime}, "edgelist: not an array of edges: the array has no times, expected src,dst,time"},
		{"archive", npzFile(map[string][]byte{"edge_index": npyFile("<i8", false, "(2, 3)", rows), "x": nil}), Options{}, "npz; src,dst; 1>4; 2>5; 3>6"},
		{"archive of one", npzFile(map[string][]byte{"a": npyFile("<i8", false, "(3, 2)", rows)}), Options{}, "npz; src,dst; 1>2; 3>4; 5>6"},
		{"archive of a text", textArchive(), Options{}, `edgelist: not an array of edges: the archive holds ["edges.txt"], and no array; unpack it first`},
		{"archive of others", npzFile(map[string][]byte{"a": nil, "b": nil})[:40], Options{}, "edgelist: npz: zip: not a valid zip file"},
	} {
		for _, spool := range []func() (Spool, error){nil, tempFile(t)} {
			c.o.Spool = spool
			if got := readAs(bytes.NewReader(c.file), c.o); got != c.want {
				t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
			}
		}
	}
}

func tempFile(t *testing.T) func() (Spool, error) {
	return func() (Spool, error) {
		f, err := os.CreateTemp(t.TempDir(), "")
		t.Cleanup(func() { _ = f.Close() })
		return f, err
	}
}

// Compressed files are read like their content. The bzip2 file was compressed in advance.
func TestReadPacked(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte("1,2\n"))
	_ = w.Close()
	bzip2, err := os.ReadFile(filepath.Join("testdata", "edges.csv.bz2"))
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{"zstd": b.Bytes(), "bzip2": bzip2, "gzip": zip("1,2\n")} {
		if got := readAs(bytes.NewReader(file), Options{}); got != "csv; src,dst; 1>2" {
			t.Errorf("%s: %s", name, got)
		}
		if got := readAs(bytes.NewReader(file[:len(file)-3]), Options{}); !strings.Contains(got, "EOF") {
			t.Errorf("%s, cut short: %s", name, got)
		}
	}
}

// A file that is no list but could be taken for one is rejected, unless its format is given.
func TestReadForeign(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\xff\xfe1\x00 \x002\x00":       "UTF-16",
		"\xfd7zXZ\x00 and so on":        "packed with xz",
		string(zip(string(zip("1 2")))): "packed twice",
		`{"nodes": [], "links": []}`:    "JSON",
		"\n [[1, 2], [3, 4]]":           "JSON",
		"<!DOCTYPE html>\n":             "HTML",
		"PAR1\x15\x00..":                "Parquet",
		"\x89HDF\r\n\x1a\n":             "HDF5",
	} {
		if got := readAs(strings.NewReader(text), Options{}); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got, want := readAs(strings.NewReader("[a [b\n"), Options{Format: SNAP}), `snap; src,dst; "[a">"[b"`; got != want {
		t.Errorf("with the format given: %s, want %s", got, want)
	}
}

// Arrays of published data are read.
func TestReadPublicArrays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path string
		n    int
	}{{"prb/grqc/entry.npy", 50000}, {"prb/facebook/entry.npy", 120000}} {
		l, err := NewReader(data(t, c.path), Options{Columns: SrcDst})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range l.Edges() {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != c.n {
			t.Errorf("%s: %d edges, want %d", c.path, n, c.n)
		}
	}
}
