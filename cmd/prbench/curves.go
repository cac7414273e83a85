package main

import (
	"image/color"
	"io"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"kith/cmd/prbench/internal/trial"
)

// curvePoints is the maximum number of rounds at which a curve of regret is drawn.
const curvePoints = 200

// curveColors are the colors of the curves, which are distinct for most people with a color vision
// deficiency (after Okabe and Ito). Further curves have the same colors and are dashed.
var curveColors = []color.NRGBA{
	{0x3b, 0x82, 0xc4, 0xff}, {0x1a, 0x9e, 0x77, 0xff}, {0xb8, 0x6b, 0xb0, 0xff},
	{0xc0, 0x98, 0x10, 0xff}, {0x46, 0xa6, 0xc9, 0xff}, {0x8a, 0x8f, 0x98, 0xff},
}

// drawRegret draws the regret curves of a trial as SVG: for each entrant the mean over the seeds
// with a band of one standard deviation.
func drawRegret(w io.Writer, r *trial.Result, title string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, "round", "cumulative regret"
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	for i, name := range r.Names() {
		if err := addCurve(p, i, name, meanCurve(r.Of(name), r.Rounds)); err != nil {
			return err
		}
	}
	svg, err := p.WriterTo(680*vg.Points(1), 450*vg.Points(1), "svg")
	if err == nil {
		_, err = svg.WriteTo(w)
	}
	return err
}

// addCurve adds the i-th curve and its band to a plot.
func addCurve(p *plot.Plot, i int, name string, c curve) error {
	line, err := plotter.NewLine(c.mean)
	if err != nil {
		return err
	}
	line.Color, line.Width = curveColors[i%len(curveColors)], vg.Points(1.5)
	if i >= len(curveColors) {
		line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	if outline := c.band(); outline != nil {
		band, err := plotter.NewPolygon(outline)
		if err != nil {
			return err
		}
		fill := curveColors[i%len(curveColors)]
		fill.A = 0x2e
		band.Color, band.LineStyle.Width = fill, 0
		p.Add(band)
	}
	p.Add(line)
	p.Legend.Add(name, line)
	return nil
}

// curve is the mean of curves of equal length and, if there are several, their standard deviation
// at each point.
type curve struct {
	mean      plotter.XYs
	deviation []float64
}

// band returns the outline of the area within one standard deviation of the mean, or nil for a
// single curve.
func (c curve) band() (outline plotter.XYs) {
	if c.deviation == nil {
		return nil
	}
	for i, at := range c.mean {
		outline = append(outline, plotter.XY{X: at.X, Y: at.Y + c.deviation[i]})
	}
	for i := len(c.mean) - 1; i >= 0; i-- {
		outline = append(outline, plotter.XY{X: c.mean[i].X, Y: c.mean[i].Y - c.deviation[i]})
	}
	return outline
}

// meanCurve returns the mean of curves of equal length, which end at the given round.
func meanCurve(curves []trial.Curve, rounds int) (c curve) {
	for i := range curves {
		curves[i] = curves[i].Thin(curvePoints)
	}
	n := len(curves[0].Regret)
	regret := make([]float64, len(curves))
	for i := range n {
		for k, one := range curves {
			regret[k] = float64(one.Regret[i])
		}
		c.mean = append(c.mean, plotter.XY{X: float64((i + 1) * rounds / n), Y: stat.Mean(regret, nil)})
		if len(curves) > 1 {
			c.deviation = append(c.deviation, stat.StdDev(regret, nil))
		}
	}
	return c
}
