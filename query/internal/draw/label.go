package draw

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// rect is a rectangle.
type rect struct{ left, top, right, bottom float64 }

func (r rect) meets(o rect) bool {
	return r.left < o.right && o.left < r.right && r.top < o.bottom && o.top < r.bottom
}

// meetsCircle reports whether the rectangle and a circle overlap.
func (r rect) meetsCircle(center Point, radius float64) bool {
	dx := center.X - min(max(center.X, r.left), r.right)
	dy := center.Y - min(max(center.Y, r.top), r.bottom)
	return dx*dx+dy*dy < radius*radius
}

// labelRunes is the maximum length of a label, and nameRunes that of a label which a page makes,
// where there is more room once the reader zooms in.
const (
	labelRunes = 20
	nameRunes  = 32
)

// label adds the labels of the nodes, the center's first, then the labels of predicted targets and
// strong nodes. A label that would cover a circle or another label is left out.
func (s *sketch) label() {
	order := []int{0}
	for _, l := range s.n.Predicted {
		if i, ok := s.index[l.Target]; ok && !slices.Contains(order, i) {
			order = append(order, i)
		}
	}
	for i := range s.n.Nodes {
		if !slices.Contains(order, i) {
			order = append(order, i)
		}
	}
	var placed []rect
	for _, i := range order {
		if i < len(s.n.Nodes) {
			placed = s.placeLabel(i, placed)
		}
	}
}

// placeLabel adds the label of a node at the first free place next to the node.
func (s *sketch) placeLabel(i int, placed []rect) []rect {
	size := fontSize
	if i == 0 {
		size = fontSize + 2
	}
	text := short(s.n.Nodes[i].Key.String(), labelRunes)
	width, p, r := textWidth(text, size), s.at[i], s.radius[i]+3
	for _, c := range []struct {
		anchor Anchor
		dx, dy float64
	}{{Start, r, size * 0.35}, {End, -r, size * 0.35}, {Middle, 0, -r}, {Middle, 0, r + size*0.8}} {
		at := Point{p.X + c.dx, p.Y + c.dy}
		left := at.X - width*float64(c.anchor)/2
		box := rect{left, at.Y - size*0.85, left + width, at.Y + size*0.2}
		if s.isFree(box, i, placed) {
			s.picture.add(Shape{Kind: Text, Points: []Point{at}, Text: text, Size: size, Anchor: c.anchor, Bold: i == 0, Class: "label"})
			return append(placed, box)
		}
	}
	return placed
}

// isFree reports whether a rectangle next to a node lies in the box and covers nothing.
func (s *sketch) isFree(box rect, of int, placed []rect) bool {
	if box.left < 0 || box.top < 0 || box.right > s.picture.Width || box.bottom > s.picture.Height-s.foot {
		return false
	}
	if slices.ContainsFunc(placed, box.meets) {
		return false
	}
	for i, p := range s.at {
		if i != of && box.meetsCircle(p, s.radius[i]) {
			return false
		}
	}
	return true
}

// short returns a text of at most n characters, with a mark for characters that cannot be seen or
// that change the direction of others.
func short(text string, n int) string {
	var out []rune
	for _, c := range text {
		if len(out) == n {
			out[n-1] = '…'
			break
		}
		if !unicode.IsPrint(c) || c == utf8.RuneError {
			c = '·'
		}
		out = append(out, c)
	}
	return string(out)
}

// textWidth estimates the width of a text in a sans-serif font.
func textWidth(text string, size float64) (w float64) {
	for _, c := range text {
		switch {
		case c >= 0x1100 && unicode.In(c, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || c >= 0x1f000:
			w += 1
		case c == 'i' || c == 'l' || c == '.' || c == ',' || c == '\'' || c == ' ':
			w += 0.28
		case unicode.IsUpper(c) || c == 'm' || c == 'w' || c == '@':
			w += 0.72
		default:
			w += 0.6
		}
	}
	return w * size
}
