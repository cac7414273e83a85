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
	LoadOptions // Format is AnyFormat or Folder, and there are no labels of sources and targets
	// Split is the part of the edges to load: train, valid, test, all for the three, or several between commas.
	// Where the folder has more than one way to split, it is named too, as in random0/train. "": the edges of
	// raw/edge.csv.gz, which are all of a graph for classification and those to train with of one for link
	// prediction.
	Split string
}

// LoadFolder loads a graph from a folder as the Open Graph Benchmark lays it out: its nodes, their labels and
// feature vectors, then its edges, each file as [DB.LoadPart] does. Where it returns an error, the reports
// are those of the files that have been loaded.
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

// FolderParts returns the files that [DB.LoadFolder] loads, in turn.
func FolderParts(folder fs.FS, o FolderOptions) ([]edgelist.Part, error) {
	if o.SourceLabel != "" || o.TargetLabel != "" {
		return nil, fmt.Errorf("%w: a label of sources or targets is for a file: the nodes of a folder are of one kind", ErrInput)
	}
	if o.Format != edgelist.AnyFormat && o.Format != edgelist.Folder {
		return nil, fmt.Errorf("%w: format %v: a folder is read as %v", ErrInput, o.Format, edgelist.Folder)
	}
	parts, err := edgelist.Parts(folder, o.Split)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return parts, nil
}

// LoadPart loads a file that tells of a graph: it is [DB.Load], [DB.LoadNodes] or [DB.LoadFeatures], as kind
// says.
func (db *DB) LoadPart(ctx context.Context, r io.Reader, kind edgelist.Kind, o NodesOptions) (*LoadReport, error) {
	switch kind {
	case edgelist.Labels:
		return db.LoadNodes(ctx, r, o)
	case edgelist.Features:
		return db.LoadFeatures(ctx, r, o)
	}
	return db.Load(ctx, r, o.LoadOptions)
}
