package bench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/benchfmt"
	"kith/db"
)

// commitBench implements the subcommand bench commit.
type commitBench struct {
	dir     string // directory of the databases
	writers []int
	delays  []time.Duration // added to each sync
	span    time.Duration   // time to measure for, per line
	stdout  io.Writer
}

func newBenchCommit() *cobra.Command {
	b := commitBench{}
	cmd := &cobra.Command{
		Use:   "commit",
		Short: "Measure durable commits of one edge, with several writers",
		Long: `Bench commit measures durable commits: writers insert edges at the same time, each
edge in an Update of its own, into a new database, which is deleted afterwards.

ns/op and median-ns/op are the time that a writer waits for a commit. Writers that commit
at the same time share a sync; syncs/commit is the share of a commit. A delay is added
to each sync, to simulate a slower disk.`,
		Example: `  prbench bench commit
  prbench bench commit --dir /mnt/disk --writers 1,64 --delay 0s --time 10s`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			return cmp.Or(cli.Least("writers", slices.Min(b.writers), 1), cli.Least("delay", slices.Min(b.delays), 0),
				cli.Least("time", b.span, time.Nanosecond))
		},
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			b.stdout = cmd.OutOrStdout()
			return b.run(ctx)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&b.dir, "dir", os.TempDir(), "directory of the databases, on the disk to measure")
	f.IntSliceVar(&b.writers, "writers", []int{1, 8, 64}, "numbers of writers")
	f.DurationSliceVar(&b.delays, "delay", []time.Duration{0, 5 * time.Millisecond}, "delays to add to each sync")
	f.DurationVar(&b.span, "time", 2*time.Second, "how long to measure each line")
	return cmd
}

// run prints a line for each delay and number of writers.
func (b *commitBench) run(ctx context.Context) error {
	if err := benchfmt.WriteHead(b.stdout, "kith/cmd/prbench"); err != nil {
		return err
	}
	for _, delay := range b.delays {
		for _, n := range b.writers {
			if err := cli.InTemporary(b.dir, func(dir string) error { return b.line(ctx, n, delay, dir) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// line measures n writers of a new database and prints the line.
func (b *commitBench) line(ctx context.Context, n int, delay time.Duration, dir string) error {
	var syncs atomic.Int64
	o := &db.Options{Events: db.Events{Sync: func(time.Duration) {
		syncs.Add(1)
		time.Sleep(delay)
	}}}
	return with(dir, o, func(g *db.DB) error {
		before, start := syncs.Load(), time.Now()
		l := benchfmt.New("Commit", fmt.Sprintf("writers=%d", n), fmt.Sprintf("delay=%s", delay))
		var err error
		l.Took, err = inParallel(n, b.span, func(w, i int) func() error {
			return func() error { return g.Update(ctx, func(tx *db.Tx) error { return tx.PutEdge(w, n+i) }) }
		})
		if err != nil {
			return err
		}
		commits, wall := float64(len(l.Took)), time.Since(start)
		l.Add(commits/wall.Seconds(), "commits/s")
		l.Add(float64(syncs.Load()-before)/commits, "syncs/commit")
		return l.Write(b.stdout)
	})
}
