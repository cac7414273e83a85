package edgelist

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// data opens a file of the public data sets, or skips the test.
func data(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join("../../../shared/data", path))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no ../shared/data/%s beside the repository", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// read returns the columns of an edge list and its lines: an edge, or "line: error".
func read(r io.Reader, columns Columns) string {
	l, err := NewReader(r, Options{Columns: columns})
	if err != nil {
		return err.Error()
	}
	list := []string{l.Columns.String()}
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

func show(e Edge) string {
	s := show1(e.Src) + ">" + show1(e.Dst)
	if e.Relation != "" {
		s += " r=" + e.Relation
	}
	if e.Weight != 1 {
		s += fmt.Sprintf(" w=%v", e.Weight)
	}
	if e.Time != 0 {
		s += fmt.Sprintf(" t=%d", e.Time)
	}
	return s
}

func show1(t Token) string {
	if t.IsInt {
		return fmt.Sprint(t.Int)
	}
	return fmt.Sprintf("%q", t.Str)
}

func TestRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text    string
		columns Columns
		want    string
	}{
		{"", Auto, "src,dst"},
		{"\n\n", Auto, "src,dst"},
		{"1 2\n", Auto, "src,dst; 1>2"},
		{"1 2", Auto, "src,dst; 1>2"},
		{"1\t2\r\n3\t4\r\n", Auto, "src,dst; 1>2; 3>4"},
		{"\r\n 1  \t 2 \n", Auto, "src,dst; 1>2"},
		{"\uFEFF1 2\n", Auto, "src,dst; 1>2"},
		{"# a b\n% c d\n  # e f\n1 2 # no comment", SrcDst, "src,dst; 1>2"},
		{"a b\na c\nb b\n", Auto, `src,dst; "a">"b"; "a">"c"; "b">"b"`},
		{"7 007\n+7 -0\n-7 0\n", Auto, `src,dst; 7>"007"; "+7">"-0"; -7>0`},
		{"9223372036854775807 -9223372036854775808\n", Auto, "src,dst; 9223372036854775807>-9223372036854775808"},
		{"9223372036854775808 -9223372036854775809\n", Auto, `src,dst; "9223372036854775808">"-9223372036854775809"`},
		{"99999999999999999999 1e3\n- --\n", Auto, `src,dst; "99999999999999999999">"1e3"; "-">"--"`},
		{"é 1,2\n", Auto, `src,dst; "é">"1,2"`},
		// the third column
		{"1 2 3\n", Auto, "src,dst,weight; 1>2 w=3"},
		{"1 2 0.5\n2 3 1e-3\n", Auto, "src,dst,weight; 1>2 w=0.5; 2>3 w=0.001"},
		{"1 2 1082040961\n", Auto, "src,dst,time; 1>2 t=1082040961"},
		{"1 2 100000000\n", Auto, "src,dst,weight; 1>2 w=1e+08"},
		{"1 2 1082040961\n2 3 5\n", Auto, "src,dst,weight; 1>2 w=1.082041e+09; 2>3 w=5"},
		{"1 2 x\n1 2 1082040961", Auto, "src,dst,time; 1: time is neither a number nor a date in a form that is read, such as 2006-01-02; 1>2 t=1082040961"},
		{"# h\n1 2 5", SrcDstTime, "src,dst,time; 1>2 t=5"},
		{"1 2 -5\n1 2 005", SrcDstTime, "src,dst,time; 1>2 t=-5; 1>2 t=5"},
		{"1 2 1082040961", SrcDstWeight, "src,dst,weight; 1>2 w=1.082041e+09"},
		{"1 2 5", SrcDst, "src,dst; 1>2"},
		{"1 2 3 881250949", SrcDstWeight, "src,dst,weight; 1>2 w=3"},
		{"1 2 3 881250949\n1 3 0.5 -7", SrcDstWeightTime, "src,dst,weight,time; 1>2 w=3 t=881250949; 1>3 w=0.5 t=-7"},
		{"1 2 3\n1 2 0 5\n1 2 1 x", SrcDstWeightTime, "src,dst,weight,time; 1: columns: found 3, expected 4; 2: weight is not a finite number above 0 (32 bits); 3: time is neither a number nor a date in a form that is read, such as 2006-01-02"},
		{"source,target,time,weight\n1,2,5,7\n", Auto, "src,dst,weight,time; 1>2 w=7 t=5"},
		{"source,target,weight,time\n1,2,5,7\n", SrcDstTime, "src,dst,time; 1>2 t=7"},
		{"source,target,time\n1,2,5\n", Auto, "src,dst,time; 1>2 t=5"},
		{"source,target,weight\n1,2,1082040961\n", Auto, "src,dst,weight; 1>2 w=1.082041e+09"},
		// malformed lines
		{"1\n1 2\n", Auto, "src,dst; 1: columns: found 1, expected 2; 1>2"},
		{"1 2\n1 2 3\n1 3\n", Auto, "src,dst; 1>2; 2: columns: found 3, expected 2; 1>3"},
		{"1 2 3\n1 2\n1 2 4\n", Auto, "src,dst,weight; 1>2 w=3; 2: columns: found 2, expected 3; 1>2 w=4"},
		{"1 2 3 4\n", Auto, "src,dst,weight; 1: columns: found 4, expected 3"},
		{"1 2\n", SrcDstTime, "src,dst,time; 1: columns: found 2, expected 3"},
		{"a\x00 b\na b\xff\na b", Auto, `src,dst; 1: key is not valid UTF-8 or contains a NUL byte or the end of a line; 2: key is not valid UTF-8 or contains a NUL byte or the end of a line; "a">"b"`},
		{"1 2 0\n1 2 -1\n1 2 2", Auto, "src,dst,weight; 1: weight is not a finite number above 0 (32 bits); 2: weight is not a finite number above 0 (32 bits): a list with signs can be read without its weights, or its negative edges as another relation with option negative; 1>2 w=2"},
		{"1 2 3\n1 2 x", Auto, "src,dst,weight; 1>2 w=3; 2: weight is not a finite number above 0 (32 bits); if a column names relations, the option says which one"},
	}
	for _, tt := range tests {
		if got := read(strings.NewReader(tt.text), tt.columns); got != tt.want {
			t.Errorf("%q as %v:\ngot  %s\nwant %s", tt.text, tt.columns, got, tt.want)
		}
		if got := read(bytes.NewReader(zip(tt.text)), tt.columns); got != tt.want {
			t.Errorf("%q as %v, gzip:\ngot  %s\nwant %s", tt.text, tt.columns, got, tt.want)
		}
		if got := read(iotest.OneByteReader(strings.NewReader(tt.text)), tt.columns); got != tt.want {
			t.Errorf("%q as %v, byte by byte:\ngot  %s\nwant %s", tt.text, tt.columns, got, tt.want)
		}
	}
}

