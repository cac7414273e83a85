package main

import (
	"fmt"
	"math/rand/v2"
	"os"

	"kith/cmd/internal/ogb"
	"kith/cmd/prbench-gnn/internal/grad"
	"kith/model/trial"
)

// data is one split of a graph.
type data struct {
	nodes       int
	features    *grad.CSR
	graph       *graph // of the training edges
	train       []pair
	valid, test part
}

// part is a held-out part: links, and pairs without a link. If each is 0, all links are ranked among all others. Otherwise
// link i is ranked among the others from i*each to (i+1)*each-1.
type part struct {
	links, others []pair
	each          int
}

// readOGB reads one of the random splits that prbench offline uses.
func readOGB(folder string, split int) (*data, error) {
	root := os.DirFS(folder)
	g, err := ogb.Read(root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	s, err := g.Split(root, fmt.Sprintf("split/random%d", split))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	if g.Features == nil {
		return nil, fmt.Errorf("%s: nodes have no features", folder)
	}
	d := newData(g.Features, s.Train)
	d.valid, d.test = part{links: s.Valid.Links, others: s.Valid.Others}, part{links: s.Test.Links, others: s.Test.Others}
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

// figures returns the metrics of scores, which are those of the links and then of the others.
func (p part) figures(scores []float64) map[string]float64 {
	links, others := scores[:len(p.links)], scores[len(p.links):]
	if p.each == 0 {
		return map[string]float64{"hits@100": trial.HitsAt(100, links, others)}
	}
	var mrr, hits float64
	for i := range links {
		one, among := links[i:i+1], others[i*p.each:(i+1)*p.each]
		mrr += trial.MRR(one, among)
		hits += trial.HitsAt(10, one, among)
	}
	n := float64(len(links))
	return map[string]float64{"mrr": mrr / n, "hits@10": hits / n}
}
