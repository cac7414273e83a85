package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
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
	// pairs is the folder of a split that lists pairs of nodes as text, beside the folder of the data set; "" means that the
	// data set has its splits in its own folder.
	pairs string
	paper map[string]spread // Hits@K by method as the PRB paper prints it, in percent
}

func benchmarks() []benchmark {
	random := func(split int) string { return fmt.Sprintf("split/random%d", split) }
	target := func(int) string { return "split/target" }
	return []benchmark{
		{name: "cora", k: 100, splits: 5, folder: random, paper: map[string]spread{
			"common_neighbors": {33.92, 0.46}, "adamic_adar": {39.85, 1.34}, "resource_allocation": {41.07, 0.48},
			"gcn": {66.79, 1.65}, "sage": {55.02, 4.03}, "seal": {81.71, 1.30}, "nbfnet": {71.65, 2.27}, "neo_gnn": {80.42, 1.31},
			"buddy": {88.00, 0.44}, "ncn": {89.05, 0.96}, "ncnc": {89.65, 1.36}, "prb": {92.33, 0.57},
		}},
		{name: "citeseer", k: 100, splits: 5, folder: random, paper: map[string]spread{
			"common_neighbors": {29.79, 0.90}, "adamic_adar": {35.19, 1.33}, "resource_allocation": {33.56, 0.17},
			"gcn": {67.08, 2.94}, "sage": {57.01, 3.74}, "seal": {83.89, 2.15}, "nbfnet": {74.07, 1.75}, "neo_gnn": {84.67, 2.16},
			"buddy": {92.93, 0.27}, "ncn": {91.56, 1.43}, "ncnc": {93.47, 0.95}, "prb": {95.13, 1.28},
		}},
		{name: "pubmed", k: 100, splits: 1, pairs: "heart/pubmed", paper: map[string]spread{
			"common_neighbors": {23.13, 0.15}, "adamic_adar": {27.38, 0.11}, "resource_allocation": {27.03, 0.35}, "prb": {84.54, 0.86},
		}},
		{name: "ogbl_ddi", k: 20, splits: 1, folder: target, paper: map[string]spread{
			"common_neighbors": {17.73, 0}, "adamic_adar": {18.61, 0}, "resource_allocation": {27.60, 0}, "prb": {88.31, 4.36},
		}},
	}
}

func (b benchmark) title() string { return b.name }

// heldOut is one split of a benchmark.
type heldOut struct {
	name        string
	sum         string // checksum of its content
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

// load reads one split from the folder that holds the data sets.
func (b benchmark) load(root fs.FS, split int) (*heldOut, error) {
	if b.pairs != "" {
		return b.loadPairs(root, b.pairs)
	}
	own, err := fs.Sub(root, b.name)
	if err != nil {
		return nil, err
	}
	g, err := ogb.Read(own)
	if err != nil {
		return nil, err
	}
	s, err := g.Split(own, b.folder(split))
	if err != nil {
		return nil, err
	}
	d := &heldOut{name: b.name, nodes: g.Nodes, features: g.Features, train: s.Train, valid: s.Valid, test: s.Test}
	return d.checked()
}

// loadPairs reads a split that lists pairs of nodes as text.
func (b benchmark) loadPairs(root fs.FS, folder string) (*heldOut, error) {
	s, nodes, err := ogb.ReadSplit(root, folder)
	if err != nil {
		return nil, err
	}
	d := &heldOut{name: b.name, nodes: nodes, train: s.Train, valid: s.Valid, test: s.Test}
	return d.checked()
}

// loadFor reads one split with its own negatives or with those of HeaRT. For heart, Citeseer has HeaRT's split if it is there.
func (b benchmark) loadFor(ctx context.Context, root fs.FS, split int, negatives string) (*heldOut, error) {
	d, err := b.load(root, split)
	if err != nil || negatives == "own" {
		return d, err
	}
	pairs := "heart/" + b.name
	if _, err := fs.Stat(root, pairs); err == nil && b.pairs == "" {
		features := d.features
		if d, err = b.loadPairs(root, pairs); err != nil {
			return nil, err
		}
		d.nodes, d.features = max(d.nodes, len(features)), features
	}
	s, err := ogb.Heart(ctx, d.nodes, d.features, &ogb.Split{Train: d.train, Valid: d.valid, Test: d.test})
	if err != nil {
		return nil, err
	}
	d.valid, d.test = s.Valid, s.Test
	return d.checked()
}

// checked returns the split with a checksum of all that a model and its measures see.
func (d *heldOut) checked() (*heldOut, error) {
	sum := sha256.New()
	content := []any{uint64(d.nodes), uint64(d.valid.Each)}
	for _, x := range d.features {
		content = append(content, x)
	}
	content = append(content, d.train, d.valid.Links, d.valid.Others, d.test.Links, d.test.Others)
	for _, c := range content {
		if err := binary.Write(sum, binary.LittleEndian, c); err != nil {
			return nil, err
		}
	}
	d.sum = hex.EncodeToString(sum.Sum(nil)[:8])
	return d, nil
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
