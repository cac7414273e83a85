package model

import (
	"math"

	"kith/model/column"
)

// sensitivity is the largest change of the log-odds of a ranker that a change of one of its inputs by 1 causes. A hidden
// unit changes by at most what its argument changes by, because the slope of a ReLU is 0 or 1.
func (r *ranker) sensitivity(input int) (sum float64) {
	hidden, output := &r.net.Dense[0], &r.net.Dense[1]
	for k, w := range hidden.W[input*hidden.Out:][:hidden.Out] {
		sum += math.Abs(float64(w) * float64(output.W[k]))
	}
	return math.Abs(r.level.Slope) * sum
}

// oddsError bounds the change of the log-odds from which a belief computes the score of the i-th pair, mᵀz + nu sqrt(zᵀCz),
// when its proximities change by their error. A change d of z changes the root by at most sqrt(dᵀCd), the norm of d by C,
// and that by at most the sum over the inputs of |d_k| sqrt(C_kk).
func (s *Scorer) oddsError(t *scratch, g Graph, p Pair, i int) (sum float64) {
	if math.IsInf(t.deviation, 1) {
		return t.deviation
	}
	b, c := s.belief, s.config
	add := func(input int, by float64) {
		deviation := 0.0
		if b.learned {
			deviation = math.Sqrt(max(0, float64(b.cov.Data[input*b.cov.Stride+input])))
		}
		sum += by * (math.Abs(float64(b.mean[input])) + c.Nu*deviation)
	}
	d, odds := t.Deviations(g, p, i, t.deviation), 0.0
	end, ranked := t.x.Cols, t.x.Cols-c.rankLen()
	change := func(col int, by float64) {
		by *= math.Abs(float64(b.scale[col]))
		add(col, by)
		if b.ranker != nil {
			odds += by * b.ranker.sensitivity(col-ranked)
		}
	}
	if c.Blocks&blockStructural != 0 {
		first := end - column.StructuralLen
		change(first+column.ColTo, d.To)
		change(first+column.ColFrom, d.From)
		change(first+column.ColShare, d.Share)
		end = first
	}
	if c.Blocks&blockTopology != 0 {
		change(end-column.TopologyLen+column.TopSpread, d.Spread)
	}
	if b.ranker != nil {
		add(len(b.mean)-1, odds)
	}
	return sum
}
