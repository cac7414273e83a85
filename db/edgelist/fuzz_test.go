package edgelist

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzRead: reading any bytes in any format returns valid edges, in order, or errors.
func FuzzRead(f *testing.F) {
	market := "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n1 2 0.5\n3 3 1\n"
	for _, text := range []string{
		"1 2\n", "# c\r\na\tb 0.5\r\n", "1 2 1082040961\n", "\x1f\x8b", "\uFEFF%", "1 2 inf", string(zip("1 2\n3 x")), market,
		"source,target\n\"a\"\"\",b\n", "x;y\n1;2\n", "BZh9", "\x28\xb5\x2f\xfd", string(npyFile("<i8", false, "(2, 2)", make([]byte, 32))),
		string(npyFile("<f4", true, "(3, 2)", make([]byte, 24))), string(npzFile(map[string][]byte{"edge_index": npyFile("|u1", false, "(2, 3)", make([]byte, 6))})),
	} {
		for columns := range 8 {
			f.Add([]byte(text), columns, 0)
		}
		f.Add([]byte(text), 0, int(CSV))
		f.Add([]byte("{\"source\": 1, \"target\": \"b\", \"rel\": null}\n{\"source\": [], \"weight\": -1}\n"), 0, int(JSONLines))
		f.Add([]byte("<a> <b> <\\u0041> .\n<a> <b> \"c\\\"\"@en .\n_:a <b> _:c <d> . # e\n"), 0, int(NTriples))
		f.Add([]byte(text), 0, int(Torch))
	}
	f.Fuzz(func(t *testing.T, text []byte, columns, format int) {
		l, err := NewReader(bytes.NewReader(text), Options{Columns: fuzzColumns(columns), Format: Format(format), Directed: len(text)%2 == 0})
		if err != nil {
			return
		}
		lines, last := int64(0), error(nil)
		for e, err := range l.Edges() {
			if e.Line < lines || last != nil && !errors.As(last, new(*LineError)) {
				t.Fatalf("line %d after %d, %v", e.Line, lines, last)
			}
			lines, last = e.Line, err
			if err == nil && (!(e.Weight > 0) || e.Weight-e.Weight != 0 || e.Src.IsInt == (e.Src.Str != "") || e.Dst.IsInt == (e.Dst.Str != "")) {
				t.Fatalf("%+v", e)
			}
		}
	})
}

// fuzzColumns returns columns for a number.
func fuzzColumns(n int) Columns {
	all := []Columns{Auto, SrcDst, SrcDstWeight, SrcDstTime, SrcDstWeightTime, SrcRelationDst, SrcDstRelation, "weight,dst,src"}
	return all[uint(n)%uint(len(all))]
}

// FuzzTable: reading any text with any column names and any time format returns valid edges or
// errors. The columns are those that were requested.
func FuzzTable(f *testing.F) {
	for _, text := range []string{
		"user_id,item_id,rating,created_at\n1,2,3,2020-01-02\n2,3,4,2020-01-03\n", "source,target,time\na,b,2020-01-01 10:20:30\n", "1 2 5 1082040961000\n",
		"u;v;t\n1;2;2020-01-01T10:20:30+02:00\n", "src\tdst\tweight\n1\t2\t2020-01-02\n", "1,2,-1\n", "user,user\n1,2\n",
		"# ann\nbob 1\n# bob\ncid 2\n", "#a,b\n#c,d\n", ",user,item\n0,\"a\nb\",2\n", "\"a\" \"b\"\n\"1\" 2 3\n", "a::1,5\rb::2\r", "sep=;\nx;y\n",
	} {
		for _, names := range []string{"", "src=user_id,dst=item_id,time=created_at", "src=1,dst=2,time=4,weight=3", "src=1,dst=1", "src=2,dst=99999", "src=,dst"} {
			for times := AnyTime; times <= Date; times++ {
				f.Add([]byte(text), names, int(times))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, names string, times int) {
		o := Options{Times: TimeFormat(times)}
		if names != "" {
			n, err := parseNames(names)
			if err != nil {
				return
			}
			o.Names = n
		}
		l, err := NewReader(bytes.NewReader(text), o)
		if err != nil {
			return
		}
		if names != "" && l.Columns != ColumnsOf(o.Names.Relation != "", o.Names.Weight != "", o.Names.Time != "") {
			t.Fatalf("columns %v, asked for were %v", l.Columns, o.Names)
		}
		if (l.Times == AnyTime) != !l.Columns.has(roleTime) {
			t.Fatalf("columns %v, times %v", l.Columns, l.Times)
		}
		for e, err := range l.Edges() {
			if err == nil && (!(e.Weight > 0) || e.Weight-e.Weight != 0 || e.Src.IsInt == (e.Src.Str != "") || e.Dst.IsInt == (e.Dst.Str != "") ||
				e.Time != 0 && l.Times == AnyTime) {
				t.Fatalf("%+v", e)
			}
		}
	})
}

// FuzzNodes: reading any bytes returns valid labels and vectors, or errors.
func FuzzNodes(f *testing.F) {
	for _, text := range []string{
		"a x\n# c\n7 y\n", "node,label\n1,\"a \"\"b\"\n", "0.5 1\n\n2 3\n", "\x1f\x8b", "\uFEFF1\t2\n",
		string(npyFile("<i8", false, "(2, 1)", make([]byte, 16))), string(npyFile("<f4", true, "(3, 2)", make([]byte, 24))),
	} {
		for keyless := range 2 {
			f.Add([]byte(text), keyless == 1, 0)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, keyless bool, format int) {
		o := Options{Format: Format(format), Keyless: keyless}
		for _, open := range []func(io.Reader, Options) (*Nodes, error){NewNodes, NewFeatures} {
			if l, err := open(bytes.NewReader(text), o); err == nil {
				soundNodes(t, l, keyless)
			}
		}
	})
}

func soundNodes(t *testing.T, l *Nodes, keyless bool) {
	last := Node{Key: Token{Int: -1}}
	for n, err := range l.All() {
		if err != nil {
			continue
		}
		if n.Line <= last.Line || n.Key.IsInt == (n.Key.Str != "") || keyless && n.Key.Int <= last.Key.Int {
			t.Fatalf("%+v after %+v", n, last)
		}
		for _, x := range n.Features {
			if x-x != 0 {
				t.Fatalf("%+v", n)
			}
		}
		last = n
	}
}
