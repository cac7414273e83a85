package edgelist_test

import (
	archive "archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/db/edgelist"
)

// words returns 64-bit little-endian integers.
func words(n ...int64) (b []byte) {
	for _, v := range n {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// text returns a BINUNICODE string.
func text(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

// tensorPickle returns a dictionary with one tensor of the given size and strides in storage 0.
func tensorPickle(key string, rows, cols, step, stride byte) string {
	return "\x80\x02}(" + text(key) + "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\nLongStorage\n" +
		text("0") + text("cpu") + "K\x04tQK\x00K" + string(rows) + "K" + string(cols) + "\x86K" + string(step) + "K" + string(stride) +
		"\x86\x89ccollections\nOrderedDict\n)RtRu."
}

// arrayPickle returns a dictionary with one array of 64-bit integers, whose bytes are encoded in
// Latin-1.
func arrayPickle(key string, rows, cols byte, columnMajor bool, data []byte) string {
	var latin strings.Builder
	for _, b := range data {
		latin.WriteRune(rune(b))
	}
	order := "\x89"
	if columnMajor {
		order = "\x88"
	}
	return "\x80\x02}(" + text(key) + "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85c_codecs\nencode\n" +
		text("b") + text("latin1") + "\x86R\x87R(K\x01K" + string(rows) + "K" + string(cols) + "\x86cnumpy\ndtype\n" + text("i8") +
		"K\x00K\x01\x87R(K\x03" + text("<") + "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb" + order + "c_codecs\nencode\n" +
		text(latin.String()) + text("latin1") + "\x86Rtbu."
}

// zipped returns an archive as PyTorch writes it.
func zipped(t testing.TB, pickle string, method uint16, storage ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := archive.NewWriter(&b)
	add := func(name string, data []byte) {
		w, err := z.CreateHeader(&archive.FileHeader{Name: name, Method: method})
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("test/data.pkl", []byte(pickle))
	for i, s := range storage {
		add("test/data/"+string(rune('0'+i)), s)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// old returns a file in PyTorch's older format.
func old(pickle, keys string, storage ...[]byte) []byte {
	b := []byte("\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}.")
	b = append(b, pickle+keys...)
	for _, s := range storage {
		b = append(append(b, words(int64(len(s)/8))...), s...)
	}
	return b
}

const noKeys = "\x80\x02]."

// readSplit returns the links of a split, or its pairs without a link.
func readSplit(b []byte, negative bool) (pairs [][2]uint32, err error) {
	l, err := edgelist.NewReader(bytes.NewReader(b), edgelist.Options{Format: edgelist.Torch, Unlinked: negative})
	if err != nil {
		return nil, err
	}
	for e, err := range l.Edges() {
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, [2]uint32{uint32(e.Src.Int), uint32(e.Dst.Int)})
	}
	return pairs, nil
}

func TestReadSplit(t *testing.T) {
	t.Parallel()
	four := words(1, 2, 300, 4)
	keys := "\x80\x02](" + text("0") + "e."
	for _, c := range []struct {
		name string
		file []byte
		want [][2]uint32
	}{
		{"zip, tensor", zipped(t, tensorPickle("edge", 2, 2, 2, 1), archive.Store, four), [][2]uint32{{1, 2}, {300, 4}}},
		{"zip, transposed tensor", zipped(t, tensorPickle("edge", 2, 2, 1, 2), archive.Store, four), [][2]uint32{{1, 300}, {2, 4}}},
		{"zip, array", zipped(t, arrayPickle("edge", 2, 2, false, four), archive.Store), [][2]uint32{{1, 2}, {300, 4}}},
		{"old, array", old(arrayPickle("edge", 2, 2, false, four), noKeys), [][2]uint32{{1, 2}, {300, 4}}},
		{"old, column major", old(arrayPickle("edge", 2, 2, true, four), noKeys), [][2]uint32{{1, 300}, {2, 4}}},
		{"old, tensor", old(tensorPickle("edge", 2, 2, 2, 1), keys, four), [][2]uint32{{1, 2}, {300, 4}}},
		{"no rows", old(arrayPickle("edge", 0, 2, false, nil), noKeys), nil},
	} {
		if got, err := readSplit(c.file, false); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
		if got, err := readSplit(c.file, true); err == nil {
			t.Errorf("%s: pairs without a link: %v", c.name, got)
		}
	}
}

// Arrays other than the links are ignored: vectors, floats, and storages of other widths.
func TestReadSplitBeside(t *testing.T) {
	t.Parallel()
	four := words(1, 2, 300, 4)
	tensor := func(key, class, storageKey, size, stride string) string {
		return text(key) + "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\n" + class + "\n" +
			text(storageKey) + text("cpu") + "K\x04tQK\x00" + size + stride + "\x89ccollections\nOrderedDict\n)tR"
	}
	vector := tensor("weight", "FloatStorage", "a", "K\x02\x85", "K\x01\x85")
	narrow := tensor("edge", "IntStorage", "b", "K\x02K\x02\x86", "K\x02K\x01\x86")
	numpy := text("year") + "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R(K\x01K\x02\x85cnumpy\ndtype\n" +
		text("f8") + "K\x00K\x01\x87R(K\x03" + text("<") + "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89C\x10" + string(four[:16]) + "tb"
	ints := []byte{1, 0, 0, 0, 2, 0, 0, 0, 44, 1, 0, 0, 4, 0, 0, 0}
	keys := "\x80\x02](" + text("a") + text("b") + "e."
	file := old("\x80\x02}("+vector+numpy+narrow+"u.", keys)
	file = append(append(append(file, words(2)...), 0, 0, 0, 0x3f, 0, 0, 0, 0x40), append(words(4), ints...)...)
	got, err := readSplit(file, false)
	if want := [][2]uint32{{1, 2}, {300, 4}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, array := range []string{vector, numpy} {
		array = strings.NewReplacer(text("weight"), text("edge"), text("year"), text("edge")).Replace(array)
		if got, err := readSplit(old("\x80\x02}("+array+"u.", keys), false); err == nil {
			t.Errorf("a vector was read as links: %v", got)
		}
	}
}

// dictionary returns a pickle of a dictionary whose items are alternately keys and values.
func dictionary(items ...string) string { return "\x80\x02}(" + strings.Join(items, "") + "u." }

// ints returns the key and the value of an array of integers: a vector if cols is 0.
func ints(key string, cols int, values ...int64) string {
	shape := "K" + string(rune(len(values))) + "\x85"
	if cols > 0 {
		shape = "K" + string(rune(len(values)/cols)) + "K" + string(rune(cols)) + "\x86"
	}
	return text(key) + "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R(K\x01" + shape + "cnumpy\ndtype\n" + text("i8") +
		"K\x00K\x01\x87R(K\x03" + text("<") + "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89B" +
		string(binary.LittleEndian.AppendUint32(nil, uint32(8*len(values)))) + string(words(values...)) + "tb"
}

// texts returns the key and the value of a list of strings.
func texts(key string, values ...string) string {
	list := text(key) + "]("
	for _, v := range values {
		list += text(v)
	}
	return list + "e"
}

// The dictionaries of the splits of the Open Graph Benchmark are read with the weights and years of
// their links. What is not read is named.
func TestReadSplitArrays(t *testing.T) {
	t.Parallel()
	collab := dictionary(ints("edge", 2, 0, 1, 1, 2), ints("weight", 0, 1, 7), ints("year", 0, 2001, 2018), ints("edge_neg", 2, 5, 6))
	citation := dictionary(ints("source_node", 0, 1, 2), ints("target_node", 0, 3, 4), ints("target_node_neg", 2, 5, 6, 7, 8))
	for _, c := range []struct {
		name, pickle string
		o            edgelist.Options
		want         string
	}{
		{"collab", collab, edgelist.Options{}, "src,dst,weight,time year: 0>1 w=1 2001, 1>2 w=7 2018"},
		{"collab without weights", collab, edgelist.Options{Columns: edgelist.SrcDst}, "src,dst auto: 0>1 w=1, 1>2 w=1; arrays not read: weight, year"},
		{"no link of collab", collab, edgelist.Options{Unlinked: true}, "src,dst auto: 5>6 w=1"},
		{"citation2", citation, edgelist.Options{}, "src,dst auto: 1>3 w=1, 2>4 w=1"},
		{"no link of citation2", citation, edgelist.Options{Unlinked: true}, "src,dst auto: 1>5 w=1, 1>6 w=1, 2>7 w=1, 2>8 w=1"},
		{"wikikg2", dictionary(ints("head", 0, 1, 2), ints("relation", 0, 9, 9), ints("tail", 0, 3, 4)), edgelist.Options{}, "src,relation,dst auto: 1>3 w=1 r=9, 2>4 w=1 r=9"},
		{"wikikg2, no link", dictionary(ints("head", 0, 1), ints("relation", 0, 9), ints("tail", 0, 3), ints("head_neg", 2, 5, 6), ints("tail_neg", 2, 7, 8)),
			edgelist.Options{Unlinked: true}, "src,dst auto: 1>7 w=1, 1>8 w=1"},
		{"wikikg2, no relations", dictionary(ints("head", 0, 1), ints("relation", 0, 9), ints("tail", 0, 3)), edgelist.Options{Related: true}, "src,dst auto: 1>3 w=1; arrays not read: relation"},
		{"biokg", dictionary(ints("head", 0, 1, 2), ints("tail", 0, 3, 4), ints("relation", 0, 0, 51), texts("head_type", "drug", "disease"), texts("tail_type", "drug", "drug")),
			edgelist.Options{Relations: map[string]string{"51": "treats"}}, "src,relation,dst auto: drug:1>drug:3 w=1 r=0, disease:2>drug:4 w=1 r=treats"},
		{"biokg, a type missing", dictionary(ints("head", 0, 1, 2), ints("tail", 0, 3, 4), texts("head_type", "drug")), edgelist.Options{},
			"edgelist: not a pickle of a kind that can be read: head_type is not a list of as many texts as there are edges"},
		{"biokg, no texts", dictionary(ints("head", 0, 1), ints("tail", 0, 3), text("head_type")+"](K\x01e"), edgelist.Options{},
			"edgelist: not a pickle of a kind that can be read: head_type holds 1, which is no label"},
		{"edge_index", dictionary(ints("edge_index", 2, 0, 1, 2, 3), ints("edge_attr", 0, 1, 1)), edgelist.Options{}, "src,dst auto: 0>2 w=1, 1>3 w=1; arrays not read: edge_attr"},
		{"an array alone", strings.Replace(strings.Replace(dictionary(ints("x", 2, 0, 1, 2, 3)), "}("+text("x"), "", 1), "u.", ".", 1), edgelist.Options{}, "src,dst auto: 0>2 w=1, 1>3 w=1"},
		{"another dictionary", dictionary(ints("a", 0, 1), ints("b", 0, 1)), edgelist.Options{}, "edgelist: not a pickle of a kind that can be read: it has no array called edge (it has: a, b)"},
		{"no years", dictionary(ints("edge", 2, 0, 1)), edgelist.Options{Columns: edgelist.SrcDstTime}, "edgelist: not a pickle of a kind that can be read: it has columns src,dst, expected src,dst,time"},
		{"an object", "\x80\x02ctorch_geometric.data.data\nData\n)\x81}b.", edgelist.Options{},
			"edgelist: not a pickle of a kind that can be read: it holds an object of class torch_geometric.data.data.Data; write its edges as in numpy.save('edge_index.npy', data.edge_index.numpy())"},
	} {
		if got := splitText(old(c.pickle, noKeys), c.o); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// splitText returns the columns, the format of the times, the edges and the notes of a split.
func splitText(file []byte, o edgelist.Options) string {
	l, err := edgelist.NewReader(bytes.NewReader(file), o)
	if err != nil {
		return err.Error()
	}
	var list []string
	for e, err := range l.Edges() {
		if err != nil {
			return err.Error()
		}
		s := fmt.Sprintf("%d>%d w=%v", e.Src.Int, e.Dst.Int, e.Weight)
		if e.Labels != nil {
			s = fmt.Sprintf("%s:%d>%s:%d w=%v", e.Labels[0], e.Src.Int, e.Labels[1], e.Dst.Int, e.Weight)
		}
		if e.Relation != "" {
			s += " r=" + e.Relation
		}
		if e.Time != 0 {
			s += " " + time.Unix(e.Time, 0).UTC().Format("2006")
		}
		list = append(list, s)
	}
	s := fmt.Sprintf("%v %v: %s", l.Columns, l.Times, strings.Join(list, ", "))
	for _, n := range l.Notes {
		s += "; " + n.String()
	}
	return s
}

// A split can be read as a list of edges.
func TestReadSplitAsEdges(t *testing.T) {
	t.Parallel()
	four := words(1, 2, 300, 4)
	for name, file := range map[string][]byte{
		"zip": zipped(t, tensorPickle("edge", 2, 2, 2, 1), archive.Store, four),
		"old": old(arrayPickle("edge", 2, 2, false, four), noKeys),
	} {
		l, err := edgelist.NewReader(bytes.NewReader(file), edgelist.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got [][2]int64
		for e, err := range l.Edges() {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got = append(got, [2]int64{e.Src.Int, e.Dst.Int})
		}
		if want := [][2]int64{{1, 2}, {300, 4}}; !slices.Equal(got, want) || l.Format != edgelist.Torch || l.Columns != edgelist.SrcDst {
			t.Errorf("%s: %v as %v with %v, want %v", name, got, l.Format, l.Columns, want)
		}
		for _, o := range []edgelist.Options{{MaxSplit: 10}, {Columns: edgelist.SrcDstTime}} {
			if _, err := edgelist.NewReader(bytes.NewReader(file), o); err == nil {
				t.Errorf("%s: read with %+v", name, o)
			}
		}
	}
	for key, want := range map[string]bool{"edge_neg": true, "edge": false} {
		file := old(arrayPickle(key, 2, 2, false, four), noKeys)
		if _, err := edgelist.NewReader(bytes.NewReader(file), edgelist.Options{Unlinked: true}); (err == nil) != want {
			t.Errorf("pairs that are none from an array called %s: %v", key, err)
		}
	}
	if _, err := edgelist.NewReader(bytes.NewReader(old(arrayPickle("edges", 2, 2, false, four), noKeys)), edgelist.Options{}); err == nil {
		t.Error("a split without links was read")
	}
}

func TestReadSplitRefuses(t *testing.T) {
	t.Parallel()
	four := words(1, 2, 3, 4)
	good := old(arrayPickle("edge", 2, 2, false, four), noKeys)
	for name, file := range map[string][]byte{
		"nothing":              nil,
		"text":                 []byte("edge,edge_neg"),
		"cut short":            good[:len(good)-20],
		"another magic":        append([]byte("\x80\x02K\x01."), good...),
		"compressed":           zipped(t, tensorPickle("edge", 2, 2, 2, 1), archive.Deflate, four),
		"no storage":           zipped(t, tensorPickle("edge", 2, 2, 2, 1), archive.Store),
		"short storage":        zipped(t, tensorPickle("edge", 2, 2, 2, 1), archive.Store, four[:24]),
		"rows on one another":  zipped(t, tensorPickle("edge", 200, 2, 0, 0), archive.Store, four),
		"three columns":        zipped(t, tensorPickle("edge", 1, 3, 3, 1), archive.Store, four),
		"negative node":        old(arrayPickle("edge", 1, 2, false, words(-1, 2)), noKeys),
		"another number":       old(arrayPickle("edge", 3, 2, false, four), noKeys),
		"a call of the system": old("\x80\x02cposix\nsystem\n"+text("true")+"\x85R.", noKeys),
		"no dictionary":        old("\x80\x02K\x01.", noKeys),
		"another key":          old(arrayPickle("time", 2, 2, false, four), noKeys),
		"a type of a tuple":    old("\x80\x02cnumpy\ndtype\n)\x85R.", noKeys),
		"an empty memo":        old("\x80\x02h\x05.", noKeys),
	} {
		if got, err := readSplit(file, false); err == nil {
			t.Errorf("%s: read %v", name, got)
		}
	}
}

func FuzzReadSplit(f *testing.F) {
	four := words(1, 2, 3, 4)
	f.Add(zipped(f, tensorPickle("edge", 2, 2, 2, 1), archive.Store, four))
	f.Add(old(arrayPickle("edge", 2, 2, false, four), noKeys))
	f.Add(old(tensorPickle("edge_neg", 2, 2, 2, 1), "\x80\x02]("+text("0")+"e.", four))
	f.Fuzz(func(t *testing.T, b []byte) {
		if plain, err := edgelist.Decompress(bytes.NewReader(b)); err == nil {
			if b, err = io.ReadAll(io.LimitReader(plain, 1<<20)); err != nil {
				return
			}
		}
		for _, negative := range []bool{false, true} {
			if pairs, err := readSplit(b, negative); err == nil && len(pairs) > len(b) {
				t.Errorf("%d pairs of %d bytes", len(pairs), len(b))
			}
		}
	})
}

// The published files contain what their descriptions say.
func TestReadBenchmarks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		folder, part     string
		split, negatives int
	}{
		{"cora", "split/random0/valid.pt", 527, 527},
		{"citeseer", "split/random1/train.pt", 3187, 0},
		{"ogbl_ddi", "split/target/valid.pt", 133489, 101882},
	} {
		folder := os.DirFS(filepath.Join("..", "..", "..", "shared", "data", c.folder))
		if _, err := fs.Stat(folder, "raw"); err != nil {
			t.Skipf("shared/data is not there: %v", err)
		}
		b, err := fs.ReadFile(folder, c.part)
		if err != nil {
			t.Fatal(err)
		}
		links, err := readSplit(b, false)
		if err != nil || len(links) != c.split {
			t.Errorf("%s: %d links, %v", c.folder, len(links), err)
		}
		others, err := readSplit(b, true)
		if len(others) != c.negatives || (err == nil) != (c.negatives > 0) {
			t.Errorf("%s: %d pairs without a link, %v", c.folder, len(others), err)
		}
	}
}
