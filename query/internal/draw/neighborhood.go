package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"kith/db"
	"kith/db/words"
)

// Neighborhood draws a neighborhood. The area of a circle follows the PageRank of its node, and the
// width of a dashed line the score of the predicted link. Nodes have a color by their label if they
// have several labels, and edges one by their relation, with arrows if they are directed.
func Neighborhood(n *db.Neighborhood, o Options) *Picture {
	return newSketch(n, o).draw()
}

// sketch is the drawing of a neighborhood.
type sketch struct {
	n         *db.Neighborhood
	picture   *Picture
	index     map[db.Key]int
	at        []Point
	radius    []float64
	color     []Color
	labels    []string        // with a color each; nil if the nodes have one label
	relations []string        // with a color each; nil if the edges have none
	directed  map[string]bool // whether the edges of a relation are
	drawn     map[[2]int]int  // lines between two nodes
	predicted map[int]db.Link // by target
	entries   []entry         // the legend
	foot      float64         // its height
	bare      bool            // as in the Options
	fades     func(db.Key) bool
}

const (
	margin       = 16.0
	fontSize     = 11.0
	centerRadius = 13.0
	leastRadius  = 4.0
	mostRadius   = 12.0
	gap          = 2.0 // between circles
)

// newSketch lays a neighborhood out.
func newSketch(n *db.Neighborhood, o Options) *sketch {
	s := &sketch{
		n: n, index: map[db.Key]int{}, predicted: map[int]db.Link{}, directed: map[string]bool{}, drawn: map[[2]int]int{},
		bare: o.Bare, fades: o.Fades,
	}
	s.picture = o.picture(fmt.Sprintf("neighborhood of node %s", short(n.Center.Literal(), 60)), 960, 640)
	s.picture.links = true
	for i, node := range n.Nodes {
		s.index[node.Key] = i
	}
	g := network{size: len(n.Nodes), seed: o.Seed}
	for _, e := range n.Edges {
		if ends, ok := s.ends(e.Src, e.Dst); ok {
			g.edges = append(g.edges, ends)
		}
	}
	for _, l := range n.Predicted {
		if ends, ok := s.ends(n.Center, l.Target); ok {
			s.predicted[ends[1]] = l
			g.loose = append(g.loose, ends)
		}
	}
	s.measure()
	if !s.bare {
		s.setLegend()
	}
	s.at = g.layout()
	s.fit()
	return s
}

// ends returns the nodes of an edge, unless it is a loop or one of them is missing.
func (s *sketch) ends(src, dst db.Key) (ends [2]int, ok bool) {
	i, known := s.index[src]
	j, also := s.index[dst]
	return [2]int{i, j}, known && also && i != j
}

// measure sets the radii and the colors of the nodes.
func (s *sketch) measure() {
	most := 0.0
	for i, n := range s.n.Nodes {
		if i > 0 && n.PageRank > most && !math.IsInf(n.PageRank, 1) {
			most = n.PageRank
		}
		if n.Label != "" && !slices.Contains(s.labels, n.Label) {
			s.labels = append(s.labels, n.Label)
		}
	}
	edges := map[string]int{}
	for _, e := range s.n.Edges {
		edges[e.Relation]++
	}
	for _, r := range s.n.Relations {
		s.relations, s.directed[r.Name] = append(s.relations, r.Name), r.Directed
	}
	slices.SortStableFunc(s.relations, func(a, b string) int { return edges[b] - edges[a] })
	slices.Sort(s.labels)
	if len(s.labels) < 2 {
		s.labels = nil
	}
	for i, n := range s.n.Nodes {
		r := centerRadius
		if i > 0 {
			r = leastRadius
			if n.PageRank > 0 && most > 0 {
				r = max(leastRadius, mostRadius*math.Sqrt(min(n.PageRank/most, 1)))
			}
		}
		s.radius = append(s.radius, r)
		s.color = append(s.color, series(max(slices.Index(s.labels, n.Label), 0)))
	}
}

// fit moves the positions into the box, and circles that overlap apart.
func (s *sketch) fit() {
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	for _, p := range s.at {
		low, high = Point{min(low.X, p.X), min(low.Y, p.Y)}, Point{max(high.X, p.X), max(high.Y, p.Y)}
	}
	box := Point{s.picture.Width - 2*margin - 2*mostRadius, s.picture.Height - 2*margin - 2*mostRadius - s.foot}
	x, y := box.X/max(high.X-low.X, 1e-9), box.Y/max(high.Y-low.Y, 1e-9)
	const stretch = 1.5
	x, y = min(x, stretch*y), min(y, stretch*x)
	for i, p := range s.at {
		s.at[i] = Point{
			margin + mostRadius + box.X/2 + x*(p.X-(low.X+high.X)/2),
			margin + mostRadius + box.Y/2 + y*(p.Y-(low.Y+high.Y)/2),
		}
	}
	for range 200 {
		if !s.separate() {
			return
		}
	}
}

