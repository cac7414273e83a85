package column

// Family is a group of columns that describe the same aspect of a pair.
type Family int

// Families. The zero Family is none of them.
const (
	General        Family = iota + 1 // equal for all candidates of a source
	Shared                           // common neighbours
	Walks                            // PageRank
	Paths                            // paths of three edges
	Rivals                           // rank among the rivals; see rivals.go
	Back                             // edges and short paths in the opposite direction
	TargetDegree                     // number of edges of the target
	TargetMutual                     // share of its edges in both directions
	AlikeLinks                       // similarity of rows of the graph
	AlikeFeatures                    // similarity of feature vectors
	TargetFeatures                   // feature vector of the target
	Outcomes                         // earlier decisions and their rewards
	Times                            // times of edges
	numFamilies
)

// Words describes a family to people who do not know the model. {source} and {target} are
// placeholders for the ends of the pair. The result is "" for General, which does not describe the
// pair.
func (f Family) Words() string {
	return [numFamilies]string{
		Shared:         "the nodes that both are linked to",
		Walks:          "how often random walks lead from one to the other",
		Paths:          "longer ways from one to the other",
		Rivals:         "how the link compares with the other candidates",
		Back:           "links and short ways back from {target} to {source}",
		TargetDegree:   "how many links {target} has",
		TargetMutual:   "how many of the links of {target} lead both ways",
		AlikeLinks:     "how alike the links of both are",
		AlikeFeatures:  "how alike the features of both are",
		TargetFeatures: "the features of {target}",
		Outcomes:       "what became of earlier suggestions of {target}",
		Times:          "when links were made",
	}[f]
}
