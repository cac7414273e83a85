package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/model/trial"
)

func newCost() *cobra.Command {
	p := plan{seeds: 1}
	profile := ""
	cmd := &cobra.Command{
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
		Args:    cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error { return p.check() },
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			return profiled(profile, func() error { return p.cost(ctx, cmd) })
		}),
	}
	f := cmd.Flags()
	p.playerFlags(f, "prb", "released")
	p.linkFlags(f, "released", "paper")
	f.Uint64Var(&p.firstSeed, "seed", 1, "seed of the rounds and the models")
	f.StringVar(&profile, "cpuprofile", "", "`file` for a CPU profile")
	return cmd
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

// cost is the time of a run, in seconds.
type cost struct {
	Data     string            `json:"data"`
	Protocol string            `json:"protocol"`
	Features string            `json:"features"`
	Policy   string            `json:"policy"`
	Preset   string            `json:"preset,omitempty"`
	Options  map[string]string `json:"options,omitempty"`
	Rounds   int               `json:"rounds"`
	Regret   int               `json:"regret"`
	Seconds  float64           `json:"seconds"`
	Networks float64           `json:"networks"`
	Walk     float64           `json:"pagerank"`
	Train    float64           `json:"training"`

	player string
}

func newCostOf(s settings, c trial.Curve) cost {
	return cost{
		Data: s.Data, Protocol: s.Protocol, Features: s.Features, Policy: s.Policy, Preset: s.Preset, Options: s.Options,
		Rounds: s.Rounds, Regret: c.Final(), Seconds: c.Time.Seconds(), Networks: c.Parts.Networks.Seconds(),
		Walk: c.Parts.Walk.Seconds(), Train: c.Parts.Train.Seconds(), player: s.title(),
	}
}

func (c *cost) cells() []string {
	seconds := func(v float64) string { return fmt.Sprintf("%.2f", v) }
	return []string{
		c.player, c.Data, c.Protocol, c.Features, fmt.Sprint(c.Rounds), fmt.Sprint(c.Regret), seconds(c.Seconds),
		seconds(c.Networks), seconds(c.Walk), seconds(c.Train), seconds(c.Seconds - c.Networks - c.Walk - c.Train),
	}
}

// cost measures in one thread.
func (p *plan) cost(ctx context.Context, cmd *cobra.Command) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	x, err := p.experiment(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if x.arenas, err = p.linkArenas(); err != nil {
		return err
	}
	if err := x.check(); err != nil {
		return err
	}
	costs, err := x.costs(ctx)
	if err != nil {
		return err
	}
	return writeCosts(cmd.OutOrStdout(), p.out, costs)
}

// costs plays each job by itself.
func (x *experiment) costs(ctx context.Context) (costs []cost, err error) {
	bar := cli.NewBar(x.log)
	defer bar.End()
	jobs := x.jobs(nil)
	for i, j := range jobs {
		t := trial.Trial{
			Data: j.arena.set.data, Protocol: j.arena.protocol, Rounds: x.rounds,
			Progress: func(done, total int) {
				bar.Show(j.settings.title(), progress.UnitsDefault, int64(i*total+done), int64(len(jobs)*total))
			},
		}
		r, err := t.Play(ctx, []trial.Entrant{entrant(j.settings, j.arena.set.data)}, j.settings.Seed)
		if err != nil {
			return nil, err
		}
		costs = append(costs, newCostOf(j.settings, r.Curves[0]))
	}
	return costs, nil
}

func writeCosts(w io.Writer, out string, costs []cost) error {
	heading := []string{"policy", "data", "protocol", "features", "rounds", "regret", "seconds", "networks", "PageRank", "training", "rest"}
	var rows [][]string
	for _, c := range costs {
		rows = append(rows, c.cells())
	}
	text := markdown(heading, rows)
	if _, err := io.WriteString(w, text); err != nil || out == "" {
		return err
	}
	return writeResults(out, costs, "# Seconds of a run, in one thread\n\n"+text)
}
