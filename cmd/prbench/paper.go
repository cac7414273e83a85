package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/prbench/internal/ogb"
)

// paperPlan holds the options of prbench paper.
type paperPlan struct {
	data, out string
	quick     bool
	rivals    string
	workers   int
	rounds    int // number of rounds of all experiments; 0 means each experiment's own number

	absent []string // folders of data sets that are not there
	log    io.Writer
}

func newPaper() *cobra.Command {
	p := &paperPlan{workers: runtime.GOMAXPROCS(0)}
	c := &cobra.Command{
		Use:   "paper --data DIR --out DIR",
		Short: "Repeat what the paper's section 5 and appendices report, in one report",
		Long: `Paper plays what section 5 and the appendices of the paper report, with the experiments
online, classify, cost and offline, and writes one report, OUT/report.md: the paper's
figure beside each of ours, the deviation, and the rows that differ by more than two
standard deviations, with a reason. Each experiment has a folder in --out with its runs,
tables and regret curves.

DIR holds the data sets: prb/amazon, prb/facebook and prb/grqc as the paper's authors
publish them; ml-100k/u.data, which plays as MovieLens; cora, citeseer, pubmed and
ogbl_ddi in the layout of the Open Graph Benchmark; heart/citeseer and heart/pubmed. Pubmed
is classified if pubmed is there; its held-out links, of heart/pubmed, have no features. A
data set that is missing is named and left out.

The plan, with the remaining time, is printed first. Completed runs are kept, so an
interrupted command can be repeated to continue. With --quick the command takes less than
30 minutes on 2 cores: 2 seeds for 10, 1,000 rounds of classification for 10,000, one split
for five, 10 epochs of offline training for 100, and no grid search of the classification.

--rivals adds rows that another program measured, one JSON object a line, as
prbench-gnn writes them.`,
		Example: `  prbench paper --data . --out results --quick
  prbench paper --data . --rivals gnn.jsonl --out results`,
	}
	f := c.Flags()
	f.StringVar(&p.data, "data", ".", "folder that holds the data sets")
	f.StringVar(&p.out, "out", "", "folder for the results")
	f.BoolVar(&p.quick, "quick", false, "fewer seeds, rounds, splits and epochs: less than 30 minutes on 2 cores")
	f.StringVar(&p.rivals, "rivals", "", "`file` with the results of other methods, one JSON object a line")
	f.IntVar(&p.workers, "workers", p.workers, "maximum number of concurrent runs, up to the number of cores")
	f.IntVar(&p.rounds, "rounds", 0, "number of rounds of every experiment (default: that of each)")
	return command(c, p.check, p.playAndReport)
}

// check reports what is wrong with the command line, and which data sets are missing.
func (p *paperPlan) check() error {
	switch {
	case p.out == "":
		return errors.New("--out DIR is missing")
	case p.workers < 1:
		return fmt.Errorf("--workers must be at least 1, got %d", p.workers)
	case p.rounds < 0:
		return fmt.Errorf("--rounds must be at least 1, got %d", p.rounds)
	}
	if p.rivals != "" {
		_, err := ogb.ReadResults(p.rivals)
		return err
	}
	return nil
}

// stage is a part of the paper that is played in a folder of its own.
type stage struct {
	name  string // of the folder
	about string
	parts []stagePart
	secs  float64 // seconds of a unit of progress on one core, for the plan: a round, or about 1 for held-out links
	alone bool    // runs are played one by one, because their times are reported
}

// stagePart is an experiment of a stage.
type stagePart interface {
	// playPart plays the missing runs, or counts all runs if t is not nil.
	playPart(ctx context.Context, log io.Writer, t *tally) error
	// write writes tables and pictures of all kept runs to the folder of the stage, and prints the
	// tables if played is nil, which is the error that ended the playing.
	write(w io.Writer, played error) error
}

// playAndReport prints the plan, plays all stages, and writes the report, even if the playing ends
// early.
func (p *paperPlan) playAndReport(ctx context.Context, cmd *cobra.Command) error {
	p.log = cmd.ErrOrStderr()
	stages := p.stages()
	if len(stages) == 0 {
		return fmt.Errorf("no data set is in %s: missing are %s", p.data, strings.Join(p.absent, ", "))
	}
	played := p.play(ctx, stages)
	text, err := p.markdown(stages)
	if err == nil {
		err = writeFile(filepath.Join(p.out, "report.md"), []byte(text))
	}
	if err := errors.Join(played, err); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "written: %s\n", filepath.Join(p.out, "report.md"))
	return err
}

// play prints the plan and plays the stages.
func (p *paperPlan) play(ctx context.Context, stages []stage) error {
	counts := make([]tally, len(stages))
	left := 0.0 // estimated seconds
	for i, s := range stages {
		for _, part := range s.parts {
			if err := part.playPart(ctx, p.log, &counts[i]); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		left += s.seconds(counts[i], p.workers)
	}
	p.printPlan(stages, counts, left)
	planned, took := 0.0, 0.0 // seconds of the stages that were played
	for i, s := range stages {
		began := time.Now()
		if err := s.play(ctx, p.log); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		estimate := s.seconds(counts[i], p.workers)
		left -= estimate
		if estimate > 0 {
			planned, took = planned+estimate, took+time.Since(began).Seconds()
		}
		if planned > 0 && left > 0 {
			fmt.Fprintf(p.log, "%s is done; about %s remain\n", s.name, minutes(left*took/planned))
		}
	}
	return nil
}

// seconds estimates the time of the missing runs.
func (s stage) seconds(count tally, workers int) float64 {
	if s.alone {
		workers = 1
	}
	return float64(count.left) * s.secs / float64(workers)
}

// play plays the parts of a stage until the first error, then writes the tables and pictures of
// their folder.
func (s stage) play(ctx context.Context, log io.Writer) error {
	if s.alone {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	var played error
	for _, part := range s.parts {
		if played = part.playPart(ctx, log, nil); played != nil {
			break
		}
	}
	return s.parts[0].write(io.Discard, played)
}

// printPlan prints the number of runs of each stage and the estimated time of the missing ones.
func (p *paperPlan) printPlan(stages []stage, counts []tally, left float64) {
	w := tabwriter.NewWriter(p.log, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "stage\truns\tkept\ttime\t\n")
	for i, s := range stages {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\n", s.name, counts[i].all, counts[i].kept, minutes(s.seconds(counts[i], p.workers)), s.about)
	}
	w.Flush()
	if len(p.absent) > 0 {
		fmt.Fprintf(p.log, "left out, because they are not in %s: %s\n", p.data, strings.Join(p.absent, ", "))
	}
	fmt.Fprintf(p.log, "about %s remain\n", minutes(left))
}

// minutes formats seconds as minutes or hours.
func minutes(seconds float64) string {
	if seconds >= 2*3600 {
		return fmt.Sprintf("%.0f h", seconds/3600)
	}
	return fmt.Sprintf("%.0f min", seconds/60)
}

// folders returns the paths of the data sets that are there. It remembers missing ones.
func (p *paperPlan) folders(names ...string) (there []string) {
	for _, name := range names {
		folder := filepath.Join(p.data, name)
		if _, err := os.Stat(folder); err == nil {
			there = append(there, folder)
		} else {
			p.absent = append(p.absent, name)
		}
	}
	return there
}
