package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"kith/cmd/internal/chart"
	"kith/cmd/internal/cli"
	"kith/db"
	"kith/model"
	"kith/model/trial"
	"kith/query"
)

// demo implements the subcommand demo.
type demo struct {
	out            string
	rounds         int
	seed           uint64
	stdout, stderr io.Writer
}

func newDemo() *cobra.Command {
	var d demo
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Learn links of a made graph, online and from a list, beside policies that do not learn",
		Long: `Demo makes a graph of communities, puts its nodes and none of its links into a
temporary database, and asks the database round after round: which of these 100
candidates is linked to this node? (PageRank Bandits, NeurIPS 2024, section 5.1.) It
tells what came of each answer, so that the database learns; policies that do not
learn play the same rounds. Regret counts the rounds in which a link was there to be
found and another candidate was chosen.

It prints the regret of each policy, writes the regret curves to kith-demo.svg and
shows a statement that asks what was learned.

Then it puts nine in ten of the links into another database at once, trains a model on
them, and counts how many of the others are among the 10 best of their node, by the
model and by resource allocation.`,
		Example: `  kith demo
  kith demo --rounds 500 --seed 2 --out ..`,
		Args: cli.Args(),
		PreRunE: func(*cobra.Command, []string) error {
			if d.rounds < 1 {
				return fmt.Errorf("--rounds %d: at least 1 is wanted", d.rounds)
			}
			return nil
		},
		RunE: cli.Action(func(cmd *cobra.Command, _ []string) error {
			d.stdout, d.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			ctx, stop := cli.Interruptible(cmd.Context())
			defer stop()
			return d.run(ctx)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&d.out, "out", ".", "directory for kith-demo.svg")
	f.IntVar(&d.rounds, "rounds", 2000, "rounds to play")
	f.Uint64Var(&d.seed, "seed", 1, "of the graph, the rounds and the model")
	return cmd
}

const (
	demoModel = "friends"
	demoSVG   = "kith-demo.svg"
)

// communities returns the parameters of the graph of the demo.
func communities() trial.Communities {
	return trial.Communities{Nodes: 300, Groups: 10, Degree: 20, Inside: 0.85, FeatureLen: 16, Noise: 1}
}

// protocol returns how the rounds of the demo are drawn.
func protocol() trial.Protocol { return trial.Paper() }

func (d *demo) run(ctx context.Context) (err error) {
	data, err := trial.Generate(communities(), d.seed)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "kith-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := d.in(ctx, filepath.Join(dir, "online.kith"), data, d.learn); err != nil {
		return err
	}
	return d.in(ctx, filepath.Join(dir, "trained.kith"), data, d.train)
}

// in calls show with a new database that holds the nodes and an untrained model.
func (d *demo) in(ctx context.Context, path string, data *trial.Data, show func(context.Context, *db.DB, *trial.Data) error) error {
	return with(path, d.dbOptions(), func(g *db.DB) error {
		if err := fill(ctx, g, data); err != nil {
			return err
		}
		return show(ctx, g, data)
	})
}

// learn shows how a database without links learns them, round by round.
func (d *demo) learn(ctx context.Context, g *db.DB, data *trial.Data) error {
	d.introduce(data)
	result, took, err := d.play(ctx, g, data)
	if err != nil {
		return err
	}
	if err := d.table(result, took); err != nil {
		return err
	}
	if err := d.plot(result); err != nil {
		return err
	}
	return d.ask(ctx, g, data)
}

// dbOptions returns the options of a temporary database.
func (d *demo) dbOptions() *db.Options { return &db.Options{NoSync: true, Seed: d.seed} }

