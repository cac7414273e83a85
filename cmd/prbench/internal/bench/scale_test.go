package bench

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kith/cmd/prbench/internal/scale"
)

var update = flag.Bool("update", false, "rewrite the table in doc.go")

// TestScalePage verifies that the table of doc.go, "How far it goes", has the measurements of
// testdata/scale.jsonl, which prbench bench scale --dir DIR writes into DIR/scale.jsonl. With
// -update it rewrites the table.
func TestScalePage(t *testing.T) {
	t.Parallel()
	const page = "doc.go"
	results, err := scale.Open("testdata/scale.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if len(results.All) == 0 {
		t.Fatal("no measurements")
	}
	same := results.Of(results.All[0].Setting)
	if len(same) != len(results.All) {
		t.Error("the measurements have several settings")
	}
	var table bytes.Buffer
	if err := scale.NewTable(same, defaultCluster()).Write(&table, "//\t"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	first := slices.Index(lines, "// # How far it goes")
	isTable := func(line string) bool { return strings.HasPrefix(line, "//\t") }
	begin := first + slices.IndexFunc(lines[first:], isTable)
	end := begin
	for isTable(lines[end]) || isTable(lines[end+1]) { // parts of the table have an empty line between them
		end++
	}
	if *update {
		lines = slices.Replace(lines, begin, end, strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n")...)
		if err := os.WriteFile(page, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Join(lines[begin:end], "\n")+"\n", table.String()); diff != "" {
		t.Errorf("%s: -page +measurements:\n%s", page, diff)
	}
}