// separate moves circles that overlap apart by as much as they overlap, and all into the box. It
// reports whether it moved any.
func (s *sketch) separate() (moved bool) {
	for i := range s.at {
		for j := range i {
			p, q := s.at[i], s.at[j]
			dx, dy := p.X-q.X, p.Y-q.Y
			want := s.radius[i] + s.radius[j] + gap
			length := math.Hypot(dx, dy)
			if length >= want-1e-3 {
				continue
			}
			moved = true
			by := (want - length) / 2
			if length < 1e-6 { // on top of each other: apart in a direction that their numbers give
				dy, dx = math.Sincos(float64(i*7 + j*13))
				length = 1
			}
			s.at[i] = s.inside(i, Point{p.X + by*dx/length, p.Y + by*dy/length})
			s.at[j] = s.inside(j, Point{q.X - by*dx/length, q.Y - by*dy/length})
		}
	}
	return moved
}

// inside returns the place nearest to a place at which the circle of a node lies in the box.
func (s *sketch) inside(i int, p Point) Point {
	r := s.radius[i] + 3
	return Point{
		min(max(p.X, r), s.picture.Width-r),
		min(max(p.Y, r), s.picture.Height-s.foot-r),
	}
}

// draw draws the lines, then the circles, the labels and the legend.
func (s *sketch) draw() *Picture {
	for _, e := range s.n.Edges {
		if ends, ok := s.ends(e.Src, e.Dst); ok {
			s.edge(ends[0], ends[1], e.Relation)
		}
	}
	best := s.bestScore()
	for _, l := range s.n.Predicted {
		if ends, ok := s.ends(s.n.Center, l.Target); ok {
			from, to := s.between(ends[0], ends[1], s.n.Directed)
			width := 1.0
			if share := l.Score / best; share > 0 {
				width += 3 * min(share, 1)
			}
			line := Shape{Kind: Line, Points: []Point{from, to}, Color: Accent, Width: width, Opacity: 0.85, Dashed: true, Class: "predicted"}
			line.Data = s.endsOf(ends[0], ends[1])
			s.picture.add(line)
			if s.n.Directed {
				s.arrow(line, Accent, 0.85)
			}
		}
	}
	for i := len(s.n.Nodes) - 1; i >= 0; i-- { // the strongest on top
		s.node(i)
	}
	if !s.bare {
		s.label()
		s.legend()
	}
	return s.picture
}

// bestScore returns the largest score of a predicted link.
func (s *sketch) bestScore() (best float64) {
	for _, l := range s.n.Predicted {
		if l.Score > best && !math.IsInf(l.Score, 1) {
			best = l.Score
		}
	}
	return cmp.Or(best, 1)
}

// edge adds an edge between two nodes. Edges of the center are darker. Further edges between the
// same nodes lie beside it.
func (s *sketch) edge(i, j int, relation string) {
	opacity, width, color, directed := 0.22, 1.0, Ink, s.n.Directed
	if i == 0 || j == 0 {
		opacity = 0.45
	}
	if k := slices.Index(s.relations, relation); k >= 0 {
		color, opacity, width, directed = relationColor(k), opacity+0.3, 1.4, s.directed[relation]
	}
	from, to := s.between(i, j, directed)
	pair := [2]int{min(i, j), max(i, j)}
	if beside := 3 * float64(s.drawn[pair]); beside > 0 {
		if i > j {
			beside = -beside // to the same side
		}
		length := max(math.Hypot(to.X-from.X, to.Y-from.Y), 1e-9)
		dx, dy := -beside*(to.Y-from.Y)/length, beside*(to.X-from.X)/length
		from, to = Point{from.X + dx, from.Y + dy}, Point{to.X + dx, to.Y + dy}
	}
	s.drawn[pair]++
	line := Shape{Kind: Line, Points: []Point{from, to}, Color: color, Width: width, Opacity: opacity, Class: "edge"}
	if line.Data = s.endsOf(i, j); s.bare && s.relations != nil {
		line.Data = append(line.Data, Datum{"relation", relation})
	}
	s.picture.add(line)
	if directed {
		s.arrow(line, color, opacity+0.2)
	}
}

// endsOf returns the attribute of a line between two nodes of a bare picture: their numbers in the
// order of the neighborhood.
func (s *sketch) endsOf(i, j int) []Datum {
	if !s.bare {
		return nil
	}
	return []Datum{{"ends", fmt.Sprintf("%d %d", i, j)}}
}

// relationColor returns the color of the relation that has the i-th most edges. Labels take the
// same colors in another order. Grey, the last series, stands for all relations that have no color
// of their own.
func relationColor(i int) Color {
	order := [...]int{3, 2, 1, 0, 4, NumSeries - 1}
	return series(order[min(i, len(order)-1)])
}

// between returns the ends of the line between two circles. A line with an arrow ends at the second
// circle.
func (s *sketch) between(i, j int, arrow bool) (from, to Point) {
	from, to = s.at[i], s.at[j]
	if length := math.Hypot(to.X-from.X, to.Y-from.Y); arrow && length > s.radius[j] {
		share := (length - s.radius[j] - 1) / length
		to = Point{from.X + share*(to.X-from.X), from.Y + share*(to.Y-from.Y)}
	}
	return from, to
}

