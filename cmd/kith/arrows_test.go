package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// arrows returns the imports that each package may have in addition to the standard library:
// packages of kith by their path, other modules with all of their packages. A package that is not
// listed may not exist.
func arrows() map[string][]string {
	const (
		gonum   = "gonum.org/v1/gonum"
		msgpack = "github.com/vmihailenco/msgpack/v5"
	)
	return map[string][]string{
		"kith/ppr":                      {gonum},
		"kith/model":                    {"kith/model/internal/column", "kith/model/internal/factor", "kith/model/internal/graph", "kith/model/internal/rules", "kith/model/internal/spectral", "kith/model/nn", gonum, msgpack},
		"kith/model/internal/column":    {"kith/model/internal/graph", "kith/model/nn", gonum},
		"kith/model/internal/graph":     {},
		"kith/model/internal/graphtest": {"kith/model/internal/graph"},
		"kith/model/internal/rules":     {"kith/model/internal/graph", "kith/model/nn"},
		"kith/model/internal/factor":    {"kith/model/internal/gemm", "kith/model/internal/graph", "kith/model/nn", gonum},
		"kith/model/internal/gemm":      {gonum, "golang.org/x/sys"},
		"kith/model/internal/spectral":  {"kith/model/internal/column", "kith/model/internal/graph", "kith/model/nn", gonum},
		"kith/model/nn":                 {"kith/model/internal/gemm", gonum, msgpack},
		"kith/index":                    {"kith/index/internal/block", "kith/index/internal/column", "kith/index/internal/huge", "kith/index/internal/pages", "kith/index/internal/spill", "kith/index/internal/word", "kith/ppr", msgpack},
		"kith/index/internal/pages":     {"kith/ppr"},
		"kith/index/internal/spill":     {"kith/index/internal/huge", "kith/ppr"},
		"kith/index/internal/huge":      {},
		"kith/index/internal/block":     {"kith/ppr"},
		"kith/index/internal/column":    {"kith/index/internal/block"},
		"kith/index/internal/word":      {"kith/index/internal/column"},
		"kith/db/edgelist":              {"kith/db/edgelist/internal/foreign", "kith/db/edgelist/internal/gorse", "github.com/sbinet/npyio", "github.com/klauspost/compress"},
		"kith/db/edgelist/parquet":      {"kith/db/edgelist", "github.com/parquet-go/parquet-go", "github.com/klauspost/compress", "github.com/andybalholm/brotli", "github.com/pierrec/lz4/v4"},
		"kith/db/internal/store":        {"kith/index", badger, "github.com/dgraph-io/ristretto/v2", "github.com/klauspost/compress/snappy", "golang.org/x/sys"},
		"kith/db/internal/archive":      {"kith/index", msgpack},
		"kith/db/internal/walk":         {"kith/index", "kith/ppr", "kith/model"},
		"kith/db/internal/gonum":        {"kith/index", gonum},
		"kith/db/internal/candidate":    {"kith/db/internal/walk", "kith/index", "kith/model", "kith/ppr", gonum},
		"kith/db/internal/hidden":       {"kith/db/internal/candidate", "kith/index", "kith/model"},
		"kith/db/internal/parallel":     {},
		"kith/db/internal/repair":       {"kith/db/internal/record", "kith/db/internal/store", "kith/db/words", "kith/index"},
		"kith/db/internal/wire":         {},
		"kith/db/internal/record":       {"kith/index", "kith/model", msgpack},
		"kith/db/internal/modelfile":    {"kith/db/internal/archive", "kith/db/internal/record", "kith/index", "kith/model", msgpack},
		"kith/db/internal/feed":         {"kith/db/internal/record", "kith/index", msgpack},
		"kith/db": {
			"kith/index", "kith/ppr", "kith/model", "kith/db/edgelist", "kith/db/internal/store", "kith/db/internal/walk", "kith/db/internal/gonum", "kith/db/words",
			"kith/db/internal/archive", "kith/db/internal/candidate", "kith/db/internal/ctxio", "kith/db/internal/feed", "kith/db/internal/hidden", "kith/db/internal/modelfile", "kith/db/internal/parallel", "kith/db/internal/record", "kith/db/internal/repair", "kith/db/internal/wire", "golang.org/x/sys", gonum, msgpack,
		},
		"kith/db/dbtest":            {"kith/db"},
		"kith/db/words":             {},
		"kith/db/internal/ctxio":    {"kith/index"},
		"kith/query":                {"kith/db", "kith/model", "kith/db/edgelist", "kith/db/words", "kith/query/internal/draw", "kith/query/internal/parse", "kith/query/internal/why"},
		"kith/query/internal/draw":  {"kith/db", "kith/db/words"},
		"kith/query/internal/parse": {"kith/db/words"},
		"kith/query/internal/why":   {"kith/db", "kith/db/words", "kith/query/internal/parse"},
		"kith/query/web":            {"kith/db", "kith/db/edgelist", "kith/db/words", "kith/model", "kith/query", "kith/query/internal/draw", "kith/query/internal/parse", "kith/query/internal/why"},

		"kith/db/edgelist/internal/foreign": {},
		"kith/db/edgelist/internal/gorse":   {},
	}
}

