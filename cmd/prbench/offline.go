package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
)

// offlinePlan holds the options of prbench offline.
type offlinePlan struct {
	data, out  string
	dataset    string
	policies   []string
	splits     string
	seeds      int
	rounds     int
	validEdges bool
	set        []string
	options    map[string]string // the parsed set
}

func newOffline() *cobra.Command {
	var p offlinePlan
	c := &cobra.Command{
		Use:   "offline --data DIR",
		Short: "Rank held-out links against fixed negatives",
		Long: `Offline trains policies on the training edges of a benchmark's split and ranks its
held-out edges among its fixed negatives: Hits@K as the Open Graph Benchmark defines
it, for the validation and the test part. The graph that a policy sees holds the
training edges; with --valid-edges the validation edges too, when the test part is
ranked, and the default is trained again on all of these. Policies that learn round by
round play --rounds rounds with the training edges as truth first.`,
		Example: `  prbench offline --data . --dataset cora --policies common_neighbors,pair_mix
  prbench offline --data . --dataset ogbl_ddi --policies ease --valid-edges --out results`,
	}
	f := c.Flags()
	f.StringVar(&p.data, "data", "", "folder that holds the data sets")
	f.StringVar(&p.dataset, "dataset", "cora", "one of "+strings.Join(namesOf(benchmarks()), ", "))
	f.StringSliceVar(&p.policies, "policies", []string{"common_neighbors", "adamic_adar", "resource_allocation"}, "policies to compare")
	f.StringVar(&p.splits, "splits", "", "range of the random splits, such as 0..4 (default: all)")
	f.IntVar(&p.seeds, "seeds", 1, "number of seeds for each split")
	f.IntVar(&p.rounds, "rounds", 10000, "number of rounds of policies that learn round by round")
	f.BoolVar(&p.validEdges, "valid-edges", false, "add the validation edges to the graph when the test part is ranked")
	f.StringArrayVar(&p.set, "set", nil, "`option=value` of the models; may be repeated")
	f.StringVar(&p.out, "out", "", "folder for results.json and table.md (default: not written)")
	return command(c, p.check, p.run)
}

func (p *offlinePlan) run(ctx context.Context, cmd *cobra.Command) error {
	b, _ := rowOf(benchmarks(), p.dataset) // check has found it
	splits, err := parseRange(p.splits, b.splits)
	if err != nil {
		return err
	}
	bar := cli.NewBar(cmd.ErrOrStderr())
	defer bar.End()
	results := offlineResults{Dataset: b.name, K: b.k, ValidEdges: p.validEdges}
	total := int64(len(splits) * len(p.policies) * p.seeds)
	for _, split := range splits {
		folder := filepath.Join(p.data, b.name)
		d, err := b.load(os.DirFS(folder), split)
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
		for _, name := range p.policies {
			for seed := range uint64(p.seeds) {
				bar.Show(name, progress.UnitsDefault, int64(len(results.Runs)), total)
				r, err := p.one(ctx, d, name, seed+1)
				if err != nil {
					return fmt.Errorf("%s, split %d: %w", name, split, err)
				}
				r.Split = split
				results.Runs = append(results.Runs, r)
			}
		}
	}
	bar.End()
	return writeResults(cmd.OutOrStdout(), p.out, results, results.table(), nil)
}

// check parses the flags. It reports what is wrong with them before any file is read.
func (p *offlinePlan) check() (err error) {
	if _, known := rowOf(benchmarks(), p.dataset); !known {
		return fmt.Errorf("data set %q (accepted: %s)", p.dataset, strings.Join(namesOf(benchmarks()), ", "))
	}
	if p.data == "" {
		return errors.New("--data DIR is missing")
	}
	if p.options, err = parseSet(p.set, true); err != nil {
		return err
	}
	for _, name := range p.policies {
		if _, err := p.settings(name, 1, 0).spec(); err != nil { // with features, whether or not the data has them
			return err
		}
	}
	return cmp.Or(cli.Least("seeds", p.seeds, 1), cli.Least("rounds", p.rounds, 1))
}

// settings returns the settings of the model for a policy.
func (p *offlinePlan) settings(policy string, features int, seed uint64) settings {
	return settings{variant: variant{Policy: policy, Options: p.options}, FeatureLen: features, Seed: seed}
}

// parseRange parses "2" or "0..4"; "" means all numbers below n.
func parseRange(s string, n int) ([]int, error) {
	from, to := 0, n-1
	if s != "" {
		first, last, isRange := strings.Cut(s, "..")
		var err, err2 error
		from, err = strconv.Atoi(first)
		to = from
		if isRange {
			to, err2 = strconv.Atoi(last)
		}
		if err != nil || err2 != nil || from < 0 || to < from || to >= n {
			return nil, fmt.Errorf("splits %q (accepted: such as 0..%d)", s, n-1)
		}
	}
	var all []int
	for i := from; i <= to; i++ {
		all = append(all, i)
	}
	return all, nil
}
