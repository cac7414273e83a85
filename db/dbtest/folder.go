package dbtest

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"testing/fstest"

	"kith/db"
)

// Folder returns a graph in the layout of the Open Graph Benchmark: the nodes 0 to 5 with labels and features, the
// edges 0-1, 1-2, 2-3 and 3-4, and two ways to split these: a, with 0-1 and 1-2 to train, 2-3 to validate and 3-4 to
// test, and b, with 3-4 to train and nothing else.
func Folder(t testing.TB) fstest.MapFS {
	t.Helper()
	packed := func(text string) *fstest.MapFile {
		var b bytes.Buffer
		z, err := db.Pack(&b, ".gz")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return &fstest.MapFile{Data: b.Bytes()}
	}
	return fstest.MapFS{
		"raw/num-node-list.csv.gz": packed("6\n"),
		"raw/node-label.csv.gz":    packed("1\n0\n1\n0\n1\n0\n"),
		"raw/node-feat.csv.gz":     packed("0,1\n1,0\n1,1\n0,0\n2,1\n1,2\n"),
		"raw/edge.csv.gz":          packed("0,1\n1,2\n2,3\n3,4\n"),
		"split/a/train.pt":         torch(0, 1, 1, 2),
		"split/a/valid.pt":         torch(2, 3),
		"split/a/test.pt":          torch(3, 4),
		"split/b/train.pt":         torch(3, 4),
	}
}

// torch returns a file in the format in which old versions of PyTorch save a dictionary whose key edge is an array of
// pairs of nodes below 128: the magic number, the protocol and the machine, then the dictionary, then an empty list of
// storages.
func torch(nodes ...byte) *fstest.MapFile {
	text := func(s string) string { return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s }
	var data strings.Builder
	for _, n := range nodes {
		data.WriteString(string(rune(n)) + strings.Repeat("\x00", 7))
	}
	array := "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85c_codecs\nencode\n" + text("b") + text("latin1") + "\x86R\x87R" +
		"(K\x01K" + string(rune(len(nodes)/2)) + "K\x02\x86cnumpy\ndtype\n" + text("i8") + "K\x00K\x01\x87R" +
		"(K\x03" + text("<") + "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89c_codecs\nencode\n" + text(data.String()) + text("latin1") + "\x86Rtb"
	head := "\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}."
	return &fstest.MapFile{Data: []byte(head + "\x80\x02}(" + text("edge") + array + "u." + "\x80\x02].")}
}