// badger is the module that stores the records. Only db/internal/store imports it.
const badger = "github.com/dgraph-io/badger/v4"

// forTests returns the imports that the tests of every package may have in addition to those of the
// package.
func forTests() []string {
	return []string{
		"github.com/cockroachdb/datadriven", "github.com/google/go-cmp", "github.com/rogpeppe/go-internal",
		"go.uber.org/goleak", "pgregory.net/rapid",
	}
}

// testArrows returns further imports for the tests of a package.
func testArrows() map[string][]string {
	return map[string][]string{
		"kith/db":                      {"kith/db/dbtest", "kith/db/edgelist/parquet"},
		"kith/db/edgelist":             {"gonum.org/v1/gonum"},
		"kith/db/edgelist/parquet":     {"kith/db", "kith/db/dbtest"},
		"kith/model":                   {"kith/index", "kith/model/internal/graphtest"}, // the graph of index has times
		"kith/model/internal/spectral": {"kith/model/internal/graphtest", "github.com/vmihailenco/msgpack/v5"},
		"kith/db/words":                {},
		"kith/query":                   {"kith/db/dbtest", "kith/query/web", "golang.org/x/sys"},
		"kith/query/web":               {"kith/db/dbtest", "github.com/chromedp/chromedp", "github.com/chromedp/cdproto"},
	}
}

// TestArrows checks that packages, also those of nested modules, import only what they may: imports
// go one way, and only db/internal/store imports Badger.
func TestArrows(t *testing.T) {
	t.Parallel()
	for _, p := range append(listPackages(t), nestedPackages(t)...) {
		if strings.HasPrefix(p.path, "kith/cmd/") {
			checkTool(t, p)
			continue
		}
		allowed, known := arrows()[p.path]
		if !known {
			t.Errorf("%s has no place in the architecture", p.path)
			continue
		}
		for _, to := range p.imports {
			if !may(allowed, to) {
				t.Errorf("%s imports %s", p.path, to)
			}
		}
		allowed = slices.Concat(allowed, forTests(), testArrows()[p.path], []string{p.path})
		for _, to := range p.tests {
			if !may(allowed, to) {
				t.Errorf("a test of %s imports %s", p.path, to)
			}
		}
	}
}

// checkTool checks a package of a tool: it imports neither Badger nor another tool.
func checkTool(t *testing.T, p listed) {
	t.Helper()
	name, _, _ := strings.Cut(strings.TrimPrefix(p.path, "kith/cmd/"), "/")
	tool := "kith/cmd/" + name
	for _, to := range slices.Concat(p.imports, p.tests) {
		if strings.HasPrefix(to, badger) {
			t.Errorf("%s imports %s", p.path, to)
		}
		own := strings.HasPrefix(to, "kith/cmd/internal/") || strings.HasPrefix(to, tool+"/") || to == tool
		if strings.HasPrefix(to, "kith/cmd/") && !own {
			t.Errorf("%s imports the tool %s", p.path, to)
		}
		if strings.HasPrefix(tool, "kith/cmd/kith") && (to == "kith/index" || to == "kith/ppr") {
			t.Errorf("%s imports %s", p.path, to)
		}
	}
}

