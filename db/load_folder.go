package db

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	"kith/db/edgelist"
)

// FolderOptions says how to read a folder of the Open Graph Benchmark.
type FolderOptions struct {
	LoadOptions // Format must be AnyFormat or Folder, and SourceLabel and TargetLabel must be ""
	// Split is the part of the edges to load: train, valid, test, all for the three, or several, separated by commas. If
	// the folder has more than one way to split, the way is named too, as in random0/train. "" means the edges of
	// raw/edge.csv.gz, which are all edges of a graph for classification, and the training edges of a graph for link
	// prediction.
	Split string
}

// LoadFolder loads a graph from a folder in the layout of the Open Graph Benchmark: its nodes, their labels and feature
// vectors, then its edges, each file as [DB.LoadPart] does. If it returns an error, the reports are those of the files
// that have been loaded.
func (db *DB) LoadFolder(ctx context.Context, folder fs.FS, o FolderOptions) (reports []*LoadReport, err error) {
	parts, err := FolderParts(folder, o)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		r, err := db.loadPart(ctx, folder, p, o.LoadOptions)
		if err != nil {
			return reports, fmt.Errorf("%s: %w", p.Name, err)
		}
		reports = append(reports, r)
	}
	return reports, nil
}

func (db *DB) loadPart(ctx context.Context, folder fs.FS, p edgelist.Part, o LoadOptions) (*LoadReport, error) {
	f, err := p.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	o.Name, o.Format = p.Name, edgelist.AnyFormat
	return db.LoadPart(ctx, f, p.Kind, NodesOptions{LoadOptions: o, Keyless: p.Keyless})
}

// FolderParts returns the files that [DB.LoadFolder] loads, in order.
func FolderParts(folder fs.FS, o FolderOptions) ([]edgelist.Part, error) {
	if o.SourceLabel != "" || o.TargetLabel != "" {
		return nil, inputf("a label of sources or targets is for a file: the nodes of a folder are of one kind")
	}
	if o.Format != edgelist.AnyFormat && o.Format != edgelist.Folder {
		return nil, inputf("format %v: a folder is read as %v", o.Format, edgelist.Folder)
	}
	parts, err := edgelist.Parts(folder, o.Split)
	if err != nil {
		return nil, inputf("%w", err)
	}
	return parts, nil
}

// LoadPart loads one file of a graph. It calls [DB.Load], [DB.LoadNodes] or [DB.LoadFeatures], depending on kind.
func (db *DB) LoadPart(ctx context.Context, r io.Reader, kind edgelist.Kind, o NodesOptions) (*LoadReport, error) {
	switch kind {
	case edgelist.Labels:
		return db.LoadNodes(ctx, r, o)
	case edgelist.Features:
		return db.LoadFeatures(ctx, r, o)
	}
	return db.Load(ctx, r, o.LoadOptions)
}
