// Command prbench repeats the experiments of "PageRank Bandits for Link Prediction" (Ban et al., NeurIPS 2024) with
// kith's models, and prints what it measured beside the figures that the paper prints.
//
//	prbench online      links round by round: cumulative regret
//	prbench classify    nodes round by round: likewise
//	prbench offline     held-out links among fixed negatives: Hits@K
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
// Online and classify play what is not in runs, so that they go on where they were interrupted, and make their tables
// of all that is there. A file that was damaged, is called as another, or was made by models whose presets have other
// values is an error that names it.
//
// INVARIANT: but for its times, a kept run is a function of its settings and of the revision it was built from.
//
// The exit code is 0 if all went well, 1 if something failed, 2 if the command line was wrong.
package main
