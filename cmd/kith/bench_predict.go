package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
)

// predictBench implements the subcommand bench predict.
type predictBench struct {
	edges           []string // edge lists to make databases from
	warmed, queries int
	span            time.Duration // time to measure readers for, alone and with a writer
	readers         int
	seed            uint64
	stdout          io.Writer
}

func newBenchPredict() *cobra.Command {
	var b predictBench
	cmd := &cobra.Command{
		Use:   "predict --edges FILE",
		Short: "Measure predictions, alone and beside a writer",
		Long: `Bench predict makes a database of an edge list, trains a model of policy default on it,
and measures predictions. The database is deleted afterwards.

  Predict    100 candidates: another source and other candidates each time, out of so many
             whose states are in the cache; through the Go API, and as a statement. In one
             thread
  Holdout    1,000 candidates, the default: by a holdout of a tenth of the edges, and by
             predictions for the same nodes, in turns and in one thread
  Heuristic  the 10 best within 2 steps of a node by a policy that does not learn, for 200
             nodes, in one thread
  Readers    predictions a second as above, by so many readers at the same time: alone, and
             beside a writer of 1,000 edges a second in commits of 10, in turns`,
		Example: `  kith bench predict --edges dblp-2010.edges.txt.gz
  kith bench predict --edges facebook_combined.txt --queries 200`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			switch {
			case len(b.edges) == 0:
				return errors.New("--edges FILE is missing")
			case b.queries < 1 || b.readers < 1:
				return fmt.Errorf("--queries %d, --readers %d: at least 1 is wanted", b.queries, b.readers)
			case b.warmed <= candidateCount:
				return fmt.Errorf("--warmed %d: more than %d is wanted", b.warmed, candidateCount)
			case b.span <= 0:
				return errors.New("--time must be positive")
			}
			return readable(b.edges)
		},
		RunE: cli.Action(func(cmd *cobra.Command, _ []string) error {
			b.stdout = cmd.OutOrStdout()
			ctx, stop := cli.Interruptible(cmd.Context())
			defer stop()
			return b.run(ctx)
		}),
	}
	f := cmd.Flags()
	f.StringArrayVar(&b.edges, "edges", nil, "edge list to make a database of; may be repeated")
	f.IntVar(&b.warmed, "warmed", 2000, "sources whose states are in the cache, more than 100")
	f.IntVar(&b.queries, "queries", 1000, "predictions to take the median of")
	f.IntVar(&b.readers, "readers", 1, "who predict at the same time, beside a writer or not")
	f.DurationVar(&b.span, "time", 10*time.Second, "to measure readers for, alone and beside a writer")
	f.Uint64Var(&b.seed, "seed", 1, "of sources, candidates and edges")
	return cmd
}

// run prints the lines of all lists.
func (b *predictBench) run(ctx context.Context) error {
	if err := writeHead(b.stdout); err != nil {
		return err
	}
	for _, file := range b.edges {
		if err := b.list(ctx, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// list measures a database made from a list.
func (b *predictBench) list(ctx context.Context, file string) error {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return withLoaded(ctx, file, func(path string) error {
		return with(path, nil, func(g *db.DB) error {
			p := predictor{predictBench: b, g: g, graph: name, random: rand.New(rand.NewPCG(b.seed, 0))}
			return p.measure(ctx)
		})
	})
}
