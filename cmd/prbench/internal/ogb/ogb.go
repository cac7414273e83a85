// Package ogb reads graphs and their splits in the layout of the Open Graph Benchmark
// (ogb.stanford.edu).
package ogb

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"

	"kith/cmd/prbench/internal/trial"
	"kith/db/edgelist"
)

// Graph is one graph in the layout of the Open Graph Benchmark.
type Graph struct {
	Nodes    int
	Edges    [][2]trial.ID
	Features [][]float32 // a row for each node, or nil
	Labels   []int       // a label for each node, or nil
}

// Read reads the files that [edgelist.Parts] finds in a folder, which must state the number of
// nodes.
func Read(root fs.FS) (*Graph, error) {
	parts, err := edgelist.Parts(root, "")
	if err != nil {
		return nil, err
	}
	g := &Graph{}
	for _, p := range parts {
		if p.Kind == edgelist.Edges {
			g.Edges, err = Pairs(root, p.Name, g.Nodes, edgelist.Options{})
		} else {
			err = g.read(root, p)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if g.Nodes == 0 || g.Features != nil && len(g.Features) != g.Nodes || g.Labels != nil && len(g.Labels) != g.Nodes {
		return nil, fmt.Errorf("%d nodes, features of %d and labels of %d", g.Nodes, len(g.Features), len(g.Labels))
	}
	return g, nil
}

// Pairs reads an edge list between nodes below n.
func Pairs(root fs.FS, name string, n int, o edgelist.Options) (pairs [][2]trial.ID, err error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	o.Name, o.Columns = name, edgelist.SrcDst
	r, err := edgelist.NewReader(f, o)
	if err != nil {
		return nil, err
	}
	for e, err := range r.Edges() {
		if err != nil {
			return nil, err
		}
		if min(e.Src.Int, e.Dst.Int) < 0 || max(e.Src.Int, e.Dst.Int) >= int64(n) || !e.Src.IsInt || !e.Dst.IsInt {
			return nil, fmt.Errorf("line %d: edge %v, %v among %d nodes", e.Line, e.Src, e.Dst, n)
		}
		pairs = append(pairs, [2]trial.ID{trial.ID(e.Src.Int), trial.ID(e.Dst.Int)})
	}
	return pairs, nil
}

// read reads a list of nodes.
func (g *Graph) read(root fs.FS, p edgelist.Part) error {
	f, err := p.Open(root)
	if err != nil {
		return err
	}
	defer f.Close()
	if p.Columns != nil {
		return nil // names of nodes are not needed
	}
	open := edgelist.NewNodes
	if p.Kind == edgelist.Features {
		open = edgelist.NewFeatures
	}
	list, err := open(f, edgelist.Options{Name: p.Name, Format: edgelist.CSV, Keyless: p.Keyless})
	if err != nil {
		return err
	}
	for n, err := range list.All() {
		switch {
		case err != nil:
			return err
		case !p.Keyless:
			g.Nodes++
		case p.Kind == edgelist.Labels:
			label, err := strconv.Atoi(n.Label)
			if err != nil {
				return fmt.Errorf("line %d: label %q is not an integer", n.Line, n.Label)
			}
			g.Labels = append(g.Labels, label)
		case len(g.Features) > 0 && len(g.Features[0]) != len(n.Features):
			return fmt.Errorf("line %d: %d features, the lines before have %d", n.Line, len(n.Features), len(g.Features[0]))
		default:
			g.Features = append(g.Features, n.Features)
		}
	}
	return nil
}

// Split is one split of a graph's edges.
type Split struct {
	Train       [][2]trial.ID
	Valid, Test Part
}

// Part is a held-out part of a split: links, and pairs without a link.
type Part struct {
	Links, Others [][2]trial.ID
	// Each is the number of Others that each link has for itself, in the order of the links. 0
	// means that Others are common to all links.
	Each int
}

// Split reads the split in a folder such as split/random0. If the training part has no file of its
// own, the graph's edges are the training edges.
func (g *Graph) Split(root fs.FS, folder string) (*Split, error) {
	s := &Split{}
	for _, p := range []struct {
		name     string
		negative bool
		into     *[][2]trial.ID
	}{
		{"train.pt", false, &s.Train}, {"valid.pt", false, &s.Valid.Links}, {"valid.pt", true, &s.Valid.Others},
		{"test.pt", false, &s.Test.Links}, {"test.pt", true, &s.Test.Others},
	} {
		name := path.Join(folder, p.name)
		var err error
		*p.into, err = Pairs(root, name, g.Nodes, edgelist.Options{Unlinked: p.negative})
		if errors.Is(err, fs.ErrNotExist) && p.name == "train.pt" {
			*p.into, err = g.Edges, nil
		}
		if err == nil && len(*p.into) == 0 {
			err = errors.New("the part is empty")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return s, nil
}

// ReadBenchmark reads a data set from the folder that holds the data sets, and one of its splits.
// folder is the folder of the split, such as split/random0. For heart, a data set that has HeaRT's
// split in heart/NAME is read with that split instead.
func ReadBenchmark(root fs.FS, name, folder string, heart bool) (*Graph, *Split, error) {
	own, err := fs.Sub(root, name)
	if err != nil {
		return nil, nil, err
	}
	g, err := Read(own)
	if err != nil {
		return nil, nil, err
	}
	if !heart || !HasHeart(root, name) {
		s, err := g.Split(own, folder)
		return g, s, err
	}
	s, nodes, err := ReadSplit(root, path.Join("heart", name))
	if err == nil && nodes > g.Nodes {
		err = fmt.Errorf("heart/%s has %d nodes, %s has %d", name, nodes, name, g.Nodes)
	}
	return g, s, err
}

// HasHeart reports whether the folder that holds the data sets has HeaRT's split of data set name.
func HasHeart(root fs.FS, name string) bool {
	_, err := fs.Stat(root, path.Join("heart", name))
	return err == nil
}

// maxNodes is the number of nodes above which a split that lists pairs is refused.
const maxNodes = 1 << 24

// ReadSplit reads a split that lists pairs of nodes as text: train_pos.txt, valid_pos.txt,
// valid_neg.txt, test_pos.txt and test_neg.txt in a folder. Loops are dropped. It also returns the
// number of nodes, which are those up to the largest number.
func ReadSplit(root fs.FS, folder string) (s *Split, nodes int, err error) {
	s = &Split{}
	for _, p := range []struct {
		name string
		into *[][2]trial.ID
	}{
		{"train_pos.txt", &s.Train}, {"valid_pos.txt", &s.Valid.Links}, {"valid_neg.txt", &s.Valid.Others},
		{"test_pos.txt", &s.Test.Links}, {"test_neg.txt", &s.Test.Others},
	} {
		name := path.Join(folder, p.name)
		pairs, err := Pairs(root, name, maxNodes, edgelist.Options{})
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", name, err)
		}
		for _, e := range pairs {
			if e[0] != e[1] {
				*p.into = append(*p.into, e)
			}
			nodes = max(nodes, int(e[0])+1, int(e[1])+1)
		}
		if len(*p.into) == 0 {
			return nil, 0, fmt.Errorf("%s: the part is empty", name)
		}
	}
	return s, nodes, nil
}
