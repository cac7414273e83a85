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

// oddsSlopes bound by how much the log-odds from which a belief computes scores change when a column changes by 1, for the
// columns that are read from proximities.
type oddsSlopes struct{ to, from, share, spread float64 }

// oddsSlopes returns the slopes of mᵀz + nu sqrt(zᵀCz) for contexts of the given width. A change d of z changes the root by
// at most sqrt(dᵀCd), the norm of d by C, and that by at most the sum over the inputs of |d_k| sqrt(C_kk).
func (s *Scorer) oddsSlopes(width int) (of oddsSlopes) {
	b, c := s.belief, s.config
	input := func(k int) float64 {
		deviation := 0.0
		if b.learned {
			deviation = math.Sqrt(max(0, float64(b.cov.Data[k*b.cov.Stride+k])))
		}
		return math.Abs(float64(b.mean[k])) + c.Nu*deviation
	}
	slope := func(col int) float64 {
		by := input(col)
		if b.ranker != nil {
			by += b.ranker.sensitivity(col-(width-c.rankLen())) * input(len(b.mean)-1)
		}
		return by * math.Abs(float64(b.scale[col]))
	}
	end := width
	if c.Blocks&blockStructural != 0 {
		end -= column.StructuralLen
		of.to, of.from, of.share = slope(end+column.ColTo), slope(end+column.ColFrom), slope(end+column.ColShare)
	}
	if c.Blocks&blockTopology != 0 {
		of.spread = slope(end - column.TopologyLen + column.TopSpread)
	}
	return of
}

// error bounds the change of the log-odds of a pair whose columns may change by d.
func (of oddsSlopes) error(d column.Deviations) float64 {
	if math.IsInf(d.To, 1) {
		return d.To
	}
	return of.to*d.To + of.from*d.From + of.share*d.Share + of.spread*d.Spread
}
