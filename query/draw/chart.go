package draw

import (
	"io"
	"iter"
	"math"
)

// Series is a line of a chart.
type Series struct {
	Name   string // "" means that the legend does not mention it
	Points []Point
	Band   []float64 // half the width of the band around each point; nil means none
}

// Bin is a group of predictions whose values are about the same.
type Bin struct {
	Predicted float64 // their mean
	Observed  float64 // mean of what became of them
	Count     int     // number of predictions
}

// LogLog draws points with two logarithmic axes, such as the number of nodes of each degree. Points
// that are not positive are left out. x and y name the axes.
func LogLog(w io.Writer, points []Point, x, y string, o Options) error {
	c, all := o.chart("points with logarithmic axes", x, y), []Series{{Points: points}}
	c.x, c.y = newAxis(true, xs(all)), newAxis(true, ys(all))
	c.frame(nil)
	shown := 0
	for _, p := range points {
		if c.shows(p) {
			shown++
			c.picture.add(Shape{Kind: Circle, Points: []Point{c.place(p)}, Radius: 2.5, Color: series(0), Class: "series"})
		}
	}
	return c.finish(w, o, shown)
}

// Curve draws lines, such as the reward over time. x and y name the axes. Where a point has no
// finite number, a line has a gap.
func Curve(w io.Writer, lines []Series, x, y string, o Options) error {
	c := o.chart("curves", x, y)
	c.x, c.y = newAxis(false, xs(lines)), newAxis(false, ys(lines))
	c.frame(lines)
	shown := 0
	for i, s := range lines {
		shown += c.curve(s, i)
	}
	return c.finish(w, o, shown)
}

// Calibration draws the observed means of bins against the predicted ones, and the diagonal on
// which perfect predictions lie. The area of a circle follows the number of predictions. Both axes
// show 0 to 1, or more if there are such values.
func Calibration(w io.Writer, bins []Bin, o Options) error {
	c := o.chart("predicted against observed", "predicted", "observed")
	both := func(yield func(float64) bool) {
		if !yield(1) {
			return
		}
		for _, b := range bins {
			if !yield(b.Predicted) || !yield(b.Observed) {
				return
			}
		}
	}
	c.x, c.y = newAxis(false, both), newAxis(false, both)
	c.frame(nil)
	low, high := Point{c.x.low, c.x.low}, Point{c.x.high, c.x.high}
	c.picture.add(Shape{Kind: Line, Points: []Point{c.place(low), c.place(high)}, Color: Ink, Width: 1, Opacity: 0.5, Dashed: true, Class: "diagonal"})
	most := 1
	for _, b := range bins {
		most = max(most, b.Count)
	}
	shown := 0
	for _, b := range bins {
		if p := (Point{b.Predicted, b.Observed}); c.shows(p) && b.Count > 0 {
			shown++
			r := max(2, 9*math.Sqrt(float64(b.Count)/float64(most)))
			c.picture.add(Shape{Kind: Circle, Points: []Point{c.place(p)}, Radius: r, Color: series(0), Opacity: 0.75, Class: "series"})
		}
	}
	return c.finish(w, o, shown)
}

// chart is a picture with two axes.
type chart struct {
	picture      *Picture
	x, y         axis
	xName, yName string
	title        string // shown above
}

func (o Options) chart(what, x, y string) *chart {
	p := o.picture(what+": "+y+" by "+x, 480, 300)
	return &chart{picture: p, xName: short(x, 60), yName: short(y, 60), title: short(o.Title, 90)}
}

// frame places the axes in the box and draws them with the title, the legend of named series, and a
// grid.
func (c *chart) frame(lines []Series) {
	p, top := c.picture, 10.0
	if c.title != "" {
		top += 18
		p.add(Shape{Kind: Text, Points: []Point{{p.Width / 2, top - 4}}, Text: c.title, Size: fontSize + 2, Anchor: Middle, Bold: true, Class: "axis"})
	}
	top = c.legend(lines, top) + 16
	p.text("axis", c.yName, fontSize, Start, Point{8, top - 8})
	left := 14.0
	for _, v := range c.y.ticks() {
		left = max(left, 14+textWidth(tickLabel(v), fontSize))
	}
	c.x.from, c.x.to = left, p.Width-22
	c.y.from, c.y.to = p.Height-38, top
	for _, v := range c.y.ticks() {
		y := c.y.at(v)
		p.line("grid", Ink, 0.75, 0.15, Point{left, y}, Point{c.x.to, y})
		p.text("tick", tickLabel(v), fontSize, End, Point{left - 5, y + 4})
	}
	end := math.Inf(-1)
	for _, v := range c.x.ticks() {
		x, label := c.x.at(v), tickLabel(v)
		p.line("grid", Ink, 0.75, 0.15, Point{x, c.y.from}, Point{x, c.y.to})
		if half := textWidth(label, fontSize) / 2; x-half > end+4 {
			p.text("tick", label, fontSize, Middle, Point{x, c.y.from + 14})
			end = x + half
		}
	}
	p.line("axis", Ink, 1, 0.7, Point{left, c.y.to}, Point{left, c.y.from}, Point{c.x.to, c.y.from})
	p.text("axis", c.xName, fontSize, Middle, Point{(left + c.x.to) / 2, p.Height - 7})
}

