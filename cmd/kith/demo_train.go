package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"kith/db"
	"kith/model/trial"
)

// demoHidden is the share of the links that train leaves out.
const demoHidden = 0.1

// train shows the common use: it puts a list of links into a database, trains a model, and predicts.
func (d *demo) train(ctx context.Context, g *db.DB, data *trial.Data) error {
	hidden, err := d.addLinks(ctx, g, data)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.stdout, "The same graph as a list: %d of its links are put into another database, %d are not.\n\n", links(data)-len(hidden), len(hidden))
	if _, err := d.state(ctx, g, "TRAIN MODEL "+demoModel+";"); err != nil {
		return err
	}
	for _, name := range []string{demoModel, "resource_allocation"} {
		n, err := found(ctx, g, name, hidden)
		if err != nil {
			return err
		}
		fmt.Fprintf(d.stdout, "%s has %d of the %d among its 10 best for the node.\n", name, n, len(hidden))
	}
	return nil
}

// addLinks adds the links of the generated graph except for some, which it returns.
func (d *demo) addLinks(ctx context.Context, g *db.DB, data *trial.Data) (hidden [][2]int64, err error) {
	rng := rand.New(rand.NewPCG(d.seed, 1))
	return hidden, g.Update(ctx, func(tx *db.Tx) error {
		for u, row := range data.Links {
			for _, v := range row {
				switch {
				case int(v) < u:
				case rng.Float64() < demoHidden:
					hidden = append(hidden, [2]int64{int64(u), int64(v)})
				default:
					if err := tx.AddEdge(u, int64(v), 1); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// found returns the number of links that are among the 10 best of their first node, as ranked by a model or a
// heuristic.
func found(ctx context.Context, g *db.DB, name string, links [][2]int64) (n int, err error) {
	for _, e := range links {
		r, err := g.Predict(ctx, db.Prediction{For: e[0], Model: name, Among: db.All(), Top: 10})
		if err != nil {
			return n, err
		}
		for _, l := range r.Links {
			if v, _ := l.Target.Int(); v == e[1] {
				n++
			}
		}
	}
	return n, nil
}
