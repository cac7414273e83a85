package main

import (
	"strings"

	"kith/db"
	"kith/db/edgelist"
)

// words returns kith's own names that match an expectation of the grammar after the text before.
func words(expected, before string) []string {
	switch expected {
	case "a policy":
		return db.Policies()
	case "an explorer":
		return []string{"squarecb", "epsilon_greedy"}
	case "an estimator":
		return []string{"ips", "snips", "dr"}
	case "a format":
		return formats()
	case "a setting":
		return []string{"max_rows", "model", "seed", "timeout"}
	case "a column":
		if begins(before, "NODES") {
			return []string{"node", "label", "edges", "degree"}
		}
		return []string{"source", "target", "rank", "score", "exploit", "explore", "ppr", "bound", "certain", "label", "degree"}
	case "an option":
		return options(before)
	}
	return nil
}

// options returns the options of a statement by its first words.
func options(before string) []string {
	walk := []string{"alpha", "beta", "cache", "center", "epsilon", "length", "norm", "seed", "seed_weight", "until"}
	for _, s := range []struct {
		beginning string
		options   []string
	}{
		{"PREDICT", walk},
		{"WHY", walk},
		{"RANK", []string{"alpha", "cache", "epsilon", "norm"}},
		{"CHOOSE", []string{"epsilon", "gamma", "seed"}},
		{"EVALUATE STREAM", []string{"plot", "points", "protocol", "rounds", "seed"}},
		{"EVALUATE PREDICT", walk},
		{"EVALUATE", []string{"max_reward", "min_reward"}},
		{"CREATE", []string{"preset", "seed", "classes", "blocks", "alpha", "norm", "offers", "width", "layers"}},
		{"TRAIN", []string{"deploy", "epochs", "folds", "negatives", "samples"}},
		{"LOAD EDGES", []string{"columns", "max_errors", "repeats", "source_label", "split", "target_label", "times"}},
		{"LOAD", []string{"keyless", "label", "max_errors"}},
	} {
		if begins(before, s.beginning) {
			return s.options
		}
	}
	return nil
}

// begins reports whether a statement begins with keywords, ignoring EXPLAIN and PROFILE.
func begins(statement, keywords string) bool {
	fields := strings.Fields(strings.ToUpper(statement))
	if len(fields) > 0 && (fields[0] == "EXPLAIN" || fields[0] == "PROFILE") {
		fields = fields[1:]
	}
	return strings.HasPrefix(strings.Join(fields, " ")+" ", keywords+" ")
}

// formats returns the names of the file formats.
func formats() (all []string) {
	for f := edgelist.SNAP; f <= edgelist.Folder; f++ {
		all = append(all, f.String())
	}
	return all
}
