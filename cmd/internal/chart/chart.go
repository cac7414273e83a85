// Package chart draws the regret curves of trials.
package chart

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"kith/model/trial"
)

// points is the maximum number of rounds at which a curve is drawn.
const points = 200

// Write writes the regret curves of a result in the format "svg" or "png": for each entrant the mean over the seeds with
// a shaded standard deviation.
func Write(w io.Writer, r *trial.Result, title, format string) error {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text, p.Y.Label.Text = "round", "cumulative regret"
	p.Legend.Top, p.Legend.Left = true, true
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(roundTicks), plot.TickerFunc(roundTicks)
	p.Add(plotter.NewGrid())
	for i, name := range r.Names() {
		mean, band := outline(r.Of(name), r.Rounds)
		if err := drawEntrant(p, name, mean, band, i); err != nil {
			return fmt.Errorf("plot %s: %w", name, err)
		}
	}
	p.X.Min, p.Y.Min = 0, 0
	p.X.Max *= 1.04 // room for the last label
	to, err := p.WriterTo(18*vg.Centimeter, 12*vg.Centimeter, format)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	if _, err := to.WriteTo(w); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// roundTicks marks four to ten multiples of 1, 2 or 5 times a power of ten.
func roundTicks(low, high float64) (ticks []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10(max(high-low, 1))))
	for _, part := range []float64{0.5, 0.4} { // 10 -> 5 -> 2
		if (high-low)/step < 4 {
			step *= part
		}
	}
	for v := math.Ceil(low/step) * step; v <= high; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', -1, 64)})
	}
	return ticks
}

// drawEntrant adds the mean of an entrant's curves and the band around it in the i-th style. The band is left out if it has no
// points.
func drawEntrant(p *plot.Plot, name string, mean, band plotter.XYs, i int) error {
	c := plotutil.Color(i)
	if len(band) > 0 {
		area, err := plotter.NewPolygon(band)
		if err != nil {
			return err
		}
		area.Color, area.LineStyle.Width = translucent(c), 0
		p.Add(area)
	}
	line, err := plotter.NewLine(mean)
	if err != nil {
		return err
	}
	line.Color, line.Dashes, line.Width = c, plotutil.Dashes(i), vg.Points(1.5)
	p.Add(line)
	p.Legend.Add(name, line)
	return nil
}

// outline returns the mean of curves of equal length and, if there are several, the band of one standard deviation
// around it: its upper edge forwards, then its lower edge backwards.
func outline(curves []trial.Curve, rounds int) (mean, band plotter.XYs) {
	for i := range curves {
		curves[i] = curves[i].Thin(points)
	}
	n := len(curves[0].Regret)
	var low plotter.XYs
	regret := make([]float64, len(curves))
	for i := range n {
		for k, c := range curves {
			regret[k] = float64(c.Regret[i])
		}
		x, m := float64((i+1)*rounds/n), stat.Mean(regret, nil)
		mean = append(mean, plotter.XY{X: x, Y: m})
		if len(curves) > 1 {
			sd := stat.StdDev(regret, nil)
			band = append(band, plotter.XY{X: x, Y: m + sd})
			low = append(low, plotter.XY{X: x, Y: m - sd})
		}
	}
	slices.Reverse(low)
	return mean, append(band, low...)
}

func translucent(c color.Color) color.Color {
	r, g, b, _ := c.RGBA()
	return color.NRGBA{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8), A: 48}
}
