package trial

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// points is the maximum number of rounds at which a curve is drawn.
const points = 200

// Plot writes the regret curves in the format "svg" or "png": the mean over the seeds with a shaded standard deviation.
func (r *Result) Plot(w io.Writer, title, format string) error {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text, p.Y.Label.Text = "round", "cumulative regret"
	p.Legend.Top, p.Legend.Left = true, true
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(roundTicks), plot.TickerFunc(roundTicks)
	p.Add(plotter.NewGrid())
	for i, name := range r.names() {
		if err := r.draw(p, name, plotutil.Color(i), plotutil.Dashes(i)); err != nil {
			return fmt.Errorf("trial: plot %s: %w", name, err)
		}
	}
	p.X.Min, p.Y.Min = 0, 0
	p.X.Max *= 1.04 // room for the last label
	to, err := p.WriterTo(18*vg.Centimeter, 12*vg.Centimeter, format)
	if err != nil {
		return fmt.Errorf("trial: plot: %w", err)
	}
	if _, err := to.WriteTo(w); err != nil {
		return fmt.Errorf("trial: plot: %w", err)
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

// draw adds the mean of an entrant's curves and a band of one standard deviation around it.
func (r *Result) draw(p *plot.Plot, name string, c color.Color, dashes []vg.Length) error {
	curves := r.of(name)
	for i := range curves {
		curves[i] = curves[i].Thin(points)
	}
	mean, band := outline(curves, r.Rounds)
	if len(curves) > 1 {
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
	line.Color, line.Dashes, line.Width = c, dashes, vg.Points(1.5)
	p.Add(line)
	p.Legend.Add(name, line)
	return nil
}

// outline returns the mean of curves of equal length, and the band as its upper edge forwards followed by its lower
// edge backwards.
func outline(curves []Curve, rounds int) (mean, band plotter.XYs) {
	var low plotter.XYs
	n := len(curves[0].Regret)
	for i := range n {
		m, sd := moments(curves, i)
		x := float64((i + 1) * rounds / n)
		mean = append(mean, plotter.XY{X: x, Y: m})
		band = append(band, plotter.XY{X: x, Y: m + sd})
		low = append(low, plotter.XY{X: x, Y: m - sd})
	}
	for i := len(low) - 1; i >= 0; i-- {
		band = append(band, low[i])
	}
	return mean, band
}

func moments(curves []Curve, at int) (mean, sd float64) {
	n := float64(len(curves))
	for _, c := range curves {
		mean += float64(c.Regret[at]) / n
	}
	for _, c := range curves {
		d := float64(c.Regret[at]) - mean
		sd += d * d / max(n-1, 1)
	}
	return mean, math.Sqrt(sd)
}

func translucent(c color.Color) color.Color {
	r, g, b, _ := c.RGBA()
	return color.NRGBA{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8), A: 48}
}
