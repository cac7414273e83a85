package draw

import (
	"io"

	"gonum.org/v1/gonum/stat"

	"kith/model/trial"
)

// points is the maximum number of rounds at which a curve of regret is drawn.
const points = 200

// Regret draws the regret curves of a trial: for each entrant the mean over the seeds with a band
// of one standard deviation.
func Regret(w io.Writer, r *trial.Result, o Options) error {
	var lines []Series
	for _, name := range r.Names() {
		lines = append(lines, outline(name, r.Of(name), r.Rounds))
	}
	return Curve(w, lines, "round", "cumulative regret", o)
}

// outline returns the mean of curves of equal length and, if there are several, the band around it.
func outline(name string, curves []trial.Curve, rounds int) Series {
	s := Series{Name: name}
	for i := range curves {
		curves[i] = curves[i].Thin(points)
	}
	n := len(curves[0].Regret)
	regret := make([]float64, len(curves))
	for i := range n {
		for k, c := range curves {
			regret[k] = float64(c.Regret[i])
		}
		s.Points = append(s.Points, Point{float64((i + 1) * rounds / n), stat.Mean(regret, nil)})
		if len(curves) > 1 {
			s.Band = append(s.Band, stat.StdDev(regret, nil))
		}
	}
	return s
}