// legend draws the names of the series from top downwards, and returns where it ends.
func (c *chart) legend(lines []Series, top float64) float64 {
	const mark, pause = 20.0, 14.0
	x, y := 10.0, top
	for i, s := range lines {
		if s.Name == "" {
			continue
		}
		name := short(s.Name, 40)
		width := mark + textWidth(name, fontSize) + pause
		if x+width > c.picture.Width && x > 10 {
			x, y = 10, y+15
		}
		c.picture.add(Shape{
			Kind: Line, Points: []Point{{x, y + 7}, {x + mark - 5, y + 7}}, Color: series(i), Width: 2.5, Dashed: i >= NumSeries, Class: "legend",
		})
		c.picture.text("legend", name, fontSize, Start, Point{x + mark, y + 11})
		x += width
	}
	if x > 10 {
		y += 22 // so that the name of the axis below is not taken for one of them
	}
	return y
}

// curve draws the i-th series and the band around it. It returns the number of points that it
// shows.
func (c *chart) curve(s Series, i int) (shown int) {
	var line, upper, lower []Point
	end := func() {
		if len(upper) > 1 {
			for k := len(lower) - 1; k >= 0; k-- {
				upper = append(upper, lower[k])
			}
			c.picture.add(Shape{Kind: Area, Points: upper, Color: series(i), Opacity: 0.18, Class: "band"})
		}
		switch {
		case len(line) == 1:
			c.picture.add(Shape{Kind: Circle, Points: line, Radius: 2.5, Color: series(i), Class: "series"})
		case len(line) > 1:
			c.picture.add(Shape{Kind: Line, Points: line, Color: series(i), Width: 2, Dashed: i >= NumSeries, Class: "series"})
		}
		shown += len(line)
		line, upper, lower = nil, nil, nil
	}
	for k, p := range s.Points {
		if !c.shows(p) {
			end()
			continue
		}
		line = append(line, c.place(p))
		if k < len(s.Band) && c.y.shows(s.Band[k]) {
			upper = append(upper, c.place(Point{p.X, p.Y + s.Band[k]}))
			lower = append(lower, c.place(Point{p.X, p.Y - s.Band[k]}))
		}
	}
	end()
	return shown
}

// finish writes the chart, with a remark if it shows nothing.
func (c *chart) finish(w io.Writer, o Options, shown int) error {
	if shown == 0 {
		c.picture.text("axis", "no data yet", fontSize+2, Middle, Point{(c.x.from + c.x.to) / 2, (c.y.from + c.y.to) / 2})
	}
	return o.write(w, c.picture)
}

func (c *chart) shows(p Point) bool { return c.x.shows(p.X) && c.y.shows(p.Y) }

func (c *chart) place(p Point) Point { return Point{c.x.at(p.X), c.y.at(p.Y)} }

// eachPoint calls f with each point that can be shown and half the width of the band around it,
// until f returns false.
func eachPoint(lines []Series, f func(p Point, band float64) bool) {
	var linear axis
	for _, s := range lines {
		for i, p := range s.Points {
			band := 0.0
			if i < len(s.Band) && linear.shows(s.Band[i]) {
				band = s.Band[i]
			}
			if linear.shows(p.X) && linear.shows(p.Y) && !f(p, band) {
				return
			}
		}
	}
}

// xs yields the places of the points on the first axis.
func xs(lines []Series) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		eachPoint(lines, func(p Point, _ float64) bool { return yield(p.X) })
	}
}

// ys yields the places of the points and of their bands on the second axis.
func ys(lines []Series) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		eachPoint(lines, func(p Point, band float64) bool { return yield(p.Y-band) && yield(p.Y+band) })
	}
}
