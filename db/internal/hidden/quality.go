package hidden

import "kith/model"

// Answer has the scores of the candidates of a source.
type Answer struct {
	Found  []float64 // scores of the links that are candidates
	Others []float64 // scores of the candidates that are no links
	// FoundExploit and OthersExploit are the estimated rewards for Found and Others.
	FoundExploit, OthersExploit []float64
}

// Measures say how well links are found.
type Measures struct {
	Links, Reached, Others, Pairs int
	MRR, AUC                      float64
	Hits                          []Hits
	Probabilities                 bool // whether all estimated rewards are from 0 to 1
	ECE                           float64
	Bins                          []model.Bin
}

// Hits says how many links are among the K best.
type Hits struct {
	K     int
	Share float64
	Short int // number of sources with links and fewer than K other candidates
}

// Bins is the number of bins of a calibration.
const Bins = 10

// numHits is the number of values of K.
const numHits = 4

// hitsAt returns the values of K of an evaluation.
func hitsAt() [numHits]int { return [...]int{10, 20, 50, 100} }

// Quality sums how well hidden links are found, source by source.
type Quality struct {
	links, reached, others, pairs int
	hits                          [numHits]float64 // number of links found at each K
	short                         [numHits]int
	reciprocal                    float64 // sum of the reciprocal ranks of the links
	ordered                       float64 // sum of the AUC over the links that could be compared
	compared                      int
	calibration                   model.Calibration // of the estimated rewards
	noProbabilities               bool              // some estimated reward is not between 0 and 1, or none is a probability
}

// Add adds an answer for a source with a number of links.
func (q *Quality) Add(links int, a Answer) {
	found, others := float64(len(a.Found)), len(a.Others)
	q.links += links
	q.reached += len(a.Found)
	q.others += others
	q.pairs += len(a.Found) * others
	for i, k := range hitsAt() {
		q.hits[i] += found * model.HitsAt(k, a.Found, a.Others)
		if found > 0 && others < k {
			q.short[i]++
		}
	}
	q.reciprocal += found * model.MRR(a.Found, a.Others)
	if others > 0 {
		q.ordered += found * model.AUC(a.Found, a.Others)
		q.compared += len(a.Found)
	}
	q.addEstimates(a.FoundExploit, true)
	q.addEstimates(a.OthersExploit, false)
}

// addEstimates adds the estimated rewards of candidates that are links, or of candidates that are
// not.
func (q *Quality) addEstimates(exploit []float64, links bool) {
	for _, p := range exploit {
		if q.noProbabilities = q.noProbabilities || !(p >= 0 && p <= 1); q.noProbabilities {
			return
		}
		q.calibration.Add(p, links)
	}
}

// Miss adds links that no answer has.
func (q *Quality) Miss(links int) { q.links += links }

// NoProbabilities says that the estimated rewards are no probabilities.
func (q *Quality) NoProbabilities() { q.noProbabilities = true }

// Measures returns the measures of what was added.
func (q *Quality) Measures() Measures {
	mean := func(sum float64, n int) float64 { return sum / max(float64(n), 1) }
	m := Measures{
		Links: q.links, Reached: q.reached, Others: q.others, Pairs: q.pairs,
		MRR: mean(q.reciprocal, q.links), AUC: mean(q.ordered, q.compared), Probabilities: !q.noProbabilities,
	}
	for i, k := range hitsAt() {
		m.Hits = append(m.Hits, Hits{K: k, Share: mean(q.hits[i], q.links), Short: q.short[i]})
	}
	if m.Probabilities {
		m.ECE, m.Bins = q.calibration.Error(Bins), q.calibration.Bins(Bins)
	}
	return m
}
