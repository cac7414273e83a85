package draw

import (
	"cmp"

	"kith/db"
)

// Options describe the output of a drawing function.
type Options struct {
	Width, Height int    // size of the box in units of the picture, about pixels; 0 means 960 by 640, and charts 480 by 300; the least is 120 by 90
	Seed          uint64 // another seed may give another layout
	Standalone    bool   // write a file of its own instead of an element of a page
	Bare          bool   // of a neighborhood: leave out labels and legend, which a page makes from the attributes of nodes and edges
	// Fades, if it is not nil, reports whether a node of a neighborhood other than its center is
	// faint.
	Fades func(db.Key) bool
}

// Picture is a list of shapes in a box, which are drawn in order.
type Picture struct {
	Width, Height float64 // the box begins at 0, 0; y points down
	Title         string  // describes the data; it is not shown but read aloud
	Shapes        []Shape
	links         bool // its nodes are links
	standalone    bool // as in the Options
}

// Shape is a line, an area, a circle or a text.
type Shape struct {
	Kind    ShapeKind
	Points  []Point // of a line and an area; one point: the center of a circle, or the place of a text on its base line
	Radius  float64 // of a circle
	Text    string
	Size    float64 // of a text: height of its font
	Anchor  Anchor  // of a text
	Bold    bool    // of a text
	Color   Color   // of the line, of the inside of other shapes
	Width   float64 // of a line, and of the outline of a circle
	Outline Color   // of a circle
	Opacity float64 // 0 means 1
	Dashed  bool    // of a line
	Class   string  // classes, see the comment of the package
	Node    *db.Key // of a circle: the node that it stands for
	Tip     string  // of a circle: text that describes it
	Data    []Datum // attributes of an edge, or of the link around a circle
}

// Datum is an attribute data-NAME of an element.
type Datum struct{ Name, Value string }

// ShapeKind is a kind of shape.
type ShapeKind uint8

// The kinds of shapes.
const (
	Line ShapeKind = iota // through all points
	Area                  // bounded by the points
	Circle
	Text
)

// Anchor says which part of a text is at its place.
type Anchor uint8

// The anchors.
const (
	Start Anchor = iota
	Middle
	End
)

// Point is a place in a picture.
type Point struct{ X, Y float64 }

// Color is a color of a picture.
type Color uint8

// The colors. Texts and lines have Ink, which in a page is the color of the text around the
// picture. FirstSeries is the first of NumSeries colors for series and labels.
const (
	Ink Color = iota
	Accent
	FirstSeries
)

// NumSeries is the number of colors for series. They are visible on white and on black, and
// distinct for most people with a color vision deficiency (after Okabe and Ito).
const NumSeries = 6

// series returns the color of the i-th series.
func series(i int) Color { return FirstSeries + Color(i%NumSeries) }

// picture returns an empty picture of the size that the options give or, by default, of the given
// one.
func (o Options) picture(title string, width, height int) *Picture {
	return &Picture{
		Width: float64(max(cmp.Or(o.Width, width), 120)), Height: float64(max(cmp.Or(o.Height, height), 90)),
		Title: title, standalone: o.Standalone,
	}
}

func (p *Picture) add(s Shape) { p.Shapes = append(p.Shapes, s) }

// line adds a line in the colour of the text.
func (p *Picture) line(class string, width, opacity float64, points ...Point) {
	p.add(Shape{Kind: Line, Points: points, Color: Ink, Width: width, Opacity: opacity, Class: class})
}

// text adds a text.
func (p *Picture) text(class, text string, size float64, anchor Anchor, at Point) {
	p.add(Shape{Kind: Text, Points: []Point{at}, Text: text, Size: size, Anchor: anchor, Class: class})
}