func zip(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // writing to a bytes.Buffer never fails
	_ = w.Close()
	return b.Bytes()
}

func TestWeights(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"0", "-0", "-1", "0.0", "1e-99", "1e39", "3.5e38", "NaN", "nan", "inf", "+Inf", "0x10", "0x1p3", "1_0", "1,5", ".", "e", "1e", "--1", "é"} {
		if w, ok := parseWeight([]byte(bad), false); ok {
			t.Errorf("%s is accepted as %v", bad, w)
		}
	}
	for text, want := range map[string]float32{"1": 1, "+1": 1, "01": 1, ".5": .5, "1.": 1, "1e-45": 1e-45, "3.4e38": 3.4e38, "16777217": 16777216, "1E2": 100, "99999999999999999999": 1e20} {
		if w, ok := parseWeight([]byte(text), false); !ok || w != want {
			t.Errorf("%s: got %v, %v, want %v", text, w, ok, want)
		}
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxLine)
	tests := []struct{ name, text, want string }{
		{"first", long + "\n1 2\n", "1: line is longer than 1 MiB; 1>2"},
		{"between", "1 2\n3 " + long + long + "\n5 6\n", "1>2; 2: line is longer than 1 MiB; 5>6"},
		{"last", "1 2\n" + long + long, "1>2; 2: line is longer than 1 MiB"},
		{"nearly", "1 " + long[:maxLine-4] + "\n1 2", fmt.Sprintf("1>%q; 1>2", long[:maxLine-4])},
	}
	for _, tt := range tests {
		want := "src,dst; " + tt.want
		if got := read(strings.NewReader(tt.text), Auto); got != want {
			t.Errorf("%s: got %.200s, want %.200s", tt.name, got, want)
		}
	}
	endless := io.LimitReader(iotest.DataErrReader(zeros{}), 64<<20)
	if got, want := read(endless, Auto), "src,dst; 1: line is longer than 1 MiB"; got != want {
		t.Errorf("64 MiB without a line: got %.200s, want %s", got, want)
	}
}

