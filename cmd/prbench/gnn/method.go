package main

import "fmt"

// method is a rival: how its model is made, and its hyperparameters by data set. They were chosen
// on validation parts.
type method struct {
	name    string
	build   func(m *maker, d *data, o options) model
	options func(dataset string) options
	note    string
}

func methods() []method {
	return []method{
		{"gcn", newGCN, convolutionOptions(0.3, 1e-4), ""},
		{"sage", newSAGE, convolutionOptions(0.5, 1e-7), ""},
		{"buddy", newBUDDY, func(string) options {
			o := usual()
			o.Mask, o.Drop, o.InputDrop, o.Rate = false, 0.3, 0.5, 0.003
			return o
		}, "exact structure counts"},
		{"ncn", newNCN, neighborOptions, ""},
		{"ncnc", newNCNC, neighborOptions, ""},
		{"neo_gnn", newNeoGNN, convolutionOptions(0.3, 1e-4), "logits added"},
		{"seal", newSEAL, func(string) options {
			o := usual()
			o.Width, o.Layers, o.Drop, o.InputDrop, o.Mask, o.Batch, o.Chunk = 32, 3, 0.3, 0.5, false, 256, 1024
			o.Epochs, o.Every, o.Rate = 20, 1, 0.003
			return o
		}, "one hop, product of both ends"},
		{"nbfnet", newNBFNet, func(string) options {
			o := usual()
			o.Width, o.Layers, o.Batch, o.Chunk, o.Epochs, o.Every, o.Rate = 8, 3, 16, 32, 1, 1, 0.005
			return o
		}, "width 8, 3 steps, 1 epoch"},
	}
}

func usual() options {
	return options{
		Width: 128, Layers: 2, Head: 2, Rate: 0.01, Mask: true, Batch: 1024, Chunk: 4096, Epochs: 500, Every: 5, Patience: 6,
	}
}

func convolutionOptions(drop float32, decay float64) func(string) options {
	return func(string) options {
		o := usual()
		o.Layers, o.Head, o.Rate, o.Drop, o.Decay = 1, 3, 0.001, drop, decay
		return o
	}
}

func neighborOptions(dataset string) options {
	o := usual()
	o.Width, o.LinkWeight = 64, 0.75
	if dataset == "citeseer" {
		o.Layers, o.Rate, o.Drop, o.InputDrop, o.TailDrop = 1, 0.001, 0.3, 0.4, 0
		o.LinkScale, o.LinkOffset = 6.5, 4.4
		return o
	}
	o.Layers, o.Drop, o.InputDrop, o.TailDrop, o.Decay = 3, 0.1, 0.7, 0.3, 1e-4
	o.LinkScale, o.LinkOffset = 4.3, 2.8
	return o
}

// check reports numbers that no training can use.
func (o options) check() error {
	for _, c := range []struct {
		name         string
		value, least int
	}{
		{"Width", o.Width, 1}, {"Layers", o.Layers, 1}, {"Head", o.Head, 1}, {"Batch", o.Batch, 1}, {"Chunk", o.Chunk, 1},
		{"Every", o.Every, 1}, {"Epochs", o.Epochs, o.Every}, {"Patience", o.Patience, 1},
	} {
		if c.value < c.least {
			return fmt.Errorf("%s must be at least %d, got %d", c.name, c.least, c.value)
		}
	}
	return nil
}
