package query

// Reads reports whether a statement only reads the database: it changes nothing, accesses no file and plays no
// policies.
func Reads(stmt Statement) bool {
	switch s := stmt.(type) {
	case *Explain:
		return !s.Profile || Reads(s.Statement)
	case *EvaluateHoldout:
		return s.Split == nil
	case *Predict, *Rank, *Path, *Why, *Neighbors, *Nodes, *EvaluateLog, *Warm, *Check,
		*ShowStats, *ShowLabels, *ShowPolicies, *Help, *ShowModels, *ShowVersions, *ShowCache, *ShowDecisions, *ShowSettings, *DescribeModel, *DescribeNode, *DescribeDecision:
		return true
	}
	return false
}
