package main

import (
	"fmt"
	"io/fs"
	"strconv"

	"kith/db/edgelist"
)

// ogbGraph is one graph in the layout of the Open Graph Benchmark.
type ogbGraph struct {
	nodes    int
	edges    [][2]uint32
	features [][]float32 // a row for each node, or nil
	labels   []int       // a label for each node, or nil
}

// readOGB reads the files that [edgelist.Parts] finds in a folder, which must state the number of nodes.
func readOGB(folder fs.FS) (*ogbGraph, error) {
	parts, err := edgelist.Parts(folder, "")
	if err != nil {
		return nil, err
	}
	g := &ogbGraph{}
	for _, p := range parts {
		if err := g.read(folder, p); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if g.nodes == 0 || g.features != nil && len(g.features) != g.nodes || g.labels != nil && len(g.labels) != g.nodes {
		return nil, fmt.Errorf("%d nodes, features of %d and labels of %d", g.nodes, len(g.features), len(g.labels))
	}
	return g, nil
}

func (g *ogbGraph) read(folder fs.FS, p edgelist.Part) error {
	f, err := p.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	if p.Kind == edgelist.Edges {
		r, err := edgelist.NewReader(f, edgelist.Options{Name: p.Name, Columns: edgelist.SrcDst})
		if err != nil {
			return err
		}
		for e, err := range r.Edges() {
			if err != nil {
				return err
			}
			if min(e.Src.Int, e.Dst.Int) < 0 || max(e.Src.Int, e.Dst.Int) >= int64(g.nodes) || !e.Src.IsInt || !e.Dst.IsInt {
				return fmt.Errorf("line %d: edge %v, %v among %d nodes", e.Line, e.Src, e.Dst, g.nodes)
			}
			g.edges = append(g.edges, [2]uint32{uint32(e.Src.Int), uint32(e.Dst.Int)})
		}
		return nil
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
		if err == nil {
			err = g.add(p, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds a line of a list of nodes.
func (g *ogbGraph) add(p edgelist.Part, n edgelist.Node) error {
	switch {
	case !p.Keyless:
		g.nodes++
	case p.Kind == edgelist.Labels:
		label, err := strconv.Atoi(n.Label)
		if err != nil {
			return fmt.Errorf("line %d: label %q is not an integer", n.Line, n.Label)
		}
		g.labels = append(g.labels, label)
	default:
		if len(g.features) > 0 && len(g.features[0]) != len(n.Features) {
			return fmt.Errorf("line %d: %d features, the lines before have %d", n.Line, len(n.Features), len(g.features[0]))
		}
		g.features = append(g.features, n.Features)
	}
	return nil
}
