package main

import (
	"io"

	"gonum.org/v1/gonum/stat"

	"kith/cmd/internal/chart"
	"kith/cmd/prbench/internal/trial"
	"kith/query/draw"
)

// curvePoints is the maximum number of rounds at which a curve of regret is drawn.
const curvePoints = 200

// drawRegret draws the regret curves of a trial in the format "svg" or "png": for each entrant the
// mean over the seeds with a band of one standard deviation.
func drawRegret(w io.Writer, r *trial.Result, title, format string) error {
	o := draw.Options{Title: title, Standalone: true, Width: 680, Height: 450}
	if format != "svg" {
		o.Render = func(w io.Writer, p *draw.Picture) error { return chart.Render(w, p, format) }
	}
	var lines []draw.Series
	for _, name := range r.Names() {
		lines = append(lines, meanCurve(name, r.Of(name), r.Rounds))
	}
	return draw.Curve(w, lines, "round", "cumulative regret", o)
}

// meanCurve returns the mean of curves of equal length and, if there are several, the band around
// it.
func meanCurve(name string, curves []trial.Curve, rounds int) draw.Series {
	s := draw.Series{Name: name}
	for i := range curves {
		curves[i] = curves[i].Thin(curvePoints)
	}
	n := len(curves[0].Regret)
	regret := make([]float64, len(curves))
	for i := range n {
		for k, c := range curves {
			regret[k] = float64(c.Regret[i])
		}
		s.Points = append(s.Points, draw.Point{X: float64((i + 1) * rounds / n), Y: stat.Mean(regret, nil)})
		if len(curves) > 1 {
			s.Band = append(s.Band, stat.StdDev(regret, nil))
		}
	}
	return s
}
