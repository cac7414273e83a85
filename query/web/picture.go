package web

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"kith/db"
	"kith/query"
	"kith/query/internal/draw"
)

// neighborhood answers with a drawing of the surroundings of a node.
func (h *handler) neighborhood(w http.ResponseWriter, r *http.Request) {
	h.picture(w, r, func(ctx context.Context, tx *db.Tx, width int) ([]byte, error) {
		node, err := nodeOf(r, "node")
		if err != nil {
			return nil, err
		}
		o := db.NeighborhoodOptions{Of: node, Model: r.FormValue("model"), Relation: r.FormValue("relation"), Most: shownNodes(width)}
		p := draw.Options{Width: width, Height: max(width*9/10, leastWidth), Bare: r.FormValue("bare") == "true"}
		if where := r.FormValue("where"); where != "" {
			if p.Fades, err = restrict(ctx, tx, &o.Among, where); err != nil {
				return nil, err
			}
		}
		var n *db.Neighborhood
		find := func(tx *db.Tx) (err error) {
			n, err = tx.Neighborhood(ctx, o)
			return err
		}
		if via := r.Form["via"]; via != nil {
			err = tx.Via(db.Part{Relations: via}, find)
		} else {
			err = find(tx)
		}
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = draw.Neighborhood(n, p).Write(&b)
		return b.Bytes(), err
	})
}

// restrict leaves the candidates that satisfy a condition. It returns a function that reports
// whether a node does not satisfy it. The parts of the condition that are about the links leave out
// none.
func restrict(ctx context.Context, tx *db.Tx, among *db.Candidates, where string) (fades func(db.Key) bool, err error) {
	f, err := query.NewLinkFilter(ctx, tx, where)
	if err != nil || f.Nodes == nil {
		return nil, err
	}
	*among = among.Where(*f.Nodes)
	match, err := tx.Select(*f.Nodes)
	if err != nil {
		return nil, err
	}
	return func(k db.Key) bool { return !match(k) }, nil
}

// shownNodes returns how many nodes a picture has room for.
func shownNodes(width int) int { return min(max(width/5, 40), db.MaxNeighborhood) }

// Widths of pictures, about pixels.
const (
	leastWidth   = 240
	mostWidth    = 2000
	defaultWidth = 960
)

// picture answers with an SVG picture that paint makes from a transaction.
func (h *handler) picture(w http.ResponseWriter, r *http.Request, paint func(ctx context.Context, tx *db.Tx, width int) ([]byte, error)) {
	svg, err := inView(r.Context(), h, h.visitor(r), func(ctx context.Context, tx *db.Tx) ([]byte, error) {
		width, err := strconv.Atoi(r.FormValue("width"))
		switch {
		case r.FormValue("width") == "":
			width = defaultWidth
		case err != nil || width < leastWidth || width > mostWidth:
			return nil, misunderstood{fmt.Errorf("width %q: want an integer from %d to %d", r.FormValue("width"), leastWidth, mostWidth)}
		}
		return paint(ctx, tx, width)
	})
	h.look(w, r, "image/svg+xml", svg, err)
}

// degrees answers with a chart of how many nodes have how many edges.
func (h *handler) degrees(w http.ResponseWriter, r *http.Request) {
	h.picture(w, r, func(ctx context.Context, tx *db.Tx, width int) ([]byte, error) {
		d, err := tx.Degrees(ctx, 0)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		y := "nodes with at least so many edges"
		if d.Sampled {
			y = "nodes of a sample with at least so many edges"
		}
		err = draw.LogLog(atLeast(d.Counts), "edges of a node", y, chartOptions(width)).Write(&b)
		return b.Bytes(), err
	})
}

// chartOptions returns the options of a chart. The page has its title.
func chartOptions(width int) draw.Options {
	return draw.Options{Width: width, Height: min(max(width/2, 220), 360)}
}

// atLeast returns the number of nodes with at least as many edges, for each number of edges. Of
// points that would overlap it keeps the first.
func atLeast(counts []db.DegreeCount) (points []draw.Point) {
	const ratio = 1.02
	nodes := int64(0)
	for _, c := range counts {
		nodes += c.Nodes
	}
	last := math.Inf(-1)
	for _, c := range counts {
		if x := float64(c.Edges); x >= last*ratio || nodes == c.Nodes {
			points = append(points, draw.Point{X: x, Y: float64(nodes)})
			last = x
		}
		nodes -= c.Nodes
	}
	return points
}

// rewards answers with a chart of the rewards of a model over time, or with no content if there
// were none.
func (h *handler) rewards(w http.ResponseWriter, r *http.Request) {
	h.learning(w, r, func(b *bytes.Buffer, l db.Learning, width int) error {
		if len(l.Rewards) == 0 {
			return nil
		}
		seen := 0
		var line []draw.Point
		for _, s := range l.Rewards {
			line = append(line, draw.Point{X: float64(seen) + float64(s.Observations)/2, Y: s.Reward})
			seen += s.Observations
		}
		return draw.Curve(line, "outcomes", "mean reward", chartOptions(width)).Write(b)
	})
}

// calibration answers with a chart of predicted against observed rewards, or with no content if
// there were none.
func (h *handler) calibration(w http.ResponseWriter, r *http.Request) {
	h.learning(w, r, func(b *bytes.Buffer, l db.Learning, width int) error {
		if len(l.Calibration) == 0 {
			return nil
		}
		var bins []draw.Bin
		for _, c := range l.Calibration {
			bins = append(bins, draw.Bin{Predicted: c.Predicted, Observed: c.Observed, Count: c.Links})
		}
		return draw.Calibration(bins, chartOptions(width)).Write(b)
	})
}

// learning answers with a chart of what a model has learned from.
func (h *handler) learning(w http.ResponseWriter, r *http.Request, paint func(*bytes.Buffer, db.Learning, int) error) {
	h.picture(w, r, func(ctx context.Context, tx *db.Tx, width int) ([]byte, error) {
		l, err := tx.Learning(ctx, r.FormValue("model"))
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = paint(&b, l, width)
		return b.Bytes(), err
	})
}
