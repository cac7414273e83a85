package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/model"
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
	options    []string
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
		Args: cobra.NoArgs,
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, _ []string) error { return p.run(ctx, cmd) }),
	}
	f := c.Flags()
	f.StringVar(&p.data, "data", "", "folder that holds the data sets")
	f.StringVar(&p.dataset, "dataset", "cora", "one of "+strings.Join(benchmarkNames(), ", "))
	f.StringSliceVar(&p.policies, "policies", []string{"common_neighbors", "adamic_adar", "resource_allocation"}, "policies to compare")
	f.StringVar(&p.splits, "splits", "", "range of the random splits, such as 0..4 (default: all)")
	f.IntVar(&p.seeds, "seeds", 1, "number of seeds for each split")
	f.IntVar(&p.rounds, "rounds", 10000, "number of rounds of policies that learn round by round")
	f.BoolVar(&p.validEdges, "valid-edges", false, "add the validation edges to the graph when the test part is ranked")
	f.StringArrayVar(&p.options, "set", nil, "`option=value` of the models; may be repeated")
	f.StringVar(&p.out, "out", "", "folder for results.json and table.md (default: not written)")
	return c
}

func (p *offlinePlan) run(ctx context.Context, cmd *cobra.Command) error {
	b, err := p.check()
	if err != nil {
		return err
	}
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
		d, err := b.load(folder, split)
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
	return p.report(cmd, &results)
}

// check reports what is wrong with the plan before any file is read.
func (p *offlinePlan) check() (benchmark, error) {
	b, err := benchmarkOf(p.dataset)
	switch {
	case err != nil:
		return b, err
	case p.data == "":
		return b, errors.New("--data DIR is missing")
	}
	if err := cmp.Or(cli.Least("seeds", p.seeds, 1), cli.Least("rounds", p.rounds, 1)); err != nil {
		return b, err
	}
	for _, name := range p.policies {
		s, err := p.spec(name, 1, 0) // with features, whether or not the data has them
		if err == nil {
			err = s.Validate()
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

// spec returns the specification of the model for a policy.
func (p *offlinePlan) spec(policy string, features int, seed uint64) (model.Spec, error) {
	s := model.Spec{Policy: policy, FeatureLen: features, Seed: seed}
	for _, o := range p.options {
		name, text, _ := strings.Cut(o, "=")
		if err := s.Set(name, optionValue(text)); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (p *offlinePlan) report(cmd *cobra.Command, r *offlineResults) error {
	table := r.table(p.policies)
	if p.out != "" {
		if err := writeResults(p.out, r, table); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), table)
	return err
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
