package main

import (
	"math/rand/v2"
	"testing"

	"kith/cmd/prbench/gnn/internal/grad"
	"kith/cmd/prbench/internal/trial"
)

// BenchmarkGCN measures a step of a GCN with two convolutions of width 256 on a random graph with
// the numbers of nodes, edges and words of Cora: the figure in doc.go that is compared with GoMLX.
func BenchmarkGCN(b *testing.B) {
	const nodes, edges, words, wordsOfNode = 2708, 3694, 1433, 18
	r := rand.New(rand.NewPCG(1, 2))
	features := make([][]float32, nodes)
	for u := range features {
		features[u] = make([]float32, words)
		for range wordsOfNode {
			features[u][r.IntN(words)] = 1
		}
	}
	var links []pair
	for range edges {
		links = append(links, pair{trial.ID(r.IntN(nodes)), trial.ID(r.IntN(nodes))})
	}
	d := newData(features, links)
	o := usual()
	o.Width, o.Head = 256, 1
	mk := &maker{rand: r}
	net := newGCN(mk, d, o)
	adam := &grad.Adam{Rate: o.Rate}
	batch := append(links[:o.Batch:o.Batch], d.others(r, o.Batch)...)
	for b.Loop() {
		t := &grad.Tape{Rand: r}
		t.Backward(t.Logistic(net.decode(t, d.graph, net.encode(t, d.graph), batch), o.Batch))
		adam.Step(mk.params)
	}
}
