package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"kith/db/edgelist"
)

// NodesOptions says how to read a list of nodes.
type NodesOptions struct {
	LoadOptions
	// Keyless says that the list has no keys: line n, from 0, belongs to node n.
	Keyless bool
	// Label is the label of all nodes of the list, whose keys are formed as for LoadOptions.SourceLabel: with label
	// user, 7 is the node 'user:7'. A line with another label is malformed. "" means no label.
	Label string
}

// LoadNodes adds the nodes of a list, one key a line, with the labels next to the keys. A node that exists gets the
// label. LoadNodes commits as it goes: if it returns an error, the lines up to some point have been stored, and loading
// them again does no harm. It returns the errors of Load.
func (db *DB) LoadNodes(ctx context.Context, r io.Reader, o NodesOptions) (*LoadReport, error) {
	return db.loadNodes(ctx, r, o, edgelist.NewNodes)
}

// LoadFeatures sets the feature vectors of the nodes of a list, and adds missing nodes. It commits as it goes, like
// LoadNodes. A vector whose length differs from that of the other vectors of its label counts as a malformed line.
func (db *DB) LoadFeatures(ctx context.Context, r io.Reader, o NodesOptions) (*LoadReport, error) {
	return db.loadNodes(ctx, r, o, edgelist.NewFeatures)
}

// nodesPerCommit and numbersPerCommit bound the lines, and the numbers of their features, in one commit.
const (
	nodesPerCommit   = 1 << 13
	numbersPerCommit = 1 << 17
)

func (db *DB) loadNodes(ctx context.Context, r io.Reader, o NodesOptions, open func(io.Reader, edgelist.Options) (*edgelist.Nodes, error)) (*LoadReport, error) {
	if err := checkListLabels(o.Label); err != nil {
		return nil, err
	}
	files := db.scratch()
	defer db.removeScratch(files)
	list, err := open(cancellableReader{ctx, r}, edgelist.Options{
		Format: o.Format, Name: o.Name, Header: o.Header, Keyless: o.Keyless,
		Spool: func() (edgelist.Spool, error) { return files.make() },
	})
	if err != nil {
		return nil, err
	}
	report := &LoadReport{Name: o.Name, Detected: list.Detected}
	var some []edgelist.Node
	numbers := 0
	for n, err := range list.All() {
		if err != nil {
			if err := report.skip(err, &o.LoadOptions); err != nil {
				return report, err
			}
			continue
		}
		some = append(some, n)
		if numbers += len(n.Features); len(some) < nodesPerCommit && numbers < numbersPerCommit {
			continue
		}
		if err := db.commitNodes(ctx, some, report, &o); err != nil {
			return report, err
		}
		some, numbers = some[:0], 0
	}
	return report, db.commitNodes(ctx, some, report, &o)
}

// commitNodes commits nodes, and reports progress.
func (db *DB) commitNodes(ctx context.Context, some []edgelist.Node, r *LoadReport, o *NodesOptions) error {
	var lines, made int64
	err := db.Update(ctx, func(tx *Tx) error {
		before, _ := tx.Counts()
		for _, n := range some {
			err := tx.putListed(n, o.Label)
			if err == nil {
				lines++
			} else if err := r.skip(err, &o.LoadOptions); err != nil {
				return err
			}
		}
		after, _ := tx.Counts()
		made = after - before
		return nil
	})
	if err != nil {
		return err
	}
	r.Lines += lines
	r.Nodes += made
	if o.Progress != nil {
		o.Progress(r.Lines)
	}
	return nil
}

