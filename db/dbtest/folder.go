package dbtest

import (
	"embed"
	"io/fs"
	"testing"
)

//go:embed testdata/ogb
var testdata embed.FS

// Folder returns a graph in the layout of the Open Graph Benchmark: the nodes 0 to 5 with labels
// and features, the edges 0-1, 1-2, 2-3 and 3-4, and two ways to split these: a, with 0-1 and 1-2
// to train, 2-3 to validate and 3-4 to test, and b, with 3-4 to train and nothing else.
func Folder(t testing.TB) fs.FS {
	t.Helper()
	folder, err := fs.Sub(testdata, "testdata/ogb")
	if err != nil {
		t.Fatal(err)
	}
	return folder
}
