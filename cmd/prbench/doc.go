// Command prbench repeats the experiments of "PageRank Bandits for Link Prediction" (Ban et al., NeurIPS 2024) with
// kith's models, and prints what it measured beside the figures that the paper prints.
//
// Every subcommand writes into the folder --out: results.json for programs, table.md for people, and regret curves as
// PNG and SVG where there are any.
//
// The exit code is 0 if all went well, 1 if something failed, 2 if the command line was wrong.
package main
