package main

import (
	"context"
	"math/rand/v2"

	"kith/cmd/prbench/gnn/internal/grad"
	"kith/cmd/prbench/internal/ogb"
)

// model is a graph neural network that scores pairs.
type model interface {
	// encode returns a row for each node of g.
	encode(t *grad.Tape, g *graph) *grad.Node
	// decode returns a column of logits of pairs, given the rows that encode returned for g.
	decode(t *grad.Tape, g *graph, rows *grad.Node, pairs []pair) *grad.Node
}

// options are the hyperparameters of a method. A method uses the options that it needs.
type options struct {
	Width      int     // columns of hidden layers
	Layers     int     // propagations
	Head       int     // linear layers of the decoder
	Rate       float64 // Adam's learning rate
	Decay      float64 // factor of the squared weights
	Drop       float32 // dropout of hidden layers
	InputDrop  float32 // dropout of features
	TailDrop   float32 // NCN: dropout of the last propagation
	Mask       bool    // the edges of a batch are hidden from the graph that the batch sees
	Batch      int     // links in a batch; as many other pairs join them
	Chunk      int     // pairs that are scored at a time
	Epochs     int     // at most
	Every      int     // epochs between validations
	Patience   int     // validations without a gain after which training ends
	LinkWeight float64 // NCNC: weight of a completed link,
	LinkScale  float64 // times the sigmoid of LinkScale * (logit - LinkOffset)
	LinkOffset float64
}

// outcome is what a training reached at its best validation.
type outcome struct {
	valid, test map[string]float64
	epochs      int // that were trained until the best validation
	seconds     float64
}

// train trains a model until the metric of the validation part stops growing.
func train(ctx context.Context, d *data, build func(m *maker, d *data, o options) model, o options, metric string, seed uint64) (best outcome, err error) {
	began := cpuSeconds()
	r := rand.New(rand.NewPCG(seed, 0x6e6e))
	mk := &maker{rand: r}
	m := build(mk, d, o)
	adam := &grad.Adam{Rate: o.Rate, Decay: o.Decay}
	for epoch, bad := 1, 0; epoch <= o.Epochs && bad < o.Patience; epoch++ {
		if err := trainEpoch(ctx, d, m, mk.params, adam, o, r); err != nil {
			return best, err
		}
		if epoch%o.Every != 0 {
			continue
		}
		valid, err := evaluate(ctx, d, m, d.valid, o.Chunk)
		if err != nil {
			return best, err
		}
		if bad++; best.valid == nil || valid[metric] > best.valid[metric] {
			bad = 0
			best.valid, best.epochs = valid, epoch
			if best.test, err = evaluate(ctx, d, m, d.test, o.Chunk); err != nil {
				return best, err
			}
		}
	}
	best.seconds = cpuSeconds() - began
	return best, nil
}

// trainEpoch visits all training edges once, in random order, each with another pair that has no
// training edge.
func trainEpoch(ctx context.Context, d *data, m model, params []*grad.Param, adam *grad.Adam, o options, r *rand.Rand) error {
	order := r.Perm(len(d.train))
	for from := 0; from < len(order); from += o.Batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		var batch []pair
		for _, i := range order[from:min(from+o.Batch, len(order))] {
			batch = append(batch, d.train[i])
		}
		links, g := len(batch), d.graph
		if o.Mask {
			g = g.without(batch)
		}
		batch = append(batch, d.others(r, links)...)
		t := &grad.Tape{Rand: r}
		t.Backward(t.Logistic(m.decode(t, g, m.encode(t, g), batch), links))
		adam.Step(params)
	}
	return nil
}

// evaluate returns the metrics of a part. The graph has the training edges. Pairs are scored size
// at a time.
func evaluate(ctx context.Context, d *data, m model, p ogb.Part, size int) (map[string]float64, error) {
	var t grad.Tape
	rows := m.encode(&t, d.graph)
	var scores []float64
	for _, pairs := range [][]pair{p.Links, p.Others} {
		eachChunk(pairs, size, func(_ int, chunk []pair) {
			if ctx.Err() != nil {
				return
			}
			for _, x := range m.decode(&t, d.graph, rows, chunk).Data {
				scores = append(scores, float64(x))
			}
		})
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return figures(p, scores), nil
}
