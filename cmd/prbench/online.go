package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kith/cmd/internal/cli"
	"kith/model"
	"kith/model/trial"
)

// plan is what the command line asks for.
type plan struct {
	data, protocols, policies, features []string
	preset                              string
	set                                 []string
	rounds, seeds                       int
	firstSeed                           uint64
	grid                                bool
	workers                             int
	out                                 string
}

func newOnline() *cobra.Command {
	var p plan
	cmd := &cobra.Command{
		Use:   "online --data DIR,... --out DIR",
		Short: "Predict links round by round: cumulative regret",
		Long: `Online plays policies on the truth of a data set, round by round: a policy chooses among
candidate links, is told what came of it, and learns. All policies of a seed see the
same rounds. What is counted is regret: rounds in which a link was among the candidates
and another was chosen.

A data set is a folder as the paper's authors publish them: entry.npy with rows (node,
node, 1 or -1) and features.npy, or user_features.npy and item_features.npy.

Protocols:
  paper     100 candidates, up to 10 of them linked to the serving node
  released  ten unrelated pairs of the file, one of them linked, as in the authors' program
  fresh     as paper, without pairs that the policy has won before

Policies are those of kith's models, each alone or as policy/preset; --preset is for
those that name none. The policy default has preset default. Features svd are the
vectors of the folder, which were computed from all links: they leak the answer. With
none, models see only the graph of what was revealed.

Every run that is finished is kept in --out, so that the same command goes on where it
was interrupted, and a command with more policies or seeds adds to the tables. The
tables and curves are made from all runs in --out.`,
		Example: `  prbench online --data prb/grqc,prb/facebook --policies prb,prb_greedy,default --out results
  prbench online --data prb/grqc --protocol paper,released --policies prb/paper,prb/released,ee_net/paper \
    --features svd,none --seeds 3 --out results
  prbench online --data prb/grqc --policies prb,neural_ucb --preset paper --grid --out results`,
		Args:    cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error { return p.check() },
		RunE:    cli.Action(func(cmd *cobra.Command, _ []string) error { return p.online(cmd) }),
	}
	f := cmd.Flags()
	f.StringSliceVar(&p.protocols, "protocol", []string{"paper"}, "paper, released, fresh")
	f.StringSliceVar(&p.features, "features", []string{"svd"}, "svd, none")
	p.flags(f, "prb,prb_greedy,ee_net,neural_greedy,default")
	return cmd
}

// flags are those of every experiment that is played round by round.
func (p *plan) flags(f *pflag.FlagSet, policies string) {
	f.StringSliceVar(&p.data, "data", nil, "folders of data sets")
	f.StringSliceVar(&p.policies, "policies", strings.Split(policies, ","), "policy or policy/preset")
	f.StringVar(&p.preset, "preset", "paper", "of policies that name none: "+strings.Join(model.Presets(), ", "))
	f.StringArrayVar(&p.set, "set", nil, "`name=value`, an option of every model; may be repeated")
	f.IntVar(&p.rounds, "rounds", paperRounds, "rounds of a run")
	f.IntVar(&p.seeds, "seeds", 10, "number of seeds")
	f.Uint64Var(&p.firstSeed, "first-seed", 1, "the first of the seeds")
	f.BoolVar(&p.grid, "grid", false, "choose the options that the paper chose (preset paper) by its grids, on 2,000 rounds of a seed of their own")
	f.IntVar(&p.workers, "workers", runtime.GOMAXPROCS(0), "runs at a time, up to the number of cores")
	f.StringVar(&p.out, "out", "", "folder for runs and results")
}

func (p *plan) check() error {
	switch {
	case len(p.data) == 0:
		return errors.New("--data DIR is missing")
	case p.out == "":
		return errors.New("--out DIR is missing")
	case p.rounds < 1:
		return fmt.Errorf("--rounds %d: at least 1 is wanted", p.rounds)
	case p.seeds < 1:
		return fmt.Errorf("--seeds %d: at least 1 is wanted", p.seeds)
	case p.workers < 1:
		return fmt.Errorf("--workers %d: at least 1 is wanted", p.workers)
	case p.firstSeed <= gridSeed && gridSeed < p.firstSeed+uint64(p.seeds):
		return fmt.Errorf("seed %d is that of grid searches", uint64(gridSeed))
	}
	_, err := p.experiment(nil)
	return err
}

// experiment is the plan, but for its arenas.
func (p *plan) experiment(log io.Writer) (*experiment, error) {
	set, err := parseSet(p.set)
	if err != nil {
		return nil, err
	}
	x := &experiment{options: set, rounds: p.rounds, grid: p.grid, workers: p.workers, out: p.out, log: log}
	for _, text := range p.policies {
		c, err := parseContender(text, p.preset)
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

func (p *plan) online(cmd *cobra.Command) error {
	x, err := p.experiment(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if x.arenas, err = p.arenas(); err != nil {
		return err
	}
	return x.playAndReport(cmd)
}

// arenas are all combinations of data, protocols and features.
func (p *plan) arenas() (all []arena, err error) {
	names := make(map[string]string)
	for _, folder := range p.data {
		set, err := readLinks(folder)
		if err != nil {
			return nil, err
		}
		if other, known := names[set.name]; known {
			return nil, fmt.Errorf("%s and %s have one name", other, folder)
		}
		names[set.name] = folder
		for _, name := range p.protocols {
			protocol, err := trial.ProtocolOf(name)
			if err != nil {
				return nil, err
			}
			for _, features := range p.features {
				if features != "svd" && features != "none" {
					return nil, fmt.Errorf("--features %s: accepted are svd and none", features)
				}
				all = append(all, arena{set, protocol, features})
			}
		}
	}
	return all, nil
}

// playAndReport plays what is missing, and makes tables of everything that is kept, also of what there is when the
// playing ends early.
func (x *experiment) playAndReport(cmd *cobra.Command) error {
	ctx, stop := cli.Interruptible(cmd.Context())
	defer stop()
	played := x.run(ctx)
	records, err := x.runs().records()
	if err != nil || len(records) == 0 {
		return errors.Join(played, err)
	}
	r, err := newReport(records)
	if err != nil {
		return errors.Join(played, err)
	}
	if err := r.write(x.out); err != nil {
		return errors.Join(played, err)
	}
	if played != nil {
		return played
	}
	if _, err := io.WriteString(cmd.OutOrStdout(), r.markdown()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "written: %s\n", filepath.Join(x.out, "results.json, table.md and regret curves"))
	return err
}
