package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/internal/score"
	"kith/db"
	"kith/db/words"
)

// scoring implements the subcommand score.
type scoring struct {
	score.Options
	out      score.Output
	shard    string
	progress bool  // print lines of progress
	memory   int64 // Options.Memory
	stdout   io.Writer
	stderr   io.Writer
}

func newScore() *cobra.Command {
	var s scoring
	cmd := &cobra.Command{
		Use:   "score DB --out FILE",
		Short: "Write the best links of every node to a file",
		Long: `Score predicts the links of every node, or of the nodes of a label or a file, or scores
the pairs of a file, and writes the best of each to FILE: links.csv, links.jsonl or
links.parquet, with the columns source, target, rank and score. Sources are in the order in
which the nodes were added, or that of the file, which may have any format that kith load
reads lists in. The answer for a source is that of PREDICT LINKS with cache = off. CSV does
not tell the node 7 from the node '7'.

Without --among the candidates are those of PREDICT LINKS, PPR(1000) for most nodes: a walk
from each node, which takes tens of times as long as --among "NEIGHBORS(2)". If edges have
times, links are predicted after the time of --at, or after now, which a continued run takes
over. Shards of a graph with times in the future need --at to agree.

FILE appears when it is complete. If score is interrupted or killed, the same command
continues where it ended, and the file has the same bytes as without the interruption. Until
then the links are in FILE.partial, and FILE.state says of which question they are.

With --shard i/n it scores the i-th of n parts of the sources, from 0. The texts of all
shards, joined in order, are that of a single run; only the first has the header of CSV.`,
		Example: `  kith score social.kith --out links.csv --among "NEIGHBORS(2)" --top 10
  kith score shop.kith --out offers.jsonl --label user --among "LABEL item" --using m
  kith score social.kith --out links.0.parquet --shard 0/16`,
		Args: cli.Args("DB"),
		PreRunE: func(*cobra.Command, []string) error {
			if s.out.Name == "" {
				return errors.New("--out FILE is missing")
			}
			if _, err := score.FormatOf(s.out.Name); err != nil {
				return fmt.Errorf("--out %w", err)
			}
			if err := s.parseShard(); err != nil {
				return err
			}
			return s.CheckFlags()
		},
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			s.stdout, s.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return s.run(ctx, args[0])
		}),
	}
	f := cmd.Flags()
	f.StringVar(&s.out.Name, "out", "", "file to write")
	f.BoolVar(&s.out.Force, "force", false, "replace a file that exists, and drop what a run of a different question left")
	f.StringVar(&s.shard, "shard", "", "score the i-th of n parts of the sources, from 0/n")
	question := flag.NewFlagSet("", flag.ContinueOnError)
	s.Options.Flags(question)
	f.AddGoFlagSet(question)
	cli.ProgressFlag(f, &s.progress)
	cli.MemoryFlag(f, &s.memory)
	return cmd
}

// parseShard parses i/n.
func (s *scoring) parseShard() error {
	if s.shard == "" {
		return nil
	}
	rest := ""
	if n, _ := fmt.Sscanf(s.shard+" ", "%d/%d%1s", &s.Shard, &s.Shards, &rest); n != 2 || s.Shard < 0 || s.Shard >= s.Shards {
		return fmt.Errorf("--shard must be i/n with i from 0 to n-1, such as 0/16, got %s", s.shard)
	}
	return nil
}

func (s *scoring) run(ctx context.Context, path string) error {
	return withReadOnly(path, limited(s.memory), func(g *db.DB) error {
		bar, began := cli.NewBar(s.stderr, s.progress), time.Now()
		done, resumed, err := score.File(ctx, g, s.Options, s.out, func(done, total int64) {
			bar.Show(cli.State{What: "nodes", Done: done, Total: total})
		})
		bar.End()
		if err != nil && done.Sources > 0 {
			err = errors.Join(err, cli.WriteLine(s.stderr, fmt.Sprintf("%s: %s done; the same command continues", s.out.Name, words.Count(done.Sources, "node"))))
		}
		if err != nil {
			return err
		}
		for _, note := range done.Notes {
			fmt.Fprintf(s.stderr, "kith: %s: %s\n", cmp.Or(s.Sources, s.Pairs), note)
		}
		text := fmt.Sprintf("%s: %s of %s", s.out.Name, words.Count(done.Links, "link"), words.Count(done.Sources, "node"))
		if resumed > 0 {
			text += fmt.Sprintf(", %d of them by an earlier run", resumed)
		}
		if done.AnsweredBy != "" {
			text += ", by " + done.AnsweredBy
		}
		return cli.WriteLine(s.stdout, fmt.Sprintf("%s, in %v", text, time.Since(began).Round(time.Millisecond)))
	})
}
