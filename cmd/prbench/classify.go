package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/model/trial"
)

func newClassify() *cobra.Command {
	p := plan{classify: true}
	reveal := true
	cmd := &cobra.Command{
		Use:   "classify --data DIR,... --out DIR",
		Short: "Classify nodes round by round: cumulative regret",
		Long: `Classify plays policies on the labels of a graph's nodes, round by round: for a random node
a policy chooses among the classes, each of which is represented by a node, learns whether
it was right, and continues. Regret is the number of rounds in which it was wrong. The
graph starts without edges; new edges lead from a node to its class.

A data set is a folder in the layout of the Open Graph Benchmark: raw/node-label.csv.gz,
raw/node-feat.csv.gz, and raw/edge.csv.gz, whose edges are not used.

A policy that was wrong is shown the right class, whose edge is added to the graph, as in
the paper's text; with --reveal=false it is not, as in the paper's listing (protocol
classify-blind). Policies that learn see the node's features in the place of the candidate
class. Runs are kept, and tables made, as by prbench online.`,
		Example: `  prbench classify --data cora,citeseer --out results
  prbench classify --data cora --policies prb_n,ee_net --seeds 3 --reveal=false --out results`,
		Args:    cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error { return p.checkKept() },
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			x, err := p.experiment(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if x.arenas, err = p.classArenas(reveal); err != nil {
				return err
			}
			return x.playAndReport(ctx, cmd)
		}),
	}
	f := cmd.Flags()
	p.playerFlags(f, "prb_n,prb_greedy,ee_net,neural_greedy,neural_ucb,neural_ts", "paper")
	f.StringSliceVar(&p.features, "features", []string{"attributes"}, "attributes, none")
	f.BoolVar(&reveal, "reveal", true, "show the right class to a policy that was wrong")
	p.seedFlags(f)
	return cmd
}

// classArenas returns all combinations of data and features.
func (p *plan) classArenas(reveal bool) (all []arena, err error) {
	sets, err := p.read(readClasses)
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
		protocol := trial.Classify(len(set.classes))
		if !reveal {
			protocol.Name, protocol.Reveal = "classify-blind", false
		}
		for _, features := range p.features {
			if features != "attributes" && features != "none" {
				return nil, fmt.Errorf("--features %s: accepted are attributes and none", features)
			}
			all = append(all, arena{set, protocol, features})
		}
	}
	return all, nil
}

// readClasses reads the labels and features of nodes from a folder in the layout of the Open Graph Benchmark.
func readClasses(folder string) (*dataset, error) {
	g, err := readOGB(os.DirFS(folder))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	if g.labels == nil || g.features == nil {
		return nil, fmt.Errorf("%s: nodes have no labels, or no features", folder)
	}
	classes := 0
	for u, l := range g.labels {
		if l >= g.nodes {
			return nil, fmt.Errorf("%s: node %d of %d has label %d", folder, u, g.nodes, l)
		}
		classes = max(classes, l+1)
	}
	if classes < 2 {
		return nil, fmt.Errorf("%s: nodes are of %d classes", folder, classes)
	}
	s := &dataset{name: filepath.Base(filepath.Clean(folder)), featureLen: len(g.features[0])}
	if s.data, err = trial.Classes(g.labels, classes, g.features); err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	s.classes = s.data.Offered
	s.sum, err = sumFiles(filepath.Join(folder, "raw", "node-label.csv.gz"), filepath.Join(folder, "raw", "node-feat.csv.gz"))
	return s, err
}

// sumFiles returns a checksum of the content of files.
func sumFiles(names ...string) (string, error) {
	sum := sha256.New()
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(sum, f)
		f.Close()
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}
