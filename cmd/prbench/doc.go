// Command prbench measures kith's models. It repeats the experiments of "PageRank Bandits for Link Prediction" (Ban et al.,
// NeurIPS 2024) and prints its measurements with the figures of the paper, and it compares the policy default with all
// others after the training that a user runs.
//
//	prbench online      links round by round: cumulative regret
//	prbench classify    nodes round by round: likewise
//	prbench offline     held-out links among fixed negatives: Hits@K
//	prbench holdout     hidden links of any graph, after training with no options: MRR and hits@10
//	prbench learn       the weights that a model begins with, from many graphs
//	prbench cost        seconds of a run by part
//	prbench temporal    the next events of a stream: mean reciprocal rank, average precision
//
// # The folder --out
//
//	results.json   the figures, for programs          table.md   the same, for people
//	*.svg, *.png   regret curves, one a table, with a band of one standard deviation
//	runs/          a file for each run that was played to its end: its settings, by which it is called, every option
//	               of its model, its regret at 200 rounds, what it took, and a sum of all that
//	grid/          likewise, the runs of grid searches
//
// A run of holdout has, in the place of regret, MRR and hits@10 of a policy on one graph, seed and set of candidates;
// there are no pictures.
//
// Online, classify and holdout play what is not in runs, so that they go on where they were interrupted, and make their tables
// of all that is there. A file that was damaged, is called as another, or was made by models whose presets have other
// values is an error that names it.
//
// # Holdout
//
// Holdout goes through the same code as EVALUATE PREDICT LINKS ... ON HOLDOUT: [db.Tx.Holdout] hides the edges of a seed, and
// each policy is trained on the rest once and asked for all sets of candidates. The first table has a row for each graph and
// set of candidates: the policy default, its ratios to the best other policy or prior, and its ratios to the best plain
// heuristic (common neighbours, Adamic-Adar, resource allocation, preferential attachment, PageRank). Rows are sorted by the
// smaller of the ratios of MRR and hits@10 to the best other, the worst first. Tables of all policies follow, with the seconds
// of a training, the preparations of the first question included, and the milliseconds of a question.
//
// A policy is trained on all edges that are left. TRAIN itself leaves out a share more, to compare the new version, and may
// keep a worse one from answering; holdout asks the model that was trained. Candidates in a bipartite
// graph include nodes of the source's own kind, which heuristics of common neighbours put first, so ratios to them are large
// there, and the mean over the graphs of one kind is printed too.
//
// Kept runs are compared with the models of today by their options only. After a change of a model's code, remove its runs
// (rm OUT/runs/*-default-s*) or take another folder. Choose constants on other seeds (--first-seed 101) or graphs than those
// that are reported.
//
// INVARIANT: but for its times, a kept run is a function of its settings and of the revision it was built from.
//
// The exit code is 0 if all went well, 1 if something failed, 2 if the command line was wrong.
package main
