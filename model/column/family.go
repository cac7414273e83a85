package column

// Family is a group of numbers of a pair that mean much the same to a reader.
type Family int

// Families. A column without one has the zero Family, which is none of them.
const (
	General        Family = iota + 1 // it tells the same of all candidates, as what is about the source alone does
	Shared                           // common neighbours
	Walks                            // PageRank
	Paths                            // paths of three edges
	Rivals                           // rank among the other candidates
	Back                             // edges and short paths in the other direction
	TargetDegree                     // number of edges of the target
	TargetMutual                     // share of its edges in both directions
	AlikeLinks                       // similarity of rows of the graph
	AlikeFeatures                    // similarity of feature vectors
	TargetFeatures                   // feature vector of the target
	Outcomes                         // earlier decisions and their rewards
	Times                            // times of edges
	numFamilies
)

// Words says what the numbers of a family tell, to people who know no model. {source} and {target} stand for the ends of
// the pair. The words of General are "": it says nothing about the pair.
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