// fill adds the nodes with their features, and an untrained model.
func fill(ctx context.Context, g *db.DB, data *trial.Data) error {
	err := g.Update(ctx, func(tx *db.Tx) error {
		for u, features := range data.Features {
			if err := tx.AddNode(db.Node{Key: db.Int(int64(u)), Features: features}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return g.CreateModel(ctx, demoModel, db.ModelSpec{Policy: "default"})
}

func (d *demo) introduce(data *trial.Data) {
	c := communities()
	fmt.Fprintf(d.stdout, "A made graph: %d nodes in %d communities, %d links, none of which is known at first.\n",
		data.Nodes, c.Groups, links(data))
	fmt.Fprintf(d.stdout, "%d rounds: a node, %d candidates, up to %d of them linked to it; a pair may come again. Seed %d.\n\n",
		d.rounds, protocol().Candidates, protocol().Positives, d.seed)
}

func links(data *trial.Data) int {
	ends := 0
	for _, row := range data.Links {
		ends += len(row)
	}
	return ends / 2
}

// play plays the rounds with the database and, in memory, with the policies that do not learn. It returns the curves,
// the database's first, and the time that the database took.
func (d *demo) play(ctx context.Context, g *db.DB, data *trial.Data) (r trial.Result, took time.Duration, err error) {
	bar := cli.NewBar(d.stderr)
	defer bar.End()
	learner := trial.Entrant{Name: "default", New: func(uint64, []trial.Pair) (trial.Player, error) {
		return &player{db: g, model: demoModel}, nil
	}}
	t := trial.Trial{Data: data, Protocol: protocol(), Rounds: d.rounds}
	watched := t
	watched.Progress = func(done, total int) {
		bar.Show("learning", progress.UnitsDefault, int64(done), int64(total))
	}
	var others trial.Result
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		r, err = watched.Play(ctx, []trial.Entrant{learner}, d.seed)
		return err
	})
	group.Go(func() (err error) {
		others, err = t.Play(ctx, baselines(data), d.seed)
		return err
	})
	if err := group.Wait(); err != nil {
		return r, 0, err
	}
	took = r.Curves[0].Time
	r.Curves = append(r.Curves, others.Curves...)
	return r, took, nil
}

// baselines returns the policies that do not learn.
func baselines(data *trial.Data) (all []trial.Entrant) {
	for _, name := range []string{"common_neighbors", "adamic_adar", "resource_allocation", "ppr", "random"} {
		all = append(all, trial.NewEntrant(data, model.Spec{Policy: name}))
	}
	return all
}

// table prints the result of each policy.
func (d *demo) table(r trial.Result, took time.Duration) error {
	rows := &query.Rows{Columns: []string{"policy", "regret", "rounds won"}}
	for _, c := range r.Curves {
		won := 100 * float64(c.Live-c.Final()) / float64(max(c.Live, 1))
		rows.Rows = append(rows.Rows, []any{c.Name, int64(c.Final()), fmt.Sprintf("%.1f %%", won)})
	}
	if err := tableMode.write(d.stdout, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(d.stdout, "default learned, and played through the database: %.1f ms a round, of predicting and observing.\n",
		took.Seconds()*1000/float64(d.rounds))
	return err
}

// plot writes the regret curves.
func (d *demo) plot(r trial.Result) error {
	name := filepath.Join(d.out, demoSVG)
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	err = chart.Write(f, &r, fmt.Sprintf("Regret on a made graph, seed %d", d.seed), "svg")
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err = fmt.Fprintf(d.stdout, "Regret curves: %s\n\n", name)
	return err
}

// ask shows a statement with its answer, for the node with the most known links, and compares the answer with the true
// links.
func (d *demo) ask(ctx context.Context, g *db.DB, data *trial.Data) error {
	source, err := best(ctx, g)
	if err != nil {
		return err
	}
	rows, err := d.state(ctx, g, fmt.Sprintf("PREDICT LINKS FOR %v AMONG ALL TOP 5;", source))
	if err != nil {
		return err
	}
	s, _ := source.Int()
	known := 0
	for _, row := range rows.Rows {
		if v, isInt := row[1].(db.Key).Int(); isInt && data.Linked(trial.ID(s), trial.ID(v)) {
			known++
		}
	}
	_, err = fmt.Fprintf(d.stdout, "%d of these %d are links of the made graph that the database was never told of.\n\n", known, len(rows.Rows))
	return err
}

// state shows a statement with its answer, and returns the answer.
func (d *demo) state(ctx context.Context, g *db.DB, statement string) (*query.Rows, error) {
	fmt.Fprintf(d.stdout, "%s%s\n", primary, statement)
	rows, err := query.Run(ctx, g, statement)
	if err != nil {
		return nil, err
	}
	return rows, tableMode.write(d.stdout, rows)
}

// best returns the node with the most edges.
func best(ctx context.Context, g *db.DB) (k db.Key, err error) {
	most := -1
	err = g.View(ctx, func(tx *db.Tx) error {
		for n, err := range tx.Nodes() {
			if err != nil {
				return err
			}
			if n.Edges > most {
				k, most = n.Key, n.Edges
			}
		}
		return nil
	})
	return k, err
}
