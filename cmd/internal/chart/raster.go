package chart

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	"kith/query/draw"
)

// dpi is the resolution of a PNG: two pixels for a unit of the picture, which is a point here.
const dpi = 144

// maxSide bounds the side of a PNG in units of the picture: a picture of that size takes 256 MB.
const maxSide = 4000

// PNG writes a picture as PNG, on a white page.
func PNG(w io.Writer, p *draw.Picture) error {
	if p.Width > maxSide || p.Height > maxSide {
		return fmt.Errorf("a picture of %v by %v: at most %d by %d as PNG", p.Width, p.Height, maxSide, maxSide)
	}
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(p.Width), vg.Length(p.Height)), vgimg.UseDPI(dpi))
	r := raster{c, p.Height, font.NewCache(liberation.Collection())}
	for i := range p.Shapes {
		r.shape(&p.Shapes[i])
	}
	img := c.Image()
	if rgba, ok := img.(*image.RGBA); ok {
		img = indexed(rgba)
	}
	return png.Encode(w, img)
}

// raster draws shapes on a canvas, whose y points up.
type raster struct {
	canvas *vgimg.Canvas
	height float64
	fonts  *font.Cache
}

func (r *raster) shape(s *draw.Shape) {
	finite := func(p draw.Point) bool { return !math.IsNaN(p.X+p.Y) && !math.IsInf(p.X+p.Y, 0) }
	if len(s.Points) == 0 || slices.ContainsFunc(s.Points, func(p draw.Point) bool { return !finite(p) }) {
		return
	}
	r.canvas.SetColor(withOpacity(s.Color, s.Opacity))
	switch s.Kind {
	case draw.Line:
		r.canvas.SetLineWidth(vg.Length(s.Width))
		r.canvas.SetLineDash(nil, 0)
		if s.Dashed {
			r.canvas.SetLineDash([]vg.Length{6, 4}, 0)
		}
		r.canvas.Stroke(r.path(s.Points))
	case draw.Area:
		path := r.path(s.Points)
		path.Close()
		r.canvas.Fill(path)
	case draw.Circle:
		r.circle(s)
	case draw.Text:
		r.text(s)
	}
}

func withOpacity(c draw.Color, opacity float64) color.Color {
	v := c.RGB()
	if opacity == 0 {
		opacity = 1
	}
	return color.NRGBA{v.R, v.G, v.B, uint8(255 * min(max(opacity, 0), 1))}
}

func (r *raster) at(p draw.Point) vg.Point {
	return vg.Point{X: vg.Length(p.X), Y: vg.Length(r.height - p.Y)}
}

func (r *raster) path(points []draw.Point) (path vg.Path) {
	for i, p := range points {
		if i == 0 {
			path.Move(r.at(p))
		} else {
			path.Line(r.at(p))
		}
	}
	return path
}

func (r *raster) circle(s *draw.Shape) {
	center := r.at(s.Points[0])
	var path vg.Path
	path.Move(vg.Point{X: center.X + vg.Length(s.Radius), Y: center.Y})
	path.Arc(center, vg.Length(s.Radius), 0, 2*math.Pi)
	path.Close()
	r.canvas.Fill(path)
	if s.Width > 0 {
		r.canvas.SetColor(s.Outline.RGB())
		r.canvas.SetLineWidth(vg.Length(s.Width))
		r.canvas.SetLineDash(nil, 0)
		r.canvas.Stroke(path)
	}
}

// text draws a text on a pale ground, which separates it from the lines below it.
func (r *raster) text(s *draw.Shape) {
	of := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if s.Bold {
		of.Weight = 3 // bold
	}
	face := r.fonts.Lookup(of, vg.Length(s.Size))
	width := face.Width(s.Text)
	at := r.at(s.Points[0])
	at.X -= width * vg.Length(s.Anchor) / 2
	if strings.Contains(s.Class, "label") {
		var ground vg.Path
		low, high := at.Y-vg.Length(s.Size*0.2), at.Y+vg.Length(s.Size*0.8)
		ground.Move(vg.Point{X: at.X - 1, Y: low})
		ground.Line(vg.Point{X: at.X + width + 1, Y: low})
		ground.Line(vg.Point{X: at.X + width + 1, Y: high})
		ground.Line(vg.Point{X: at.X - 1, Y: high})
		ground.Close()
		r.canvas.SetColor(color.NRGBA{255, 255, 255, 190})
		r.canvas.Fill(ground)
		r.canvas.SetColor(withOpacity(s.Color, s.Opacity))
	}
	r.canvas.FillString(face, at, s.Text)
}