// putListed stores one node. label is the label of the list, or "". A node that cannot be stored is a malformed line.
func (tx *Tx) putListed(n edgelist.Node, label string) error {
	if label != "" {
		if n.Label != "" && n.Label != label {
			return &edgelist.LineError{Line: n.Line, Text: n.Label, Msg: fmt.Sprintf("the label is not %q, which all nodes of the list have", label)}
		}
		n.Label = label
	}
	err := tx.PutNode(Node{Key: keyWithLabel(label, n.Key), Label: n.Label, Features: n.Features})
	if errors.Is(err, ErrInput) {
		return &edgelist.LineError{Line: n.Line, Msg: err.Error()}
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	return nil
}

// PairOptions says how to read a list of pairs of nodes.
type PairOptions struct {
	LoadOptions      // Repeats is not used
	Negative    bool // for a split of PyTorch: read the pairs without a link
}

// Pairs reads the pairs of nodes of an edge list, in its order, with the keys that [DB.Load] would use, and adds
// nothing. It returns ErrLines if there are more malformed lines than the options allow, and ErrTooLarge for a list
// that takes more than a quarter of Options.Memory.
func (db *DB) Pairs(ctx context.Context, r io.Reader, o PairOptions) (pairs []Edge, err error) {
	scratch := db.scratch()
	defer db.removeScratch(scratch)
	if err := checkListLabels(o.SourceLabel, o.TargetLabel); err != nil {
		return nil, err
	}
	list, err := db.openEdges(ctx, r, &o.LoadOptions, false, o.Negative, scratch)
	if err != nil {
		return nil, err
	}
	err = eachLine(ctx, list.Edges(), &LoadReport{}, &o.LoadOptions, func(e edgelist.Edge) error {
		pairs = append(pairs, Edge{Src: keyWithLabel(o.SourceLabel, e.Src), Dst: keyWithLabel(o.TargetLabel, e.Dst), Weight: e.Weight})
		return nil
	}, func() error { return db.fitsWork("a list of pairs", listedPairBytes*int64(len(pairs))) })
	return pairs, err
}

// listedPairBytes is the memory of a pair of a list, without the text of its keys.
const listedPairBytes = 128

// FolderPairs reads the pairs of one part of a split, such as train, valid or test, from a folder in the layout of the
// Open Graph Benchmark. If there is more than one way to split, the way is named too, as in random0/test.
func (db *DB) FolderPairs(ctx context.Context, folder fs.FS, split string, o PairOptions) ([]Edge, error) {
	parts, err := FolderParts(folder, FolderOptions{LoadOptions: o.LoadOptions, Split: split})
	if err != nil {
		return nil, err
	}
	var all []Edge
	for _, p := range parts {
		if p.Kind != edgelist.Edges {
			continue
		}
		err := inPart(folder, p, o.LoadOptions, func(f io.Reader, of LoadOptions) error {
			pairs, err := db.Pairs(ctx, f, PairOptions{LoadOptions: of, Negative: o.Negative})
			all = append(all, pairs...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// inPart calls f with a file of a folder, and with the options to read it with.
func inPart(folder fs.FS, p edgelist.Part, o LoadOptions, f func(io.Reader, LoadOptions) error) error {
	file, err := p.Open(folder)
	if err == nil {
		defer file.Close() // read only
		o.Name, o.Format = p.Name, edgelist.AnyFormat
		err = f(file, o)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return nil
}

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
		err := inPart(folder, p, o.LoadOptions, func(f io.Reader, of LoadOptions) error {
			r, err := db.LoadPart(ctx, f, p.Kind, NodesOptions{LoadOptions: of, Keyless: p.Keyless})
			if err == nil {
				reports = append(reports, r)
			}
			return err
		})
		if err != nil {
			return reports, err
		}
	}
	return reports, nil
}

// FolderParts returns the files that [DB.LoadFolder] loads, in order.
func FolderParts(folder fs.FS, o FolderOptions) ([]edgelist.Part, error) {
	if o.SourceLabel != "" || o.TargetLabel != "" {
		return nil, inputf("a label of sources or targets is for a file: the nodes of a folder are of one kind")
	}
	if o.Format != edgelist.AnyFormat && o.Format != edgelist.Folder {
		return nil, inputf("format %v: a folder is read as %v", o.Format, edgelist.Folder)
	}
	return given(edgelist.Parts(folder, o.Split))
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
