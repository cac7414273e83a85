package rules

import (
	"math"
	"slices"
	"sort"
)

// Columns of the evidence, in order.
const (
	colAll = iota
	colNoisy
	colBest
	colSecond
	colRules
	colOne
	colTwo
	colTwoAll
	colThree
	colThreeAll
	colPaths
	colAgainst
	colAgainstMost
	colAlike
	colAlikeBest
	colAlikeMean
	colShared
	colSharedBest
	colFrequency
	colInRange
	colDegree
	colJoined
	colMutual
	colRank
	colRankBy
	colSourceDegree
	colKnown
	colEdges
	colPerSource
	colPerTarget
	colProfile
	colNoisyRank // of the candidates of the question
	colAlikeRank
	colSharedRank
	colFrequencyRank
	colRankRank
	colProfileRank
	colNoisyPart // of the largest of the question
	colAlikePart
	colCandidates
	Len // number of columns
)

// KnownColumn is the column of the logarithm of the number of targets that the source is linked to.
const KnownColumn = colKnown

// Peculiar returns the columns whose values are peculiar to a graph or a relation: what is much of
// one is little of another.
func Peculiar() []int {
	return []int{colFrequency, colDegree, colRank, colRankBy, colSourceDegree, colKnown, colEdges, colPerSource, colPerTarget, colCandidates}
}

// names describes the columns.
var names = [Len]string{
	colAll: "rules, all", colNoisy: "rules, best five", colBest: "best rule", colSecond: "second rule", colRules: "number of rules",
	colOne: "best rule of one edge", colTwo: "best rule of two edges", colTwoAll: "rules of two edges", colThree: "best rule of three edges",
	colThreeAll: "rules of three edges", colPaths: "paths of rules", colAgainst: "rules against", colAgainstMost: "rule against, most", colAlike: "nodes alike", colAlikeBest: "nodes alike, best",
	colAlikeMean: "nodes alike, mean", colShared: "like known targets", colSharedBest: "like known targets, best",
	colFrequency: "frequency as a target", colInRange: "has been a target", colDegree: "edges of the target", colJoined: "joined otherwise",
	colMutual: "an edge back", colRank: "PageRank", colRankBy: "PageRank by the relation", colSourceDegree: "edges of the source",
	colKnown: "known targets of the source", colEdges: "edges of the relation", colPerSource: "targets of a source", colPerTarget: "sources of a target",
	colProfile: "relations of the target", colNoisyRank: "place by rules", colAlikeRank: "place by nodes alike", colSharedRank: "place by known targets",
	colFrequencyRank: "place by frequency", colRankRank: "place by PageRank", colProfileRank: "place by relations", colNoisyPart: "share by rules",
	colAlikePart: "share by nodes alike", colCandidates: "candidates",
}

// Names returns the names of the columns.
func Names() []string { return slices.Clone(names[:]) }

// Tells returns what a column tells of a link, to people who know no model, where {source} and
// {target} stand for the ends; "" if it tells nothing by itself.
func Tells(col int) string {
	switch col {
	case colAll, colNoisy, colBest, colSecond, colRules, colOne, colTwo, colTwoAll, colThree, colThreeAll, colPaths, colNoisyRank, colNoisyPart:
		return "the rules that lead from {source} to {target}"
	case colAgainst, colAgainstMost:
		return "the rules that speak against a link from {source} to {target}"
	case colAlike, colAlikeBest, colAlikeMean, colAlikeRank, colAlikePart:
		return "what nodes like {source} are linked to"
	case colShared, colSharedBest, colSharedRank:
		return "how alike {target} and the known targets of {source} are"
	case colFrequency, colInRange, colFrequencyRank, colDegree, colProfile, colProfileRank:
		return "how often {target} and nodes of its kind are targets"
	case colJoined, colMutual:
		return "the other edges between {source} and {target}"
	case colRank, colRankBy, colRankRank:
		return "how often random walks lead from {source} to {target}"
	}
	return ""
}

// kinds of evidence that places are made of: see value.
const (
	byRules = iota
	byAlike
	byShared
	byFrequency
	byRank
	byProfile
	kinds
)

// value returns the evidence of a kind.
func (f *found) value(kind int) float32 {
	switch kind {
	case byRules:
		return f.noisy
	case byAlike:
		return f.alike.sum
	case byShared:
		return f.shared.sum
	case byFrequency:
		return f.frequency
	case byRank:
		return f.rank
	}
	return f.profile
}

// log returns log(x + floor).
func log(x float32, floor float64) float32 { return float32(math.Log(float64(x) + floor)) }

// logit returns the log-odds of a confidence, -8 for 0.
func logit(c float32) float32 {
	if c <= 0 {
		return -8
	}
	return float32(math.Log(float64(c) / float64(1-c+1e-4)))
}

// compare orders the evidence of the candidates.
func (r *Reader) compare() {
	for kind := range kinds {
		all := r.order[kind][:0]
		for i := range r.found {
			all = append(all, r.found[i].value(kind))
		}
		slices.Sort(all)
		r.order[kind], r.largest[kind] = all, 0
		if len(all) > 0 {
			r.largest[kind] = max(0, all[len(all)-1])
		}
	}
}

