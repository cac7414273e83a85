package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/prbench/internal/trial"
)

func newCost() *cobra.Command {
	x := &experiment{protocols: []string{"released", "paper"}, features: []string{"svd"}, seeds: 1, workers: 1}
	profile := ""
	c := &cobra.Command{
		Use:   "cost --data DIR,...",
		Short: "Measure the seconds of a run by part: networks, PageRank, training",
		Long: `Cost plays one run of each policy in each protocol, one after another in one thread, and
prints the seconds of its parts: networks are contexts and the evaluation of the networks,
training is learning from outcomes, the rest is drawing the rounds and counting. With
--out it writes results.json and table.md.

The paper prints, for 10,000 rounds on an Nvidia 3060, 17.5 minutes for PRB (about 10 %
of it PageRank), 16.7 for EE-Net, 15.4 for PRB-Greedy, 14.8 for NeuralGreedy and 10.9
for NeuralTS.`,
		Example: `  prbench cost --data prb/grqc
  prbench cost --data prb/grqc,prb/facebook --policies prb/paper,default --protocol paper
  prbench cost --data prb/grqc --cpuprofile cpu.out && go tool pprof -top cpu.out`,
	}
	f := c.Flags()
	x.flags(f, "prb", "released")
	f.Uint64Var(&x.firstSeed, "seed", 1, "seed of the rounds and the models")
	f.StringVar(&profile, "cpuprofile", "", "`file` for a CPU profile")
	return command(c, x.check, func(ctx context.Context, cmd *cobra.Command) error {
		return profiled(profile, func() error { return x.cost(ctx, cmd) })
	})
}

// profiled calls f, and writes a CPU profile of it if name is not empty.
func profiled(name string, f func() error) error {
	if name == "" {
		return f()
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return errors.Join(err, file.Close())
	}
	err = f()
	pprof.StopCPUProfile()
	return errors.Join(err, file.Close())
}

// cost plays each run by itself in one thread, and writes its times.
func (x *experiment) cost(ctx context.Context, cmd *cobra.Command) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	x.log = cmd.ErrOrStderr()
	if err := x.read(); err != nil {
		return err
	}
	costs, err := x.costs(ctx)
	if err != nil {
		return err
	}
	return writeResults(cmd.OutOrStdout(), x.out, costs, costTable(costs), nil)
}

// costs returns a run of each job. None is kept.
func (x *experiment) costs(ctx context.Context) (costs []*regretRun, err error) {
	jobs := x.jobs("measuring", nil)
	if err := checkModels(jobs); err != nil {
		return nil, err
	}
	s := session[settings, trial.Curve]{workers: 1, log: x.log}
	runs, err := s.play(ctx, jobs)
	for _, j := range jobs {
		costs = append(costs, runs[j.settings[0].name()])
	}
	return costs, err
}

func costTable(costs []*regretRun) string {
	heading := []string{"policy", "data", "protocol", "features", "rounds", "regret", "seconds", "networks", "PageRank", "training", "rest"}
	var rows [][]string
	for _, c := range costs {
		s, r := c.Settings, c.Result
		row := []string{s.title(), s.Data, s.Protocol, s.Features, fmt.Sprint(s.Rounds), fmt.Sprint(r.Final())}
		rest := r.Time - r.Parts.Networks - r.Parts.Walk - r.Parts.Train
		for _, took := range []time.Duration{r.Time, r.Parts.Networks, r.Parts.Walk, r.Parts.Train, rest} {
			row = append(row, fmt.Sprintf("%.2f", took.Seconds()))
		}
		rows = append(rows, row)
	}
	return "# Seconds of a run, in one thread\n\n" + markdown(heading, rows)
}
