package query

import "kith/query/parse"

// reads reports whether a statement only reads the database: it changes nothing, accesses no file and plays no
// policies.
func reads(stmt parse.Statement) bool {
	switch s := stmt.(type) {
	case *parse.Explain:
		return !s.Profile || reads(s.Statement)
	case *parse.EvaluateHoldout:
		return s.Split == nil
	case *parse.Predict, *parse.Rank, *parse.Path, *parse.Why, *parse.Neighbors, *parse.Nodes, *parse.EvaluateLog, *parse.Warm, *parse.Check,
		*parse.ShowStats, *parse.ShowLabels, *parse.ShowPolicies, *parse.Help, *parse.ShowModels, *parse.ShowVersions, *parse.ShowCache, *parse.ShowDecisions, *parse.ShowSettings, *parse.DescribeModel, *parse.DescribeNode, *parse.DescribeDecision:
		return true
	}
	return false
}
