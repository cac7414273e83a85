package draw

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"kith/db"
)

// Write writes the picture as SVG.
func (p *Picture) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	role := "img"
	if p.links {
		role = "group" // the contents of an img are not read aloud
	}
	size := ""
	if p.standalone {
		b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
		size = fmt.Sprintf(` width="%s" height="%s"`, number(p.Width), number(p.Height))
	}
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" class="picture"%s viewBox="0 0 %s %s" role="%s" aria-label="%s" font-family="sans-serif">`+"\n",
		size, number(p.Width), number(p.Height), role, escape(p.Title))
	fmt.Fprintf(b, "<title>%s</title>\n", escape(p.Title))
	if p.standalone {
		b.WriteString(style)
	}
	for i := range p.Shapes {
		p.Shapes[i].svg(b)
	}
	b.WriteString("</svg>\n")
	return b.Flush()
}

// style is the style sheet of a file of its own.
const style = `<style>
.picture { color: #22262b; background: #fff }
.label { paint-order: stroke; stroke: #fff; stroke-width: 3px; stroke-linejoin: round }
a.node:focus circle, a.node:hover circle { stroke: currentColor; stroke-width: 3px }
@media (prefers-color-scheme: dark) {
.picture { color: #dfe3e8; background: #14171a }
.label { stroke: #14171a }
}
</style>
`

// svg writes the element of a shape.
func (s *Shape) svg(b *bufio.Writer) {
	paint := fmt.Sprintf(` fill="%s"`, s.Color.paint())
	if s.Kind == Line {
		paint = fmt.Sprintf(` fill="none" stroke="%s" stroke-width="%s"`, s.Color.paint(), number(s.Width))
		if s.Dashed {
			paint += ` stroke-dasharray="6 4"`
		}
	}
	if s.Opacity > 0 && s.Opacity < 1 {
		paint += fmt.Sprintf(` opacity="%s"`, number(s.Opacity))
	}
	switch s.Kind {
	case Line:
		fmt.Fprintf(b, `<path class="%s"%s d="M%s"%s/>`+"\n", s.Class, s.data(), path(s.Points), paint)
	case Area:
		fmt.Fprintf(b, `<path class="%s"%s d="M%sZ"%s/>`+"\n", s.Class, s.data(), path(s.Points), paint)
	case Circle:
		s.circle(b, paint)
	case Text:
		anchor := []string{"start", "middle", "end"}[s.Anchor]
		if s.Bold {
			paint += ` font-weight="bold"`
		}
		hidden := ""
		if s.Class == "label" {
			hidden = ` pointer-events="none" aria-hidden="true"` // the node itself has the whole text
		}
		fmt.Fprintf(b, `<text class="%s" x="%s" y="%s" font-size="%s" text-anchor="%s"%s%s>%s</text>`+"\n",
			s.Class, number(s.Points[0].X), number(s.Points[0].Y), number(s.Size), anchor, paint, hidden, escape(s.Text))
	}
}

// circle writes a circle and, if it stands for a node, the link around it.
func (s *Shape) circle(b *bufio.Writer, paint string) {
	if s.Width > 0 {
		paint += fmt.Sprintf(` stroke="%s" stroke-width="%s"`, s.Outline.paint(), number(s.Width))
	}
	circle := fmt.Sprintf(`<circle cx="%s" cy="%s" r="%s"%s/>`, number(s.Points[0].X), number(s.Points[0].Y), number(s.Radius), paint)
	if s.Node == nil {
		fmt.Fprintf(b, `<g class="%s">%s</g>`+"\n", s.Class, circle)
		return
	}
	key := keyJSON(*s.Node)
	fmt.Fprintf(b, `<a class="%s" data-key="%s"%s href="#%s" aria-label="%s"><title>%s</title>%s</a>`+"\n",
		s.Class, escape(key), s.data(), url.PathEscape(key), escape(s.Tip), escape(s.Tip), circle)
}

// data returns the attributes of the shape's Data.
func (s *Shape) data() string {
	var b strings.Builder
	for _, d := range s.Data {
		fmt.Fprintf(&b, ` data-%s="%s"`, d.Name, escape(d.Value))
	}
	return b.String()
}

// keyJSON returns the JSON of a key without the characters that XML cannot hold, which JSON can
// escape.
func keyJSON(k db.Key) string {
	b, err := json.Marshal(k)
	if err != nil {
		return "null" // never: a key has JSON
	}
	return strings.NewReplacer("\ufffe", `\ufffe`, "\uffff", `\uffff`).Replace(string(b))
}

// colors are the paints of the colors.
var colors = [...]string{
	"currentColor", "#e05a1c", "#3b82c4", "#1a9e77", "#b86bb0", "#b08a00", "#3f9dc0", "#8a8f98",
}

// paint returns the color as an attribute.
func (c Color) paint() string {
	return colors[c%Color(len(colors))]
}

// path returns the data of a path without the first letter.
func path(points []Point) string {
	var b strings.Builder
	for i, p := range points {
		if i > 0 {
			b.WriteByte('L')
		}
		b.WriteString(number(p.X) + " " + number(p.Y))
	}
	return b.String()
}

// number returns a coordinate with up to two digits after the point. Numbers that a coordinate
// cannot be are 0.
func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		x = 0
	}
	return strconv.FormatFloat(math.Round(x*100)/100+0, 'f', -1, 64)
}

// escape returns a text as XML, as xml.EscapeText does. Characters that XML cannot hold are
// replaced. This package does not import encoding/xml, because each process would make the tables
// of that package when it starts.
func escape(text string) string {
	return escapes.Replace(strings.Map(func(r rune) rune {
		if r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}, text))
}

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;",
	"\t", "&#x9;", "\n", "&#xA;", "\r", "&#xD;")
