package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/kith/internal/shell"
	"kith/db"
	"kith/query"
	"kith/query/web"
)

// demo implements the subcommand demo.
type demo struct {
	nodes int
	seed  uint64
	serve bool
	// open shows a page in the user's browser; nil means that there is no terminal.
	open   func(url string)
	stdout io.Writer
}

// demoModel is the model of the demo.
const demoModel = "friends"

func newDemo() *cobra.Command {
	var d demo
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Predict links of a generated graph, and learn from outcomes",
		Long: `Demo generates a graph like a circle of friends, loads nine in ten of its links into a
temporary database, and trains a model. It counts how many of the other links are among the
10 best of a node, as ranked by the model and by plain heuristics. Then it asks for the next
links of the node with the most hidden links, tells the model which of them exist, and asks
again.

With --serve it then serves the database as kith serve does, shows it in the browser, and
deletes it at Ctrl-C.`,
		Example: `  kith demo
  kith demo --serve
  kith demo --nodes 1000 --seed 2`,
		Args:    cli.Args(),
		PreRunE: func(*cobra.Command, []string) error { return cli.Least("nodes", d.nodes, demoGroup) },
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			d.stdout = cmd.OutOrStdout()
			if cli.IsTerminal(d.stdout) {
				d.open = browse
			}
			return d.run(ctx)
		}),
	}
	f := cmd.Flags()
	f.IntVar(&d.nodes, "nodes", 300, "number of nodes of the graph")
	f.BoolVar(&d.serve, "serve", false, "serve the trained database at the end, until Ctrl-C")
	f.Uint64Var(&d.seed, "seed", 1, "seed of the graph and the model")
	return cmd
}

func (d *demo) run(ctx context.Context) error {
	return cli.InTemporary("", func(dir string) error {
		return with(dir, &db.Options{NoSync: true, Seed: d.seed}, func(g *db.DB) error {
			if err := d.play(ctx, g, newPeople(d.nodes, d.seed)); err != nil || !d.serve {
				return err
			}
			return d.show(ctx, g)
		})
	})
}

// play loads a graph without some of its links, trains a model, and looks for these links.
func (d *demo) play(ctx context.Context, g *db.DB, p *people) error {
	hidden, err := d.load(ctx, g, p)
	if err != nil {
		return err
	}
	if err := g.Model(demoModel).Create(ctx, db.ModelSpec{}); err != nil {
		return err
	}
	if _, err := g.Model(demoModel).Train(ctx, db.TrainOptions{}); err != nil {
		return err
	}
	if err := d.compare(ctx, g, hidden); err != nil {
		return err
	}
	return d.teach(ctx, g, p, mostHidden(hidden))
}

// load loads the people with their traits and most of their links. It returns the hidden links.
func (d *demo) load(ctx context.Context, g *db.DB, p *people) (hidden [][2]int, err error) {
	err = g.Update(ctx, func(tx *db.Tx) error {
		for u, traits := range p.traits {
			if err := tx.AddNode(db.Node{Key: db.Int(int64(u)), Features: traits}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var list bytes.Buffer
	hidden = p.split(&list)
	if _, err := g.Load(ctx, &list, db.LoadOptions{}); err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(d.stdout, "A generated graph: %d people in %d circles, %d links, of which %d are hidden. Seed %d.\n\n",
		len(p.friends), p.circles, len(p.links), len(hidden), d.seed)
	return hidden, err
}

// heuristics returns the heuristics that the demo compares with.
func heuristics() []string {
	return []string{"common_neighbors", "adamic_adar", "resource_allocation", "ppr"}
}

// compare shows how many hidden links are among the 10 best of their first node, as ranked by the
// model and by heuristics.
func (d *demo) compare(ctx context.Context, g *db.DB, hidden [][2]int) error {
	fmt.Fprintf(d.stdout, "How many of the %d hidden links are among the 10 best of their first node, as ranked by\n", len(hidden))
	rows := &query.Rows{Columns: []string{"model", "links found"}}
	for _, name := range append([]string{demoModel}, heuristics()...) {
		found := 0
		for _, l := range hidden {
			r, err := g.Predict(ctx, db.PredictOptions{For: l[0], Model: name, Among: db.All(), Top: 10})
			if err != nil {
				return err
			}
			if slices.ContainsFunc(r.Links, func(p db.Link) bool { return p.Target == db.Int(int64(l[1])) }) {
				found++
			}
		}
		rows.Rows = append(rows.Rows, []any{name, int64(found)})
	}
	return shell.WriteTable(d.stdout, rows)
}

// mostHidden returns the node with the most hidden links.
func mostHidden(hidden [][2]int) (u int) {
	count := map[int]int{}
	for _, l := range hidden {
		for _, end := range l {
			if count[end]++; count[end] > count[u] || count[end] == count[u] && end < u {
				u = end
			}
		}
	}
	return u
}

// teach asks for the links of a node, observes what became of them, and asks again.
func (d *demo) teach(ctx context.Context, g *db.DB, p *people, u int) error {
	fmt.Fprintf(d.stdout, "\nWhom may %d befriend next? And is it one of the hidden links?\n", u)
	links, err := d.ask(ctx, g, p, u)
	if err != nil {
		return err
	}
	for _, l := range links {
		reward := 0.0
		if p.linked(u, l.Target) {
			reward = 1
		}
		if err := g.Observe(ctx, db.ObserveOptions{Source: u, Target: l.Target, Reward: reward, Insert: true, Model: demoModel}); err != nil {
			return err
		}
	}
	fmt.Fprintln(d.stdout, "\nThe model is told, the links that exist are inserted, and the next answer differs:")
	_, err = d.ask(ctx, g, p, u)
	return err
}

// ask shows the best links of a node, and whether they exist.
func (d *demo) ask(ctx context.Context, g *db.DB, p *people, u int) ([]db.Link, error) {
	r, err := g.Predict(ctx, db.PredictOptions{For: u, Model: demoModel, Among: db.Neighbors(2), Top: 3})
	if err != nil {
		return nil, err
	}
	rows := &query.Rows{Columns: []string{"target", "score", "hidden link"}}
	for _, l := range r.Links {
		rows.Rows = append(rows.Rows, []any{l.Target, l.Score, p.linked(u, l.Target)})
	}
	return r.Links, shell.WriteTable(d.stdout, rows)
}

// show serves the database until ctx ends, and opens the user's browser if there is a terminal.
func (d *demo) show(ctx context.Context, g *db.DB) error {
	return serveDatabase(ctx, g, web.Options{}, "127.0.0.1:0", func(url string) error {
		if d.open != nil {
			d.open(url)
		}
		return cli.WriteLine(d.stdout, "\nLook at this graph and its model at "+url+" (Ctrl-C ends the demo).")
	})
}
