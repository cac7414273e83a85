package main

import (
	"os"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/bench"
	"kith/cmd/prbench/internal/gen"
	"kith/cmd/prbench/internal/pagerank"
)

func main() { os.Exit(cli.Run(newRoot(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func newRoot() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "prbench EXPERIMENT",
		Short: "Repeat the experiments of the PageRank Bandits paper, and compare policies",
		Long: `Prbench repeats the experiments of "PageRank Bandits for Link Prediction" (Ban et
al., NeurIPS 2024) with kith's models, and prints its measurements next to the figures
of the paper. Prbench holdout compares the policies on your own graphs, and prbench
bench measures what kith takes.`,
		Example: `  prbench paper --data . --out results --quick
  prbench online --data prb/grqc,prb/facebook --policies prb,ee_net,default --out results
  prbench classify --data cora,citeseer --out classes
  prbench offline --data . --dataset cora --policies common_neighbors,pair_mix
  prbench holdout --data snap/facebook_combined.txt,cora --out results
  prbench cost --data prb/grqc
  prbench gen rmat --scale 20 --edges 16000000 > rmat.txt
  prbench bench load rmat.txt`,
	}, newPaper(), newOnline(), newClassify(), newOffline(), newHoldout(), newFeedback(), newTemporal(), newLate(), newKG(), newRecommend(), newKinds(), newLearn(), newLearnRelations(), newCost(), pagerank.New(), bench.New(), gen.New())
}