// arrow adds the head of an arrow at the end of a line.
func (s *sketch) arrow(line Shape, c Color, opacity float64) {
	const length, width = 6, 2.5
	from, to := line.Points[0], line.Points[1]
	dx, dy := to.X-from.X, to.Y-from.Y
	d := math.Hypot(dx, dy)
	if d < length {
		return
	}
	dx, dy = dx/d, dy/d
	back := Point{to.X - length*dx, to.Y - length*dy}
	s.picture.add(Shape{Kind: Area, Color: c, Opacity: opacity, Class: line.Class, Data: line.Data, Points: []Point{
		to, {back.X - width*dy, back.Y + width*dx}, {back.X + width*dy, back.Y - width*dx},
	}})
}

// node adds the circle of a node.
func (s *sketch) node(i int) {
	n := &s.n.Nodes[i]
	tip := fmt.Sprintf("node %s", short(n.Key.Literal(), 200))
	if n.Label != "" {
		tip += ", label " + short(n.Label, 60)
	}
	tip += fmt.Sprintf(", PageRank %.3g, %s", n.PageRank, words.Count(n.Edges, "edge"))
	shape := Shape{
		Kind: Circle, Points: []Point{s.at[i]}, Radius: s.radius[i], Color: s.color[i], Outline: Ink, Width: 0.75,
		Class: "node", Node: &n.Key,
	}
	if i == 0 {
		tip += ", the center"
		shape.Class, shape.Color, shape.Outline, shape.Width = "node center", Accent, Ink, 2.5
	} else if l, ok := s.predicted[i]; ok {
		tip += fmt.Sprintf(", predicted link of rank %d with score %.3g", l.Rank, l.Score)
		shape.Class, shape.Outline, shape.Width = "node target", Accent, 2.5
	}
	if i > 0 && s.fades != nil && s.fades(n.Key) {
		shape.Class += " faint"
	}
	shape.Tip = tip
	if s.bare {
		shape.Data = []Datum{{"name", short(n.Key.String(), nameRunes)}, {"number", strconv.Itoa(i)}}
	}
	if s.bare && s.labels != nil {
		shape.Data = append(shape.Data, Datum{"label", n.Label})
	}
	s.picture.add(shape)
}

// entry is an entry of the legend.
type entry struct {
	name  string
	mark  float64 // width of the mark, which the shape draws from 0, 0 to the right
	shape Shape
	at    Point // place of the mark
}

// width returns the width of the entry.
func (e *entry) width() float64 { return e.mark + textWidth(e.name, fontSize) }

// setLegend makes the legend, which says what the marks mean, and places it in rows below the
// drawing.
func (s *sketch) setLegend() {
	dot := func(name string, c Color, width float64) {
		shape := Shape{Kind: Circle, Points: []Point{{4, 0}}, Radius: 4.5, Color: c, Outline: Ink, Width: width}
		s.entries = append(s.entries, entry{name: name, mark: 12, shape: shape})
	}
	dash := func(name string, c Color, width float64, dashed bool) {
		shape := Shape{Kind: Line, Points: []Point{{0, 0}, {26, 0}}, Color: c, Width: width, Dashed: dashed, Opacity: 0.85}
		s.entries = append(s.entries, entry{name: name, mark: 32, shape: shape})
	}
	dot("center", Accent, 2)
	if len(s.predicted) > 0 {
		dash("predicted link, width by score", Accent, 2.5, true)
	}
	for i, relation := range s.relations[:min(len(s.relations), NumSeries-1)] {
		dash(short(cmp.Or(relation, "edge without relation"), 24), relationColor(i), 2, false)
	}
	if len(s.relations) == 0 {
		dash("edge", Ink, 1, false)
	}
	area := ", area by PageRank"
	if s.labels == nil {
		dot("node"+area, series(0), 0.75)
	}
	for i, label := range s.labels[:min(len(s.labels), NumSeries)] {
		dot(short(label, 16)+area, series(i), 0.75)
		area = "" // said once
	}
	const row, pause = 17.0, 18.0
	x, y := margin, 0.0
	for i := range s.entries {
		e := &s.entries[i]
		if x > margin && x+e.width() > s.picture.Width-margin {
			x, y = margin, y+row
		}
		e.at = Point{x, y}
		x += e.width() + pause
	}
	s.foot = min(9+row+y, s.picture.Height/3)
	for i := range s.entries {
		s.entries[i].at.Y += s.picture.Height - s.foot + 13
	}
}

// legend draws the legend. Entries that do not fit into the box are left out.
func (s *sketch) legend() {
	for _, e := range s.entries {
		if e.at.X+e.width() > s.picture.Width || e.at.Y > s.picture.Height-5 {
			continue
		}
		for i, p := range e.shape.Points {
			e.shape.Points[i] = Point{e.at.X + p.X, e.at.Y + p.Y}
		}
		e.shape.Class = "legend"
		s.picture.add(e.shape)
		s.picture.text("legend", e.name, fontSize, Start, Point{e.at.X + e.mark, e.at.Y + 4})
	}
}
