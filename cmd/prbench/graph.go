package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kith/db"
)

// graphFile is the file or folder of a graph.
type graphFile struct {
	name     string // name of its file or folder
	path     string
	isFolder bool
	kind     string   // undirected, directed or bipartite
	columns  []string // columns of a file after the two nodes: weight, time; nil means detected from the file
}

func graphKinds() []string { return []string{"undirected", "directed", "bipartite"} }

// parseGraphFile parses PATH, PATH:KIND or, for a file, PATH:KIND+COLUMN...
func parseGraphFile(text string) (graphFile, error) {
	g := graphFile{path: text, kind: "undirected"}
	if at := strings.LastIndexByte(text, ':'); at > 0 && !strings.ContainsAny(text[at:], `/\`) {
		words := strings.Split(text[at+1:], "+")
		g.path, g.kind, g.columns = text[:at], words[0], words[1:]
	}
	if !slices.Contains(graphKinds(), g.kind) {
		return g, fmt.Errorf("--data %s: unknown kind of graph %q (accepted: %s)", text, g.kind, strings.Join(graphKinds(), ", "))
	}
	if _, err := g.options(); err != nil {
		return g, fmt.Errorf("--data %s: %w", text, err)
	}
	info, err := os.Stat(g.path)
	switch {
	case err != nil:
		return g, err
	case info.IsDir() && g.kind == "bipartite":
		return g, fmt.Errorf("--data %s: the nodes of a folder are of one kind", text)
	case info.IsDir() && len(g.columns) > 0:
		return g, fmt.Errorf("--data %s: columns are of a file, not of a folder", text)
	}
	g.name, g.isFolder = graphName(g.path), info.IsDir()
	return g, nil
}

// parseGraphFiles parses a list of graphs, which must have different names.
func parseGraphFiles(list []string) (graphs []graphFile, err error) {
	for _, text := range list {
		g, err := parseGraphFile(text)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(graphs, func(other graphFile) bool { return other.name == g.name }); i >= 0 {
			return nil, fmt.Errorf("%s and %s have one name", graphs[i].path, g.path)
		}
		graphs = append(graphs, g)
	}
	return graphs, nil
}

// form returns KIND or KIND+COLUMN...
func (g graphFile) form() string { return strings.Join(append([]string{g.kind}, g.columns...), "+") }

// options returns the options for reading the file.
func (g graphFile) options() (o db.LoadOptions, err error) {
	o.Name = filepath.Base(g.path)
	if g.kind == "bipartite" {
		o.SourceLabel, o.TargetLabel = "source", "target"
	}
	if len(g.columns) > 0 {
		err = o.SetColumns(strings.Join(append([]string{"src", "dst"}, g.columns...), ","))
	}
	return o, err
}

// graphName returns the base of a path without the extensions of formats.
func graphName(path string) string {
	name := filepath.Base(filepath.Clean(path))
	for _, extension := range []string{".gz", ".zst", ".bz2", ".txt", ".csv", ".tsv"} {
		name = strings.TrimSuffix(name, extension)
	}
	return name
}

// load returns an in-memory database of the graph, loaded as kith load does.
func (g graphFile) load(ctx context.Context) (*db.DB, error) {
	return inMemory(g.kind == "directed", func(store *db.DB) error {
		if g.isFolder {
			_, err := store.LoadFolder(ctx, os.DirFS(g.path), db.LoadOptions{})
			return err
		}
		f, err := os.Open(g.path)
		if err != nil {
			return err
		}
		defer f.Close()
		o, err := g.options()
		if err == nil {
			_, err = store.Load(ctx, f, o)
		}
		return err
	})
}

// sum returns a checksum of the content of all files that are loaded.
func (g graphFile) sum() (string, error) {
	if !g.isFolder {
		return sumFile(g.path)
	}
	folder := os.DirFS(g.path)
	parts, err := db.FolderParts(folder, db.LoadOptions{})
	if err != nil {
		return "", err
	}
	return sumFiles(folder, parts...)
}