// place returns the logarithm of the place of a value among the candidates, the largest first.
// Equal values share the mean place.
func (r *Reader) place(kind int, value float32) float32 {
	all := r.order[kind]
	from, found := slices.BinarySearch(all, value)
	end := from
	if found {
		end += sort.Search(len(all)-from, func(i int) bool { return all[from+i] > value })
	}
	greater := len(all) - end
	return r.placeLog(2*greater + max(0, end-from-1))
}

// placeLog returns log(1 + halves/2). It keeps the values for further questions.
func (r *Reader) placeLog(halves int) float32 {
	for k := len(r.placeLogs); k <= halves; k++ {
		r.placeLogs = append(r.placeLogs, float32(math.Log(1+float64(k)/2)))
	}
	return r.placeLogs[halves]
}

// complete reads the rows of the candidates from number i: how often each is a target, how many
// edges it has, and how its relations compare with the relations of the targets.
func (r *Reader) complete(i int) {
	back := r.g.Inverse(r.head)
	for ; i < len(r.found); i++ {
		f := &r.found[i]
		for _, c := range f.best[:min(noisyOr, f.rules)] {
			f.noisy += evidence(c)
		}
		sum, n := 0.0, 0.0
		for d, row := range r.g.Rows(r.nodes.nodes[i]) {
			f.degree += len(row)
			if d == back {
				f.frequency = float32(len(row))
				continue
			}
			if int(d) < len(r.profile) {
				sum += r.profile[d]
			}
			n++
		}
		if n > 0 {
			f.profile = float32(sum / (n + 0.5))
		}
	}
}

// readProfile reads how much more often the targets of the head have edges of each direction than
// nodes have on average, as a logarithm.
func (r *Reader) readProfile() {
	r.profile = r.profile[:0]
	for d, share := range r.set.profile(r.head) {
		base := r.set.counts(Direction(d)).Sources / float64(max(1, r.g.NumNodes()))
		r.profile = append(r.profile, math.Log((float64(share)+0.01*base+1e-4)/(base+1e-4)))
	}
}

// readJoined counts the edges that join the source with candidates.
func (r *Reader) readJoined() {
	back := r.g.Inverse(r.head)
	for d, row := range r.g.Rows(r.source) {
		for _, y := range row {
			if i := r.nodes.find(y); i >= 0 {
				r.found[i].joined++
				r.found[i].mutual = r.found[i].mutual || d == back
			}
		}
	}
}

// Promise returns the best place of each candidate by a kind of evidence, as a logarithm.
func (r *Reader) Promise() []float32 {
	all := make([]float32, r.gathered)
	for i := range all {
		f := &r.found[i]
		all[i] = min(r.place(byRules, f.noisy), r.place(byAlike, f.alike.sum), r.place(byShared, f.shared.sum), r.place(byFrequency, f.frequency)+0.5)
	}
	return all
}

// Columns writes the columns of the candidate with number i to x.
func (r *Reader) Columns(i int, x []float32) {
	f := &r.found[i]
	copy(x, r.common[:])
	x[colAll], x[colNoisy] = log(f.all, 1e-3), log(f.noisy, 1e-3)
	x[colBest], x[colSecond], x[colRules] = logit(f.best[0]), logit(f.best[1]), log(float32(f.rules), 1)
	x[colOne], x[colTwo], x[colThree] = logit(f.top[0]), logit(f.top[1]), logit(f.top[2])
	x[colTwoAll], x[colThreeAll], x[colPaths] = log(f.two, 1e-3), log(f.long, 1e-3), log(f.paths, 1)
	x[colAgainst], x[colAgainstMost] = min(f.against, mostDoubt), f.doubt
	x[colAlike], x[colAlikeBest], x[colAlikeMean] = log(f.alike.sum, 1e-3), logit(f.alike.best), log(f.alike.mean, 1e-3)
	x[colShared], x[colSharedBest] = log(f.shared.sum, 1e-3), logit(f.shared.best)
	x[colFrequency] = float32(math.Log((float64(f.frequency) + 0.1) / (r.set.counts(r.head).Edges + 10)))
	x[colInRange], x[colMutual] = flag(f.frequency > 0), flag(f.mutual)
	x[colDegree], x[colJoined] = log(float32(f.degree), 1), log(float32(f.joined), 1)
	x[colRank], x[colRankBy] = log(max(f.rank, 1e-6), 0), log(max(f.rankBy, 1e-6), 0)
	x[colProfile] = f.profile
	for kind, col := range [kinds]int{colNoisyRank, colAlikeRank, colSharedRank, colFrequencyRank, colRankRank, colProfileRank} {
		x[col] = r.place(kind, f.value(kind))
	}
	x[colNoisyPart], x[colAlikePart] = f.noisy/(r.largest[byRules]+1e-3), f.alike.sum/(r.largest[byAlike]+1e-3)
}

// readCommon reads the columns that are the same for all candidates of the question.
func (r *Reader) readCommon() {
	x, of, back := r.common[:], r.set.counts(r.head), r.set.counts(r.g.Inverse(r.head))
	x[colSourceDegree], x[colKnown] = log(float32(r.degree), 1), log(float32(r.known), 1)
	x[colEdges] = float32(math.Log(1 + of.Edges))
	x[colPerSource], x[colPerTarget] = float32(math.Log((1+of.Edges)/(1+of.Sources))), float32(math.Log((1+of.Edges)/(1+back.Sources)))
	x[colCandidates] = log(float32(r.gathered), 1)
}

func flag(b bool) float32 {
	if b {
		return 1
	}
	return 0
}
