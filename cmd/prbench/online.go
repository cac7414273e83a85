package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/model/trial"
)

func newOnline() *cobra.Command {
	var p plan
	cmd := &cobra.Command{
		Use:   "online --data DIR,... --out DIR",
		Short: "Predict links round by round: cumulative regret",
		Long: `Online plays policies on the true links of a data set, round by round: a policy chooses
among candidate links, learns the outcome, and continues. All policies of a seed see the
same rounds. Regret is the number of rounds in which a link was among the candidates and
another candidate was chosen.

A data set is a folder as published by the paper's authors: entry.npy with rows (node,
node, 1 or -1) and features.npy, or user_features.npy and item_features.npy.

Protocols:
  paper     100 candidates, up to 10 of them linked to the serving node
  released  ten unrelated pairs of the file, one of them linked, as in the authors' program
  fresh     as paper, without pairs that the policy has won before

Policies are those of kith's models, as policy or policy/preset; --preset is the preset of
the others. The policy default has preset default. Features svd are the vectors of the
folder, which were computed from all links, so they leak the answer. With none, models
see only the links that were revealed.

Completed runs are kept in --out, so an interrupted command can be repeated to continue,
and a command with more policies or seeds adds to the tables. Tables and curves are made
from all runs in --out.`,
		Example: `  prbench online --data prb/grqc,prb/facebook --policies prb,prb_greedy,default --out results
  prbench online --data prb/grqc --protocol paper,released --policies prb/paper,prb/released,ee_net/paper \
    --features svd,none --seeds 3 --out results
  prbench online --data prb/grqc --policies prb,neural_ucb --preset paper --grid --out results`,
		Args:    cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error { return p.checkKept() },
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			x, err := p.experiment(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if x.arenas, err = p.linkArenas(); err != nil {
				return err
			}
			return x.playAndReport(ctx, cmd)
		}),
	}
	p.playerFlags(cmd.Flags(), "prb,prb_greedy,ee_net,neural_greedy,default", "paper")
	p.linkFlags(cmd.Flags(), "paper")
	p.seedFlags(cmd.Flags())
	return cmd
}

// linkArenas returns all combinations of data, protocols and features.
func (p *plan) linkArenas() (all []arena, err error) {
	sets, err := p.read(readLinks)
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
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
