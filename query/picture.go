package query

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"kith/db"
	"kith/query/draw"
	"kith/query/parse"
)

// pictureKinds returns the statements that draw.
func pictureKinds() []kind {
	return []kind{{
		name: "DRAW", access: joins, run: viewing((*run).draw), options: always((*drawing).options),
		columns: "file, nodes, edges, predicted, nodes_left (reached by the walk and not drawn), edges_left (between drawn nodes)",
	}}
}

// formats returns the endings of the files that pictures can be written to. This package writes
// SVG; Session.Render writes the others.
func formats() []string { return []string{".svg", ".png"} }

// format sets the format of a picture by the name of its file. at is the place of the name.
func (r *run) format(at place, file string, o *draw.Options) {
	ending := strings.ToLower(filepath.Ext(file))
	switch {
	case r.err != nil:
	case !slices.Contains(formats(), ending):
		r.refuse(at, "a picture in %q: the name of its file must end in %s", file, strings.Join(formats(), " or "))
	case ending == ".svg":
		o.Standalone = true
	case r.session.Render == nil:
		r.refuse(at, "a picture in %q: this program draws .svg only", file)
	default:
		o.Render = func(w io.Writer, p *draw.Picture) error { return r.session.Render(w, p, ending[1:]) }
	}
}

func (r *run) draw(s *parse.Statement) {
	d := drawing{picture: draw.Options{Seed: r.seed}}
	of := &d.of
	of.Depth, of.Top = int(r.integer(s.Value("DEPTH"), 1, 0)), int(r.integer(s.Value("TOP"), 1, 0))
	of.Among, of.Model, of.Version = r.candidates(s.Among()), r.model(r.using(s)), r.version(s.Value("VERSION"))
	r.setOptions(s.Options("WITH"), d.options())
	of.Of = r.node(s.Value("DRAW"))
	r.format(s.Value("TO"), r.text(s.Value("TO")), &d.picture)
	if r.err != nil {
		return
	}
	n, err := r.tx.Neighborhood(r.ctx, *of)
	if r.fail(err) {
		return
	}
	r.writeFile(s.Value("TO"), func(file string, w io.Writer) error {
		r.rows.add(file, int64(len(n.Nodes)), int64(len(n.Edges)), int64(len(n.Predicted)), int64(n.NodesLeft), int64(n.EdgesLeft))
		return draw.Neighborhood(w, n, d.picture)
	})
	r.rows.note("predicted links are answered by %s", n.AnsweredBy)
}

// drawing is what DRAW draws, and how.
type drawing struct {
	of      db.NeighborhoodOptions
	picture draw.Options
}

// options returns the options of DRAW.
func (d *drawing) options() []option {
	const side = 10_000
	return []option{
		integerOption("edges", "largest number of edges; three times that of nodes by default", 1, 100_000, &d.of.Edges),
		integerOption("height", "height of the picture; 640 by default", 100, side, &d.picture.Height),
		integerOption("nodes", fmt.Sprintf("largest number of nodes; %d by default", db.MaxNeighborhood), 2, db.MaxNeighborhood, &d.of.Most),
		integerOption("seed", "another seed may give another layout", 0, math.MaxInt64, &d.picture.Seed),
		integerOption("width", "width of the picture; 960 by default", 100, side, &d.picture.Width),
	}
}