// may reports whether a package may be imported: one of the standard library, one of kith by its
// exact path, one of a module by its prefix.
func may(allowed []string, path string) bool {
	first, _, _ := strings.Cut(path, "/")
	if first != "kith" && !strings.Contains(first, ".") {
		return true
	}
	return slices.ContainsFunc(allowed, func(a string) bool {
		return path == a || first != "kith" && strings.HasPrefix(path, a+"/")
	})
}

// listed is a package as go list describes it.
type listed struct {
	path           string
	imports, tests []string
}

func listPackages(t *testing.T) (all []listed) {
	t.Helper()
	const format = `{{.ImportPath}}|{{join .Imports " "}}|{{join .TestImports " "}} {{join .XTestImports " "}}`
	for _, line := range goList(t, "-f", format, "./...") {
		part := strings.Split(line, "|")
		all = append(all, listed{part[0], strings.Fields(part[1]), strings.Fields(part[2])})
	}
	return all
}

// nestedPackages returns the packages of the modules below cmd, which go list does not list from
// here. Their files are parsed, because listing would fetch what these modules need.
func nestedPackages(t *testing.T) (all []listed) {
	t.Helper()
	modules, err := filepath.Glob(filepath.Join("..", "*", "go.mod"))
	if err != nil || len(modules) == 0 {
		t.Fatalf("no nested modules: %v", err)
	}
	for _, mod := range modules {
		err := filepath.WalkDir(filepath.Dir(mod), func(name string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(name) != ".go" {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			p := listed{path: "kith/cmd" + strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), "..")}
			for _, i := range f.Imports {
				p.imports = append(p.imports, strings.Trim(i.Path.Value, "\"`"))
			}
			all = append(all, p)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// goList returns the lines that go list prints at the top of the repository.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil || len(out) == 0 {
		t.Fatalf("go list %v: %q, %v", args, out, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// TestEmbedded lists the modules that a program links if it embeds the database and its language.
// Those of the first group come with Badger.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	want := []string{
		"github.com/cespare/xxhash/v2", "github.com/dgraph-io/badger/v4", "github.com/dgraph-io/ristretto/v2",
		"github.com/dustin/go-humanize", "github.com/go-logr/logr", "github.com/go-logr/stdr", "github.com/google/flatbuffers",
		"go.opentelemetry.io/auto/sdk", "go.opentelemetry.io/otel", "go.opentelemetry.io/otel/metric",
		"go.opentelemetry.io/otel/trace", "google.golang.org/protobuf",

		"github.com/klauspost/compress", "github.com/sbinet/npyio", "github.com/vmihailenco/msgpack/v5",
		"github.com/vmihailenco/tagparser/v2", "golang.org/x/sys", "gonum.org/v1/gonum", "kith",
	}
	slices.Sort(want)
	got := goList(t, "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./db", "./query", "./model")
	slices.Sort(got)
	got = slices.DeleteFunc(slices.Compact(got), func(m string) bool { return m == "" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("an embedding program links other modules (-want +got):\n%s", diff)
	}
}

// TestTopLevel checks that the folders of the repository are the packages, and that the top level
// has no Go file.
func TestTopLevel(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			folders = append(folders, e.Name())
		case strings.HasSuffix(e.Name(), ".go"):
			t.Errorf("%s lies at the top", e.Name())
		}
	}
	if want := []string{"cmd", "db", "index", "model", "ppr", "query"}; !slices.Equal(folders, want) {
		t.Errorf("folders %v, want %v", folders, want)
	}
	for _, name := range []string{"go.mod", "go.sum", "README.md", "LICENSE"} {
		if _, err := os.Stat(filepath.Join("..", "..", name)); err != nil {
			t.Error(err)
		}
	}
}
