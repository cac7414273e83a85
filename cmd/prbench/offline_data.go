package main

import (
	"fmt"
	"io/fs"

	"kith/cmd/internal/ogb"
	"kith/model"
	"kith/model/trial"
)

// benchmark is a data set with fixed splits.
type benchmark struct {
	name   string
	k      int // K of its own Hits@K
	splits int
	folder func(split int) string
	paper  map[string]float64 // Hits@K by policy as the PRB paper prints it, in percent
}

func benchmarks() []benchmark {
	random := func(split int) string { return fmt.Sprintf("split/random%d", split) }
	target := func(int) string { return "split/target" }
	return []benchmark{
		{"cora", 100, 5, random, map[string]float64{
			"common_neighbors": 33.92, "adamic_adar": 39.85, "resource_allocation": 41.07, "prb": 92.33,
		}},
		{"citeseer", 100, 5, random, map[string]float64{
			"common_neighbors": 29.79, "adamic_adar": 35.19, "resource_allocation": 33.56, "prb": 95.13,
		}},
		{"ogbl_ddi", 20, 1, target, map[string]float64{
			"common_neighbors": 17.73, "adamic_adar": 18.61, "resource_allocation": 27.60, "prb": 88.31,
		}},
	}
}

func (b benchmark) title() string { return b.name }

// heldOut is one split of a benchmark.
type heldOut struct {
	nodes       int
	features    [][]float32 // nil means none
	train       [][2]model.ID
	valid, test ogb.Part
}

func (d *heldOut) featureLen() int {
	if len(d.features) == 0 {
		return 0
	}
	return len(d.features[0])
}

// load reads one split.
func (b benchmark) load(root fs.FS, split int) (*heldOut, error) {
	g, err := ogb.Read(root)
	if err != nil {
		return nil, err
	}
	s, err := g.Split(root, b.folder(split))
	if err != nil {
		return nil, err
	}
	return &heldOut{nodes: g.Nodes, features: g.Features, train: s.Train, valid: s.Valid, test: s.Test}, nil
}

// graph returns the graph of the edges in lists.
func (d *heldOut) graph(lists ...[][2]model.ID) *trial.Graph {
	g := trial.NewGraph(d.nodes)
	for _, edges := range lists {
		for _, e := range edges {
			g.Add(e[0], e[1])
		}
	}
	return g
}

// world returns what a model sees of a graph.
func (d *heldOut) world(g *trial.Graph) model.World {
	w := model.World{Graph: g, Walk: trial.NewWalker(g, 1e-6)}
	if d.features != nil {
		w.Features = func(u model.ID) []float32 { return d.features[u] }
	}
	return w
}
