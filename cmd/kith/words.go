package main

import (
	"strings"

	"kith/db"
	"kith/db/edgelist"
)

// words lists what may stand where the grammar expects one of the names that kith itself has given,
// behind what is before it.
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

// options lists the options of a statement by how it begins.
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

// begins reports whether a statement, but for EXPLAIN and PROFILE, begins with some keywords.
func begins(statement, keywords string) bool {
	fields := strings.Fields(strings.ToUpper(statement))
	if len(fields) > 0 && (fields[0] == "EXPLAIN" || fields[0] == "PROFILE") {
		fields = fields[1:]
	}
	return strings.HasPrefix(strings.Join(fields, " ")+" ", keywords+" ")
}

// formats lists what the format of a file may be called.
func formats() (all []string) {
	for f := edgelist.SNAP; f <= edgelist.Folder; f++ {
		all = append(all, f.String())
	}
	return all
}