// A line that never ends is refused when it is too long, whatever is read.
func TestEndlessLine(t *testing.T) {
	t.Parallel()
	const want = "line 3: line is longer than 1 MiB"
	begun := func() io.Reader { return io.MultiReader(strings.NewReader("1 2\n3 4\n"), zeros{}) }
	edges, err := NewReader(begun(), Options{Format: SNAP})
	if err != nil {
		t.Fatal(err)
	}
	for _, err = range edges.Edges() {
		if err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("edges: %v", err)
	}
	nodes, err := NewNodes(begun(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, err = range nodes.All() {
		if err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("nodes: %v", err)
	}
}

// zeros is an endless line.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestLineErrorText(t *testing.T) {
	t.Parallel()
	l, err := NewReader(strings.NewReader("1 2\n"+strings.Repeat("é", 60)+"\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := `edgelist: line 2: columns: found 1, expected 2: "` + strings.Repeat("é", 30) + `..."`
	for e, err := range l.Edges() {
		if e.Line == 2 && (err == nil || err.Error() != want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestReadErrors: an error that is not about a line ends the stream.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("1 2\n", 100000)
	packed := zip(lines + fmt.Sprint(rapid.StringN(1000, 2000, -1).Example(1)))
	damaged := bytes.Clone(packed)
	damaged[len(damaged)-6] ^= 1 // the checksum
	broken := errors.New("disk gone")
	tests := []struct {
		name string
		r    io.Reader
		want error
	}{
		{"reader", io.MultiReader(strings.NewReader(lines), iotest.ErrReader(broken)), broken},
		{"reader, at once", iotest.ErrReader(broken), broken},
		{"reader, in a long line", io.MultiReader(strings.NewReader(lines), io.LimitReader(zeros{}, 3<<20), iotest.ErrReader(broken)), broken},
		{"gzip cut short", bytes.NewReader(packed[:len(packed)-9]), io.ErrUnexpectedEOF},
		{"gzip header cut short", bytes.NewReader(packed[:5]), io.ErrUnexpectedEOF},
		{"gzip damaged", bytes.NewReader(damaged), nil},
	}
	for _, tt := range tests {
		var last error
		l, err := NewReader(tt.r, Options{})
		if err == nil {
			for _, err := range l.Edges() {
				if last != nil && !errors.As(last, new(*LineError)) {
					t.Errorf("%s: the stream goes on after %v", tt.name, last)
				}
				last = err
			}
			err = last
		}
		if err == nil || errors.As(err, new(*LineError)) || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
	if _, err := NewReader(strings.NewReader(""), Options{Columns: "src,7"}); err == nil {
		t.Error("unknown columns are accepted")
	}
}

// TestEdgesGoOn: a second range continues where the first one stopped.
func TestEdgesGoOn(t *testing.T) {
	t.Parallel()
	l, err := NewReader(strings.NewReader("1 2\n3 4\n5 6\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range l.Edges() {
		break
	}
	for e, err := range l.Edges() {
		if err != nil || e.Src.Int != 3 {
			t.Errorf("got %v, %v", e, err)
		}
		break
	}
}

// TestReadBack: any edges, written as text, are read back unchanged.
func TestReadBack(t *testing.T) {
	t.Parallel()
	token := rapid.OneOf(
		rapid.Map(rapid.Int64(), func(n int64) Token { return Token{Int: n, IsInt: true} }),
		rapid.Map(rapid.StringMatching(`[a-zé'"/,][a-z0-9#%,é]{0,8}|0[0-9]+|[+][0-9]+|9223372036854775808`), func(s string) Token { return Token{Str: s} }),
	)
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.SampledFrom([]Columns{SrcDst, SrcDstWeight, SrcDstTime}).Draw(t, "columns")
		blank := rapid.SampledFrom([]string{" ", "\t", " \t "}).Draw(t, "blank")
		end := rapid.SampledFrom([]string{"\n", "\r\n", "\n\n", " \n# 1 2\n"}).Draw(t, "end")
		var want []Edge
		for range rapid.IntRange(0, 20).Draw(t, "edges") {
			e := Edge{Src: token.Draw(t, "src"), Dst: token.Draw(t, "dst"), Weight: 1}
			want = append(want, e)
		}
		var b strings.Builder
		for i := range want {
			e := &want[i]
			e.Line = int64(1 + i*strings.Count(end, "\n"))
			b.WriteString(plain(e.Src) + blank + plain(e.Dst))
			switch columns {
			case SrcDstWeight:
				e.Weight = rapid.Float32Range(1e-30, 1e30).Draw(t, "weight")
				fmt.Fprintf(&b, "%s%v", blank, e.Weight)
			case SrcDstTime:
				e.Time = rapid.Int64Range(earliest, latest).Draw(t, "time")
				fmt.Fprintf(&b, "%s%d", blank, e.Time)
			}
			b.WriteString(end)
		}
		l, err := NewReader(strings.NewReader(b.String()), Options{Format: SNAP, Columns: columns, Times: Seconds})
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for e, err := range l.Edges() {
			if err != nil || e != want[i] {
				t.Fatalf("%q: got %+v, %v, want %+v", b.String(), e, err, want[i])
			}
			i++
		}
		if i != len(want) {
			t.Fatalf("%q: got %d edges, want %d", b.String(), i, len(want))
		}
	})
}

func plain(t Token) string {
	if t.IsInt {
		return fmt.Sprint(t.Int)
	}
	return t.Str
}

// TestPublicFiles: public files that users start with have as many rows as their publishers say.
func TestPublicFiles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path    string
		columns Columns
		edges   int
		large   bool
	}{
		{"snap/facebook_combined.txt", SrcDst, 88234, false},
		{"snap/CA-GrQc.txt", SrcDst, 28980, false},
		{"snap/wiki-Vote.txt", SrcDst, 103689, false},
		{"snap/email-Enron.txt.gz", SrcDst, 367662, false},
		{"snap/soc-Epinions1.txt.gz", SrcDst, 508837, true},
		{"snap/CollegeMsg.txt.gz", SrcDstTime, 59835, false},
		{"law/dblp-2010.edges.txt.gz", SrcDst, 807700, true},
	}
	for _, tt := range tests {
		t.Run(filepath.Base(tt.path), func(t *testing.T) {
			if tt.large && testing.Short() {
				t.Skip("large")
			}
			l, err := NewReader(data(t, tt.path), Options{})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for e, err := range l.Edges() {
				if err != nil || !e.Src.IsInt || !e.Dst.IsInt || e.Weight != 1 {
					t.Fatalf("%+v, %v", e, err)
				}
				n++
			}
			if n != tt.edges || l.Columns != tt.columns {
				t.Errorf("got %d edges with columns %v, want %d with %v", n, l.Columns, tt.edges, tt.columns)
			}
		})
	}
}
