package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"kith/db/edgelist"
)

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
	for _, label := range []string{o.SourceLabel, o.TargetLabel} {
		if err := validSideLabel(label); err != nil {
			return nil, err
		}
	}
	options := db.listOptions(&o.LoadOptions, false, scratch)
	options.Negative = o.Negative
	list, err := edgelist.NewReader(cancellableReader{ctx, r}, options)
	if errors.Is(err, edgelist.ErrColumns) {
		err = inputError(err)
	}
	if err != nil {
		return nil, err
	}
	var report LoadReport // counts the malformed lines
	for e, err := range list.Edges() {
		switch {
		case err != nil:
			if err := report.skip(err, &o.LoadOptions); err != nil {
				return nil, err
			}
		default:
			pairs = append(pairs, Edge{Src: keyUnder(o.SourceLabel, e.Src), Dst: keyUnder(o.TargetLabel, e.Dst), Weight: e.Weight})
		}
		if len(pairs)%checkEvery == 0 {
			if err := db.affords("a list of pairs", listedPairBytes*int64(len(pairs))); err != nil {
				return nil, err
			}
		}
	}
	return pairs, ctx.Err()
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
		pairs, err := db.partPairs(ctx, folder, p, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		all = append(all, pairs...)
	}
	return all, nil
}

func (db *DB) partPairs(ctx context.Context, folder fs.FS, p edgelist.Part, o PairOptions) ([]Edge, error) {
	f, err := p.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	o.Name, o.Format = p.Name, edgelist.AnyFormat
	return db.Pairs(ctx, f, o)
}
