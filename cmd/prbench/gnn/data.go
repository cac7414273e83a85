package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"

	"kith/cmd/prbench/gnn/internal/grad"
	"kith/cmd/prbench/internal/ogb"
	"kith/cmd/prbench/internal/trial"
)

// data is one split of a graph.
type data struct {
	nodes       int
	features    *grad.CSR
	graph       *graph // of the training edges
	train       []pair
	valid, test ogb.Part
}

// readSplit reads a split from the folder that holds the data sets: one of the random splits that
// prbench offline uses, with its own negatives or, for the protocol heart, with the negatives of
// HeaRT. Citeseer has HeaRT's split for heart, whatever the number.
func readSplit(ctx context.Context, root fs.FS, dataset, protocol string, split int) (*data, error) {
	g, s, err := ogb.ReadBenchmark(root, dataset, fmt.Sprintf("split/random%d", split), protocol == "heart")
	if err != nil {
		return nil, err
	}
	if g.Features == nil {
		return nil, errors.New("nodes have no features")
	}
	if protocol == "heart" {
		if s, err = ogb.Heart(ctx, g.Nodes, g.Features, s); err != nil {
			return nil, err
		}
	}
	d := newData(g.Features, s.Train)
	d.valid, d.test = s.Valid, s.Test
	return d, nil
}

func newData(features [][]float32, train []pair) *data {
	d := &data{nodes: len(features), features: &grad.CSR{Cols: len(features[0])}, train: train}
	for _, row := range features {
		var col []int32
		var val []float32
		for i, x := range row {
			if x != 0 {
				col, val = append(col, int32(i)), append(val, x)
			}
		}
		d.features.Append(col, val)
	}
	d.graph = newGraph(d.nodes, train)
	return d
}

// others draws pairs without a training edge.
func (d *data) others(r *rand.Rand, n int) []pair {
	drawn := make([]pair, 0, n)
	for len(drawn) < n {
		p := pair{trial.ID(r.IntN(d.nodes)), trial.ID(r.IntN(d.nodes))}
		if p[0] != p[1] && !d.graph.has(p) {
			drawn = append(drawn, p)
		}
	}
	return drawn
}

// metrics returns the names of a protocol's metrics. Validation parts are compared by the first
// one.
func metrics(protocol string) []string {
	if protocol == "heart" {
		return []string{"mrr", "hits@10"}
	}
	return []string{"hits@100"}
}

// figures returns the metrics of the scores of a part, which are the scores of its links, then of
// its pairs without a link.
func figures(p ogb.Part, scores []float64) map[string]float64 {
	m := p.Measure(scores)
	return map[string]float64{"mrr": m.MRR, "hits@10": m.Hits[10], "hits@100": m.Hits[100]}
}
