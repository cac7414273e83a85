package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

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
	if err := validSideLabel(o.Label); err != nil {
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
	report := &LoadReport{Name: o.Name, Format: list.Format(), Header: list.Header()}
	next, stop := iter.Pull2(list.All())
	defer stop()
	for more := true; more; {
		var some []edgelist.Node
		if some, more, err = gatherNodes(next, report, &o.LoadOptions); err != nil {
			return report, err
		}
		if err := db.takeNodes(ctx, some, report, &o); err != nil {
			return report, err
		}
		if o.Progress != nil {
			o.Progress(report.Lines)
		}
	}
	return report, nil
}

// gatherNodes reads as many nodes as one commit takes, and reports whether there may be more.
func gatherNodes(next func() (edgelist.Node, error, bool), r *LoadReport, o *LoadOptions) (some []edgelist.Node, more bool, err error) {
	for numbers := 0; len(some) < nodesPerCommit && numbers < numbersPerCommit; {
		n, err, ok := next()
		switch {
		case !ok:
			return some, false, nil
		case err == nil:
			some = append(some, n)
			numbers += len(n.Features)
		default:
			if err := r.skip(err, o); err != nil {
				return nil, false, err
			}
		}
	}
	return some, true, nil
}

// takeNodes commits nodes.
func (db *DB) takeNodes(ctx context.Context, some []edgelist.Node, r *LoadReport, o *NodesOptions) error {
	var lines, made int64
	err := db.Update(ctx, func(tx *Tx) error {
		before, _ := tx.Counts()
		for _, n := range some {
			err := tx.takeNode(n, o.Label)
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
	if err == nil {
		r.Lines += lines
		r.Nodes += made
	}
	return err
}

// takeNode stores one node. label is the label of the list, or "". A node that cannot be stored is a malformed line.
func (tx *Tx) takeNode(n edgelist.Node, label string) error {
	if label != "" {
		if n.Label != "" && n.Label != label {
			return &edgelist.LineError{Line: n.Line, Text: n.Label, Msg: fmt.Sprintf("the label is not %q, which all nodes of the list have", label)}
		}
		n.Label = label
	}
	err := tx.PutNode(Node{Key: keyUnder(label, n.Key), Label: n.Label, Features: n.Features})
	if errors.Is(err, ErrInput) {
		return &edgelist.LineError{Line: n.Line, Msg: err.Error()}
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	return nil
}
