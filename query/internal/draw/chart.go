package draw

import (
	"iter"
	"math"
	"slices"
)

// Bin is a group of predictions whose values are about the same.
type Bin struct {
	Predicted float64 // their mean
	Observed  float64 // mean of what became of them
	Count     int     // number of predictions
}

// LogLog draws points with two logarithmic axes, such as the number of nodes of each degree. Points
// that are not positive are left out. x and y name the axes.
func LogLog(points []Point, x, y string, o Options) *Picture {
	c := o.chart("points with logarithmic axes", x, y)
	c.x, c.y = newAxis(true, xs(points)), newAxis(true, ys(points))
	c.frame()
	for _, p := range points {
		if c.shows(p) {
			c.dot(p, 2.5, 0)
		}
	}
	return c.finish()
}

// Curve draws a line, such as the reward over time. x and y name the axes. Where a point has no
// finite number, the line has a gap.
func Curve(points []Point, x, y string, o Options) *Picture {
	c := o.chart("curve", x, y)
	c.x, c.y = newAxis(false, xs(points)), newAxis(false, ys(points))
	c.frame()
	for len(points) > 0 {
		n := slices.IndexFunc(points, func(p Point) bool { return !c.shows(p) })
		if n < 0 {
			n = len(points)
		}
		c.line(points[:n])
		points = points[min(n+1, len(points)):]
	}
	return c.finish()
}

// Calibration draws the observed means of bins against the predicted ones, and the diagonal on
// which perfect predictions lie. The area of a circle follows the number of predictions. Both axes
// show 0 to 1, or more if there are such values.
func Calibration(bins []Bin, o Options) *Picture {
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
	c.frame()
	low, high := Point{c.x.low, c.x.low}, Point{c.x.high, c.x.high}
	c.picture.add(Shape{Kind: Line, Points: []Point{c.place(low), c.place(high)}, Color: Ink, Width: 1, Opacity: 0.5, Dashed: true, Class: "diagonal"})
	most := 1
	for _, b := range bins {
		most = max(most, b.Count)
	}
	for _, b := range bins {
		if p := (Point{b.Predicted, b.Observed}); c.shows(p) && b.Count > 0 {
			c.dot(p, max(2, 9*math.Sqrt(float64(b.Count)/float64(most))), 0.75)
		}
	}
	return c.finish()
}

// chart is a picture with two axes.
type chart struct {
	picture      *Picture
	x, y         axis
	xName, yName string
	shown        int // number of points drawn
}

func (o Options) chart(what, x, y string) *chart {
	p := o.picture(what+": "+y+" by "+x, 480, 300)
	return &chart{picture: p, xName: short(x, 60), yName: short(y, 60)}
}

// frame places the axes in the box and draws them with a grid.
func (c *chart) frame() {
	const top = 26.0
	p := c.picture
	p.text("axis", c.yName, fontSize, Start, Point{8, top - 8})
	left := 14.0
	for _, v := range c.y.ticks() {
		left = max(left, 14+textWidth(tickLabel(v), fontSize))
	}
	c.x.from, c.x.to = left, p.Width-22
	c.y.from, c.y.to = p.Height-38, top
	for _, v := range c.y.ticks() {
		y := c.y.at(v)
		p.line("grid", 0.75, 0.15, Point{left, y}, Point{c.x.to, y})
		p.text("tick", tickLabel(v), fontSize, End, Point{left - 5, y + 4})
	}
	end := math.Inf(-1)
	for _, v := range c.x.ticks() {
		x, label := c.x.at(v), tickLabel(v)
		p.line("grid", 0.75, 0.15, Point{x, c.y.from}, Point{x, c.y.to})
		if half := textWidth(label, fontSize) / 2; x-half > end+4 {
			p.text("tick", label, fontSize, Middle, Point{x, c.y.from + 14})
			end = x + half
		}
	}
	p.line("axis", 1, 0.7, Point{left, c.y.to}, Point{left, c.y.from}, Point{c.x.to, c.y.from})
	p.text("axis", c.xName, fontSize, Middle, Point{(left + c.x.to) / 2, p.Height - 7})
}

// dot draws a point of the data.
func (c *chart) dot(p Point, radius, opacity float64) {
	c.shown++
	c.picture.add(Shape{Kind: Circle, Points: []Point{c.place(p)}, Radius: radius, Color: series(0), Opacity: opacity, Class: "series"})
}

// line draws a line through points of the data, or a single one of them.
func (c *chart) line(points []Point) {
	if len(points) == 1 {
		c.dot(points[0], 2.5, 0)
	}
	if len(points) < 2 {
		return
	}
	places := make([]Point, len(points))
	for i, p := range points {
		places[i] = c.place(p)
	}
	c.shown += len(places)
	c.picture.add(Shape{Kind: Line, Points: places, Color: series(0), Width: 2, Class: "series"})
}

// finish returns the picture, with a remark if it shows no data.
func (c *chart) finish() *Picture {
	if c.shown == 0 {
		c.picture.text("axis", "no data yet", fontSize+2, Middle, Point{(c.x.from + c.x.to) / 2, (c.y.from + c.y.to) / 2})
	}
	return c.picture
}

func (c *chart) shows(p Point) bool { return c.x.shows(p.X) && c.y.shows(p.Y) }

func (c *chart) place(p Point) Point { return Point{c.x.at(p.X), c.y.at(p.Y)} }

// eachPoint calls f with each point that can be shown, until f returns false.
func eachPoint(points []Point, f func(p Point) bool) {
	var linear axis
	for _, p := range points {
		if linear.shows(p.X) && linear.shows(p.Y) && !f(p) {
			return
		}
	}
}

// xs yields the places of the points on the first axis.
func xs(points []Point) iter.Seq[float64] {
	return func(yield func(float64) bool) { eachPoint(points, func(p Point) bool { return yield(p.X) }) }
}

// ys yields the places of the points on the second axis.
func ys(points []Point) iter.Seq[float64] {
	return func(yield func(float64) bool) { eachPoint(points, func(p Point) bool { return yield(p.Y) }) }
}
