package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ceilings holds, for each package whose doc.go draws layers of its files, the largest share of the
// uses between files that may run against the layers. A use is a pair of files where the first
// names a definition of the second.
func ceilings() map[string]float64 {
	return map[string]float64{"db": 0.08, "index": 0.01, "model": 0.10}
}

// Every file has a place in the layers that doc.go draws, and most files use files of their own
// layer and of lower ones.
func TestLayers(t *testing.T) {
	t.Parallel()
	for folder, most := range ceilings() {
		dir := filepath.Join("..", "..", folder)
		fset := token.NewFileSet()
		files, layers := parseFiles(t, fset, dir), []string(nil)
		for name, f := range files {
			if name == "doc.go" {
				layers = layersOf(f)
			}
		}
		layer := func(file string) int {
			return slices.IndexFunc(layers, func(patterns string) bool {
				return slices.ContainsFunc(strings.Split(patterns, ", "), func(p string) bool {
					ok, _ := path.Match(p+".go", file)
					return ok
				})
			})
		}
		for name := range files {
			if name != "doc.go" && layer(name) < 0 {
				t.Errorf("%s: the layers of doc.go lack %s", folder, name)
			}
		}
		var against []string
		uses := usesBetween(fset, files)
		for use := range uses {
			if layer(use[0]) > layer(use[1]) {
				against = append(against, use[0]+" uses "+use[1])
			}
		}
		if share := float64(len(against)) / float64(len(uses)); share > most {
			slices.Sort(against)
			t.Errorf("%s: %.3f of %d uses run against the layers, want at most %v:\n%s", folder, share, len(uses), most, strings.Join(against, "\n"))
		}
	}
}

// parseFiles parses the files of a folder, by name, without tests and files of other systems.
func parseFiles(t *testing.T, fset *token.FileSet, dir string) map[string]*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(paths), err)
	}
	files := map[string]*ast.File{}
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") || strings.HasSuffix(p, "_windows.go") || strings.HasSuffix(p, "_darwin.go") || strings.HasSuffix(p, "_other.go") {
			continue
		}
		f, err := parser.ParseFile(fset, p, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(p)] = f
	}
	return files
}

// layersOf returns the layers that a package comment draws, the highest first. Each is a list of
// patterns of file names, separated by ", ". A list whose line ends with a comma goes on.
func layersOf(doc *ast.File) (layers []string) {
	_, table, _ := strings.Cut(doc.Doc.Text(), "files form layers")
	_, table, _ = strings.Cut(table, "\n\n")
	table, _, _ = strings.Cut(table, "\n\n")
	list := ""
	for line := range strings.Lines(table) {
		names, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if list += names; !strings.HasSuffix(list, ",") {
			layers, list = append(layers, list), ""
			continue
		}
		list += " "
	}
	return layers
}

// usesBetween returns the pairs of files where the first names a definition of the second. Imported
// packages are left out of the type check, which does not need them for that.
func usesBetween(fset *token.FileSet, files map[string]*ast.File) map[[2]string]bool {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: importEmpty{}, Error: func(error) {}}
	var all []*ast.File
	for _, f := range files {
		all = append(all, f)
	}
	pkg, _ := conf.Check("checked", fset, all, info)
	uses := map[[2]string]bool{}
	for id, to := range info.Uses {
		local := to.Parent() != nil && to.Parent() != pkg.Scope()
		a, b := filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(to.Pos()).Filename)
		if to.Pkg() == pkg && !local && a != b {
			uses[[2]string{a, b}] = true
		}
	}
	return uses
}

// importEmpty imports any package as an empty one.
type importEmpty struct{}

func (importEmpty) Import(of string) (*types.Package, error) {
	p := types.NewPackage(of, path.Base(of))
	p.MarkComplete()
	return p, nil
}
