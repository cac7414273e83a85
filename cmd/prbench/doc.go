// Command prbench measures kith's models. It repeats the experiments of "PageRank Bandits for Link Prediction" (Ban et
// al., NeurIPS 2024) and prints its measurements next to the figures of the paper. It also compares the policy default
// with all others after the training that a user runs.
//
//	prbench online      links round by round: cumulative regret
//	prbench classify    nodes round by round: cumulative regret
//	prbench offline     held-out links among fixed negatives: Hits@K
//	prbench holdout     hidden links of any graph, after training with no options: MRR and hits@10
//	prbench learn       the weights that a model begins with, from many graphs
//	prbench cost        seconds of a run by part
//	prbench ppr         PageRank on graphs of yours: lines for benchstat
//	prbench temporal    the next events of a stream: mean reciprocal rank, average precision
//
// # The folder --out
//
//	results.json   the figures, for programs          table.md   the same, for people
//	*.svg, *.png   regret curves, one picture for each table, with a band of one standard deviation
//	runs/          a file for each completed run: its settings, which determine its name, every option of its model,
//	               its regret at 200 rounds, its times, and a checksum
//	grid/          the same for the runs of grid searches
//
// A run of holdout has, instead of regret, MRR and hits@10 of a policy on one graph, seed and set of candidates. It
// has no pictures.
//
// Online, classify and holdout play the runs that are missing in runs, so an interrupted command can be repeated to
// continue. Their tables are made from all runs there. A file that is damaged, has the name of another run, or was
// made by models whose presets have other values is an error that names the file.
//
// # Holdout
//
// Holdout uses the code of EVALUATE PREDICT LINKS ... ON HOLDOUT: [db.Tx.Holdout] hides the edges of a seed, and each
// policy is trained once on the rest and asked for all sets of candidates. The first table has a row for each graph
// and set of candidates: the policy default, its ratios to the best other policy or prior, and its ratios to the best
// plain heuristic (common neighbours, Adamic-Adar, resource allocation, preferential attachment, PageRank). Rows are
// sorted by the smaller of the ratios of MRR and hits@10 to the best other policy, worst first. Tables of all policies
// follow, with the seconds of a training, including the preparations of the first question, and the milliseconds of a
// question.
//
// A policy is trained on all remaining edges. TRAIN itself leaves out a further share to compare the new version, and
// may not deploy a worse one; holdout asks the model that was trained. Candidates in a bipartite graph include nodes
// of the source's own kind, which heuristics of common neighbours rank first, so ratios to them are large there. The
// mean over the graphs of one kind is therefore printed too.
//
// Kept runs are compared with the current models only by their options. After a change of a model's code, remove its
// runs (rm OUT/runs/*-default-s*) or use another folder. Choose constants on other seeds (--first-seed 101) or graphs
// than the reported ones.
//
// INVARIANT: except for its times, a kept run is a function of its settings and of the revision it was built from.
//
// The exit code is 0 if the command succeeded, 1 if it failed, and 2 if the command line was wrong.
package main
