package main

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"kith/db/edgelist"
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

func benchmarkNames() (names []string) {
	for _, b := range benchmarks() {
		names = append(names, b.name)
	}
	return names
}

func benchmarkOf(name string) (benchmark, error) {
	for _, b := range benchmarks() {
		if b.name == name {
			return b, nil
		}
	}
	return benchmark{}, fmt.Errorf("data set %q (accepted: %s)", name, strings.Join(benchmarkNames(), ", "))
}

// heldOut is one split of a benchmark.
type heldOut struct {
	nodes       int
	features    [][]float32 // nil means none
	train       [][2]model.ID
	valid, test edgelist.Split
}

func (d *heldOut) featureLen() int {
	if len(d.features) == 0 {
		return 0
	}
	return len(d.features[0])
}

// load reads one split. If the training part has no file of its own, the graph's edges are the training edges.
func (b benchmark) load(folder string, split int) (*heldOut, error) {
	root := os.DirFS(folder)
	g, err := readOGB(root)
	if err != nil {
		return nil, err
	}
	d := &heldOut{nodes: g.nodes, features: g.features, train: g.edges}
	for part, into := range map[string]*edgelist.Split{"train": {}, "valid": &d.valid, "test": &d.test} {
		name := b.folder(split) + "/" + part + ".pt"
		if _, err := fs.Stat(root, name); err != nil && part == "train" {
			continue
		}
		if *into, err = readSplit(root, name); err != nil {
			return nil, err
		}
		if part == "train" {
			d.train = into.Edge
		}
	}
	return d, d.check()
}

func readSplit(root fs.FS, name string) (edgelist.Split, error) {
	f, err := root.Open(name)
	if err != nil {
		return edgelist.Split{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return edgelist.Split{}, err
	}
	s, err := edgelist.ReadSplit(f.(*os.File), info.Size())
	if err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

func (d *heldOut) check() error {
	for _, list := range [][][2]model.ID{d.train, d.valid.Edge, d.valid.Negative, d.test.Edge, d.test.Negative} {
		if len(list) == 0 {
			return fmt.Errorf("a part of the split is empty")
		}
		for _, e := range list {
			if int(max(e[0], e[1])) >= d.nodes {
				return fmt.Errorf("edge %v of a graph of %d nodes", e, d.nodes)
			}
		}
	}
	return nil
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
