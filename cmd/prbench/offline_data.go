package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sync"

	"kith/cmd/prbench/internal/ogb"
	"kith/cmd/prbench/internal/trial"
	"kith/model"
)

// benchmark is a data set with fixed splits.
type benchmark struct {
	name   string
	k      int // K of its own Hits@K
	splits int
	folder func(split int) string
	// pairs is the folder of a split that lists pairs of nodes as text, next to the folder of the
	// data set; "" means that the data set has its splits in its own folder.
	pairs   string
	paper   map[string]spread  // Hits@K by method as the PRB paper prints it, in percent
	seconds map[string]float64 // seconds of scoring the test part by method, as the paper prints them
	heart   published          // for HeaRT's split and negatives
}

// published is the best published figure.
type published struct {
	method string
	mrr    float64 // percent; 0 means that no figure was published
}

func benchmarks() []benchmark {
	random := func(split int) string { return fmt.Sprintf("split/random%d", split) }
	target := func(int) string { return "split/target" }
	return []benchmark{
		{name: "cora", k: 100, splits: 5, folder: random, paper: map[string]spread{
			"common_neighbors": {33.92, 0.46}, "adamic_adar": {39.85, 1.34}, "resource_allocation": {41.07, 0.48},
			"gcn": {66.79, 1.65}, "sage": {55.02, 4.03}, "seal": {81.71, 1.30}, "nbfnet": {71.65, 2.27}, "neo_gnn": {80.42, 1.31},
			"buddy": {88.00, 0.44}, "ncn": {89.05, 0.96}, "ncnc": {89.65, 1.36}, "prb": {92.33, 0.57},
		}, seconds: map[string]float64{"seal": 6.31, "neo_gnn": 0.12, "buddy": 0.27, "ncnc": 0.04, "prb": 0.11},
			heart: published{"LPFormer (Shomer et al., KDD 2024)", 16.80}},
		{name: "citeseer", k: 100, splits: 5, folder: random, paper: map[string]spread{
			"common_neighbors": {29.79, 0.90}, "adamic_adar": {35.19, 1.33}, "resource_allocation": {33.56, 0.17},
			"gcn": {67.08, 2.94}, "sage": {57.01, 3.74}, "seal": {83.89, 2.15}, "nbfnet": {74.07, 1.75}, "neo_gnn": {84.67, 2.16},
			"buddy": {92.93, 0.27}, "ncn": {91.56, 1.43}, "ncnc": {93.47, 0.95}, "prb": {95.13, 1.28},
		}, heart: published{"NCN (Li et al., NeurIPS 2023)", 28.65}},
		{name: "pubmed", k: 100, splits: 1, pairs: "heart/pubmed", paper: map[string]spread{
			"common_neighbors": {23.13, 0.15}, "adamic_adar": {27.38, 0.11}, "resource_allocation": {27.03, 0.35}, "prb": {84.54, 0.86},
		}, seconds: map[string]float64{"seal": 22.74, "neo_gnn": 0.24, "buddy": 0.33, "ncnc": 0.07, "prb": 0.58},
			heart: published{"LPFormer (Shomer et al., KDD 2024)", 9.99}},
		{name: "ogbl_ddi", k: 20, splits: 1, folder: target, paper: map[string]spread{
			"common_neighbors": {17.73, 0}, "adamic_adar": {18.61, 0}, "resource_allocation": {27.60, 0}, "prb": {88.31, 4.36},
		}},
	}
}

func (b benchmark) title() string { return b.name }

// heldOut is one split of a benchmark.
type heldOut struct {
	name     string
	sum      string // checksum of its content
	nodes    int
	features [][]float32 // nil means none
	*ogb.Split

	heart   sync.Once // for drawHeart
	drawErr error
}

func (d *heldOut) featureLen() int {
	if len(d.features) == 0 {
		return 0
	}
	return len(d.features[0])
}

// load reads one split from the folder that holds the data sets. For heart, a data set has HeaRT's
// split if it is there.
func (b benchmark) load(root fs.FS, split int, heart bool) (*heldOut, error) {
	d := &heldOut{name: b.name}
	var err error
	if b.pairs != "" {
		d.Split, d.nodes, err = ogb.ReadSplit(root, b.pairs)
	} else {
		var g *ogb.Graph
		if g, d.Split, err = ogb.ReadBenchmark(root, b.name, b.folder(split), heart); err == nil {
			d.nodes, d.features = g.Nodes, g.Features
		}
	}
	if err == nil {
		d.sum, err = d.checksum()
	}
	return d, err
}

// splitsFor returns the number of splits. HeaRT has one of a data set, if it is there.
func (b benchmark) splitsFor(root fs.FS, heart bool) int {
	if heart && ogb.HasHeart(root, b.name) {
		return 1
	}
	return b.splits
}

// checksum returns a checksum of the split. The negatives of HeaRT are a function of the split.
func (d *heldOut) checksum() (string, error) {
	sum := sha256.New()
	content := []any{uint64(d.nodes), d.Train, d.Valid.Links, d.Valid.Others, d.Test.Links, d.Test.Others}
	for _, x := range d.features {
		content = append(content, x)
	}
	for _, c := range content {
		if err := binary.Write(sum, binary.LittleEndian, c); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// drawHeart replaces the split's negatives by the negatives of HeaRT. Only the first call draws
// them, which takes seconds: a split whose runs are all kept does without.
func (d *heldOut) drawHeart(ctx context.Context) error {
	d.heart.Do(func() {
		drawn, err := ogb.Heart(ctx, d.nodes, d.features, d.Split)
		if err != nil {
			d.drawErr = err
			return
		}
		d.Split = drawn
	})
	return d.drawErr
}

// world returns what a model sees of a graph.
func (d *heldOut) world(g *trial.Graph) model.World {
	w := model.World{Graph: g, Walk: trial.NewWalker(g, 1e-6)}
	if d.features != nil {
		w.Features = func(u model.ID) []float32 { return d.features[u] }
	}
	return w
}
