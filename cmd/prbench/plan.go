package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	"kith/cmd/internal/cli"
	"kith/model"
)

// plan holds the options of an experiment that is played round by round.
type plan struct {
	data, protocols, policies, features []string
	preset                              string
	set                                 []string
	rounds, seeds                       int
	firstSeed                           uint64
	grid                                bool
	workers                             int
	out                                 string
	classify                            bool // candidates are classes
}

// playerFlags adds the flags for the policies, the data and the number of rounds.
func (p *plan) playerFlags(f *pflag.FlagSet, policies, preset string) {
	f.StringSliceVar(&p.data, "data", nil, "folders of data sets")
	f.StringSliceVar(&p.policies, "policies", strings.Split(policies, ","), "policy or policy/preset")
	f.StringVar(&p.preset, "preset", preset, "preset of policies given without one: "+strings.Join(model.Presets(), ", "))
	f.StringArrayVar(&p.set, "set", nil, "an option of every model, as `name=value`; may be repeated")
	f.IntVar(&p.rounds, "rounds", paperRounds, "number of rounds of a run")
	f.StringVar(&p.out, "out", "", "folder for the results")
}

// linkFlags adds the flags for data whose links are predicted.
func (p *plan) linkFlags(f *pflag.FlagSet, protocols ...string) {
	f.StringSliceVar(&p.protocols, "protocol", protocols, "paper, released, fresh")
	f.StringSliceVar(&p.features, "features", []string{"svd"}, "svd, none")
}

// seedFlags adds the flags for the seeds and the workers.
func (p *plan) seedFlags(f *pflag.FlagSet) {
	f.IntVar(&p.seeds, "seeds", 10, "number of seeds")
	f.Uint64Var(&p.firstSeed, "first-seed", 1, "the first of the seeds")
	f.BoolVar(&p.grid, "grid", false, "search the options of the paper's grids (preset paper) on 2,000 rounds of a separate seed")
	f.IntVar(&p.workers, "workers", runtime.GOMAXPROCS(0), "maximum number of concurrent runs, up to the number of cores")
}

// check reports what is wrong with the plan before any file is read.
func (p *plan) check() error {
	if len(p.data) == 0 {
		return errors.New("--data DIR is missing")
	}
	_, err := p.experiment(nil)
	return cmp.Or(cli.Least("rounds", p.rounds, 1), err)
}

// checkKept is check for an experiment whose runs are kept.
func (p *plan) checkKept() error {
	switch {
	case p.out == "":
		return errors.New("--out DIR is missing")
	case p.firstSeed <= gridSeed && gridSeed < p.firstSeed+uint64(p.seeds):
		return fmt.Errorf("seed %d is that of grid searches", uint64(gridSeed))
	}
	return cmp.Or(cli.Least("seeds", p.seeds, 1), cli.Least("workers", p.workers, 1), p.check())
}

// experiment returns the experiment of the plan, without its arenas.
func (p *plan) experiment(log io.Writer) (*experiment, error) {
	set, err := parseSet(p.set)
	if err != nil {
		return nil, err
	}
	x := &experiment{options: set, rounds: p.rounds, grid: p.grid, workers: p.workers, out: p.out, log: log}
	for _, text := range p.policies {
		c, err := parseContender(text, p.preset, p.classify)
		if err != nil {
			return nil, err
		}
		x.contenders = append(x.contenders, c)
	}
	for i := range p.seeds {
		x.seeds = append(x.seeds, p.firstSeed+uint64(i))
	}
	return x, nil
}

// read reads all data sets. Their names must differ.
func (p *plan) read(one func(folder string) (*dataset, error)) (all []*dataset, err error) {
	names := make(map[string]string)
	for _, folder := range p.data {
		s, err := one(folder)
		if err != nil {
			return nil, err
		}
		if other, known := names[s.name]; known {
			return nil, fmt.Errorf("%s and %s have one name", other, folder)
		}
		names[s.name] = folder
		all = append(all, s)
	}
	return all, nil
}
